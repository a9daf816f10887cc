#pragma once

#include <string_view>
#include <vector>

namespace smplan {

/// What stands between blanks, however many; views into `text`.
std::vector<std::string_view> words_of(std::string_view text);

}  // namespace smplan
