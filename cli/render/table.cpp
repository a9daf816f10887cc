#include "cli/render/table.hpp"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

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

std::size_t column_width(const Table& table, std::size_t column) {
  std::size_t width = display_width(table.columns[column].name);
  for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
  return width;
}

/// Indices of the columns that fit, and the names of those that do not.
struct Layout {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> widths;  ///< by column of the table
  std::vector<std::string> dropped;
};

Layout lay_out(const Table& table, int limit) {
  Layout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    layout.kept.push_back(i);
    layout.widths.push_back(column_width(table, i));
  }
  const auto total = [&] {
    std::size_t sum = kGap * (layout.kept.empty() ? 0 : layout.kept.size() - 1);
    for (const std::size_t i : layout.kept) sum += layout.widths[i];
    return sum;
  };
  while (limit > 0 && total() > static_cast<std::size_t>(limit)) {
    const auto worst = std::max_element(layout.kept.begin(), layout.kept.end(), [&](std::size_t a, std::size_t b) {
      return table.columns[a].drop < table.columns[b].drop;
    });
    if (worst == layout.kept.end() || table.columns[*worst].drop == 0) break;
    layout.dropped.push_back(table.columns[*worst].name);
    layout.kept.erase(worst);
  }
  return layout;
}

std::string line(const Table& table, const Layout& layout, const std::vector<std::string>& cells) {
  std::string text;
  for (const std::size_t i : layout.kept) {
    const std::string padding(layout.widths[i] - display_width(cells[i]), ' ');
    if (i != layout.kept.front()) text.append(kGap, ' ');
    text += table.columns[i].align == Align::Right ? padding + cells[i] : cells[i] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
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
  std::string text = bold(line(table, layout, header), style) + '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string row = line(table, layout, table.rows[i]);
    text += (highlight_first && i == 0 ? paint(row, kGreen, style) : row) + '\n';
  }
  if (!layout.dropped.empty()) {
    std::string names;
    for (const std::string& name : layout.dropped) names += (names.empty() ? "" : ", ") + name;
    text += "(left out for width: " + names + ")\n";
  }
  return text;
}

std::string csv_cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return {};
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string markdown_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
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
    for (const std::string& cell : row) text += ' ' + markdown_cell(cell) + " |";
    text += '\n';
  }
  return text;
}

std::string render_csv(const nlohmann::ordered_json& rows) {
  std::string text;
  if (rows.empty()) return text;
  std::vector<std::string> keys;
  for (const auto& member : rows.front().items()) keys.push_back(member.key());
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(keys[i]);
  text += '\n';
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto cell = row.find(keys[i]);
      text += (i == 0 ? "" : ",") + (cell == row.end() ? std::string() : csv_cell(*cell));
    }
    text += '\n';
  }
  return text;
}

std::string labelled(std::string_view label, std::string_view text, const Style& style) {
  const std::size_t indent = label.size() + 1;
  std::string out = bold(label, style) + ' ';
  std::size_t at = indent;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    const std::size_t length = display_width(word);
    const bool first = at == indent;
    if (style.width > 0 && !first && at + 1 + length > static_cast<std::size_t>(style.width)) {
      out.append("\n").append(indent, ' ');
      at = indent;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += length;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out + '\n';
}

std::string bold(std::string_view text, const Style& style) { return paint(text, kBold, style); }

}  // namespace smplan::cli
