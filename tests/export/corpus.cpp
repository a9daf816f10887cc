// Prints a JSON array of exports: plans over every model family, instance family and stack that starts on SageMaker,
// each for every target. What the oracles judge, made in one process because a plan takes milliseconds.
//
// Usage: smplan_export_corpus FILE
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/export/launch.hpp"
#include "planner/preflight/fallbacks.hpp"
#include "planner/search/search.hpp"
#include "tests/support/export_options.hpp"
#include "tests/support/spec_field.hpp"

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;

/// `p5en` of `ml.p5en.48xlarge`.
std::string family_of(const std::string& type) {
  const std::size_t start = type.find('.') + 1;
  return type.substr(start, type.find('.', start) - start);
}

/// The type with the most accelerators of each family that SageMaker has ever trained on.
std::vector<const InstanceType*> one_type_a_family(const Catalog& catalog) {
  std::map<std::string, const InstanceType*> largest;
  for (const InstanceType& i : catalog.instances()) {
    if (i.accelerator_count == 0 || i.support == TrainingSupport::Reference) continue;
    if (i.support == TrainingSupport::NotSupported) continue;
    const InstanceType*& kept = largest[family_of(i.name)];
    if (kept == nullptr || kept->accelerator_count < i.accelerator_count) kept = &i;
  }
  std::vector<const InstanceType*> types;
  for (const auto& entry : largest) types.push_back(entry.second);
  return types;
}

/// The first preset of each family.
std::vector<std::string> one_model_a_family(const Catalog& catalog) {
  std::set<std::string> seen;
  std::vector<std::string> models;
  for (const ModelPreset& m : catalog.models()) {
    if (seen.insert(m.architecture.family).second) models.push_back(m.architecture.name);
  }
  return models;
}

std::vector<std::string> startable(const Catalog& catalog) {
  std::vector<std::string> stacks;
  for (const Stack& s : catalog.stacks()) {
    if (stack_export(s.id) != nullptr) stacks.push_back(s.id);
  }
  return stacks;
}

struct Corpus {
  const Catalog& catalog;
  Json exports = Json::array();
  int plans = 0;
  std::set<std::string> seen;

  /// Plans one combination and exports it with types that can take its place; false if nothing fits, or nothing can.
  bool add_with_fallbacks(const RequestSpec& spec, std::size_t most) {
    const Result<PlanRequest> request = resolve(spec, catalog, std::nullopt);
    if (!request) return false;
    const PlanSet set = search(*request, catalog);
    if (set.plans.empty()) return false;
    const Result<Lock> lock = read_lock(plan_lock(set, 1), catalog);
    if (!lock) return false;
    const Result<Fallbacks> found = fallbacks_of(*lock, catalog, std::nullopt);
    if (!found || found->plans.empty()) return false;
    ++plans;
    ExportOptions options = test::export_options(plans, false);
    options.fallbacks = choices_of(*found, most);
    for (const ExportTarget& target : export_targets()) {
      add_export(lock->plan, options, target);
      exports.back()["fallbacks"] = options.fallbacks.size();
    }
    return true;
  }

  /// Plans one combination and exports it everywhere; false if nothing fits.
  bool add(const RequestSpec& spec) {
    const Result<PlanRequest> request = resolve(spec, catalog, std::nullopt, Purpose::Estimate);
    if (!request) return false;
    const PlanSet set = search(*request, catalog);
    if (set.plans.empty()) return false;
    const TrainingPlan plan = training_plan_of(*request, set.plans.front());
    if (!seen.insert(plan.id()).second) return true;
    ++plans;
    const ExportOptions options = test::export_options(plans, plan.market != Market::Spot);
    for (const ExportTarget& target : export_targets()) add_export(plan, options, target);
    return true;
  }

