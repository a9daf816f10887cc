#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/check.hpp"

namespace smplan {

Result<std::vector<Ignored>> read_ignore_file(std::string_view text, std::string_view name) {
  std::vector<Ignored> ignored;
  Diagnostics faults;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const std::string where = fmt::format("{}:{}", name, number);
    const std::size_t hash = line.find('#');
    const std::string_view reason = hash == std::string_view::npos ? "" : trim(line.substr(hash + 1));
    const std::string_view what = trim(line.substr(0, hash));
    const std::size_t blank = what.find_first_of(" \t");
    const std::string_view rule = what.substr(0, blank);
    const std::string_view path = blank == std::string_view::npos ? "" : trim(what.substr(blank));
    if (find_rule(rule) == nullptr) {
      faults.push_back(unknown_rule(rule, where));
    } else if (reason.empty()) {
      faults.push_back(
          {"missing-reason", where, fmt::format("{} is ignored without a reason", rule), "write the reason after a #"});
    } else if (!path.empty() && path.front() != '/') {
      faults.push_back({"bad-path", where, fmt::format("{} is no path", quote(path)),
                        "paths are JSON pointers: /ResourceConfig/VolumeSizeInGB"});
    } else {
      ignored.push_back({std::string(rule), std::string(path), std::string(reason)});
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return ignored;
}

}  // namespace smplan
