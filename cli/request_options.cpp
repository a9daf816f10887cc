#include "cli/request_options.hpp"

#include <algorithm>
#include <cstdlib>

#include "planner/request/names.hpp"

namespace smplan::cli {
namespace {

/// The heading of a group in the help.
const char* heading(RequestGroup group) {
  switch (group) {
    case RequestGroup::Model:
      return "Model (exactly one)";
    case RequestGroup::Work:
      return "Work";
    case RequestGroup::Hardware:
    case RequestGroup::Purchase:
      return "Hardware";
    case RequestGroup::Software:
    case RequestGroup::Launch:
      return "Software";
    case RequestGroup::Dimension:
      return "Fixed dimensions (a value, or a list of those allowed)";
    case RequestGroup::Execution:
      return "What software is told (left out: as the framework does by default)";
    case RequestGroup::Operation:
      return "Checkpoints and data";
    case RequestGroup::Memory:
    case RequestGroup::Goal:
    case RequestGroup::Facts:
    case RequestGroup::Answer:
      return "Limits and goal";
  }
  return "";
}

void add_flag(Flags& command, RequestSpec& spec, const RequestName& name) {
  std::string flag = "--" + std::string(name.name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  std::optional<std::string>& field = name.of(spec);
  const std::string help(name.help);
  if (name.is_switch) {
    command.add_switch(flag, field, help)->group(heading(name.group));
  } else {
    Flag option = name.repeats ? command.add_list(flag, field, help) : command.add_option(flag, field, help);
    option.type_name(name.type).group(heading(name.group));
  }
}

}  // namespace

void add_model_options(Flags& command, RequestSpec& spec) {
  for (const RequestName& name : request_names()) {
    if (name.group == RequestGroup::Model) add_flag(command, spec, name);
  }
}

void add_request_options(Flags& command, RequestSpec& spec) {
  for (const RequestName& name : request_names()) add_flag(command, spec, name);
}

void add_request_options(Flags& command, RequestSpec& spec, bool (*takes)(std::string_view)) {
  for (const RequestName& name : request_names()) {
    if (takes(name.name)) add_flag(command, spec, name);
  }
}

std::optional<std::string> environment_region() {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return std::string(value);
  }
  return std::nullopt;
}

}  // namespace smplan::cli
