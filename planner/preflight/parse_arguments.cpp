#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/node.hpp"
#include "planner/preflight/override_values.hpp"
#include "planner/preflight/shell_variables.hpp"
#include "planner/preflight/started_programs.hpp"

namespace smplan {
namespace {

bool takes_overrides(std::string_view program) {
  return program.starts_with("verl.") || !nemo_rl_program(program).empty();
}

/// A program that takes Hydra's overrides, wherever the script keeps its name, or one of them that only verl has.
bool takes_overrides(const std::vector<ShellWord>& words) {
  const bool named = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return takes_overrides(word.text) || word.text.find("actor_rollout_ref.") != std::string::npos;
  });
  if (named) return true;
  const StartedPrograms started = started_by(words, "");
  return std::any_of(started.programs.begin(), started.programs.end(),
                     [](const StartedProgram& program) { return takes_overrides(program.name); });
}

/// `verl.trainer.main_ppo`, `verl/trainer/main_ppo.py`, NeMo-RL's `examples/run_grpo.py`.
bool is_program(std::string_view word) {
  return takes_overrides(word) || (word.ends_with(".py") && word.find("verl/") != std::string_view::npos);
}

/// `--key value`, `--key=value` and `--flag` as members of one object; `--key a b` is a list. Of an option that stands
/// twice the last counts, as for argparse: launch scripts override their defaults that way.
class ArgumentTree {
 public:
  ArgumentTree() { root.kind = Node::Kind::Object; }

  Node root;

  /// What follows is no value of an option before it.
  void end_command() { ended_ = true; }

  /// Whether the last option has no value yet.
  [[nodiscard]] bool awaits_value() const {
    return !ended_ && !root.items.empty() && root.items.back().kind == Node::Kind::Bool;
  }

  /// `conditional`: the option may not be given.
  void take(const ShellWord& word, bool conditional = false) {
    if (is_option(word)) ended_ = false;
    if (!is_option(word)) {
      // The program and its launcher's words before the first option are the text of the tree.
      if (root.items.empty() || ended_) {
        root.text += (root.text.empty() ? "" : " ") + word.text;
      } else if (!root.items.back().is_object()) {
        add_value(root.items.back(), word);
      }
      return;
    }
    const std::size_t equals = word.text.find('=');
    std::string key = word.text.substr(2, equals == std::string::npos ? equals : equals - 2);
    for (char& c : key) {
      if (c == '_') c = '-';
    }
    Node node;
    if (const Node* known = root.find(key)) {
      if (!conditional && !known->open) node.overridden_line = known->where.line;
      root.items.erase(root.items.begin() + (known - root.items.data()));
    }
    node.where = {pointer_to("", key), word.line};
    node.key = std::move(key);
    node.kind = Node::Kind::Bool;
    node.truth = true;
    node.open = conditional;
    root.items.push_back(std::move(node));
    if (equals != std::string::npos) add_value(root.items.back(), {word.text.substr(equals + 1), word.line});
  }

