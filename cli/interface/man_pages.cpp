#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/interface/manual.hpp"

namespace smplan::cli {
namespace {

/// Text that the formatter takes as it stands: hyphens stay hyphens, no line is a request.
std::string escaped(std::string_view text) {
  std::string out;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '|') {
      out += "|\\:";  // a list of choices may be broken here
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string title(const std::string& page, std::string_view version, std::string_view date) {
  return fmt::format(".TH {} 1 \"{}\" \"smplan {}\" \"User Commands\"\n.ad l\n", escaped(upper(page)), date, version);
}

std::string tagged(const std::string& tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

std::string pairs(const char* heading, const std::vector<std::pair<std::string, std::string>>& all) {
  std::string out = fmt::format(".SH {}\n", heading);
  for (const auto& [name, meaning] : all) out += tagged("\\fB" + escaped(name) + "\\fR", meaning);
  return out;
}

std::string tag_of(const ArgumentHelp& argument) {
  std::string tag;
  for (const std::string& name : argument.names) tag += (tag.empty() ? "\\fB" : "\\fR, \\fB") + escaped(name);
  tag += "\\fR";
  if (!argument.type.empty()) tag += (argument.positional ? ": \\fI" : "=\\fI") + escaped(argument.type) + "\\fR";
  return tag;
}

/// Arguments under the headings of the help, in its order.
std::string argument_sections(const std::vector<ArgumentHelp>& arguments) {
  std::string out;
  std::string group;
  for (const bool positional : {true, false}) {
    for (const ArgumentHelp& argument : arguments) {
      if (argument.positional != positional) continue;
      const std::string heading = positional ? "Arguments" : argument.group.empty() ? "Options" : argument.group;
      if (heading != group) out += fmt::format(".SS \"{}\"\n", escaped(heading));
      group = heading;
      out += tagged(tag_of(argument), argument.text);
    }
  }
  return out;
}

std::string examples(const std::vector<std::string>& lines) {
  std::string out = ".SH EXAMPLES\n.nf\n";
  for (const std::string& line : lines) out += escaped(line) + '\n';
  return out + ".fi\n";
}

std::string command_page(const Interface& interface, const CommandHelp& command, std::string_view version,
                         std::string_view date) {
  const std::string page = "smplan-" + command.name;
  std::string out = title(page, version, date);
  out += fmt::format(".SH NAME\n{} \\- {}\n", escaped(page), escaped(command.summary));
  out += fmt::format(".SH SYNOPSIS\n\\fBsmplan {}\\fR [\\fIOPTIONS\\fR]", escaped(command.name));
  for (const ArgumentHelp& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string word = "\\fI" + escaped(argument.name()) + "\\fR" + (argument.repeats ? " ..." : "");
    out += argument.required ? ' ' + word : " [" + word + ']';
  }
  out += "\n.SH OPTIONS\n" + argument_sections(command.arguments);
  out += pairs("EXIT STATUS", interface.exit_codes);
  out += examples(command.examples);
  return out + ".SH SEE ALSO\n.BR smplan (1)\n";
}

}  // namespace

std::vector<OutputFile> man_pages(const Interface& interface, std::string_view version, std::string_view date) {
  std::string out = title("smplan", version, date);
  out += ".SH NAME\nsmplan \\- plan distributed training on Amazon SageMaker\n";
  out += ".SH SYNOPSIS\n\\fBsmplan\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  out += ".SH DESCRIPTION\n" + escaped(interface.about) + '\n';
  out += ".SH COMMANDS\n";
  for (const CommandHelp& command : interface.commands) {
    out += tagged("\\fBsmplan " + escaped(command.name) + "\\fR(1)", command.summary);
  }
  out += ".SH OPTIONS\n" + argument_sections(interface.arguments);
  out += pairs("EXIT STATUS", interface.exit_codes);
  out += pairs("ENVIRONMENT", interface.environment);
  out += examples(interface.examples) + ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < interface.commands.size(); ++i) {
    const bool last = i + 1 == interface.commands.size();
    out += fmt::format(".BR smplan\\-{} (1){}\n", escaped(interface.commands[i].name), last ? "" : ",");
  }
  std::vector<OutputFile> pages = {{"smplan.1", std::move(out)}};
  for (const CommandHelp& command : interface.commands) {
    pages.push_back({"smplan-" + command.name + ".1", command_page(interface, command, version, date)});
  }
  return pages;
}

}  // namespace smplan::cli
