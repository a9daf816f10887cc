#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

struct Word {
  std::string text;
  int line = 1;
  bool first = false;    ///< of a command
  bool quoted = false;   ///< in part at least: it stays one word
  bool literal = false;  ///< a dollar in it is one
};

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

/// `NAME=`, which a bracket makes an array.
bool begins_array(std::string_view text) {
  if (text.ends_with("+=")) text.remove_suffix(1);
  return text.ends_with('=') && is_name(text.substr(0, text.size() - 1));
}

/// Words as a shell would split them, without expansion: quotes, backslashes, comments, the ends of commands. An array
/// is a word `NAME=(`, its words and a word `)`.
Result<std::vector<Word>> split_words(std::string_view text, std::string_view name) {
  std::vector<Word> words;
  int line = 1;
  bool open = false;  // inside a word
  bool first = true;  // the next word begins a command
  bool array = false;
  char quoted = 0;
  int quote_line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Inside a word such characters may be text: a file of arguments alone has no shell.
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    const bool before_blank = next == ' ' || next == '\n' || next == '\r';
    const bool operates = !open && (c == '|' || (c == '&' && next != '>'));
    const bool ends = c == '\n' || operates || (c == ';' && (!open || before_blank));
    const bool blank = c == ' ' || c == '\t' || c == '\r' || ends;
    if (c == '\n') ++line;
    if (quoted == 0 && c == ')' && array) {
      words.push_back({")", line});
      open = array = false;
      first = true;
      continue;
    }
    if (quoted == 0 && (blank || (c == '#' && !open))) {
      open = false;
      first = first || (ends && !array);
      if (c == '|' && next != '|' && (i == 0 || text[i - 1] != '|')) words.push_back({"|", line, true});
      if (c == '#') {
        while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      }
      continue;
    }
    if (quoted == 0 && c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      open = false;
      if (text[i + 1] == '\r' && i + 2 < text.size() && text[i + 2] == '\n') ++i;
      ++i;
      ++line;
      continue;
    }
    if (quoted == 0 && c == '(' && open && !array && begins_array(words.back().text)) {
      words.back().text += c;
      open = false;
      array = true;
      continue;
    }
    if (!open) {
      words.push_back({"", line, first});
      open = true;
      first = false;
      if (words.size() > kMaxJobNodes) {
        return fail("file-too-large", std::string(name), fmt::format("holds more than {} words", kMaxJobNodes),
                    "a job file is small: check that this is the right file");
      }
    }
    if (quoted == 0 && (c == '"' || c == '\'')) {
      quoted = c;
      quote_line = line;
      words.back().quoted = true;
    } else if (c == quoted) {
      quoted = 0;
    } else if (c == '\\' && quoted != '\'' && i + 1 < text.size()) {
      words.back().text += text[++i];
    } else {
      words.back().literal = words.back().literal || (c == '$' && quoted == '\'');
      words.back().text += c;
    }
  }
  if (quoted != 0) {
    return fail("arguments-syntax", fmt::format("{}:{}", name, quote_line), "a quote is not closed",
                "close it on the same line");
  }
  return words;
}

/// A program that takes Hydra's overrides, or one of them that only verl has.
bool takes_overrides(const std::vector<Word>& words) {
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    return word.text.starts_with("verl.") || word.text.find("actor_rollout_ref.") != std::string::npos;
  });
}

/// Variables that a script sets before it uses them, by plain words (`TP=4`). Nothing else of a shell is expanded.
class Variables {
 public:
  [[nodiscard]] const std::string* find(const std::string& name) const {
    const auto known = values_.find(name);
    return known == values_.end() ? nullptr : &known->second;
  }

  /// True if the word sets one.
  bool take(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || !is_name(word.substr(0, equals))) return false;
    values_[std::string(word.substr(0, equals))] = expanded(word.substr(equals + 1));
    return true;
  }

  /// With the values of `$NAME`, `${NAME}` and `${NAME:-value}`; what is not known stays as it stands. All words
  /// together grow by no more than a job file may have.
  std::string expanded(std::string_view text) {
    std::string out = replaced(text);
    if (out.size() <= text.size()) return out;
    const std::size_t growth = out.size() - text.size();
    if (growth > left_) return std::string(text);
    left_ -= growth;
    return out;
  }

 private:
  [[nodiscard]] std::string replaced(std::string_view text) const {
    constexpr std::size_t kMost = 4096;  // a value that doubles itself ends here
    std::string out;
    while (!text.empty() && out.size() <= kMost) {
      const std::size_t dollar = std::min(text.find('$'), text.size());
      out += text.substr(0, dollar);
      text.remove_prefix(dollar);
      if (text.empty()) break;
      const bool braced = text.size() > 1 && text[1] == '{';
      const std::size_t begin = braced ? 2 : 1;
      std::size_t end = begin;
      while (end < text.size() && (is_letter_or_digit(text[end]) || text[end] == '_')) ++end;
      const auto known = values_.find(std::string(text.substr(begin, end - begin)));
      const std::size_t close = braced ? text.find('}', end) : end;
      const std::size_t length = close == std::string_view::npos ? 1 : close + (braced ? 1 : 0);
      const bool falls_back = braced && close != std::string_view::npos && text.substr(end).starts_with(":-");
      if (known != values_.end()) {
        out += known->second;
      } else {
        out += falls_back ? replaced(text.substr(end + 2, close - end - 2)) : std::string(text.substr(0, length));
      }
      text.remove_prefix(length);
    }
    return out;
  }

  std::map<std::string, std::string> values_;
  std::size_t left_ = kMaxJobBytes;
};

