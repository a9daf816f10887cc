#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace smplan::cli {

/// What `catalog collectives` is asked for.
struct CollectiveFlags {
  std::optional<std::string> instances, count, op, sizes;
  [[nodiscard]] bool any() const { return instances || count || op || sizes; }
};
Result<Answer> list_collectives(const CollectiveFlags& flags, const Context& context);

/// The output of a program of nccl-tests beside its prediction. `instances`, `op`: what the file does not tell.
Result<Answer> validate_collectives(const std::string& path, const std::string& text,
                                    const std::optional<std::string>& instances, const std::optional<std::string>& op,
                                    const Context& context);

}  // namespace smplan::cli
