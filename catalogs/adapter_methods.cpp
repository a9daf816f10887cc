#include "catalogs/adapter_methods.hpp"

#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

namespace {

constexpr double kMostBytes = 1e4;
constexpr std::int64_t kMostTokens = 1'000'000;

/// Left out where the method moves no more than LoRA does.
AdapterTraffic read_traffic(ObjectReader& reader, std::string_view key, Diagnostics& out) {
  AdapterTraffic t;
  if (!reader.has(key)) return t;
  const auto value = reader.value(key);
  if (!value) return t;
  ObjectReader bytes(*value, out);
  t.input = read_number_or(bytes, "input_bytes", -kMostBytes, kMostBytes, 0);
  t.output = read_number_or(bytes, "output_bytes", -kMostBytes, kMostBytes, 0);
  t.weight = read_number_or(bytes, "weight_bytes", -kMostBytes, kMostBytes, 0);
  t.square = read_number_or(bytes, "square_bytes", -kMostBytes, kMostBytes, 0);
  bytes.finish();
  return t;
}

PromptParts read_prompt(ObjectReader& reader, Diagnostics& out) {
  PromptParts p;
  if (!reader.has("prompt")) return p;
  const auto value = reader.value("prompt");
  if (!value) return p;
  constexpr std::int64_t kMostParts = 16;
  ObjectReader parts(*value, out);
  p.virtual_tokens = parts.integer("virtual_tokens", 1, kMostTokens);
  p.embeddings = read_integer_or(parts, "embeddings", 0, kMostParts, 0);
  p.layers = read_integer_or(parts, "layers", 0, kMostParts, 0);
  p.keys = read_integer_or(parts, "keys", 0, kMostParts, 0);
  parts.finish();
  return p;
}

AdapterMethod read_method(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  AdapterMethod m;
  m.name = read_name(reader, "name");
  const auto bytes = [&](std::string_view key) { return read_number_or(reader, key, 0, kMostBytes, 0); };
  m.input = bytes("input_bytes");
  m.output = bytes("output_bytes");
  m.rank = bytes("rank_bytes");
  m.weight = bytes("weight_bytes");
  m.square = bytes("square_bytes");
  m.shared_input = bytes("shared_input_bytes");
  m.last_input = bytes("last_input_bytes");
  m.hidden = bytes("hidden_bytes");
  m.prompt = read_prompt(reader, out);
  m.forward = read_traffic(reader, "forward", out);
  m.backward = read_traffic(reader, "backward", out);
  m.launches = read_number_or(reader, "launches", 0, kMostBytes, 1);
  m.needs_half = reader.optional_bool("needs_half").value_or(false);
  m.output_parameters = read_integer_or(reader, "output_parameters", 0, 1, 0);
  reader.finish();
  return m;
}

}  // namespace

const std::vector<AdapterMethod>& adapter_methods() {
  static const std::vector<AdapterMethod> kMethods = finetuning_rows("adapter_methods", read_method);
  return kMethods;
}

const AdapterMethod* adapter_method(std::string_view name) { return row_named(adapter_methods(), name); }

}  // namespace smplan