  /// `+data.train_batch_size=8` as a member of a member; false where the word is no override. Before the program names
  /// without a point are variables.
  bool take_override(const ShellWord& word, bool started, bool conditional) {
    std::string_view path = word.text;
    const std::size_t plus = std::min(path.find_first_not_of('+'), path.size());
    path.remove_prefix(plus);
    const bool removes = plus == 0 && path.starts_with('~');
    if (removes) path.remove_prefix(1);
    const std::size_t equals = std::min(path.find('='), path.size());
    if ((equals == path.size() && !removes) || plus > 2) return false;
    const std::string_view value = removes ? "null" : path.substr(equals + 1);
    path = path.substr(0, equals);
    if ((!started && path.find('.') == std::string_view::npos) ||
        std::count(path.begin(), path.end(), '.') >= kMaxJobDepth / 2) {
      return false;
    }
    std::vector<std::string_view> names;
    if (path.empty()) return take_nameless(word, started && plus == 0 && !removes);
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('.'), path.size());
      if (!is_shell_name(path.substr(0, end))) return false;
      names.push_back(path.substr(0, end));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    Node* node = &root;
    for (const std::string_view name : names) node = &member(*node, name, word.line, static_cast<int>(plus));
    Node given = override_value(value, {node->where.path, word.line}, static_cast<int>(plus));
    given.removed = removes;
    // A word for a whole part chooses its file (`engine=megatron`); what was set in it stays.
    if (node->is_object() && given.is_string()) {
      node->text = given.text;
      return true;
    }
    given.key = std::move(node->key);
    given.open = conditional;
    *node = std::move(given);
    return true;
  }

 private:
  /// `=5`, which Hydra refuses.
  bool take_nameless(const ShellWord& word, bool started) {
    if (!started) return false;
    Node& node = member(root, "", word.line, 0);
    node.kind = Node::Kind::String;
    node.text = word.text;
    node.malformed = true;
    return true;
  }

  /// The member of that name, which is made where there is none; a value in its way goes.
  static Node& member(Node& parent, std::string_view name, int line, int plus) {
    if (!parent.is_object()) {
      if (!parent.is_string()) parent.text.clear();
      parent.kind = Node::Kind::Object;
      parent.items.clear();
    }
    if (const Node* known = parent.find(name))
      return parent.items[static_cast<std::size_t>(known - parent.items.data())];
    Node node;
    node.key = name;
    node.plus = plus;
    node.where = {pointer_to(parent.where.path, name), line};
    parent.items.push_back(std::move(node));
    return parent.items.back();
  }

  static Node leaf(const ShellWord& word, Where where) {
    Node node;
    node.kind = Node::Kind::String;
    node.text = word.text;
    node.where = std::move(where);
    if (const auto integer = integer_of(node)) {
      node.kind = Node::Kind::Integer;
      node.integer = *integer;
    } else if (const auto real = number_of(node)) {
      node.kind = Node::Kind::Real;
      node.real = *real;
    }
    return node;
  }

  static void add_value(Node& option, const ShellWord& word) {
    if (option.kind == Node::Kind::Bool) {
      Node value = leaf(word, option.where);
      value.key = std::move(option.key);
      value.overridden_line = option.overridden_line;
      value.open = option.open;
      option = std::move(value);
      return;
    }
    if (!option.is_array()) {
      Node list;
      list.kind = Node::Kind::Array;
      list.where = option.where;
      list.key = option.key;
      list.overridden_line = option.overridden_line;
      list.open = option.open;
      list.items.push_back(std::move(option));
      option = std::move(list);
    }
    option.items.push_back(leaf(word, {fmt::format("{}/{}", option.where.path, option.items.size()), word.line}));
  }

  bool ended_ = false;
};

/// Words of a script, which starts programs and sets variables, into a tree of options. Options of an array or of a
/// text count where they are written, as if the program stood there.
class ScriptReader {
 public:
  explicit ScriptReader(const std::vector<ShellWord>& words) {
    for (const ShellWord& word : words) {
      if (word.quoted && !word.literal) whole_.insert(variable_in(word.text));
    }
  }

  ArgumentTree tree;

  void take(const ShellWord& word) {
    if (!conditions_.take(word)) return;
    if (word.text == ")" && !array_.empty()) {
      array_.clear();
      tree.end_command();
      return;
    }
    if (word.text.ends_with("=(") && begins_array(std::string_view(word.text).substr(0, word.text.size() - 1))) {
      array_ = word.text.substr(0, word.text.find_first_of("+="));
      arrays_.push_back(array_);
      tree.end_command();
      return;
    }
    if (word.first) tree.end_command();
    assigns_ = word.first || (assigns_ && set_) || exports_;
    exports_ = word.first && (word.text == "export" || word.text == "local" || word.text == "declare");
    set_ = assigns_ && variables_.take(word.text, conditions_.inside());
    if (set_) {
      if (!exports_ && tree.root.items.empty()) tree.take(word);
      return;
    }
    const bool script = takes_script(std::exchange(before_, word.text));
    if (!script || !take_script(word)) expand(word);
  }

 private:
  /// `bash -c "torchrun ..."`: the words inside, where the text has options.
  bool take_script(const ShellWord& word) {
    constexpr int kDeepest = 4;
    if (scripts_ == kDeepest || word.text.find(" --") == std::string::npos) return false;
    const Result<std::vector<ShellWord>> parts =
        split_words(word.literal ? word.text : variables_.expanded(word.text), "");
    if (!parts || parts->size() > words_left_) return false;
    words_left_ -= parts->size();
    ++scripts_;
    for (ShellWord part : *parts) {
      part.line = word.line;
      take(part);
    }
    --scripts_;
    return true;
  }

