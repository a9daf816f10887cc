#include "catalogs/fine_tuning_method.hpp"

#include "catalogs/finetuning_file.hpp"

namespace smplan {
namespace {

FineTuningMethod read_method(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FineTuningMethod method;
  method.name = read_name(reader, "name");
  method.title = read_text(reader, "title");
  method.trains = read_name(reader, "trains");
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

const FineTuningMethod* fine_tuning_method(std::string_view name) { return row_named(fine_tuning_methods(), name); }

}  // namespace smplan
