#include <memory>
#include <utility>

#include "cli/command.hpp"
#include "cli/interface/completion.hpp"

namespace smplan::cli {
namespace {

Result<Answer> run_completion(const std::string& shell, const Interface& interface, const Context& context) {
  if (shell == "bash") return Answer{ExitCode::Done, bash_completion(interface, context.catalog), {}};
  if (shell == "zsh") return Answer{ExitCode::Done, zsh_completion(interface, context.catalog), {}};
  if (shell == "fish") return Answer{ExitCode::Done, fish_completion(interface, context.catalog), {}};
  return tl::unexpected<Diagnostics>({unknown_name("shell", shell, "completion", {"bash", "zsh", "fish"})});
}

}  // namespace

Command completion_command(std::shared_ptr<const Interface> interface) {
  auto shell = std::make_shared<std::string>();
  Command command{"completion", "Print what makes a shell complete commands, flags and their values",
                  "source <(smplan completion bash)\n"
                  "  smplan completion zsh --output ~/.zfunc/_smplan\n"
                  "  smplan completion fish --output ~/.config/fish/completions/smplan.fish",
                  [shell](Flags& app) {
                    app.add_option("shell", *shell, "Whose words to write")->required()->type_name("bash|zsh|fish");
                  },
                  [shell, interface = std::move(interface)](const Context& context) {
                    return run_completion(*shell, *interface, context);
                  }};
  command.formats.names = {"script"};
  command.shipped_facts = true;
  return command;
}

}  // namespace smplan::cli
