#include "catalogs/expert_adapters.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<ExpertAdapters, 3> kExpertAdapterNames{
    {{ExpertAdapters::Separate, "separate"}, {ExpertAdapters::Fused, "fused"}, {ExpertAdapters::None, "none"}}};

ExpertAdapterRow read_expert_adapters(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  ExpertAdapterRow row;
  row.name = read_name(reader, "name");
  row.experts = read_enum(reader, "experts", kExpertAdapterNames);
  row.names = read_names(reader, "names");
  reader.finish();
  return row;
}

}  // namespace

const std::vector<ExpertAdapterRow>& expert_adapter_rows() {
  static const std::vector<ExpertAdapterRow> kRows = finetuning_rows("expert_adapters", read_expert_adapters);
  return kRows;
}

ExpertAdapters peft_expert_adapters(const Architecture& a) {
  if (!a.is_moe()) return ExpertAdapters::Separate;
  const auto& rows = expert_adapter_rows();
  const auto named = std::find_if(rows.begin(), rows.end(), [&](const ExpertAdapterRow& row) {
    return std::any_of(row.names.begin(), row.names.end(),
                       [&](const std::string& begin) { return a.name.starts_with(begin); });
  });
  if (named != rows.end()) return named->experts;
  const ExpertAdapterRow* typed = row_named(rows, a.family);
  return typed == nullptr ? ExpertAdapters::Separate : typed->experts;
}

}  // namespace smplan
