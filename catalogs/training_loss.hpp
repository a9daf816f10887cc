#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// Whose weights stand frozen beside those that are trained.
enum class FrozenModel {
  None,
  Reference,  ///< the model as it was before
  Teacher,    ///< a model of its own
};

/// What a loss other than that of the next token asks of a step. Passes are counted in forward passes over the tokens
/// of the examples. Source: catalogs/data/finetuning/losses.json.
struct TrainingLoss {
  std::string name;   ///< `dpo`
  std::string title;  ///< in sentences
  std::string paper;
  std::vector<std::string> aliases;
  std::int32_t sequences = 1;   ///< of an example: a pair has two
  double trained_forwards = 0;  ///< of the trained model, without gradients
  double frozen_forwards = 0;   ///< of the frozen one
  FrozenModel frozen = FrozenModel::None;
  bool scalar_head = false;          ///< one number a sequence in place of logits
  bool keeps_frozen_logits = false;  ///< until the loss: those of a teacher
};

/// By its letters and digits, of its aliases too. Null for one that is not known; `sft` is none of them.
const TrainingLoss* training_loss(std::string_view name);
/// Their names.
std::vector<std::string> loss_names();
/// All of them, in the order of the file.
const std::vector<TrainingLoss>& training_losses();

}  // namespace smplan
