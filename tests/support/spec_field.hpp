#pragma once

#include <optional>
#include <string>

#include "planner/request/request.hpp"

namespace smplan::test {

/// A member of a RequestSpec, or one of its dimensions, in tables of cases.
class SpecField {
 public:
  constexpr SpecField(std::optional<std::string> RequestSpec::*member) : member_(member) {}
  constexpr SpecField(Dimension dimension) : dimension_(dimension) {}
  [[nodiscard]] std::optional<std::string>& of(RequestSpec& spec) const {
    return member_ != nullptr ? spec.*member_ : spec[dimension_];
  }

 private:
  std::optional<std::string> RequestSpec::*member_ = nullptr;
  Dimension dimension_ = Dimension::Tensor;
};

}  // namespace smplan::test
