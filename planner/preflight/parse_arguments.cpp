#include <fmt/format.h>

#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

struct Word {
  std::string text;
  int line = 1;
};

/// Words as a POSIX shell would split them, without expansion: quotes, backslashes, comments.
Result<std::vector<Word>> split_words(std::string_view text, std::string_view name) {
  std::vector<Word> words;
  int line = 1;
  bool open = false;  // inside a word
  char quoted = 0;
  int quote_line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (c == '\n') ++line;
    if (quoted == 0 && (blank || (c == '#' && !open))) {
      open = false;
      if (c == '#') {
        while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      }
      continue;
    }
    if (quoted == 0 && c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      open = false;
      continue;
    }
    if (!open) {
      words.push_back({"", line});
      open = true;
      if (words.size() > kMaxJobNodes) {
        return fail("file-too-large", std::string(name), fmt::format("holds more than {} words", kMaxJobNodes),
                    "a job file is small: check that this is the right file");
      }
    }
    if (quoted == 0 && (c == '"' || c == '\'')) {
      quoted = c;
      quote_line = line;
    } else if (c == quoted) {
      quoted = 0;
    } else if (c == '\\' && quoted != '\'' && i + 1 < text.size()) {
      words.back().text += text[++i];
    } else {
      words.back().text += c;
    }
  }
  if (quoted != 0) {
    return fail("arguments-syntax", fmt::format("{}:{}", name, quote_line), "a quote is not closed",
                "close it on the same line");
  }
  return words;
}

bool is_option(const Word& word) { return word.text.size() > 2 && word.text.starts_with("--"); }

/// `--key value`, `--key=value` and `--flag` as members of one object; `--key a b` is a list. Of an option that stands
/// twice the last counts, as for argparse: launch scripts override their defaults that way.
class ArgumentTree {
 public:
  ArgumentTree() { root.kind = Node::Kind::Object; }

  Node root;

  void take(const Word& word) {
    if (!is_option(word)) {
      if (!root.items.empty()) add_value(root.items.back(), word);
      return;  // the program and its launcher's words before the first option
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

 private:
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
};

Result<Node> tree_of(const std::vector<Word>& words, std::string_view name) {
  ArgumentTree tree;
  for (const Word& word : words) tree.take(word);
  if (tree.root.items.empty()) {
    return fail("arguments-empty", std::string(name), "holds no --option",
                "give the argument list of the training run");
  }
  return std::move(tree.root);
}

}  // namespace

Result<Node> parse_argument_nodes(std::string_view text, std::string_view name) {
  const Result<std::vector<Word>> words = split_words(text, name);
  if (!words) return tl::unexpected<Diagnostics>(words.error());
  return tree_of(*words, name);
}

Result<Node> argument_nodes_of(const Node& list, std::string_view name) {
  std::vector<Word> words;
  for (const Node& item : list.items) words.push_back({item.text, item.where.line});
  return tree_of(words, name);
}

}  // namespace smplan
