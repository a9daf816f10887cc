#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/embedded_file.hpp"
#include "base/printable.hpp"
#include "fixture.hpp"

// The published schema and the readers must describe the same files.

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;

/// A kind of entry: its section in a catalog, its definition in the schema, its reader.
struct Kind {
  const char* section;
  const char* definition;
  void (*read)(const JsonValue&, Diagnostics&);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"accelerators", "accelerator", [](const JsonValue& v, Diagnostics& out) { read_accelerator(v, out); }},
      {"instances", "instance", [](const JsonValue& v, Diagnostics& out) { read_instance(v, out); }},
      {"prices", "price", [](const JsonValue& v, Diagnostics& out) { read_price(v, out); }},
      {"models", "model", [](const JsonValue& v, Diagnostics& out) { read_model_preset(v, out); }},
      {"stacks", "stack", [](const JsonValue& v, Diagnostics& out) { read_stack(v, out); }},
      {"stack_profiles", "stack_profile", [](const JsonValue& v, Diagnostics& out) { read_stack_profile(v, out); }},
      {"accelerator_profiles", "accelerator_profile",
       [](const JsonValue& v, Diagnostics& out) { read_accelerator_profile(v, out); }},
      {"sustained_rates", "sustained_rate", [](const JsonValue& v, Diagnostics& out) { read_sustained_rate(v, out); }},
      {"operations", "operation", [](const JsonValue& v, Diagnostics& out) { read_operation_fact(v, out); }},
      {"storages", "storage", [](const JsonValue& v, Diagnostics& out) { read_storage_service(v, out); }},
      {"spot_interruptions", "spot_interruption",
       [](const JsonValue& v, Diagnostics& out) { read_spot_interruptions(v, out); }},
      {"registries", "registry", [](const JsonValue& v, Diagnostics& out) { read_container_registry(v, out); }},
      {"containers", "container", [](const JsonValue& v, Diagnostics& out) { read_container(v, out); }},
      {"toolkits", "toolkit", [](const JsonValue& v, Diagnostics& out) { read_toolkit(v, out); }},
      {"framework_versions", "framework_version",
       [](const JsonValue& v, Diagnostics& out) { read_framework_version(v, out); }},
      {"fabric_profiles", "fabric_profile", [](const JsonValue& v, Diagnostics& out) { read_fabric_profile(v, out); }}};
  return all;
}

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
  const JsonValue root = schema();
  for (const Kind& c : kinds()) {
    std::string text;
    for (const std::string& key : keys(member(member(member(root, "$defs"), c.definition), "properties"))) {
      text += (text.empty() ? "\"" : ", \"") + key + "\": null";
    }
    Diagnostics out;
    c.read(test::json("{" + text + "}"), out);
    for (const Diagnostic& d : out) EXPECT_NE(d.code, "unknown-key") << c.definition << ": " << to_string(d);
  }
}

/// Entries as shipped, one for every set of keys.
std::vector<Json> shipped_entries(const std::string& section) {
  std::vector<Json> entries;
  std::set<std::string> seen;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    const Json root = Json::parse(file.content);
    for (const Json& entry : root.value(section, Json::array())) {
      std::string names;
      for (const auto& [key, value] : entry.items()) names += key + ' ';
      if (seen.insert(names).second) entries.push_back(entry);
    }
  }
  return entries;
}

/// Calls `visit(schema of the object, pointer to it)` for an entry and every object in it that the schema describes.
template <typename Visit>
void for_each_object(const Json& root, const Json& node, const Json& value, const std::string& pointer, Visit&& visit) {
  if (node.contains("$ref")) {
    const auto target = node["$ref"].get<std::string>();
    return for_each_object(root, root.at(Json::json_pointer(target.substr(1))), value, pointer, visit);
  }
  if (!value.is_object() || !node.contains("properties")) return;
  visit(node, pointer);
  for (const auto& [key, inner] : value.items()) {
    if (node["properties"].contains(key)) {
      for_each_object(root, node["properties"][key], inner, pointer + '/' + key, visit);
    }
  }
}

/// Every described object of every kind of entry: `visit(kind, entry, schema of the object, pointer to it)`.
template <typename Visit>
void for_each_shipped_object(Visit&& visit) {
  const auto text = read_text_file(std::string(SMPLAN_TEST_DATA) + "/../catalogs/schema/catalog.schema.json");
  ASSERT_TRUE(text.has_value());
  const Json root = Json::parse(*text);
  for (const Kind& kind : kinds()) {
    const std::vector<Json> entries = shipped_entries(kind.section);
    EXPECT_FALSE(entries.empty()) << kind.section;
    for (const Json& entry : entries) {
      for_each_object(root, root["$defs"][kind.definition], entry, "",
                      [&](const Json& node, const std::string& pointer) { visit(kind, entry, node, pointer); });
    }
  }
}

Diagnostics faults_of(const Kind& kind, const Json& entry) {
  Diagnostics out;
  kind.read(test::json(entry.dump()), out);
  return out;
}

