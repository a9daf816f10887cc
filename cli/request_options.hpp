#pragma once

#include <string_view>

#include "cli/flags.hpp"
#include "planner/request/request.hpp"

namespace smplan::cli {

/// The flags that say which model: --params, --model, --hf-config, --arch.
void add_model_options(Flags& command, RequestSpec& spec);

/// Every flag of a request.
void add_request_options(Flags& command, RequestSpec& spec);
/// Those whose members' names a command takes.
void add_request_options(Flags& command, RequestSpec& spec, bool (*takes)(std::string_view));

/// AWS_REGION, else AWS_DEFAULT_REGION.
std::optional<std::string> environment_region();

}  // namespace smplan::cli
