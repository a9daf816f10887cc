#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/render/catalog_page.hpp"
#include "cli/render/model_page.hpp"
#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::columns_of;
using test::expect_page;

/// Both halves of a listing: what people read and what machines do.
std::string both(const Listing& listing) { return render_text(listing.table, {}) + '\n' + listing.rows.dump(1) + '\n'; }

TEST(AcceleratorPage, LeavesOutWhatIsNotKnown) {
  Accelerator chip;
  chip.key = "Chip-1";
  expect_page("accelerator_empty.txt", both(accelerator_page(chip, Catalog())));
}

TEST(AcceleratorPage, ShowsEveryFact) {
  Accelerator chip;
  chip.key = "Chip-1";
  chip.name = "The Chip";
  chip.architecture = "Sand";
  chip.compute_capability = "1.5";
  chip.device_memory = gib(39.5);
  chip.marketing_memory = gib(40);
  chip.memory_bandwidth = BytesPerSecond(1.5e12);
  chip.sm_count = 1;
  chip.power_limit_w = 0.5;
  chip.l2_cache = Bytes(524288);
  for (std::size_t i = 0; i < chip.peak.size(); ++i) chip.peak[i] = FlopsPerSecond(0.5e12 * static_cast<double>(i + 1));
  chip.unverified_fields = {"sm_count", "l2_cache"};
  chip.note = "made up";
  chip.provenance = {"a page", "2026-01-02"};
  expect_page("accelerator.txt", both(accelerator_page(chip, Catalog())));
}

TEST(InstancePage, LeavesOutWhatIsNotKnown) {
  InstanceType type;
  type.name = "ml.x";
  type.accelerator_count = 2;
  type.fabric.domain_size = 2;
  expect_page("instance_empty.txt", both(instance_page(type, Catalog())));
}

TEST(InstancePage, ShowsEveryFact) {
  InstanceType type;
  type.name = "ml.x";
  type.accelerator = "Chip-1";
  type.accelerator_count = 2;
  type.accelerator_memory = gib(39.5);
  type.fabric = {FabricKind::Nvswitch, "Link 1", BytesPerSecond(3e11), 3};
  type.network = {NetworkKind::Efa, "EFA v9", BytesPerSecond(1.25e10), 4, true};
  type.vcpus = 96;
  type.host_memory = gib(1152);
  type.host_link = BytesPerSecond(2.5e10);
  type.host_speed = 1.25;
  type.blocking_launches = true;
  type.local_nvme = gib(8000);
  type.support_reason = "retired";
  type.smddp = true;
  type.training_plan = true;
  type.sold_in = {9, 18};
  type.note = "made up";
  type.provenance = {"a page", "2026-01-02"};
  expect_page("instance.txt", both(instance_page(type, Catalog())));
}

TEST(StackPage, ShowsEveryFact) {
  Stack stack;
  stack.id = "sail";
  stack.name = "The Sail Stack";
  stack.aliases = {"sails", "canvas"};
  stack.sequence_parallel = true;
  stack.context_parallel = true;
  stack.shardings = {Sharding::None, Sharding::Zero1};
  stack.recomputes = {Recompute::None, Recompute::Full};
  stack.schedules = {Schedule::OneFOneB};
  stack.collectives = {Collectives::Nccl};
  stack.offloads = {"none", "params"};
  stack.precisions = {"bf16"};
  stack.vendors = {Vendor::Nvidia};
  stack.versions = "1 to 2";
  stack.limitation = "no wind";
  stack.profile.provenance.source = "a fit";
  stack.provenance = {"a page", "2026-01-02"};
  expect_page("stack.txt", both(stack_page(stack)));
  expect_page("stack_empty.txt", both(stack_page(Stack())));
}

TEST(FactLists, KeepTheirColumnsWhereTheWidthIsShort) {
  const Catalog none;
  std::string text = columns_of(accelerator_list(none).table) + columns_of(instance_list(none, false).table) +
                     columns_of(price_list(none, std::nullopt, std::nullopt).table) +
                     columns_of(stack_list(none).table) + columns_of(catalog_summary(none).table) +
                     columns_of(model_list({}).table) + columns_of(stack_page(Stack()).table);
  expect_page("fact_columns.txt", text);
}

TEST(HourlyUsd, RoundsToAMillionthOfADollar) {
  Price price;
  price.rate = usd_per_hour(1.2345678);
  EXPECT_DOUBLE_EQ(hourly_usd(price), 1.234568);
}

TEST(ModelPage, ShowsEveryFactOfAnArchitecture) {
  Architecture a = smplan::test::small_moe(4, 256, 4, 8);
  a.n_encoder_layers = 3;
  a.sliding_window = 1;
  a.latent.kv_lora_rank = 64;
  a.latent.q_lora_rank = 32;
  a.attention_output_gate = true;
  a.attention_stride = 2;
  a.state.n_heads = 2;
  a.state.head_dim = 16;
  a.state.n_groups = 1;
  a.state.state_dim = 8;
  a.moe.latent_hidden = 128;
  a.moe.n_shared_experts = 1;
  a.prediction.depth = 1;
  a.extra_parameters = 5;
  a.extra_parameters_note = "five more";
  a.left_out = "a tower";
  ModelPreset preset;
  preset.architecture = a;
  preset.aliases = {"tiny", "wee"};
  preset.published_parameters = 1000;
  preset.default_seq_len = 512;
  preset.trained_tokens = 0.5;
  preset.batch_tokens = 0.25;
  preset.batch_source = "a paper";
  preset.provenance = {"a page", "2026-01-02"};
  expect_page("model.txt", both(model_page(a, &preset)));
  expect_page("model_list.txt", both(model_list({preset})));
}

TEST(ModelPage, LeavesOutWhatAModelLacks) {
  Architecture a = smplan::test::small_model(4, 256, 4);
  a.family.clear();
  a.gated_mlp = false;
  a.tied_embeddings = true;
  a.state.delta_rule = true;
  ModelPreset preset;
  preset.architecture = a;
  expect_page("model_plain.txt", both(model_page(a, nullptr)));
  expect_page("model_plain_preset.txt", both(model_page(a, &preset)));
  expect_page("model_list_plain.txt", both(model_list({preset})));
}

}  // namespace
}  // namespace smplan::cli
