#include "planner/preflight/launcher_options.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "catalogs/framework_settings.hpp"

namespace smplan {
namespace {

/// A command inside that goes on in the next words: `$(hostname -I)`.
bool is_cut_command(std::string_view text) {
  const auto opened = std::count(text.begin(), text.end(), '(');
  return opened != std::count(text.begin(), text.end(), ')') || std::count(text.begin(), text.end(), '`') % 2 != 0;
}

/// The options between the launcher and its script.
class OptionReader {
 public:
  OptionReader(const SettingSection& known, bool abbreviates, const std::string& list, std::vector<Node>& out)
      : known_(known), abbreviates_(abbreviates), list_(list), out_(out) {}

  /// Whether all of them are there: what a variable brings that is not known may be more.
  bool read(const std::vector<ShellWord>& words, std::size_t next, std::size_t most) {
    for (; next < words.size() && is_any_option(words[next].text) && out_.size() < most; ++next) {
      const ShellWord& word = words[next];
      if (is_cut_command(word.text)) return false;
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
      if (cut) return false;
    }
    return next == words.size() || words[next].text.find('$') == std::string::npos;
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
    option.open = word.conditional;
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
    return abbreviates_ && !is_known(name) &&
           std::any_of(known_.settings.begin(), known_.settings.end(), [&](const auto& setting) {
             return setting.name.starts_with(name) ||
                    std::any_of(setting.also.begin(), setting.also.end(),
                                [&](const auto& one) { return one.starts_with(name); });
           });
  }

  const SettingSection& known_;
  bool abbreviates_;
  const std::string& list_;
  std::vector<Node>& out_;
};

}  // namespace

std::string hyphened(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

bool is_any_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '-' ? word.size() > 2 : is_letter_or_digit(word[1])) &&
         (word[1] < '0' || word[1] > '9');
}

LauncherCall read_launcher_options(const LaunchProgram& launcher, const std::vector<ShellWord>& command,
                                   std::size_t next, const std::string& list, std::size_t most) {
  LauncherCall call;
  call.program = &launcher;
  call.line = command[next - 1].line;
  call.options.kind = Node::Kind::Object;
  const FrameworkTable* table = framework_table(launcher.table);
  const SettingSection* known = table == nullptr ? nullptr : table->find(launcher.section);
  if (known == nullptr) return call;
  OptionReader reader(*known, launcher.abbreviates, list, call.options.items);
  call.options.open = !reader.read(command, next, most);
  return call;
}

const Node* option_of(const LauncherCall& call, std::string_view name) {
  const auto& options = call.options.items;
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const Node& option) { return hyphened(option.key) == name; });
  return found == options.end() ? nullptr : &*found;
}

}  // namespace smplan
