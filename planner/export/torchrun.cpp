#include "planner/export/program.hpp"
#include "planner/export/writers.hpp"

namespace smplan {

void write_torchrun(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Launch launch = prepare_processes(job, out, faults);
  out.files.insert(out.files.begin(),
                   {"launch.sh", launch_script(job, launch, "src/", /*by_accelerate=*/false, has_requirements(out))});
}

}  // namespace smplan