  void expand(const ShellWord& word) {
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    // An element of blanks is split again where no quotes stand around its array.
    if (!array_.empty() && word.quoted && !whole_.contains(array_) && word.text.find(' ') != std::string::npos) {
      return take_parts(variables_.expanded(word.text), word);
    }
    if (name.empty()) {
      const bool expands = !word.literal && word.text.find('$') != std::string::npos;
      return give(expands ? ShellWord{variables_.expanded(word.text), word.line} : word);
    }
    if (std::find(arrays_.begin(), arrays_.end(), name) != arrays_.end()) return;
    if (name == kAllArguments) {
      tree.root.passes_on = true;
      return;
    }
    const std::string* value = variables_.find(name);
    if (value == nullptr) {
      const bool one = word.text.find('@') == std::string::npos && word.text.find('*') == std::string::npos;
      if (one && tree.awaits_value()) return give(word);
      tree.root.open = true;
      return;
    }
    const std::string text = variables_.expanded(word.text);
    if (word.quoted || text == word.text || value->find(' ') == std::string::npos) return give({text, word.line});
    take_parts(text, word);
  }

  /// The words of a text, in the place of one.
  void take_parts(const std::string& text, const ShellWord& word) {
    const Result<std::vector<ShellWord>> parts = split_words(text, "");
    if (!parts || parts->size() > words_left_) return give({text, word.line});
    words_left_ -= parts->size();
    for (const ShellWord& part : *parts) give({part.text, word.line});
  }

  void give(const ShellWord& word) { tree.take(word, conditions_.inside()); }

  Conditions conditions_;
  Variables variables_;
  std::vector<std::string> arrays_;
  std::set<std::string> whole_;  ///< arrays whose elements stay words
  std::string array_;
  std::string before_;                     ///< the last word
  std::size_t words_left_ = kMaxJobNodes;  ///< that texts may bring
  int scripts_ = 0;                        ///< inside each other
  bool assigns_ = false, set_ = false, exports_ = false;
};

/// Words of a script that starts verl or NeMo-RL, whose overrides stand behind the program or in arrays, into a tree.
class OverrideReader {
 public:
  explicit OverrideReader(ArgumentTree& tree) : tree_(tree) { tree_.root.plus = 0; }

  void take(const ShellWord& word) {
    if (!conditions_.take(word)) return;
    const bool label = before_.ends_with(')') || before_ == "then" || before_ == "do" || before_ == "else";
    assigns_ = word.first || assigns_ || label;
    before_ = word.text;
    if (word.text.ends_with("=(") || word.text == ")") {
      array_ = word.text != ")";
      if (array_) arrays_.push_back(word.text.substr(0, word.text.find_first_of("+=")));
      assigns_ = false;
      return;
    }
    const bool exports = word.first && (word.text == "export" || word.text == "local" || word.text == "declare");
    if (assigns_ && !array_ && word.text.find('.') > word.text.find('=') &&
        variables_.take(word.text, conditions_.inside())) {
      if (conditions_.inside()) doubtful_.push_back(word.text.substr(0, word.text.find('=')));
      return;
    }
    assigns_ = exports;
    override_or_other(word);
  }

 private:
  /// Words of a variable that the script does not set are not known, unless they are one value (`--config $FILE`).
  void override_or_other(const ShellWord& word) {
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    if (name == kAllArguments) {
      tree_.root.passes_on = true;
      return;
    }
    const std::string* value = name.empty() ? nullptr : variables_.find(name);
    const bool array = std::find(arrays_.begin(), arrays_.end(), name) != arrays_.end();
    const bool unknown = name.empty() ? !word.literal && word.text.starts_with("$(") : value == nullptr && !array;
    if (unknown && (runs_ || array_) && !tree_.awaits_value()) tree_.root.open = true;
    if (value == nullptr || word.quoted || value->find(' ') == std::string::npos) return take_word(word, word.text);
    const Result<std::vector<ShellWord>> parts = split_words(*value, "");
    if (!parts || parts->size() > words_left_) return;
    words_left_ -= parts->size();
    for (ShellWord part : *parts) {
      part.first = part.first && word.first;
      part.line = word.line;
      take_word(part, word.text);
    }
  }

