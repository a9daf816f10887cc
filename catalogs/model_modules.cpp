#include "catalogs/model_modules.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/json_reader.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_module_files();

namespace {

std::vector<std::string> words(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> out;
  for (const JsonValue& value : reader.optional_array(key)) out.push_back(value.as_string(reader.diagnostics()));
  return out;
}

ModelModules read_family(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  ModelModules family;
  family.types = words(reader, "types");
  family.classes = words(reader, "classes");
  family.layers = words(reader, "layers");
  family.names = words(reader, "names");
  family.heads = words(reader, "heads");
  family.open = reader.optional_bool("open").value_or(false);
  reader.finish();
  return family;
}

/// Of a type that the modules above are not of.
struct Block {
  std::string type;
  std::string name;
};

struct Document {
  std::string source;
  std::vector<ModelModules> families;
  std::vector<Block> blocks;
};

/// A fault in a shipped file is one of the build, which tests read: it throws.
Document read_document() {
  Document document;
  Diagnostics faults;
  for (const EmbeddedFile& file : shipped_module_files()) {
    const Result<JsonValue> json = parse_json(file.content, file.name);
    if (!json) throw std::logic_error(to_string(json.error()));
    ObjectReader reader(*json, faults);
    reader.string("schema");
    reader.string("version");
    reader.string("as_of");
    const std::string source = reader.string("source");
    if (reader.has("families")) document.source = source;
    for (const JsonValue& row : reader.optional_array("families"))
      document.families.push_back(read_family(row, faults));
    for (const JsonValue& row : reader.optional_array("blocks")) {
      ObjectReader block(row, faults);
      document.blocks.push_back({block.string("type"), block.string("block")});
      block.finish();
    }
    reader.finish();
  }
  if (!faults.empty()) throw std::logic_error(to_string(faults));
  return document;
}

const Document& shipped() {
  static const Document document = read_document();
  return document;
}

}  // namespace

const std::vector<ModelModules>& model_modules() { return shipped().families; }

const ModelModules* modules_of(std::string_view model_type) {
  for (const ModelModules& family : model_modules()) {
    if (std::find(family.types.begin(), family.types.end(), model_type) != family.types.end()) return &family;
  }
  return nullptr;
}

std::string_view block_class_of(std::string_view model_type) {
  for (const Block& block : shipped().blocks) {
    if (block.type == model_type) return block.name;
  }
  const ModelModules* modules = modules_of(model_type);
  if (modules == nullptr) return {};
  std::string_view found;
  for (const std::string& layer : modules->layers) {
    const auto says = [&](std::string_view word) { return layer.find(word) != std::string::npos; };
    if (says("Vision") || says("Audio") || says("Embed")) continue;
    if (!found.empty()) return {};
    found = layer;
  }
  return found;
}

std::string_view source_of_modules() { return shipped().source; }

}  // namespace smplan
