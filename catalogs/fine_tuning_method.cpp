#include "catalogs/fine_tuning_method.hpp"

#include <algorithm>

#include "base/words.hpp"
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

const FineTuningMethod* fine_tuning_method(std::string_view name) {
  const std::string letters = letters_and_digits(name);
  const std::vector<FineTuningMethod>& all = fine_tuning_methods();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& m) { return letters_and_digits(m.name) == letters; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace smplan
