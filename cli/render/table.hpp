#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"

namespace smplan::cli {

/// How text may look where it goes. Plain ASCII without limits unless it is a terminal.
struct Style {
  bool color = false;
  int width = 0;  ///< columns; 0: no limit
};

enum class Align { Left, Right };

struct Column {
  std::string name;
  Align align = Align::Left;
  int drop = 0;  ///< where the width is short, the highest goes first; 0 stays
  int fold = 0;  ///< before any is dropped, cells break at blanks down to this width; 0: never
};

/// Cells as people read them; every row has one cell a column.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Aligned columns under a header line; what was dropped for width is said below.
std::string render_text(const Table& table, const Style& style);
/// The same with the first row highlighted (the best of a ranking).
std::string render_ranking(const Table& table, const Style& style);
/// A GitHub table, all columns.
std::string render_markdown(const Table& table);

/// RFC 4180 lines with a header, from an array of flat objects with equal keys; missing or null is empty.
std::string render_csv(const Json& rows);

/// Paragraph of `label` and text, broken at blanks to the width, continuation lines under the text.
std::string labelled(std::string_view label, std::string_view text, const Style& style);

std::string bold(std::string_view text, const Style& style);

}  // namespace smplan::cli
