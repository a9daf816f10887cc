#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/node.hpp"
#include "planner/preflight/override_values.hpp"
#include "planner/preflight/shell_commands.hpp"
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

  /// What follows is no value of an option before it, and overrides none.
  void end_command() {
    ended_ = true;
    ++commands_;
  }

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
    Node node;
    node.written = key;
    std::replace(key.begin(), key.end(), '_', '-');
    if (const Node* known = root.find(key)) {
      if (!conditional && !known->open && command_of_[key] == commands_) node.overridden_line = known->where.line;
      root.items.erase(root.items.begin() + (known - root.items.data()));
    }
    command_of_[key] = commands_;
    node.where = {pointer_to("", node.written), word.line};
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
      value.written = std::move(option.written);
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
      list.written = option.written;
      list.overridden_line = option.overridden_line;
      list.open = option.open;
      list.items.push_back(std::move(option));
      option = std::move(list);
    }
    option.items.push_back(leaf(word, {fmt::format("{}/{}", option.where.path, option.items.size()), word.line}));
  }

  bool ended_ = false;
  int commands_ = 0;
  std::map<std::string, int> command_of_;  ///< the command that has an option
};

/// Commands of a script into a tree of options.
class ScriptReader {
 public:
  explicit ScriptReader(const Variables& variables) : variables_(variables) {}

  ArgumentTree tree;

  void take(const ShellCommand& command) {
    tree.end_command();
    const ShellWord* before = nullptr;
    for (const ShellWord& word : command.words) {
      // A shell of its own runs it.
      const bool script = before != nullptr && takes_script(before->text) && word.text.find(" --") != std::string::npos;
      before = &word;
      if (!script) take(word, command.conditional || word.conditional);
    }
  }

 private:
  void take(const ShellWord& word, bool conditional) {
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    const std::string* value = name.empty() ? nullptr : variables_.find(name);
    if (name == kAllArguments) {
      tree.root.passes_on = true;
    } else if (name.empty() || (tree.awaits_value() && word.text.find_first_of("@*") == std::string::npos)) {
      tree.take(word, conditional);
    } else if (value == nullptr || !value->empty()) {
      tree.root.open = true;  // it may hold more options
    }
  }

  const Variables& variables_;
};

/// Commands of a script that starts verl or NeMo-RL, whose overrides stand behind the program or in arrays, into a
/// tree.
class OverrideReader {
 public:
  explicit OverrideReader(ArgumentTree& tree) : tree_(tree) { tree_.root.plus = 0; }

  void take(const ShellCommand& command) {
    runs_ = command.array && std::any_of(command.words.begin(), command.words.end(), [](const ShellWord& word) {
              return word.text.find('.') < word.text.find('=');
            });
    for (const ShellWord& word : command.words) {
      const bool first = &word == &command.words.front();
      take(word, first && !command.array, command.array, command.conditional || word.conditional);
    }
  }

 private:
  /// Words of a variable that the script does not set are not known, unless they are one value (`--config $FILE`).
  void take(const ShellWord& word, bool first, bool array, bool conditional) {
    const std::string name = word.literal ? std::string() : variable_in(word.text);
    if (name == kAllArguments) {
      tree_.root.passes_on = true;
      return;
    }
    const bool unknown = !name.empty() || (!word.literal && word.text.starts_with("$("));
    if (unknown && runs_ && !tree_.awaits_value()) tree_.root.open = true;
    const bool program = is_program(word.text);
    const bool plain_names = (runs_ && !first) || array;
    runs_ = runs_ || program;
    if (program) tree_.root.text += (tree_.root.text.empty() ? "" : " ") + word.text;
    if (tree_.take_override(word, plain_names, conditional) || program || array) return;
    // The last override is no option, of which this would be another value.
    if (!is_option(word) && !tree_.awaits_value() && !tree_.root.items.empty()) return;
    tree_.take(word);
  }

  ArgumentTree& tree_;
  bool runs_ = false;  ///< what stands behind the program is its own
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
  const ShellScript script = commands_of(words);
  ScriptReader reader(script.variables);
  for (const ShellCommand& command : script.commands) {
    reader.take(command);
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
    for (const ShellCommand& command : commands_of(words).commands) {
      if (tree.root.items.size() > kMostOptions) return too_many_options(name);
      reader.take(command);
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