/// Whether the schema asks for the key, alone or as one of two.
bool is_required(const Json& node, const std::string& key) {
  const auto has = [&key](const Json& schema) {
    const Json keys = schema.value("required", Json::array());
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  const Json choices = node.value("oneOf", Json::array());
  return has(node) || std::any_of(choices.begin(), choices.end(), has);
}

TEST(CatalogReaders, MissWhatTheSchemaRequiresAndNothingElse) {
  for_each_shipped_object([](const Kind& kind, const Json& entry, const Json& node, const std::string& pointer) {
    const Json object = entry.at(Json::json_pointer(pointer));
    for (const auto& [key, value] : object.items()) {
      Json without = entry;
      without.at(Json::json_pointer(pointer)).erase(key);
      const Diagnostics faults = faults_of(kind, without);
      const std::string place = kind.section + pointer + '/' + key + ": " + to_string(faults);
      if (is_required(node, key)) {
        EXPECT_FALSE(faults.empty()) << place;
      } else {
        EXPECT_EQ(to_string(faults).find(fmt::format("key {} is missing", quote(key))), std::string::npos) << place;
      }
    }
  });
}

/// What lies just outside a number's bounds, and the bounds, which are inside.
struct Edges {
  std::vector<Json> inside, outside;
};

Edges edges_of(const Json& node) {
  Edges edges;
  const bool whole = node["type"] == "integer";
  const auto beyond = [&](const Json& bound, double direction) -> Json {
    if (whole) return bound.get<std::int64_t>() + static_cast<std::int64_t>(direction);
    return std::nextafter(bound.get<double>(), direction * INFINITY);
  };
  if (node.contains("exclusiveMinimum")) edges.outside.push_back(node["exclusiveMinimum"]);
  if (node.contains("minimum")) {
    edges.inside.push_back(node["minimum"]);
    edges.outside.push_back(beyond(node["minimum"], -1));
  }
  if (node.contains("maximum")) {
    edges.inside.push_back(node["maximum"]);
    edges.outside.push_back(beyond(node["maximum"], 1));
  }
  return edges;
}

TEST(CatalogReaders, KeepTheBoundsOfTheSchema) {
  for_each_shipped_object([](const Kind& kind, const Json& entry, const Json& node, const std::string& pointer) {
    if (std::string_view(kind.section) == "operations") return;  // each key has bounds of its own, see operations_test
    for (const auto& [key, declared] : node["properties"].items()) {
      if (!declared.contains("type") || (declared["type"] != "number" && declared["type"] != "integer")) continue;
      const std::string place = pointer + '/' + key;
      EXPECT_TRUE(declared.contains("maximum")) << kind.section << place << " may be as large as it likes";
      const auto refused = [&](const Json& number) {
        Json changed = entry;
        changed[Json::json_pointer(place)] = number;
        const Diagnostics faults = faults_of(kind, changed);
        return std::any_of(faults.begin(), faults.end(), [&](const Diagnostic& d) {
          return d.location == "test.json:" + place && (d.code == "out-of-range" || d.code == "bad-price");
        });
      };
      const Edges edges = edges_of(declared);
      for (const Json& number : edges.inside) EXPECT_FALSE(refused(number)) << kind.section << place << ' ' << number;
      for (const Json& number : edges.outside) EXPECT_TRUE(refused(number)) << kind.section << place << ' ' << number;
    }
  });
}

/// Every optional switch that the schema declares: left out, it is off but for those in `on`, and said it counts.
template <typename Read>
void expect_switches(const Read& read, const Json& entry, const Json& declared, const std::set<std::string>& on) {
  for (const auto& [key, property] : declared["properties"].items()) {
    if (property.value("type", Json()) != "boolean" || is_required(declared, key)) continue;
    Json plain = entry;
    plain.erase(key);
    Json usual = plain;
    usual[key] = on.contains(key);
    Json unusual = plain;
    unusual[key] = !on.contains(key);
    EXPECT_TRUE(read(plain) == read(usual)) << key;
    EXPECT_FALSE(read(plain) == read(unusual)) << key;
  }
}

TEST(CatalogReaders, TakeSwitchesThatAreLeftOutAsOff) {
  const auto text = read_text_file(std::string(SMPLAN_TEST_DATA) + "/../catalogs/schema/catalog.schema.json");
  ASSERT_TRUE(text.has_value());
  const Json definitions = Json::parse(*text)["$defs"];
  const auto stack = [](const Json& entry) {
    Diagnostics out;
    return read_stack(test::json(entry.dump()), out);
  };
  for (const Json& entry : shipped_entries("stacks")) {
    expect_switches(stack, entry, definitions["stack"], {"flash_attention", "fused_kernels", "supported_for_planning"});
  }
  const auto instance = [](const Json& entry) {
    Diagnostics out;
    return read_instance(test::json(entry.dump()), out);
  };
  for (const Json& entry : shipped_entries("instances")) {
    expect_switches(instance, entry, definitions["instance"], {});
    const auto with_network = [&](const Json& network) {
      Json changed = entry;
      changed["network"] = network;
      return instance(changed);
    };
    expect_switches(with_network, entry["network"], definitions["instance"]["properties"]["network"], {});
  }
}

}  // namespace
}  // namespace smplan
