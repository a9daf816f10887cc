#pragma once

#include "cli/flags.hpp"
#include "planner/request/request.hpp"

namespace smplan::cli {

/// The flags that say which model: --params, --model, --hf-config, --arch.
void add_model_options(Flags& command, RequestSpec& spec);

/// Every flag of a request.
void add_request_options(Flags& command, RequestSpec& spec);

/// AWS_REGION, else AWS_DEFAULT_REGION.
std::optional<std::string> environment_region();

}  // namespace smplan::cli
