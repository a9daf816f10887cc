#include "catalogs/catalog.hpp"
#include "catalogs/model_names.hpp"

#include "fixture.hpp"

#include <regex>

namespace smplan {
namespace {

using test::has_code;
using test::json;
using test::overlay;
using test::shipped;
using test::with;

constexpr const char* kPrice = R"({"instance": "ml.p4d.24xlarge", "region": "us-east-1", "market": "on-demand",
  "usd_per_hour": 30, "basis": "measured", "source": "test", "as_of": "2026-11-20"})";

TEST(Catalog, ShipsEveryKindOfFact) {
  EXPECT_GE(shipped().accelerators().size(), 44U);
  EXPECT_GE(shipped().instances().size(), 77U);
  EXPECT_GT(shipped().prices().size(), 300U);
  EXPECT_GE(shipped().models().size(), 180U);
  EXPECT_GE(shipped().stacks().size(), 14U);
  EXPECT_FALSE(shipped().fabric_profiles().empty());
}

TEST(Catalog, HasASourceAndADateForEveryFact) {
  const auto stated = [](const Provenance& p) { return !p.source.empty() && p.as_of.size() >= 4; };
  for (const Accelerator& a : shipped().accelerators()) EXPECT_TRUE(stated(a.provenance)) << a.key;
  for (const InstanceType& i : shipped().instances()) EXPECT_TRUE(stated(i.provenance)) << i.name;
  for (const Price& p : shipped().prices()) EXPECT_TRUE(stated(p.provenance)) << p.instance;
  for (const ModelPreset& m : shipped().models()) EXPECT_TRUE(stated(m.provenance)) << m.architecture.name;
  for (const Stack& s : shipped().stacks()) EXPECT_TRUE(stated(s.provenance)) << s.id;
}

TEST(Catalog, FindsModelsInUpperOrLowerCaseAndInstancesAsAwsSpellsThem) {
  const ModelPreset* preset = shipped().find_model("llama-3.1-70b");
  ASSERT_NE(preset, nullptr);
  EXPECT_EQ(shipped().find_model("Llama-3.1-70B"), preset);
  EXPECT_EQ(shipped().find_model("META-LLAMA/llama-3.1-70b"), preset);
  EXPECT_EQ(shipped().find_instance("ML.P5.48XLARGE"), nullptr);
}

TEST(Catalog, FindsModelsAsHubAndPapersCallThem) {
  const auto found = [](std::string_view name) {
    const ModelPreset* preset = shipped().find_model(name);
    return preset == nullptr ? std::string("none") : preset->architecture.name;
  };
  EXPECT_EQ(found("Llama 3.1 8B"), "llama-3.1-8b");
  EXPECT_EQ(found("meta-llama/Llama-3.1-8B-Instruct"), "llama-3.1-8b");
  EXPECT_EQ(found("NousResearch/Llama-2-7b-chat-hf"), "llama-2-7b");
  EXPECT_EQ(found("google/gemma-2-9b-it"), "gemma-2-9b");
  EXPECT_EQ(found("Qwen/Qwen3-235B-A22B-Instruct-2507"), "qwen3-235b-a22b");
  EXPECT_EQ(found("mistralai/Mixtral-8x7B-Instruct-v0.1"), "mixtral-8x7b");
  EXPECT_EQ(found("mistralai/Mistral-7B-Instruct-v0.2"), "mistral-7b");
  EXPECT_EQ(found("mistralai/Mistral-7B-Instruct-v0.3"), "mistral-7b-v0.3") << "another vocabulary";
  EXPECT_EQ(found("unsloth/Llama-3.3-70B-Instruct-bnb-4bit"), "llama-3.1-70b");
  EXPECT_EQ(found("OPT-1.3B"), "opt-1.3b");
  EXPECT_EQ(found("OPT-13B"), "opt-13b") << "a point between digits is no decoration";
  EXPECT_EQ(found("llama-27b"), "none") << "nor is a dash";
  EXPECT_EQ(found("Command R"), "command-r-35b");
  EXPECT_EQ(found("Command R+"), "none") << "three times the size";
  EXPECT_EQ(found("Mistral Large 2"), "mistral-large-123b");
  EXPECT_EQ(found("Megatron-Turing NLG 530B"), "mt-nlg-530b");
  for (const char* name : {"", "/", "-", "instruct", "2507", "meta-llama/", "llama-3.1-8b-med"}) {
    EXPECT_EQ(found(name), "none") << name;
  }
}

TEST(Catalog, FindsEveryEntryByItsKey) {
  for (const Accelerator& a : shipped().accelerators()) EXPECT_EQ(shipped().find_accelerator(a.key), &a);
  for (const InstanceType& i : shipped().instances()) EXPECT_EQ(shipped().find_instance(i.name), &i);
  for (const ModelPreset& m : shipped().models()) EXPECT_EQ(shipped().find_model(m.architecture.name), &m);
  for (const Price& p : shipped().prices()) EXPECT_EQ(shipped().find_price(p.instance, p.region, p.market), &p);
  for (const FabricProfile& p : shipped().fabric_profiles()) EXPECT_EQ(shipped().find_fabric_profile(p.fabric), &p);
  for (const Stack& s : shipped().stacks()) {
    EXPECT_EQ(shipped().find_stack(s.id), &s);
    for (const std::string& alias : s.aliases) EXPECT_EQ(shipped().find_stack(alias), &s) << alias;
  }
}

