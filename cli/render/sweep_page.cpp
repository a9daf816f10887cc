#include "cli/render/sweep_page.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "base/json_reader.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/render/capitals.hpp"
#include "cli/render/plan_table.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/export/training_plan.hpp"

namespace smplan::cli {
namespace {

using Path = std::initializer_list<std::string_view>;

/// One line, read without trust: it may come from a file that somebody changed.
class Line {
 public:
  explicit Line(const std::string& text) : root_(parse_json(text, "line")) {}

  [[nodiscard]] std::optional<JsonValue> at(Path path) const {
    std::optional<JsonValue> value = root_ ? std::optional(*root_) : std::nullopt;
    for (const std::string_view key : path) {
      if (!value || !value->is_object()) return std::nullopt;
      value = value->find(key);
    }
    return value && !value->is_null() ? value : std::nullopt;
  }
  /// One line, several faults beside each other.
  [[nodiscard]] std::string text(Path path) const {
    constexpr std::size_t kMostBytes = 1000;
    Diagnostics faults;
    const auto value = at(path);
    std::string text;
    if (!value || !value->is_string()) return text;
    for (const char letter : value->as_text(faults))
      text += letter == '\n' ? std::string("; ") : std::string(1, letter);
    if (text.ends_with("; ")) text.resize(text.size() - 2);
    return printable(text, kMostBytes);
  }
  [[nodiscard]] std::optional<double> number(Path path) const {
    const auto value = at(path);
    return value ? number_of(*value) : std::nullopt;
  }
  /// P10 and P90.
  [[nodiscard]] std::optional<std::pair<double, double>> interval(Path path) const {
    Diagnostics faults;
    const auto value = at(path);
    if (!value || !value->is_array()) return std::nullopt;
    const std::vector<JsonValue> ends = value->as_array(faults);
    if (ends.size() != 2) return std::nullopt;
    const auto low = number_of(ends[0]);
    const auto high = number_of(ends[1]);
    return low && high ? std::optional(std::pair(*low, *high)) : std::nullopt;
  }
  [[nodiscard]] std::string strategy() const {
    Diagnostics faults;
    const auto plan = at({"plan"});
    if (!plan) return {};
    const Strategy read = read_plan_strategy(*plan, faults);
    return faults.empty() ? to_string(read) : std::string();
  }

 private:
  static std::optional<double> number_of(const JsonValue& value) {
    Diagnostics faults;
    const double number = value.as_number(faults);
    return faults.empty() ? std::optional(number) : std::nullopt;
  }

  Result<JsonValue> root_;
};

using Number = std::optional<double>;

/// A count without fraction is written without one.
Json value_of(Number number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!number) return nullptr;
  const bool whole = *number == std::floor(*number) && std::abs(*number) <= kExact;
  return whole ? Json(static_cast<std::int64_t>(*number)) : Json(*number);
}
Json value_of(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }
std::string duration(Number seconds) { return seconds && *seconds >= 0 ? format_duration(Seconds(*seconds)) : "-"; }
std::string money(Number usd) { return usd && *usd >= 0 ? format_usd(Usd(*usd)) : "-"; }
std::string whole(Number count) { return count ? fmt::format("{:.0f}", *count) : "-"; }

/// One row, for people and for machines; the cells carry the heads of their columns.
struct Row {
  std::vector<Column> heads;
  std::vector<std::string> shown;
  Json values = Json::object();