  /// `written` is what stands in the script for it.
  void take_word(const ShellWord& word, std::string_view written) {
    ShellWord whole{variables_.expanded(word.text), word.line};
    // A variable that is empty here is filled where this reader does not look.
    if (whole.text.ends_with('=') && !word.text.ends_with('=')) whole.text = word.text;
    const bool program = is_program(whole.text);
    started_ = started_ || program;
    runs_ = program || (runs_ && !word.first);
    if (program) tree_.root.text += (tree_.root.text.empty() ? "" : " ") + whole.text;
    const bool plain_names = (started_ && !word.first) || array_;
    if (tree_.take_override(whole, plain_names, conditions_.inside() || is_doubtful(written)) || program || array_)
      return;
    // The last override is no option, of which this would be another value.
    if (!is_option(whole) && !tree_.awaits_value() && !tree_.root.items.empty()) return;
    tree_.take(whole);
  }

  /// Whether it has a variable that a condition sets.
  [[nodiscard]] bool is_doubtful(std::string_view text) const {
    return text.find('$') != std::string_view::npos &&
           std::any_of(doubtful_.begin(), doubtful_.end(), [&](const std::string& name) {
             return text.find('$' + name) != std::string_view::npos || text.find("${" + name) != std::string_view::npos;
           });
  }

  ArgumentTree& tree_;
  Variables variables_;
  std::vector<std::string> doubtful_, arrays_;
  std::string before_;
  Conditions conditions_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that texts may bring
  bool started_ = false, runs_ = false, array_ = false, assigns_ = false;
};

/// Programs that scripts start. A file of arguments alone has none, and its lines may break anywhere.
bool starts_program(const std::vector<ShellWord>& words) {
  static constexpr std::string_view kPrograms[] = {"torchrun",  "python", "python3", "accelerate",
                                                   "deepspeed", "trl",    "srun",    "mpirun",
                                                   "exec",      "nohup",  "tune",    "llamafactory-cli"};
  return std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    // A variable may hold the whole command.
    const std::size_t equals = word.quoted ? word.text.find('=') : std::string::npos;
    const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
    const std::string name =
        word.text.substr(begin, equals == std::string::npos ? equals : word.text.find(' ') - begin);
    const bool program = std::find(std::begin(kPrograms), std::end(kPrograms), name) != std::end(kPrograms);
    return (word.first && program) || word.text.ends_with("=(");
  });
}

/// Megatron has some nine hundred. Each is looked for among those before it.
constexpr std::size_t kMostOptions = 4096;

tl::unexpected<Diagnostics> too_many_options(std::string_view name) {
  return fail("file-too-large", std::string(name), fmt::format("holds more than {} options", kMostOptions),
              "a job file is small: check that this is the right file");
}

Result<Node> script_of(const std::vector<ShellWord>& words, std::string_view name) {
  ScriptReader reader(words);
  for (const ShellWord& word : words) {
    reader.take(word);
    if (reader.tree.root.items.size() > kMostOptions) return too_many_options(name);
  }
  return std::move(reader.tree.root);
}

Result<Node> tree_of(const std::vector<ShellWord>& words, std::string_view name, bool script = false) {
  ArgumentTree tree;
  const bool overrides = takes_overrides(words);
  if (!overrides && (script || starts_program(words))) {
    Result<Node> tree_of_script = script_of(words, name);
    if (!tree_of_script || !tree_of_script->items.empty()) return tree_of_script;
  }
  if (overrides) {
    OverrideReader reader(tree);
    for (const ShellWord& word : words) {
      if (tree.root.items.size() > kMostOptions) return too_many_options(name);
      reader.take(word);
    }
  } else {
    for (const ShellWord& word : words) {
      if (tree.root.items.size() > kMostOptions) return too_many_options(name);
      tree.take(word);
    }
  }
  if (tree.root.items.empty()) {
    return fail("arguments-empty", std::string(name), "holds no --option",
                "give the argument list of the training run");
  }
  return std::move(tree.root);
}

}  // namespace

Result<Node> parse_argument_nodes(std::string_view text, std::string_view name) {
  Result<std::vector<ShellWord>> words = split_words(text, name);
  if (!words) return tl::unexpected<Diagnostics>(words.error());
  return tree_of(without_output(std::move(*words)), name, text.starts_with("#!"));
}

Result<Node> argument_nodes_of(const Node& list, std::string_view name) {
  std::vector<ShellWord> words;
  for (const Node& item : list.items) words.push_back({item.text, item.where.line});
  return tree_of(words, name);
}

}  // namespace smplan
