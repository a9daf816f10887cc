#include "cli/render/table.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "base/markdown.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"

namespace smplan::cli {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::size_t kGap = 2;

/// Code points: names in overlays may hold letters beyond ASCII.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Text broken at blanks into lines of at most `width`; a longer word has a line of its own.
std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  for (const std::string_view word : words_of(text)) {
    if (out.empty() || display_width(out.back()) + 1 + display_width(word) > width) {
      out.emplace_back(word);
    } else {
      out.back().append(" ").append(word);
    }
  }
  return out;
}

std::size_t column_width(const Table& table, std::size_t column) {
  std::size_t width = display_width(table.columns[column].name);
  for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
  return width;
}

/// The widest piece that blanks do not break.
std::size_t word_width(const Table& table, std::size_t column) {
  std::size_t width = display_width(table.columns[column].name);
  for (const auto& row : table.rows) {
    for (const std::string_view word : words_of(row[column])) width = std::max(width, display_width(word));
  }
  return width;
}

/// Indices of the columns that fit, and the names of those that do not.
struct Layout {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> widths;  ///< by column of the table
  std::vector<std::string> dropped;

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = kGap * (kept.empty() ? 0 : kept.size() - 1);
    for (const std::size_t i : kept) sum += widths[i];
    return sum;
  }
};

Layout lay_out(const Table& table, int width) {
  Layout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    layout.kept.push_back(i);
    layout.widths.push_back(column_width(table, i));
  }
  const auto limit = static_cast<std::size_t>(width);
  for (std::size_t i = 0; width > 0 && i < table.columns.size(); ++i) {
    if (table.columns[i].fold == 0 || layout.total() <= limit) continue;
    const std::size_t least = std::max(static_cast<std::size_t>(table.columns[i].fold), word_width(table, i));
    const std::size_t excess = layout.total() - limit;
    layout.widths[i] =
        std::min(layout.widths[i], std::max(least, layout.widths[i] - std::min(layout.widths[i], excess)));
  }
  while (width > 0 && layout.total() > limit) {
    const auto worst = std::max_element(layout.kept.begin(), layout.kept.end(), [&](std::size_t a, std::size_t b) {
      return table.columns[a].drop < table.columns[b].drop;
    });
    if (worst == layout.kept.end() || table.columns[*worst].drop == 0) break;
    layout.dropped.push_back(table.columns[*worst].name);
    layout.kept.erase(worst);
  }
  return layout;
}

/// A row as one or, where a cell is folded, several lines.
std::vector<std::string> lines(const Table& table, const Layout& layout, const std::vector<std::string>& cells) {
  std::vector<std::vector<std::string>> folded;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    folded.push_back(display_width(cells[i]) > layout.widths[i] ? broken(cells[i], layout.widths[i])
                                                                : std::vector<std::string>{cells[i]});
  }
  for (const std::size_t i : layout.kept) height = std::max(height, folded[i].size());
  std::vector<std::string> text(height);
  for (std::size_t row = 0; row < height; ++row) {
    for (const std::size_t i : layout.kept) {
      const std::string cell = row < folded[i].size() ? folded[i][row] : std::string();
      const std::string padding(layout.widths[i] - std::min(layout.widths[i], display_width(cell)), ' ');
      if (i != layout.kept.front()) text[row].append(kGap, ' ');
      text[row] += table.columns[i].align == Align::Right ? padding + cell : cell + padding;
    }
    text[row].erase(text[row].find_last_not_of(' ') + 1);
  }
  return text;
}

std::string paint(std::string_view text, std::string_view code, const Style& style) {
  if (!style.color || text.empty()) return std::string(text);
  return std::string(code).append(text).append(kReset);
}

std::string render(const Table& table, const Style& style, bool highlight_first) {
  const Layout layout = lay_out(table, style.width);
  std::vector<std::string> header;
  for (const Column& column : table.columns) header.push_back(column.name);
  std::string text = bold(lines(table, layout, header).front(), style) + '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (const std::string& line : lines(table, layout, table.rows[i])) {
      text += (highlight_first && i == 0 ? paint(line, kGreen, style) : line) + '\n';
    }
  }
  if (!layout.dropped.empty()) {
    std::string names;
    for (const std::string& name : layout.dropped) names += (names.empty() ? "" : ", ") + name;
    text += "(left out for width: " + names + ")\n";
  }
  return text;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  const std::string text = printable(value.is_string() ? value.text() : value.dump());
  // A line that begins with two colons is a command to GitHub's runner.
  if (text.find_first_of(",\"") == std::string::npos && !text.starts_with("::")) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string render_text(const Table& table, const Style& style) { return render(table, style, false); }
std::string render_ranking(const Table& table, const Style& style) { return render(table, style, true); }

std::string render_markdown(const Table& table) {
  std::string text = "|";
  for (const Column& column : table.columns) text += ' ' + markdown_cell(column.name) + " |";
  text += "\n|";
  for (const Column& column : table.columns) text += column.align == Align::Right ? " ---: |" : " --- |";
  text += '\n';
  for (const auto& row : table.rows) {
    text += '|';
    for (const std::string& cell : row) text += ' ' + markdown_cell(markdown_text(cell)) + " |";
    text += '\n';
  }
  return text;
}

std::string render_csv(const Json& rows) {
  std::string text;
  if (rows.empty()) return text;
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].members()) keys.push_back(key);
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(keys[i]);
  text += '\n';
  for (const Json& row : rows.elements()) {
    for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(row[keys[i]]);
    text += '\n';
  }
  return text;
}

std::string labelled(std::string_view label, std::string_view text, const Style& style) {
  const std::size_t indent = label.size() + 1;
  const auto width = static_cast<std::size_t>(style.width);
  const std::vector<std::string> paragraph =
      style.width > 0 ? broken(text, width > indent ? width - indent : 1) : std::vector<std::string>{std::string(text)};
  std::string out = bold(label, style);
  for (std::size_t i = 0; i < paragraph.size(); ++i) {
    out += (i == 0 ? std::string(1, ' ') : '\n' + std::string(indent, ' ')) + paragraph[i];
  }
  return out + '\n';
}

std::string bold(std::string_view text, const Style& style) { return paint(text, kBold, style); }

}  // namespace smplan::cli
