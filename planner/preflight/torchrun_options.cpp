#include "planner/preflight/torchrun_options.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"
#include "planner/preflight/shell_variables.hpp"

namespace smplan {
namespace {

constexpr std::string_view kModule = "torch.distributed.run";

bool is_torchrun(std::string_view word) { return word.substr(word.rfind('/') + 1) == "torchrun" || word == kModule; }

/// `--name`, `-x`; a negative number is none.
bool is_any_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '-' ? word.size() > 2 : is_letter_or_digit(word[1])) &&
         (word[1] < '0' || word[1] > '9');
}

/// Plain variables alone: what else a shell makes of them (`${N%:*}`) is not known.
bool has_plain_variables(std::string_view text) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::size_t end = std::min(text.find('}', at), text.size());
    if (!is_shell_name(text.substr(at + 2, end - at - 2))) return false;
  }
  return true;
}

/// A command inside that goes on in the next words: `$(hostname -I)`.
bool is_cut_command(std::string_view text) {
  const auto opened = std::count(text.begin(), text.end(), '(');
  return opened != std::count(text.begin(), text.end(), ')') || std::count(text.begin(), text.end(), '`') % 2 != 0;
}

/// The options between the launcher and its script.
class OptionReader {
 public:
  OptionReader(const SettingSection& known, const std::string& list, std::vector<Node>& out)
      : known_(known), list_(list), out_(out) {}

  void read(const std::vector<ShellWord>& words, std::size_t next) {
    constexpr std::size_t kMost = 1000;  // a hostile file may have a hundred thousand
    for (; next < words.size() && is_any_option(words[next].text) && out_.size() < kMost; ++next) {
      const ShellWord& word = words[next];
      if (is_cut_command(word.text)) return;
      Node option = option_of(word);
      const bool valued = option.is_string();
      if (!valued && next + 1 < words.size() && takes_value(option.key) && !is_any_option(words[next + 1].text)) {
        const std::string& value = words[next + 1].text;
        // Behind a name that is none, what looks like the script is it.
        if (is_known(option.key) || (next + 2 < words.size() && !value.ends_with(".py"))) {
          option.kind = Node::Kind::String;
          option.text = value;
          ++next;
        }
      }
      const bool cut = is_cut_command(option.text);
      if (!is_abbreviated(option.key)) out_.push_back(std::move(option));
      if (cut) return;
    }
  }

 private:
  /// With the value that stands behind `=`, or of a short name right behind it: `-r3`.
  [[nodiscard]] Node option_of(const ShellWord& word) const {
    const bool dashed = word.text.starts_with("--");
    const std::string_view text = std::string_view(word.text).substr(dashed ? 2 : 0);
    const std::size_t end = std::min(dashed ? text.find('=') : std::size_t{2}, text.size());
    Node option;
    option.key = text.substr(0, end);
    option.kind = Node::Kind::Bool;
    option.truth = true;
    option.where = {list_.empty() ? pointer_to("", option.key) : list_, word.line};
    if (end < text.size()) {
      option.kind = Node::Kind::String;
      option.text = text.substr(end + (dashed ? 1 : 0));
    }
    return option;
  }

  [[nodiscard]] bool is_known(const std::string& name) const { return known_.find(name) != nullptr; }

  [[nodiscard]] bool takes_value(const std::string& name) const {
    const FrameworkSetting* setting = known_.find(name);
    return setting == nullptr || setting->option != OptionValues::None;
  }

  /// argparse takes the beginning of a name for it, where it is that of one alone: newer Pythons count spellings once.
  [[nodiscard]] bool is_abbreviated(const std::string& name) const {
    return !is_known(name) && std::any_of(known_.settings.begin(), known_.settings.end(), [&](const auto& setting) {
      return setting.name.starts_with(name) || std::any_of(setting.also.begin(), setting.also.end(),
                                                           [&](const auto& one) { return one.starts_with(name); });
    });
  }

  const SettingSection& known_;
  const std::string& list_;
  std::vector<Node>& out_;
};

/// The words of a script, command by command, with the variables and arrays that it sets before.
class CommandReader {
 public:
  explicit CommandReader(OptionReader reader) : reader_(reader) {}

