#pragma once

#include <string>

namespace smplan::cli {

/// A name as the head of a column: ASCII letters alone change, whatever the locale.
inline std::string in_capitals(std::string name) {
  for (char& letter : name) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return name;
}

}  // namespace smplan::cli
