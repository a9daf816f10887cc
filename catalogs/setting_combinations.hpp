#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"

namespace smplan {

/// What a condition asks of the first of its settings that is there. Of one that is not, `otherwise` counts; without
/// an `otherwise` only `given` and `on` have an answer, and words that a row asks for are not there.
/// A path leads through lists of objects: one entry of them has to answer to all that is asked.
struct SettingCondition {
  enum class Test {
    On,          ///< there, and neither null nor false
    Given,       ///< there at all
    Absent,      ///< not there, or null
    Null,        ///< there, and null in so many words, where the library's default is another
    Is,          ///< one of `words`
    IsNot,       ///< none of `words`
    Above,       ///< `number`
    Below,       ///< `number`
    Whole,       ///< a number without a fraction
    AtLeast,     ///< the number of the setting `other`
    AtMost,      ///< the number of the setting `other`
    MultipleOf,  ///< the number of the setting `other`
    AsManyAs,    ///< entries of the setting `other`; a value that is no list is one
  };
  std::vector<std::string> settings;  ///< by their paths; spellings of one setting
  Test test = Test::On;
  std::vector<std::string> words;  ///< in lower case
  double number = 0;
  std::string other;
  std::optional<std::string> otherwise;  ///< the library's default
};

/// Settings that a library refuses together: where all of `when` hold, one of `must` has to.
struct SettingCombination {
  std::vector<SettingCondition> when, must;
  std::string says, fix;
  bool warns = false;   ///< it works, and does not do what is written
  bool newest = false;  ///< older versions took it
};

/// The combinations of one framework.
struct FrameworkCombinations {
  std::string framework, source, as_of;
  std::vector<SettingCombination> rows;
};

/// nullptr for a framework without such a file.
const FrameworkCombinations* framework_combinations(std::string_view framework);
const std::vector<FrameworkCombinations>& all_framework_combinations();

/// Generated at build time from catalogs/data/combinations.
std::span<const EmbeddedFile> shipped_combination_files();

}  // namespace smplan
