#include "planner/preflight/shell_commands.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/words.hpp"

namespace smplan {
namespace {

/// Plain variables alone, whole arrays, and those with a value for where nobody sets them (`${N:-8}`): what else a
/// shell makes of them (`${N%:*}`) is not known.
bool has_plain_variables(std::string_view text) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::string_view inside = text.substr(at + 2);
    std::string_view name = inside.substr(0, std::min({inside.find('}'), inside.find(":-"), inside.size()}));
    if (name.ends_with("[@]") || name.ends_with("[*]")) name.remove_suffix(3);
    if (!is_shell_name(name)) return false;
  }
  return true;
}

/// The names of the variables and arrays in a text, but for one that it sets itself.
void note_names(std::string_view text, std::set<std::string>& names) {
  const std::string_view own = text.substr(0, std::min(text.find('='), text.size()));
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    std::string_view name = text.substr(at + 1);
    if (name.starts_with('{')) name.remove_prefix(1);
    const auto* end =
        std::find_if_not(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '_'; });
    name = name.substr(0, static_cast<std::size_t>(end - name.begin()));
    if (name != own) names.emplace(name);
  }
}

bool exports(std::string_view word) { return word == "export" || word == "local" || word == "declare"; }

bool tells(std::string_view word) { return word == "echo" || word == "printf"; }

/// Follows conditions, variables and arrays through a script.
class CommandReader {
 public:
  explicit CommandReader(const std::vector<ShellWord>& words) {
    bool message = false;
    for (const ShellWord& word : words) {
      if (word.first) message = tells(word.text);
      if (!word.literal && !message) note_names(word.text, mentioned_);
    }
  }