TEST(Catalog, NamesTheNearestOfAnUnknownName) {
  const auto typo = shipped().instance("ml.p4d.24xlarg", "--instances");
  ASSERT_FALSE(typo.has_value());
  EXPECT_EQ(typo.error().front().location, "--instances");
  EXPECT_NE(typo.error().front().hint.find("ml.p4d.24xlarge"), std::string::npos) << to_string(typo.error());
  EXPECT_FALSE(shipped().stack("megatrn", "--stack").has_value());
  EXPECT_FALSE(shipped().model("llama-2-13", "--model").has_value());
  EXPECT_EQ(shipped().find_instance(""), nullptr);
}

TEST(Catalog, MatchesGlobs) {
  const auto names = [](std::string_view glob) {
    std::vector<std::string> found;
    const auto matches = shipped().instances_matching(glob, "--instances");
    if (matches) {
      for (const InstanceType* i : *matches) found.push_back(i->name);
    }
    return found;
  };
  EXPECT_EQ(names("ml.p4d.24xlarge"), std::vector<std::string>{"ml.p4d.24xlarge"});
  EXPECT_EQ(names("ml.p4*"), (std::vector<std::string>{"ml.p4d.24xlarge", "ml.p4de.24xlarge"}));
  EXPECT_EQ(names("ml.p5?.48xlarge"), std::vector<std::string>{"ml.p5e.48xlarge"});
  EXPECT_EQ(names("*gb200.36*").size(), 1U);
  EXPECT_EQ(names("*").size(), shipped().instances().size());
  EXPECT_EQ(names("ml.p3.*xlarge"), (std::vector<std::string>{"ml.p3.2xlarge", "ml.p3.8xlarge", "ml.p3.16xlarge"}));
  EXPECT_EQ(names("**p4d.**"), std::vector<std::string>{"ml.p4d.24xlarge"});
  EXPECT_FALSE(shipped().instances_matching("ml.z*", "--instances").has_value());
  EXPECT_FALSE(shipped().instances_matching("", "--instances").has_value());
}

TEST(CatalogMerge, ReplacesAKnownKeyInPlace) {
  const Catalog merged = with("prices", kPrice);
  EXPECT_EQ(merged.prices().size(), shipped().prices().size());
  const Price* p = merged.find_price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand);
  ASSERT_NE(p, nullptr);
  EXPECT_DOUBLE_EQ(in_usd_per_hour(p->rate), 30);
  EXPECT_EQ(p->basis, PriceBasis::Measured);
  EXPECT_EQ(p - merged.prices().data(),
            shipped().find_price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand) - shipped().prices().data());
}

TEST(CatalogMerge, AddsANewKeyAtTheEnd) {
  const Catalog merged =
      with("accelerators", R"({"key": "A0-1GB", "name": "A0", "vendor": "nvidia", "marketing_memory_gib": 1,
    "device_memory_mib": 1000, "peak_tflops": {}, "source": "test", "as_of": "2026"})");
  EXPECT_EQ(merged.accelerators().size(), shipped().accelerators().size() + 1);
  EXPECT_EQ(merged.accelerators().back().key, "A0-1GB");
  EXPECT_EQ(merged.find_accelerator("A0-1GB"), &merged.accelerators().back());
}

TEST(CatalogMerge, ChangesNothingIfAnyEntryIsFaulty) {
  Catalog catalog = shipped();
  const std::string bad = std::string(kPrice) + R"(, {"instance": "ml.p5.48xlarge", "region": "us-east-1",
    "market": "on-demand", "usd_per_hour": 0, "basis": "measured", "source": "test", "as_of": "2026"})";
  const auto merged = catalog.merge(json(overlay("prices", bad)));
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().front().location, "test.json:/prices/1/usd_per_hour");
  EXPECT_EQ(catalog.prices(), shipped().prices());
}

struct BadOverlay {
  const char* name;
  const char* code;
  std::string text;
};

class RefusedOverlay : public testing::TestWithParam<BadOverlay> {};

TEST_P(RefusedOverlay, SaysWhy) {
  Catalog catalog = shipped();
  const auto merged = catalog.merge(json(GetParam().text));
  ASSERT_FALSE(merged.has_value());
  EXPECT_TRUE(*GetParam().code == '\0' || has_code(merged.error(), GetParam().code)) << to_string(merged.error());
  EXPECT_EQ(catalog.prices(), shipped().prices());
}

const char* kStrayInstance = R"({"name": "ml.x", "accelerator": "Z80", "accelerator_count": 1,
  "accelerator_memory_mib": 64, "network": {"kind": "ethernet", "gbit_per_s": 1}, "training_support": "on-demand",
  "source": "test", "as_of": "2026"})";