  void read(const std::vector<ShellWord>& words, int depth = 0) {
    std::vector<ShellWord> command;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ShellWord& word = words[i];
      const std::string_view text = word.text;
      if (word.first) {
        finish(command, depth);
        command.clear();
      }
      if (!conditions_.take(word)) continue;
      if (text.ends_with("=(") && begins_array(text.substr(0, text.size() - 1))) {
        i = take_array(words, i);
        continue;
      }
      const bool sets = command.empty() || (command.size() == 1 && exports(command.front().text));
      const bool plain = word.literal || has_plain_variables(text);
      if (sets && plain && variables_.take(text, conditions_.inside())) continue;
      expand(word, 0, command);
    }
    finish(command, depth);
  }

 private:
  static bool exports(std::string_view word) { return word == "export" || word == "local" || word == "declare"; }

  std::size_t take_array(const std::vector<ShellWord>& words, std::size_t at) {
    const std::string& head = words[at].text;
    std::vector<ShellWord> entries;
    for (++at; at < words.size() && words[at].text != ")"; ++at) expand(words[at], 0, entries);
    std::vector<ShellWord>& array = arrays_[head.substr(0, head.find_first_of("+="))];
    if (head.find('+') == std::string::npos) array.clear();
    array.insert(array.end(), entries.begin(), entries.end());
    finish(entries, 0);  // a command may be kept in one
    return at;
  }

  void expand(const ShellWord& word, int depth, std::vector<ShellWord>& out) {
    constexpr int kDeepest = 8;
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    const auto array = name.empty() ? arrays_.end() : arrays_.find(name);
    if (depth > kDeepest) return;
    if (array != arrays_.end()) {
      if (!take_from_budget(array->second.size())) return;
      out.insert(out.end(), array->second.begin(), array->second.end());
      return;
    }
    if (word.literal || word.text.find('$') == std::string::npos || !has_plain_variables(word.text)) {
      out.push_back(word);
      return;
    }
    ShellWord whole = word;
    whole.text = variables_.expanded(word.text);
    // What is empty here may be filled where this reader does not look.
    if (whole.text.empty() || whole.text.ends_with('=')) whole.text = word.text;
    if (name.empty() || word.quoted || whole.text == word.text) {
      out.push_back(std::move(whole));
      return;
    }
    const std::vector<std::string_view> parts = blank_separated(whole.text);
    if (!take_from_budget(parts.size())) return;
    for (const std::string_view part : parts) {
      expand({std::string(part), word.line}, depth + 1, out);
    }
  }

  bool take_from_budget(std::size_t words) {
    if (words > words_left_) return false;
    words_left_ -= words;
    return true;
  }

  static std::vector<std::string_view> blank_separated(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    std::vector<std::string_view> parts;
    while (!text.empty()) {
      text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
      const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
      if (end > 0) parts.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return parts;
  }

  void finish(const std::vector<ShellWord>& command, int depth) {
    constexpr int kDeepest = 4;
    static constexpr std::array<std::string_view, 2> kTell = {"echo", "printf"};
    if (command.empty() || std::find(kTell.begin(), kTell.end(), command.front().text) != kTell.end()) return;
    for (std::size_t i = 0; i < command.size(); ++i) {
      if (is_torchrun(command[i].text)) return reader_.read(command, i + 1);
      if (i == 0 || depth == kDeepest || !takes_script(command[i - 1].text)) continue;
      Result<std::vector<ShellWord>> inner = split_words(command[i].text, "");
      if (!inner) continue;
      for (ShellWord& word : *inner) word.line = command[i].line;
      read(*inner, depth + 1);
    }
  }

  OptionReader reader_;
  Conditions conditions_;
  Variables variables_;
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that arrays and texts may bring
};

}  // namespace

std::vector<Node> torchrun_options(const std::vector<ShellWord>& words, const std::string& list) {
  const bool starts = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text.find("torchrun") != std::string::npos || word.text.find(kModule) != std::string::npos;
  });
  std::vector<Node> options;
  if (!starts) return options;
  const FrameworkTable* table = framework_table("torchrun");
  const SettingSection* known = table == nullptr ? nullptr : table->find("");
  if (known != nullptr) CommandReader({*known, list, options}).read(words);
  return options;
}

}  // namespace smplan
