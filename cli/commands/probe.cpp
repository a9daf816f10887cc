#include <span>

#include "base/embedded_file.hpp"
#include "cli/command.hpp"

namespace smplan {

std::span<const EmbeddedFile> probe_script();

namespace cli {

Command probe_command() {
  Formats formats;
  return {"probe",
          "Print the script that measures a device, its host and its links",
          "smplan probe --output probe.py\n  torchrun --nproc-per-node 8 probe.py --seconds 180 --output probe.json\n  "
          "smplan calibrate --probe probe.json --output mine.json",
          [](Flags& /*app*/) {},
          [](const Context& /*context*/) -> Result<Answer> {
            const EmbeddedFile& script = probe_script().front();
            Answer answer{ExitCode::Done, std::string(script.content)};
            answer.verbatim = true;
            return answer;
          },
          formats,
          true};
}

}  // namespace cli
}  // namespace smplan
