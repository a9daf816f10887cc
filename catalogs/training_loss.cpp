#include "catalogs/training_loss.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<FrozenModel, 2> kFrozenModels{
    {{FrozenModel::Reference, "reference"}, {FrozenModel::Teacher, "teacher"}}};
constexpr double kMostPasses = 100;
constexpr std::int64_t kMostSequences = 16;

TrainingLoss read_loss(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  TrainingLoss loss;
  loss.name = read_name(reader, "name");
  loss.title = read_text(reader, "title");
  loss.paper = read_text(reader, "paper");
  loss.aliases = read_names(reader, "aliases");
  loss.sequences = static_cast<std::int32_t>(read_integer_or(reader, "sequences", 1, kMostSequences, 1));
  loss.trained_forwards = read_number_or(reader, "trained_forwards", 0, kMostPasses, 0);
  loss.frozen_forwards = read_number_or(reader, "frozen_forwards", 0, kMostPasses, 0);
  if (value.find("frozen")) loss.frozen = read_enum(reader, "frozen", kFrozenModels);
  loss.scalar_head = reader.optional_bool("scalar_head").value_or(false);
  loss.keeps_frozen_logits = reader.optional_bool("keeps_frozen_logits").value_or(false);
  reader.finish();
  return loss;
}

}  // namespace

const std::vector<TrainingLoss>& training_losses() {
  static const std::vector<TrainingLoss> kLosses = finetuning_rows("losses", read_loss);
  return kLosses;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const TrainingLoss& loss : training_losses()) names.push_back(loss.name);
  return names;
}

const TrainingLoss* training_loss(std::string_view name) {
  const std::string letters = letters_and_digits(name);
  const std::vector<TrainingLoss>& all = training_losses();
  const auto named = [&](const std::string& word) { return letters_and_digits(word) == letters; };
  const auto found = std::find_if(all.begin(), all.end(), [&](const TrainingLoss& loss) {
    return named(loss.name) || std::any_of(loss.aliases.begin(), loss.aliases.end(), named);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace smplan