  void add_export(const TrainingPlan& plan, const ExportOptions& options, const ExportTarget& target) {
    Json entry;
    entry["case"] = fmt::format("{} on {} x {}, {} {}, {}", plan.model.name, plan.instance_count, plan.instance->name,
                                plan.stack->id, to_string(plan.strategy), to_string(plan.market));
    entry["target"] = std::string(target.name);
    entry["plan_id"] = plan.id();
    entry["stack"] = plan.stack->id;
    entry["model"] = plan.model.name;
    entry["family"] = plan.model.family;
    entry["instance_type"] = plan.instance->name;
    entry["instance_count"] = plan.instance_count;
    entry["devices"] = plan.devices_per_instance();
    entry["region"] = plan.region;
    entry["market"] = std::string(to_string(plan.market));
    const Strategy& s = plan.strategy;
    entry["parallel"] =
        Json{{"data", s.data_parallel},       {"tensor", s.tensor_parallel}, {"pipeline", s.pipeline_parallel},
             {"context", s.context_parallel}, {"expert", s.expert_parallel}, {"virtual_pipeline", s.virtual_pipeline}};
    entry["sharding"] = Json{{"strategy", std::string(to_string(s.sharding))}, {"degree", s.shard_degree}};
    entry["micro_batch"] = s.micro_batch;
    entry["gradient_accumulation"] = plan.gradient_accumulation;
    entry["global_batch"] = plan.global_batch;
    entry["save_steps"] = plan.save_steps();
    entry["dtype"] = std::string(to_string(plan.precision));
    const Result<Export> exported = export_plan({plan, options, catalog}, target.name);
    if (exported) {
      entry["files"] = Json::object();
      for (const ExportFile& file : exported->files) entry["files"][file.path] = file.content;
      entry["placeholders"] = Json::array();
      for (const Placeholder& p : exported->placeholders) entry["placeholders"].push_back(p.text);
    } else {
      entry["refused"] = Json::array();
      for (const Diagnostic& d : exported.error()) entry["refused"].push_back(to_string(d));
    }
    exports.push_back(std::move(entry));
  }
};

RequestSpec spec_of(const std::string& model, const std::string& instance, const std::string& stack,
                    const std::string& count) {
  RequestSpec spec;
  spec.model = model;
  spec.instances = instance;
  spec.stack = stack;
  spec.count = count;
  spec.tokens = "1B";
  spec.global_batch = "256";
  spec.top = "1";
  return spec;
}

