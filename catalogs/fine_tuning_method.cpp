#include "catalogs/fine_tuning_method.hpp"

#include <algorithm>

#include "catalogs/finetuning_file.hpp"

namespace smplan {
namespace {

FineTuningMethod read_method(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FineTuningMethod method;
  method.name = read_name(reader, "name");
  method.title = read_text(reader, "title");
  method.trains = read_name(reader, "trains");
  method.adapters = reader.has("adapters") ? read_name(reader, "adapters") : "";
  method.last_layers = reader.has("last_layers") ? reader.number("last_layers", 0, 1) : 0;
  method.quality = read_text(reader, "quality");
  method.paper = read_text(reader, "paper");
  reader.finish();
  return method;
}

}  // namespace

const std::vector<FineTuningMethod>& fine_tuning_methods() {
  static const std::vector<FineTuningMethod> kMethods = finetuning_rows("fine_tuning_methods", read_method);
  return kMethods;
}

std::vector<std::string> planned_adapters() {
  std::vector<std::string> out{"lora"};
  for (const FineTuningMethod& method : fine_tuning_methods()) {
    const bool known = std::find(out.begin(), out.end(), method.adapters) != out.end();
    if (!method.adapters.empty() && !known) out.push_back(method.adapters);
  }
  return out;
}

const FineTuningMethod* fine_tuning_method(std::string_view name) { return row_named(fine_tuning_methods(), name); }

}  // namespace smplan
