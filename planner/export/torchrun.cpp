#include <fmt/format.h>

#include "base/escape.hpp"
#include "base/json_writer.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

/// A setting's JSON as a word of the shell: a string without its quotes.
std::string word(const std::string& json) {
  const auto value = Json::parse(json);
  return escape_shell(value.is_string() ? value.text() : json);
}

}  // namespace

void write_torchrun(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Launch launch = prepare_processes(job, out, faults);
  std::string arguments;
  if (launch.script != "smplan_entry.py") {
    for (const auto& setting : launch.hyperparameters) {
      arguments += fmt::format(" \\\n  --{} {}", setting.first, word(setting.second));
    }
  }
  std::string environment;
  for (const auto& variable : launch.environment) {
    environment += fmt::format("export {}={}\n", variable.first, escape_shell(variable.second));
  }
  // On SageMaker the container starts torchrun itself; this is for other clusters and for a look at what it does.
  std::string text =
      "#!/bin/sh\n" + commented(provenance_lines(job)) +
      "# Run it on every instance, with NODE_RANK 0 to NNODES-1 and the first one's address in MASTER_ADDR.\n"
      "# Inside a SageMaker container both follow from SM_HOSTS and SM_CURRENT_HOST.\n"
      "set -eu\n";
  if (has_requirements(out)) text.insert(text.rfind("set -eu"), "# Needs: pip install -r src/requirements.txt\n");
  text += environment;
  text += fmt::format(
      "cd \"$(dirname -- \"$0\")/src\"\n"
      "exec torchrun \\\n  --nnodes {} \\\n  --nproc_per_node {} \\\n  --node_rank \"${{NODE_RANK:?}}\" \\\n"
      "  --rdzv_backend static \\\n  --master_addr \"${{MASTER_ADDR:?}}\" \\\n  --master_port 7777 \\\n  {}{}\n",
      job.plan.instance_count, job.plan.devices_per_instance(), escape_shell(launch.script), arguments);
  out.files.insert(out.files.begin(), {"launch.sh", text});
}

}  // namespace smplan
