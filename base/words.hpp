#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// What stands between blanks, however many; views into `text`.
std::vector<std::string_view> words_of(std::string_view text);

/// Without blanks, tabs and carriage returns at either end; a view into `text`.
std::string_view trim(std::string_view text);

/// ASCII letters only: std::tolower depends on the locale.
char lower_case(char letter);
std::string lower_case(std::string_view text);

/// ASCII, as all here.
bool is_digit(char c);
bool is_letter_or_digit(char c);
/// ASCII letters and digits alone, in lower case: `FULL_SHARD` and `full shard` are `fullshard`.
std::string letters_and_digits(std::string_view text);

/// The entry of `known` that has the letters and digits of `text`, in whatever case and with whatever marks between
/// them; nullopt if there is none, or more than one.
std::optional<std::string> known_spelling(std::string_view text, const std::vector<std::string>& known);

}  // namespace smplan
