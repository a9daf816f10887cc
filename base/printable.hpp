#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smplan {

/// One line of text that shows as what it is: well-formed UTF-8 without control characters, line separators,
/// bidirectional and other invisible format characters, private-use and unassignable code points.
/// Source: The Unicode Standard 15.0, categories Cc, Cf, Zl, Zp, Co and noncharacters.
bool is_printable(std::string_view text);

/// `text` as such a line: what is not printable becomes `?`. Longer than `max_bytes`, it is cut and ends in `...`.
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos);

/// Lines of an answer, fit for a terminal and a log: as `printable`, and a line break stays one, as do tabs and the
/// colours that smplan itself sets. A line of over 16 KiB is cut. A line cannot be a command to GitHub's runner
/// (`::error::`, `##[error]`). Source: github.com/actions/runner, src/Runner.Common/ActionCommand.cs, read 2026-11.
std::string printable_lines(std::string_view text);

/// JSON text that holds the same values and no invisible character but the line feed: each becomes its `\uXXXX`.
std::string printable_json(std::string_view json);

/// Names that other files and programs refer to (types, stacks, regions, keys): 1 to 64 ASCII letters, digits, `.`,
/// `_` and `-`, the first a letter or digit.
bool is_identifier(std::string_view text);
inline constexpr std::string_view kIdentifierRule =
    "write 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit";

/// Names of models, which people and hubs choose: 1 to 96 bytes of letters, digits, single blanks and `. _ / + : @ ( )
/// -`, the first a letter, digit, `.`, `_` or `/`. Letters beyond ASCII count where they are printable.
bool is_label(std::string_view text);
inline constexpr std::string_view kLabelRule =
    "write at most 96 bytes of letters, digits, blanks and . _ / + : @ ( ) -, the first a letter or digit";

/// The label that is nearest to `text`: each run of other characters becomes `-`. Of a longer text the end stays, which
/// is where a path holds its name. Empty if nothing is left.
std::string label_of(std::string_view text);

}  // namespace smplan
