#include "planner/preflight/rule.hpp"

namespace smplan {

std::string_view to_string(Severity severity) {
  static constexpr std::string_view kNames[] = {"error", "warning", "info"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string reason_not_run(const Need& need) {
  switch (need.kind) {
    case Need::Nothing:
      break;
    case Need::Folder:
      return "needs the folder of a job";
    case Need::Files:
      return "needs the folder of a job, or files that it goes on from";
    case Need::Lock:
      return "needs the folder of a job with its plan.json";
    case Need::Prediction:
      return "needs a model and hardware to predict with: --model or --params, --instances, --count";
    case Need::Length:
      return "needs a model, hardware and the length of the run: --model or --params, --instances, --count, --tokens";
    case Need::Budget:
      return "needs --budget beside a model";
    case Need::Deadline:
      return "needs --deadline beside a model";
    case Need::Hourly:
      return "needs --max-hourly";
    case Need::OfFacts:
      return "needs " + std::string(need.fact->needed) + ": facts." + std::string(need.fact->key);
  }
  return {};
}

std::string_view Report::fix() const { return rule_.fix; }

Finding& Report::at(const Where& where, std::initializer_list<std::string> arguments) {
  Finding finding;
  finding.rule = rule_.id;
  finding.severity = rule_.severity;
  finding.where = where;
  auto argument = arguments.begin();
  std::string_view rest = rule_.message;
  for (std::size_t hole = rest.find("{}"); hole != std::string_view::npos; hole = rest.find("{}")) {
    finding.message += rest.substr(0, hole);
    if (argument != arguments.end()) finding.message += *argument++;
    rest.remove_prefix(hole + 2);
  }
  finding.message += rest;
  finding.fix = rule_.fix;
  finding.source = rule_.source;
  out_.push_back(std::move(finding));
  return out_.back();
}

const InstanceType* CheckInput::instance() const { return machines.size() == 1 ? machines.front().instance : nullptr; }

std::optional<std::int64_t> CheckInput::nodes() const {
  std::int64_t total = 0;
  for (const Machines& m : machines) {
    if (!m.count) return job.strategy.nodes.value;
    total = plus(total, *m.count);
  }
  return machines.empty() ? job.strategy.nodes.value : std::optional(total);
}

std::optional<std::int64_t> CheckInput::devices_per_node() const {
  if (const InstanceType* type = instance()) {
    return type->accelerator_count > 0 ? std::optional<std::int64_t>(type->accelerator_count) : std::nullopt;
  }
  return job.strategy.devices_per_node.value;
}

std::optional<std::int64_t> CheckInput::devices() const {
  if (job.strategy.world && *job.strategy.world >= 1) return job.strategy.world.value;
  const auto n = nodes();
  const auto d = devices_per_node();
  if (!n || !d || *n <= 0 || *d <= 0 || *n > 1'000'000 || *d > 1'000) return std::nullopt;
  return *n * *d;
}

std::optional<std::int64_t> CheckInput::world() const {
  const auto all = devices();
  const Count& others = job.reinforcement.not_training;
  if (!all || !others.stated) return all;
  if (!others || *others < 0 || *others >= *all) return std::nullopt;
  return *all - *others;
}

std::int64_t CheckInput::processes_per_node() const {
  const Launcher& l = job.launcher;
  if (l.processes_per_node) return *l.processes_per_node;
  if (l.torchrun.is(true) || l.mpi.is(true) || l.smddp.is(true) || l.pytorchddp.is(true) || l.smp.is(true)) {
    return devices_per_node().value_or(1);
  }
  return 1;
}

bool CheckInput::pytorch() const {
  if (job.framework == Framework::PyTorch) return true;
  return job.framework == Framework::HuggingFace && !job.root().has("tensorflow_version") &&
         !(job.image && job.image->find("tensorflow") != std::string::npos);
}

}  // namespace smplan