bool is_option(const Word& word) { return word.text.size() > 2 && word.text.starts_with("--"); }

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

  void take(const Word& word) {
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
      node.overridden_line = known->where.line;
      root.items.erase(root.items.begin() + (known - root.items.data()));
    }
    node.where = {pointer_to("", key), word.line};
    node.key = std::move(key);
    node.kind = Node::Kind::Bool;
    node.truth = true;
    root.items.push_back(std::move(node));
    if (equals != std::string::npos) add_value(root.items.back(), {word.text.substr(equals + 1), word.line});
  }

  /// `+data.train_batch_size=8` as a member of a member; false where the word is no override. Before the program names
  /// without a point are variables.
  bool take_override(const Word& word, bool started) {
    std::string_view path = word.text;
    path.remove_prefix(std::min(path.find_first_not_of('+'), path.size()));
    const std::size_t equals = path.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view value = path.substr(equals + 1);
    path = path.substr(0, equals);
    if ((!started && path.find('.') == std::string_view::npos) ||
        std::count(path.begin(), path.end(), '.') >= kMaxJobDepth / 2) {
      return false;
    }
    std::vector<std::string_view> names;
    if (path.empty()) return false;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('.'), path.size());
      if (!is_name(path.substr(0, end))) return false;
      names.push_back(path.substr(0, end));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    Node* node = &root;
    for (const std::string_view name : names) node = &member(*node, name, word.line);
    Node given = value == "null" || value == "None" ? Node{} : leaf({std::string(value), word.line}, node->where);
    given.where = {node->where.path, word.line};
    given.key = std::move(node->key);
    *node = std::move(given);
    return true;
  }

 private:
  /// The member of that name, which is made where there is none; a value in its way goes.
  static Node& member(Node& parent, std::string_view name, int line) {
    if (!parent.is_object()) {
      parent.kind = Node::Kind::Object;
      parent.items.clear();
      parent.text.clear();
    }
    if (const Node* known = parent.find(name))
      return parent.items[static_cast<std::size_t>(known - parent.items.data())];
    Node node;
    node.key = name;
    node.where = {pointer_to(parent.where.path, name), line};
    parent.items.push_back(std::move(node));
    return parent.items.back();
  }

  static Node leaf(const Word& word, Where where) {
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

  static void add_value(Node& option, const Word& word) {
    if (option.kind == Node::Kind::Bool) {
      Node value = leaf(word, option.where);
      value.key = std::move(option.key);
      value.overridden_line = option.overridden_line;
      option = std::move(value);
      return;
    }
    if (!option.is_array()) {
      Node list;
      list.kind = Node::Kind::Array;
      list.where = option.where;
      list.key = option.key;
      list.overridden_line = option.overridden_line;
      list.items.push_back(std::move(option));
      option = std::move(list);
    }
    option.items.push_back(leaf(word, {fmt::format("{}/{}", option.where.path, option.items.size()), word.line}));
  }

  bool ended_ = false;
};

/// `>`, `>>`, `2>&1`, `&>log`: where a program's output goes.
bool redirects(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of("0123456789&"), word.size()));
  return word.starts_with('>');
}

/// The words that a program gets: not where its output goes, nor the program that takes it on the same line.
std::vector<Word> without_output(std::vector<Word> words) {
  std::vector<Word> kept;
  int piped = 0;  // the line of a pipe
  bool target = false;
  bool started = false;  // before it a pipe brings the program's input
  for (Word& word : words) {
    const bool file = std::exchange(target, redirects(word.text) && word.text.ends_with('>'));
    started = started || is_option(word) || word.text.find('=') < word.text.size();
    if (started && word.text == "|") piped = word.line;
    if (!file && word.line != piped && !redirects(word.text)) kept.push_back(std::move(word));
  }
  return kept;
}

/// Words of a script, which starts programs and sets variables, into a tree of options. Options of an array or of a
/// text count where they are written, as if the program stood there.
class ScriptReader {
 public:
  ArgumentTree tree;

