#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "catalogs/fine_tuning_method.hpp"
#include "planner/request/examples.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// How examples become sequences of a batch.
enum class Packing {
  On,             ///< one behind the other, cut to one length
  Off,            ///< each padded to the longest of its micro-batch
  LengthGrouped,  ///< padded likewise, examples of like length together
};
std::string_view to_string(Packing packing);
std::optional<Packing> packing_from(std::string_view name);

/// A fine-tuning question as flags and keywords give it; model, loss, hardware and limits are those of a request.
struct FineTuneWords {
  std::optional<std::string> data, examples, length, characters_per_token, epochs, packing, methods, evaluation;
  std::vector<std::int64_t> lengths;  ///< in place of a file: tokens of each sequence, of pairs two after one another
  std::optional<std::string> tokenizer;  ///< a tokenizer.json; else that beside `--hf-config`
  std::optional<TextMeasure> measure;    ///< in its place: how a caller of the library counts
};

struct FineTuneQuestion {
  RequestSpec base;
  ExampleLengths lengths;
  std::string source;  ///< of the examples, in words
  double epochs = 3;
  std::optional<Packing> packing;  ///< nullopt: on, and off where the loss is not that of the next token
  double evaluation = 0;           ///< part of the examples that each epoch is evaluated on
  std::vector<const FineTuningMethod*> methods;
};
/// Reads the data, if any. Collects every fault.
Result<FineTuneQuestion> read_fine_tune(const FineTuneWords& words, RequestSpec base);

/// The best plan of one method.
struct FineTuneRow {
  const FineTuningMethod* method = nullptr;
  RequestSpec spec;  ///< that was planned: `smplan plan` takes it
  PlanRequest request;
  std::optional<Plan> plan;
  std::string why_not;            ///< where there is no plan
  std::int64_t trained = 0;       ///< parameters
  Bytes saved;                    ///< what the run leaves: adapters as PEFT trains them, in 32 bits, or 16-bit weights
  std::int64_t mean_seq_len = 0;  ///< tokens that a sequence is computed with, padding included
  double tokens = 0;              ///< of the training steps, all epochs, padding included
  std::int64_t steps = 0;         ///< optimizer steps, without evaluation
};

struct FineTuneAnswer {
  std::vector<FineTuneRow> rows;  ///< in the order of the methods asked for
  std::int64_t seq_len = 0;       ///< longest sequence
  std::int64_t cut = 0;           ///< sequences that are longer and lose their end
  Packing packing = Packing::On;
  std::string source;  ///< of the examples, and by what their tokens were counted
  std::vector<std::string> assumptions;

  /// The cheapest row with a plan; nullptr if none has.
  [[nodiscard]] const FineTuneRow* cheapest() const;
};
/// Plans each method on the same data. What every method pays is in each plan: download and load of the base at every
/// start, warm-up of the instances, checkpoints. Fails where the request itself is invalid.
Result<FineTuneAnswer> plan_fine_tune(const FineTuneQuestion& question, const Catalog& catalog,
                                      const std::optional<std::string>& environment_region,
                                      std::optional<Instant> now = std::nullopt, const SearchOptions& options = {});

/// The command that plans the row again: words of a shell.
std::string command_of(const RequestSpec& spec);
/// Flat objects with equal keys, a row each: what CSV and JSON say, and Python.
Json fine_tune_rows(const FineTuneAnswer& answer);

}  // namespace smplan