  void add(Column head, const std::string& text) {
    heads.push_back(std::move(head));
    shown.push_back(or_dash(text));
  }
  void add(Column head, const char* key, const std::string& text) {
    add(std::move(head), text);
    values[key] = value_of(text);
  }
  void add(Column head, const char* key, const std::string& text, Number number) {
    add(std::move(head), text);
    values[key] = value_of(number);
  }
  /// P10 and P90.
  void add(Column head, const char* low, const char* high, const std::optional<std::pair<double, double>>& ends,
           std::string (*words)(Number)) {
    add(std::move(head), ends ? fmt::format("{} to {}", words(ends->first), words(ends->second)) : "");
    values[low] = ends ? value_of(ends->first) : Json(nullptr);
    values[high] = ends ? value_of(ends->second) : Json(nullptr);
  }
};

void add_plan(const Line& line, Row& row) {
  row.add({"INSTANCE"}, "instance_type", line.text({"plan", "instance_type"}));
  const Number count = line.number({"plan", "instance_count"});
  row.add({"N", Align::Right}, "instance_count", whole(count), count);
  row.add({"MARKET", Align::Left, 5}, "market", line.text({"plan", "cost", "market"}));
  row.add({"PLAN", Align::Left, 0, 24}, "strategy", line.strategy());
  row.add({"STACK", Align::Left, 2}, "stack", line.text({"plan", "stack"}));
  const Number chance = line.number({"plan", "memory", "out_of_memory_probability"});
  row.add({"OOM", Align::Right, 4}, "out_of_memory_probability", chance ? format_chance(*chance) : "", chance);
  const Number time = line.number({"plan", "time_to_train_s"});
  row.add({"TIME", Align::Right}, "time_to_train_s", duration(time), time);
  row.add({"TIME P10-P90", Align::Right, 3}, "time_p10_s", "time_p90_s",
          line.interval({"plan", "time_to_train_interval_s"}), duration);
  const Number hourly = line.number({"plan", "cost", "hourly_usd"});
  row.add({"$/h", Align::Right, 1}, "hourly_usd", hourly ? format_usd_per_hour(usd_per_hour(*hourly)) : "", hourly);
  const Number total = line.number({"plan", "cost", "total_usd"});
  row.add({"TOTAL", Align::Right}, "total_usd", money(total), total);
  row.add({"TOTAL P10-P90", Align::Right, 3}, "total_p10_usd", "total_p90_usd",
          line.interval({"plan", "cost", "total_interval_usd"}), money);
}

void add_trials(const Line& line, Row& row) {
  const Number count = line.number({"trials", "count"});
  row.add({"TRIALS", Align::Right}, "trials", whole(count), count);
  const Number at_once = line.number({"trials", "at_once"});
  row.add({"AT ONCE", Align::Right}, "trials_at_once", whole(at_once), at_once);
  const Number makespan = line.number({"trials", "makespan_s"});
  row.add({"ALL IN", Align::Right}, "trials_makespan_s", duration(makespan), makespan);
  const Number total = line.number({"trials", "total_usd"});
  row.add({"ALL FOR", Align::Right}, "trials_total_usd", money(total), total);
}

/// Whether any line has a value there: else nobody needs the column.
bool any(const std::vector<Line>& lines, Path path) {
  return std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return line.at(path).has_value(); });
}

/// `global_batch` of `global-batch`, as the line's request has it.
std::string member_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Listing listing_of(const std::vector<Line>& lines, const std::vector<std::string>& varied) {
  const bool planned = any(lines, {"plan"});
  const bool trials = any(lines, {"trials"});
  const bool unplanned =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.text({"status"}) != "planned"; });
  Listing listing;
  for (const Line& line : lines) {
    Row row;
    for (const std::string& name : varied) {
      const std::string asked = line.text({"request", member_name(name)});
      row.add({in_capitals(name)}, ("request_" + member_name(name)).c_str(), asked);
    }
    row.values["status"] = line.text({"status"});
    if (planned) add_plan(line, row);
    if (trials) add_trials(line, row);
    const std::string message = line.text({"message"});
    row.values["message"] = value_of(message);
    if (unplanned) row.add({"WHY NOT", Align::Left, 0, 30}, message);
    listing.table.columns = row.heads;
    listing.table.rows.push_back(row.shown);
    listing.rows.push_back(row.values);
  }
  return listing;
}

std::string array_of(const std::vector<std::string>& lines) {
  std::string text = "[";
  for (const std::string& line : lines) {
    text += (text.size() > 1 ? ",\n" : "\n") + line.substr(0, line.find_last_not_of('\n') + 1);
  }
  return text + "\n]\n";
}

}  // namespace

std::string trials_in_words(const std::string& text) {
  const Line line(text);
  const Number count = line.number({"trials", "count"});
  const Number at_once = line.number({"trials", "at_once"});
  if (!count || !at_once || !line.at({"plan"})) return {};
  const double keep = line.number({"trials", "keep"}).value_or(1);
  return fmt::format("{} trials{}: {} at a time, each on {} x {}; all done in {} for {}", *count,
                     keep > 1 ? fmt::format(", of which one in {} goes on at each rung", keep) : "", *at_once,
                     whole(line.number({"plan", "instance_count"})), line.text({"plan", "instance_type"}),
                     duration(line.number({"trials", "makespan_s"})), money(line.number({"trials", "total_usd"})));
}

std::string render_sweep(const std::vector<std::string>& lines, const std::vector<std::string>& varied,
                         const Context& context) {
  if (context.format_name == "json") return array_of(lines);
  std::vector<Line> read;
  for (const std::string& line : lines) read.emplace_back(line);
  const Listing listing = listing_of(read, varied);
  if (context.format_name == "csv") return render_csv(listing.rows);
  if (context.format_name == "markdown") return render_markdown(listing.table);
  std::string text;
  if (lines.size() == 1) {
    const std::string words = trials_in_words(lines.front());
    if (!words.empty()) text = labelled("Best:", words, context.style) + '\n';
  }
  return text + render_text(listing.table, context.style);
}

}  // namespace smplan::cli