  void take(const Word& word) {
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
    set_ = assigns_ && variables_.take(word.text);
    if (set_) {
      if (!exports_ && tree.root.items.empty()) tree.take(word);
      return;
    }
    expand(word);
  }

 private:
  void expand(const Word& word) {
    const std::string name = word.literal ? std::string() : variable_of(word.text);
    if (name.empty()) {
      const bool expands = !word.literal && word.text.find('$') != std::string::npos;
      tree.take(expands ? Word{variables_.expanded(word.text), word.line} : word);
      return;
    }
    if (std::find(arrays_.begin(), arrays_.end(), name) != arrays_.end()) return;
    const std::string* value = variables_.find(name);
    if (value == nullptr) {
      const bool one = word.text.find('@') == std::string::npos && word.text.find('*') == std::string::npos;
      if (one && tree.awaits_value()) return tree.take(word);
      tree.root.open = true;
      return;
    }
    const std::string text = variables_.expanded(word.text);
    const bool one_word = word.quoted || text == word.text || value->find(' ') == std::string::npos;
    const Result<std::vector<Word>> parts = one_word ? std::vector<Word>() : split_words(text, "");
    if (one_word || !parts || parts->size() > words_left_) return tree.take({text, word.line});
    words_left_ -= parts->size();
    for (const Word& part : *parts) tree.take({part.text, word.line});
  }

  /// Of a word that is nothing else: `$NAME`, `${NAME}`, `${NAME[@]}`.
  static std::string variable_of(std::string_view text) {
    if (!text.starts_with('$')) return {};
    text.remove_prefix(1);
    if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
    for (const std::string_view all : {"[@]", "[*]"}) {
      if (text.ends_with(all)) text.remove_suffix(all.size());
    }
    return is_name(text) ? std::string(text) : text == "@" || text == "*" ? "@" : std::string();
  }

  Variables variables_;
  std::vector<std::string> arrays_;
  std::string array_;
  std::size_t words_left_ = kMaxJobNodes;  ///< that texts may bring
  bool assigns_ = false, set_ = false, exports_ = false;
};

/// Programs that scripts start. A file of arguments alone has none, and its lines may break anywhere.
bool starts_program(const std::vector<Word>& words) {
  static constexpr std::string_view kPrograms[] = {"torchrun",  "python", "python3", "accelerate",
                                                   "deepspeed", "trl",    "srun",    "mpirun",
                                                   "exec",      "nohup",  "tune",    "llamafactory-cli"};
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    const bool program = std::find(std::begin(kPrograms), std::end(kPrograms), word.text) != std::end(kPrograms);
    return (word.first && program) || word.text.ends_with("=(");
  });
}

/// Megatron has some nine hundred. Each is looked for among those before it.
constexpr std::size_t kMostOptions = 4096;

tl::unexpected<Diagnostics> too_many_options(std::string_view name) {
  return fail("file-too-large", std::string(name), fmt::format("holds more than {} options", kMostOptions),
              "a job file is small: check that this is the right file");
}

Result<Node> script_of(const std::vector<Word>& words, std::string_view name) {
  ScriptReader reader;
  for (const Word& word : words) {
    reader.take(word);
    if (reader.tree.root.items.size() > kMostOptions) return too_many_options(name);
  }
  return std::move(reader.tree.root);
}

Result<Node> tree_of(const std::vector<Word>& words, std::string_view name) {
  ArgumentTree tree;
  const bool overrides = takes_overrides(words);
  if (!overrides && starts_program(words)) {
    Result<Node> script = script_of(words, name);
    if (!script || !script->items.empty()) return script;
  }
  Variables variables;
  bool started = false;
  for (const Word& word : words) {
    if (tree.root.items.size() > kMostOptions) return too_many_options(name);
    if (!overrides) {
      tree.take(word);
      continue;
    }
    const Word whole{variables.expanded(word.text), word.line};
    started = started || whole.text.starts_with("verl.");
    if (!tree.take_override(whole, started) && !variables.take(word.text)) tree.take(whole);
  }
  if (tree.root.items.empty()) {
    return fail("arguments-empty", std::string(name), "holds no --option",
                "give the argument list of the training run");
  }
  return std::move(tree.root);
}

}  // namespace

Result<Node> parse_argument_nodes(std::string_view text, std::string_view name) {
  Result<std::vector<Word>> words = split_words(text, name);
  if (!words) return tl::unexpected<Diagnostics>(words.error());
  return tree_of(without_output(std::move(*words)), name);
}

Result<Node> argument_nodes_of(const Node& list, std::string_view name) {
  std::vector<Word> words;
  for (const Node& item : list.items) words.push_back({item.text, item.where.line});
  return tree_of(words, name);
}

}  // namespace smplan
