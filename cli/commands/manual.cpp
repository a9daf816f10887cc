#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/interface/manual.hpp"
#include "cli/version.hpp"

namespace smplan::cli {
namespace {

Result<Answer> run_manual(const std::string& name, const Interface& interface, const Context& context) {
  const bool markdown = context.format_name == "markdown";
  if (markdown && !name.empty()) {
    return fail("conflict", "--format", "the Markdown reference is one page of all commands",
                "leave out " + quote(name));
  }
  if (markdown) return Answer{ExitCode::Done, reference_page(interface), {}};
  Answer answer;
  answer.files = man_pages(interface, SMPLAN_VERSION, catalog_date(context.catalog));
  if (!name.empty()) {
    const auto page = std::find_if(answer.files.begin(), answer.files.end(),
                                   [&](const OutputFile& file) { return file.path == "smplan-" + name + ".1"; });
    if (page == answer.files.end()) {
      std::vector<std::string> names;
      for (const CommandHelp& command : interface.commands) names.push_back(command.name);
      return tl::unexpected<Diagnostics>({unknown_name("command", name, "manual", names)});
    }
    answer.files = {*page};
  }
  answer.text = answer.files.front().content;
  return answer;
}

}  // namespace

Command manual_command(std::shared_ptr<const Interface> interface) {
  auto name = std::make_shared<std::string>();
  Command command{"manual", "Print the manual: a man page, all of them into a folder, or one page of Markdown",
                  "smplan manual plan --output smplan-plan.1\n"
                  "  smplan manual --output man/\n"
                  "  smplan manual --format markdown --output cli.md",
                  [name](Flags& app) { app.add_option("command", *name, "Its page alone")->type_name("COMMAND"); },
                  [name, interface = std::move(interface)](const Context& context) {
                    return run_manual(*name, *interface, context);
                  }};
  command.formats.names = {"man", "markdown"};
  command.shipped_facts = true;
  return command;
}

}  // namespace smplan::cli