  void read(const std::vector<ShellWord>& words, int depth = 0) {
    std::vector<ShellWord> command;
    bool conditional = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ShellWord& word = words[i];
      const std::string_view text = word.text;
      if (word.first) {
        finish(std::move(command), conditional, depth);
        command.clear();
      }
      if (!conditions_.take(word)) continue;
      if (command.empty()) conditional = conditions_.inside();
      if (conditional && command.empty() && !word.quoted && text.ends_with(')')) continue;  // of a case
      if (text.ends_with("=(") && begins_array(text.substr(0, text.size() - 1))) {
        i = take_array(words, i);
        continue;
      }
      const bool sets = command.empty() || (command.size() == 1 && exports(command.front().text));
      const bool plain = word.literal || has_plain_variables(text);
      if (sets && plain && variables_.take(text, conditions_.inside())) {
        take_variable(word, depth);
        continue;
      }
      expand(word, 0, command);
    }
    finish(std::move(command), conditional, depth);
  }

  ShellScript finished() {
    ShellScript script;
    for (Started& one : started_) {
      if (one.array.empty() || !used_.contains(one.array)) script.commands.push_back(std::move(one.command));
    }
    script.variables = std::move(variables_);
    return script;
  }

 private:
  struct Started {
    ShellCommand command;
    std::string array;  ///< that it is kept in
  };

  /// A text that no other word has is for another program to run: `COMMAND="python train.py" sbatch ray.sub`.
  void take_variable(const ShellWord& word, int depth) {
    const std::size_t equals = word.text.find('=');
    const std::string name = word.text.substr(0, equals);
    if (conditions_.inside()) doubtful_.insert(name);
    const bool options = word.text.find_first_not_of(" \t\r\n", equals + 1) == word.text.find('-', equals + 1);
    if (word.quoted && !options && !mentioned_.contains(name))
      read_inside({word.text.substr(equals + 1), word.line}, depth);
  }

  void read_inside(const ShellWord& text, int depth) {
    constexpr int kDeepest = 4;
    if (depth == kDeepest || text.text.find(' ') == std::string::npos) return;
    Result<std::vector<ShellWord>> inner = split_words(text.text, "");
    if (!inner) return;
    for (ShellWord& word : *inner) word.line = text.line;
    read(*inner, depth + 1);
  }

  std::size_t take_array(const std::vector<ShellWord>& words, std::size_t at) {
    const std::string& head = words[at].text;
    const std::string name = head.substr(0, head.find_first_of("+="));
    const bool used = used_.contains(name);
    std::vector<ShellWord> entries;
    for (++at; at < words.size() && words[at].text != ")"; ++at) expand(words[at], 0, entries);
    for (ShellWord& entry : entries) entry.conditional = entry.conditional || conditions_.inside();
    // One that goes on from itself (`A=("${A[@]}" more)`) takes its own place.
    if (!used && used_.erase(name) > 0) std::erase_if(started_, [&](const Started& one) { return one.array == name; });
    std::vector<ShellWord>& array = arrays_[name];
    if (head.find('+') == std::string::npos) array.clear();
    array.insert(array.end(), entries.begin(), entries.end());
    if (!entries.empty()) started_.push_back({{std::move(entries), conditions_.inside(), true}, name});
    return at;
  }

  void expand(const ShellWord& word, int depth, std::vector<ShellWord>& out) {
    constexpr int kDeepest = 8;
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    const auto array = name.empty() ? arrays_.end() : arrays_.find(name);
    if (depth > kDeepest) return;
    if (array != arrays_.end()) return expand_array(array->first, array->second, word.quoted, out);
    if (word.literal || word.text.find('$') == std::string::npos || !has_plain_variables(word.text)) {
      out.push_back(word);
      return;
    }
    ShellWord whole = word;
    whole.text = variables_.expanded(word.text);
    whole.conditional = whole.conditional || is_doubtful(word.text);
    // What is empty here may be filled where this reader does not look.
    if (whole.text.empty() || whole.text.ends_with('=')) whole.text = word.text;
    if (name.empty() || word.quoted || whole.text == word.text) {
      out.push_back(std::move(whole));
      return;
    }
    split(whole, depth, out);
  }

  void expand_array(const std::string& name, const std::vector<ShellWord>& entries, bool quoted,
                    std::vector<ShellWord>& out) {
    if (!take_from_budget(entries.size())) return;
    used_.insert(name);
    for (const ShellWord& entry : entries) {
      // Without quotes around it an element of blanks is split again.
      if (quoted || !entry.quoted || entry.text.find(' ') == std::string::npos) {
        out.push_back(entry);
      } else {
        split(entry, 0, out);
      }
    }
  }

  /// The words of a text in the place of one.
  void split(const ShellWord& text, int depth, std::vector<ShellWord>& out) {
    const Result<std::vector<ShellWord>> parts = split_words(text.text, "");
    if (!parts || !take_from_budget(parts->size())) {
      out.push_back(text);
      return;
    }
    for (ShellWord part : *parts) {
      part.line = text.line;
      part.first = false;
      part.conditional = text.conditional;
      expand(part, depth + 1, out);
    }
  }

  /// Whether it has a variable that a condition sets.
  [[nodiscard]] bool is_doubtful(std::string_view text) const {
    if (doubtful_.empty()) return false;
    std::set<std::string> names;
    note_names(text, names);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return doubtful_.contains(name); });
  }

  bool take_from_budget(std::size_t words) {
    if (words > words_left_) return false;
    words_left_ -= words;
    return true;
  }

  void finish(std::vector<ShellWord> command, bool conditional, int depth) {
    if (command.empty() || tells(command.front().text)) return;
    const std::vector<ShellWord> words = command;
    started_.push_back({{std::move(command), conditional, false}, ""});
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (takes_script(words[i - 1].text)) read_inside(words[i], depth);
    }
  }

  std::vector<Started> started_;
  std::set<std::string> used_;       ///< arrays that commands have
  std::set<std::string> mentioned_;  ///< variables that words have
  std::set<std::string> doubtful_;   ///< variables that a condition sets
  Conditions conditions_;
  Variables variables_;
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that arrays and texts may bring
};

}  // namespace

ShellScript commands_of(const std::vector<ShellWord>& words) {
  CommandReader reader(words);
  reader.read(words);
  return reader.finished();
}

}  // namespace smplan