const char* kStrayPrice = R"({"instance": "ml.none", "region": "us-east-1", "market": "spot", "usd_per_hour": 1,
  "basis": "measured", "source": "test", "as_of": "2026"})";

/// Knows no speed of what a V100 computes in.
const char* kIdleProfile = R"({"accelerator": "V100-32GB", "gemm_efficiency": {"fp32": 0.8},
  "gemm_half_k": 1, "gemm_half_tile": 1, "gemm_wave_rounding": 1, "gemm_floor_us": 5,
  "flash2": {"forward_efficiency": {"fp32": 0.5, "fp16": 0.5}, "backward_efficiency": {"fp32": 0.5, "fp16": 0.5},
  "forward_overhead_keys": 1, "backward_overhead_keys": 1, "half_dim": 1},
  "vendor_attention": {"forward_efficiency": {"fp32": 0.5, "fp16": 0.5},
  "backward_efficiency": {"fp32": 0.5, "fp16": 0.5}, "forward_overhead_keys": 1, "backward_overhead_keys": 1,
  "half_dim": 1}, "memory_efficiency": 0.8, "kernel_floor_us": 4, "source": "test", "as_of": "2026"})";

INSTANTIATE_TEST_SUITE_P(
    Of, RefusedOverlay,
    testing::Values(BadOverlay{"OtherSchema", "bad-schema", R"({"schema": "smplan.catalog/2"})"},
                    BadOverlay{"NoSchema", "", R"({"prices": []})"},
                    BadOverlay{"UnknownSection", "", R"({"schema": "smplan.catalog/1", "princes": []})"},
                    BadOverlay{"NotAnObject", "", "[]"},
                    BadOverlay{"SectionThatIsNoArray", "", R"({"schema": "smplan.catalog/1", "prices": {}})"},
                    BadOverlay{"OneKeyTwice", "duplicate-entry",
                               overlay("prices", std::string(kPrice) + ", " + kPrice)},
                    BadOverlay{"UnknownAccelerator", "", overlay("instances", kStrayInstance)},
                    BadOverlay{"UnknownInstance", "", overlay("prices", kStrayPrice)},
                    BadOverlay{"NameOfTwoLines", "unprintable",
                               overlay("instances", std::regex_replace(kStrayInstance, std::regex("ml.x"), "ml.x\\n"))},
                    BadOverlay{"NameWithABlank", "bad-name",
                               overlay("instances", std::regex_replace(kStrayInstance, std::regex("ml.x"), "ml x"))},
                    BadOverlay{"ProfileWithoutARate", "no-rate", overlay("accelerator_profiles", kIdleProfile)}),
    [](const testing::TestParamInfo<BadOverlay>& test_case) { return test_case.param.name; });

TEST(CatalogMerge, RefusesAnAliasThatAnotherStackHas) {
  Catalog catalog = shipped();
  const auto merged = catalog.merge(
      json(overlay("stacks", R"({"id": "mine", "name": "Mine", "aliases": ["NeMo"], "tensor_parallel": false,
    "sequence_parallel": false, "pipeline_parallel": false, "context_parallel": false, "expert_parallel": false,
    "shardings": ["none"], "recomputes": ["none"], "schedules": [], "collectives": ["nccl"], "offloads": ["none"],
    "precisions": ["bf16"], "vendors": ["nvidia"], "weight_bytes": 2, "gradient_bytes": 4,
    "gradient_reduce_bytes": 2, "master_bytes": 4, "logits_bytes": 4, "profile": {"source": "test", "as_of": "2026"}, "source": "test", "as_of": "2026"})")));
  ASSERT_FALSE(merged.has_value());
  EXPECT_TRUE(has_code(merged.error(), "duplicate-name")) << to_string(merged.error());
}

TEST(CatalogMerge, LeavesACopyAlone) {
  const Catalog before = shipped();
  Catalog after = before;
  ASSERT_TRUE(after.merge(json(overlay("prices", kPrice))).has_value());
  EXPECT_NE(after.find_price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand)->rate,
            before.find_price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand)->rate);
}

// As huggingface_hub's validate_repo_id takes them, with an organisation.
TEST(HubNames, AreThoseThatTheHubTakes) {
  for (const char* name : {"meta-llama/Llama-3.1-8B-Instruct", "a/b", "_a/b_", "Qwen/Qwen2.5-7B"}) {
    EXPECT_TRUE(is_hub_name(name)) << name;
  }
  const std::string long_name = "a/" + std::string(97, 'b');
  for (const std::string& name :
       {std::string("llama"), std::string("/b"), std::string("a/"), std::string("a/b/c"), std::string("-a/b"),
        std::string("a/b."), std::string("a/b--c"), std::string("a/b..c"), std::string("a/b.git"), std::string("a/b c"),
        std::string("a/b\n"), std::string("a/\xc3\xa9"), long_name}) {
    EXPECT_FALSE(is_hub_name(name)) << name;
  }
}

}  // namespace
}  // namespace smplan
