#include <array>
#include <string>

#include "catalogs/import/import.hpp"
#include "catalogs/tokenizer/tokenizer.hpp"
#include "tests/fuzz/planning.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {
namespace {

/// Name of the first instance type of an overlay; a shipped one where it has none.
std::string first_instance(const JsonValue& overlay) {
  Diagnostics ignored;
  if (const auto section = overlay.find("instances"); section && section->is_array()) {
    for (const JsonValue& entry : section->as_array(ignored)) {
      const auto name = entry.find("name");
      if (name && name->is_string()) return name->as_string(ignored);
    }
  }
  return "ml.p4d.24xlarge";
}

void catalog(std::string_view bytes) {
  const Result<JsonValue> overlay = parse_json(bytes, "overlay.json");
  if (!overlay) return;
  Catalog changed = shipped_catalog();
  const Result<void> merged = changed.merge(*overlay);
  if (!merged) {
    require(!merged.error().empty(), "a refusal says why");
    require(changed.prices() == shipped_catalog().prices() && changed.instances() == shipped_catalog().instances(),
            "an overlay with a fault changes nothing");
    return;
  }
  static_cast<void>(check(changed));
  static_cast<void>(catalog_changes(shipped_catalog(), changed));
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = first_instance(*overlay);
  spec.count = "2";
  spec.stack = "fsdp,megatron";
  estimate_all(spec, changed);
}

void architecture(std::string_view bytes) {
  RequestSpec spec;
  spec.arch = file_of(bytes);
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "2";
  spec.stack = "fsdp";
  estimate_all(spec, shipped_catalog());
}

void hf_config(std::string_view bytes) {
  RequestSpec spec;
  spec.hf_config = file_of(bytes);
  spec.instances = "ml.p5.48xlarge";
  spec.count = "1";
  spec.stack = "megatron";
  spec[Dimension::Tensor] = "2";
  estimate_all(spec, shipped_catalog());
}

void price_list(std::string_view bytes) {
  ImportOptions options;
  options.as_of = "2026-11-01";
  const Result<ImportedFacts> facts = import_files({file_of(bytes)}, shipped_catalog(), options);
  if (!facts) {
    require(!facts.error().empty(), "a refusal says why");
    return;
  }
  const Result<JsonValue> overlay = parse_json(overlay_of(*facts), "overlay.json");
  require(overlay.has_value(), "an imported overlay is JSON");
  Catalog changed = shipped_catalog();
  const Result<void> merged = changed.merge(*overlay);
  require(merged.has_value(), "the catalog takes what was imported: " + (merged ? "" : to_string(merged.error())));
}

/// A tokenizer that is read counts any text, or says why not; what it remembers changes nothing.
void tokenizer(std::string_view bytes) {
  const Result<Tokenizer> read = Tokenizer::parse(bytes, "tokenizer.json");
  if (!read) {
    require(!read.error().empty(), "a refusal says why");
    return;
  }
  require(read->added_to_a_sequence() >= 0, "a sequence loses no tokens");
  TokenCounter counter(*read);
  const std::string_view some = bytes.substr(0, 2000);
  for (const std::string_view text : {std::string_view("The 12 captains'\u00e9  \u4e2d\U0001f600\n"), some, some}) {
    const Result<std::int64_t> tokens = counter.count(text);
    require(!tokens || *tokens >= 0, "a count is no less than nothing");
    const Result<std::int64_t> again = TokenCounter(*read).count(text);
    require(tokens.has_value() == again.has_value() && tokens.value_or(0) == again.value_or(0),
            "a text has the same count whatever was counted before it");
  }
}

constexpr std::array<Target, 5> kTargets{{{"catalog", catalog},
                                          {"architecture", architecture},
                                          {"hf_config", hf_config},
                                          {"price_list", price_list},
                                          {"tokenizer", tokenizer}}};

}  // namespace

std::span<const Target> catalog_targets() { return kTargets; }

}  // namespace smplan::fuzz
