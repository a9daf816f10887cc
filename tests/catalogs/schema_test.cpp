#include "fixture.hpp"

// The published schema and the readers must describe the same files.

namespace smplan {
namespace {

JsonValue member(const JsonValue& object, std::string_view key) {
  const auto found = object.find(key);
  EXPECT_TRUE(found.has_value()) << object.location() << " lacks " << key;
  return *found;
}

std::vector<std::string> keys(const JsonValue& object) {
  Diagnostics out;
  return object.keys(out);
}

class CatalogSchema : public testing::Test {
 protected:
  static JsonValue schema() {
    const auto read = read_json_file(std::string(SMPLAN_TEST_DATA) + "/../catalogs/schema/catalog.schema.json");
    EXPECT_TRUE(read.has_value()) << (read ? "" : to_string(read.error()));
    return *read;
  }
};

TEST_F(CatalogSchema, DeclaresTheSectionsOfACatalog) {
  const JsonValue root = schema();
  const JsonValue sections = member(root, "properties");
  for (const char* section : {"accelerators", "instances", "prices", "models", "stacks", "stack_profiles",
                              "accelerator_profiles", "fabric_profiles", "registries", "containers",
                              "framework_versions", "toolkits", "operations", "storages", "spot_interruptions"}) {
    EXPECT_TRUE(sections.find(section).has_value()) << section;
  }
}

TEST_F(CatalogSchema, DeclaresEveryNumberOfAStackProfileWithItsBounds) {
  const JsonValue root = schema();
  const JsonValue profile = member(member(member(root, "$defs"), "stack_profile"), "properties");
  for (const StackParameter& parameter : stack_parameters()) {
    const auto declared = profile.find(parameter.key);
    ASSERT_TRUE(declared.has_value()) << parameter.key;
    Diagnostics out;
    EXPECT_DOUBLE_EQ(member(*declared, "minimum").as_number(out), parameter.low) << parameter.key;
    EXPECT_DOUBLE_EQ(member(*declared, "maximum").as_number(out), parameter.high) << parameter.key;
  }
  EXPECT_EQ(keys(profile).size(), stack_parameters().size() + 4) << "and stack, measured, source and as_of";
}

TEST_F(CatalogSchema, IsAskedForByTheReadersKeyByKey) {
  // An entry of every declared key, all null, must leave no key unasked for.
  struct Case {
    const char* definition;
    void (*read)(const JsonValue&, Diagnostics&);
  };
  const JsonValue root = schema();
  for (const Case& c :
       {Case{"accelerator", [](const JsonValue&v, Diagnostics&out) { read_accelerator(v, out); }},
        Case{"instance", [](const JsonValue&v, Diagnostics&out) { read_instance(v, out); }},
        Case{"price", [](const JsonValue&v, Diagnostics&out) { read_price(v, out); }},
        Case{"model", [](const JsonValue&v, Diagnostics&out) { read_model_preset(v, out); }},
        Case{"stack", [](const JsonValue&v, Diagnostics&out) { read_stack(v, out); }},
        Case{"stack_profile", [](const JsonValue&v, Diagnostics&out) { read_stack_profile(v, out); }},
        Case{"accelerator_profile", [](const JsonValue&v, Diagnostics&out) { read_accelerator_profile(v, out); }},
        Case{"sustained_rate", [](const JsonValue&v, Diagnostics&out) { read_sustained_rate(v, out); }},
        Case{"operation", [](const JsonValue&v, Diagnostics&out) { read_operation_fact(v, out); }},
        Case{"storage", [](const JsonValue&v, Diagnostics&out) { read_storage_service(v, out); }},
        Case{"spot_interruption", [](const JsonValue&v, Diagnostics&out) { read_spot_interruptions(v, out); }},
        Case{"registry", [](const JsonValue&v, Diagnostics&out) { read_container_registry(v, out); }},
        Case{"container", [](const JsonValue&v, Diagnostics&out) { read_container(v, out); }},
        Case{"toolkit", [](const JsonValue&v, Diagnostics&out) { read_toolkit(v, out); }},
        Case{"framework_version", [](const JsonValue&v, Diagnostics&out) { read_framework_version(v, out); }},
        Case{"fabric_profile", [](const JsonValue&v, Diagnostics&out) { read_fabric_profile(v, out); }}}) {
    std::string text;
    for (const std::string& key : keys(member(member(member(root, "$defs"), c.definition), "properties"))) {
      text += (text.empty() ? "\"" : ", \"") + key + "\": null";
    }
    Diagnostics out;
    c.read(test::json("{" + text + "}"), out);
    for (const Diagnostic& d : out) EXPECT_NE(d.code, "unknown-key") << c.definition << ": " << to_string(d);
  }
}

}  // namespace
}  // namespace smplan
