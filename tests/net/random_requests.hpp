#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "catalogs/catalog.hpp"
#include "models/job/dimensions.hpp"

namespace smplan::test {

/// Requests as users might write them, of every stack, method and model in turn; many are refused. The same on every
/// machine: only the raw numbers of the generator are used.
class RandomRequests {
 private:
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }
  template <typename List>
  static const auto& at(const List& list, int turn) {
    return list[static_cast<std::size_t>(turn) % list.size()];
  }

 public:
  explicit RandomRequests(const Catalog& catalog) : catalog_(catalog) {
    for (const InstanceType& i : catalog.instances()) {
      if (i.accelerator_count >= 8) large_.push_back(&i);
    }
  }

  /// `turn` chooses stack, method and model, so that all come up.
  std::string next(int turn) {
    words_.clear();
    const Stack& stack = at(catalog_.stacks(), turn);
    const ModelPreset& model = at(catalog_.models(), turn + static_cast<int>(below(4)) * 37);
    add("model", model.architecture.name);
    add("stack", stack.id);
    add("instances", sometimes(2) ? pick(large_)->name : pick(catalog_.instances()).name);
    add("count", power(6));
    constexpr std::array<std::string_view, 6> kMethods{"", "", "", "full", "lora", "qlora"};
    if (const std::string_view method = at(kMethods, turn / static_cast<int>(catalog_.stacks().size()));
        !method.empty())
      add("finetune", method);
    if (sometimes(2)) add("tokens", pick_word({"20M", "1B", "300B"}));
    add_work();
    add_degrees();
    add_savings();
    if (!stack.offers.empty() && sometimes(2)) tell(pick(stack.offers));
    return words_;
  }

 private:
  void add_work() {
    if (sometimes(2)) add("seq_len", pick_word({"512", "2048", "4096", "8192"}));
    add("global_batch", power(11));
    if (sometimes(3)) add("dtype", pick_word({"bf16", "fp16", "fp8", "fp32", "tf32"}));
    if (sometimes(3)) add("optimizer", pick_word({"adam8bit", "sgd-momentum", "lion", "adafactor", "muon", "lamb"}));
    if (sometimes(5)) add("flash_attention", pick_word({"on", "off"}));
    if (sometimes(6)) add("market", pick_word({"spot", "capacity-block", "training-plan"}));
    if (sometimes(6)) add("dataset", pick_word({"50GB", "2TB"}));
    if (sometimes(8)) add("lora_embeddings", "on");
  }
  void add_degrees() {
    if (sometimes(2)) add("tp", power(4));
    if (sometimes(3)) add("pp", power(4));
    if (sometimes(6)) add("vpp", power(3));
    if (sometimes(6)) add("cp", power(3));
    if (sometimes(4)) add("ep", power(5));
    if (sometimes(10)) add("etp", power(3));
    if (sometimes(3)) add("micro_batch", power(4));
    if (sometimes(3)) add("sequence_parallel", pick_word({"true", "false"}));
    if (sometimes(3)) {
      add("sharding", pick_word({"none", "zero1", "zero2", "zero3", "fsdp-full", "fsdp-grad-op", "fsdp-hybrid"}));
    }
    if (sometimes(10)) add("shard_degree", power(5));
    if (sometimes(4)) add("collectives", pick_word({"nccl", "smddp"}));
  }
  void add_savings() {
    if (sometimes(2)) add("recompute", pick_word({"none", "selective", "full"}));
    if (sometimes(8)) add("recompute_layers", power(4));
    if (sometimes(6)) {
      add("offload", pick_word({"none", "optimizer", "optimizer+params", "activations", "optimizer+params+nvme"}));
    }
  }

  /// What the stack may be told.
  void tell(const Execution& offer) {
    Strategy s;
    s.execution = offer;
    for (const DimensionRow& row : dimensions()) {
      if (row.of_execution && row.applies(s)) add(row.keyword, row.text(row.get(s)));
    }
  }
  void add(std::string_view name, std::string_view value) {
    words_ += fmt::format("{}{}={}", words_.empty() ? "" : " ", name, value);
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool sometimes(std::uint64_t one_in) { return below(one_in) == 0; }
  /// 1, 2, 4, ... of `n` powers.
  std::string power(std::uint64_t n) { return std::to_string(std::uint64_t{1} << below(n)); }
  std::string_view pick_word(std::initializer_list<std::string_view> words) {
    return *(words.begin() + below(words.size()));
  }
  const Catalog& catalog_;
  std::vector<const InstanceType*> large_;  ///< what most stacks are for
  std::mt19937_64 random_{20261126};
  std::string words_;
};

}  // namespace smplan::test
