#include "catalogs/nova_recipes.hpp"

#include "catalogs/shipped_rows.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_hyperpod_files();

namespace {

NovaSetting read_setting(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  NovaSetting s;
  s.model = read_text(reader, "model");
  s.setting = read_text(reader, "setting");
  for (const JsonValue& allowed : reader.array("values")) s.values.push_back(allowed.as_integer(out));
  reader.finish();
  return s;
}

}  // namespace

const std::vector<NovaSetting>& nova_settings() {
  static const std::vector<NovaSetting> kSettings =
      shipped_rows(shipped_hyperpod_files(), "nova_recipes", read_setting);
  return kSettings;
}

}  // namespace smplan