int run(const std::string& path) {
  const Result<Catalog> catalog = Catalog::shipped();
  if (!catalog) return 3;
  Corpus corpus{*catalog};
  const std::vector<const InstanceType*> types = one_type_a_family(*catalog);
  const std::vector<std::string> models = one_model_a_family(*catalog);
  const std::vector<std::string> stacks = startable(*catalog);
  // Every type with every stack: three models each that fit, taken in turn so that all families come by.
  std::size_t next = 0;
  for (const InstanceType* type : types) {
    for (const std::string& stack : stacks) {
      int found = 0;
      for (std::size_t tried = 0; tried < models.size() && found < 3; ++tried) {
        const std::string& model = models[next++ % models.size()];
        if (corpus.add(spec_of(model, type->name, stack, tried % 2 == 0 ? "2" : "4"))) ++found;
        if (found == 0 && tried > 6) break;  // the stack does not run on this type
      }
    }
  }
  // Every family with every stack on the type that runs most of them.
  for (const std::string& model : models) {
    for (const std::string& stack : stacks) {
      corpus.add(spec_of(model, stack == "neuron" ? "ml.trn1.32xlarge" : "ml.p4de.24xlarge", stack, "2"));
    }
  }
  // What the fastest plan of a small cluster does not show: splits, offloads, markets, adapters, formats.
  struct Special {
    test::SpecField field;
    const char* value;
    const char* model;
    const char* stack;
  };
  constexpr Special kSpecials[] = {
      {Dimension::Pipeline, "4", "llama-3-8b", "megatron"},
      {Dimension::VirtualPipeline, "2", "llama-3-8b", "megatron"},
      {Dimension::Context, "2", "llama-3-8b", "megatron"},
      {Dimension::Expert, "4", "mixtral-8x7b", "megatron"},
      {Dimension::Pipeline, "4", "nemotron-h-8b", "megatron"},
      {Dimension::VirtualPipeline, "2", "nemotron-3-nano-30b-a3b", "megatron"},
      {Dimension::Tensor, "8", "llama-3-70b", "megatron"},
      {Dimension::Offload, "optimizer", "llama-2-13b", "megatron"},
      {&RequestSpec::dtype, "fp8", "llama-3-8b", "megatron"},
      {Dimension::Recompute, "selective", "llama-3-8b", "megatron"},
      {Dimension::ShardDegree, "8", "llama-3-8b", "fsdp"},
      {Dimension::Offload, "params", "llama-3-8b", "fsdp"},
      {Dimension::Offload, "activations", "llama-3-8b", "fsdp"},
      {Dimension::Recompute, "selective", "llama-3-8b", "fsdp"},
      {Dimension::Collectives, "smddp", "llama-3-8b", "fsdp"},
      {Dimension::Collectives, "smddp", "gpt2-xl", "ddp"},
      {&RequestSpec::finetune, "lora", "llama-3-70b", "fsdp"},
      {&RequestSpec::finetune, "qlora", "llama-3-70b", "fsdp"},
      {&RequestSpec::market, "spot", "llama-3-8b", "fsdp"},
      {&RequestSpec::market, "capacity-block", "llama-3-8b", "fsdp"},
      {&RequestSpec::zero_stage, "1", "llama-3-8b", "deepspeed"},
      {&RequestSpec::zero_stage, "2", "llama-3-8b", "deepspeed"},
      {&RequestSpec::zero_stage, "3", "llama-3-8b", "deepspeed"},
      {Dimension::Offload, "optimizer", "llama-3-8b", "deepspeed"},
      {Dimension::Offload, "optimizer+params", "llama-2-13b", "deepspeed"},
      {Dimension::Pipeline, "2", "llama-3-8b", "torchtitan"},
      {Dimension::Context, "2", "llama-3-8b", "torchtitan"},
      {Dimension::Tensor, "4", "llama-3-8b", "torchtitan"},
      {Dimension::Expert, "4", "deepseek-v2-lite", "torchtitan"},
      {Dimension::Tensor, "2", "llama-3-8b", "smp-v2"},
      {Dimension::Context, "2", "llama-3-8b", "smp-v2"},
      {Dimension::Offload, "activations", "llama-3-8b", "smp-v2"},
      {Dimension::Pipeline, "2", "gpt-neox-20b", "smp-v1"},
      {Dimension::Tensor, "4", "gpt-neox-20b", "smp-v1"},
      {&RequestSpec::region, "eu-west-1", "llama-3-8b", "fsdp"},
      {&RequestSpec::global_batch, "32", "llama-3-8b", "hyperpod-adapter"},  // recipes accumulate nothing
      {&RequestSpec::global_batch, "32", "mistral-7b", "hyperpod-adapter"},
  };
  for (const Special& special : kSpecials) {
    for (const char* type : {"ml.p4d.24xlarge", "ml.p4de.24xlarge", "ml.p5.48xlarge"}) {
      RequestSpec spec = spec_of(special.model, type, special.stack, "4");
      special.field.of(spec) = special.value;
      corpus.add(spec);
    }
  }
  // Jobs that name other types for the case that theirs has no capacity: in either market, one to all that can be
  // named.
  int with_fallbacks = 0;
  for (const InstanceType* type : types) {
    for (const std::string& stack : stacks) {
      for (const char* market : {"on-demand", "spot"}) {
        RequestSpec spec = spec_of(stack == "ddp" ? "gpt2-xl" : "llama-3-8b", type->name, stack, "2");
        spec.market = market;
        const auto most = static_cast<std::size_t>(1 + with_fallbacks % (kMaxPreferences - 1));
        with_fallbacks += corpus.add_with_fallbacks(spec, most) ? 1 : 0;
      }
    }
  }
  if (with_fallbacks < 20) return 3;  // nobody would notice that they are not judged
  std::fprintf(stderr, "%d plans, %d of them with fallbacks, %zu exports\n", corpus.plans, with_fallbacks,
               corpus.exports.size());
  const Result<void> written = write_text_file(path, corpus.exports.dump() + "\n");
  if (!written) std::fputs(to_string(written.error()).c_str(), stderr);
  return written ? 0 : 3;
}

}  // namespace
}  // namespace smplan

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: smplan_export_corpus FILE\n", stderr);
    return 2;
  }
  return smplan::run(argv[1]);
}
