#include "planner/preflight/nemo_rl_configuration.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "planner/preflight/job.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

/// The configuration that each script makes. Source: NVIDIA-NeMo/RL 7ea279a (2026-08-22), examples/run_*.py.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kPrograms = {
    {{"run_grpo.py", "grpo"},
     {"run_vlm_grpo.py", "grpo"},
     {"run_grpo_sliding_puzzle.py", "grpo"},
     {"run_grpo_nemo_gym.py", "grpo"},
     {"run_grpo_single_controller.py", "single_controller"},
     {"run_ppo.py", "ppo"},
     {"run_dpo.py", "dpo"},
     {"run_sft.py", "sft"},
     {"run_vlm_sft.py", "sft"},
     {"run_rm.py", "rm"},
     {"run_distillation.py", "distillation"},
     {"run_distillation_nemo_gym.py", "distillation"},
     {"run_xtoken_off_policy_distillation.py", "x_token"},
     {"run_eval.py", "eval"}}};

/// A member of the root that only one of them has, the more special first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kMembers = {{{"async_rl", "single_controller"},
                                                                                    {"teachers", "x_token"},
                                                                                    {"grpo", "grpo"},
                                                                                    {"ppo", "ppo"},
                                                                                    {"dpo", "dpo"},
                                                                                    {"sft", "sft"},
                                                                                    {"rm", "rm"},
                                                                                    {"distillation", "distillation"},
                                                                                    {"eval", "eval"}}};

std::string of_members(const Node& root) {
  for (const auto& [member, name] : kMembers) {
    if (root.has(member)) return std::string(name);
  }
  return "any";
}

/// Of the only program that is started.
std::string of_programs(const Node& root) {
  std::string found;
  for (const std::string_view word : words_of(root.text)) {
    const std::string_view name = nemo_rl_program(word);
    if (name.empty()) continue;
    if (!found.empty() && found != name) return "any";
    found = name;
  }
  return found.empty() ? "any" : found;
}

bool goes_on(const Node& root) {
  const Node* defaults = root.find("defaults");
  return defaults != nullptr && !defaults->is_null();
}

Node& item(Node& object, const Node* found) { return object.items[static_cast<std::size_t>(found - &object.items[0])]; }

void drop(Node& object, std::string_view key) {
  std::erase_if(object.items, [&](const Node& member) { return member.key == key; });
}

/// A value that another file, or the command line, has to give.
bool is_missing(const Node& node) { return node.is_string() && node.text == "???"; }

bool refers(const Node& node) { return node.is_string() && node.text.find("${") != std::string::npos; }

/// Both objects; of what both have, the upper one's. Source: OmegaConf 2.3.0, OmegaConf.merge.
void lay_over(Node& base, Node top) {
  base.where = top.where;
  for (Node& upper : top.items) {
    const Node* found = base.find(upper.key);
    if (found == nullptr) {
      base.items.push_back(std::move(upper));
      continue;
    }
    Node& lower = item(base, found);
    if (is_missing(upper) || (upper.is_object() && refers(lower))) continue;
    if (lower.is_object() && upper.is_object()) {
      lay_over(lower, std::move(upper));
    } else {
      lower = std::move(upper);
    }
  }
}

/// The parts of a file that say `_override_` take the place of those below. Source: nemo_rl/utils/config.py.
void lay_file_over(Node& base, Node top) {
  for (Node& part : top.items) {
    const Node* marker = part.find("_override_");
    if (!part.is_object() || marker == nullptr || truth_of(*marker) != true) continue;
    drop(part, "_override_");
    drop(base, part.key);
  }
  lay_over(base, std::move(top));
}

constexpr int kMostFiles = 16;

/// Files that go on from each other, below the folder of the job.
class Files {
 public:
  Files(const std::string& job_file, std::vector<BrokenFile>& broken)
      : folder_(fs::path(job_file).parent_path()),
        broken_(broken),
        open_{fs::path(job_file).filename().generic_string()} {}

  /// The file, from the folder, with those that it goes on from; nullopt where one of them cannot be read.
  std::optional<Node> read(const fs::path& file, const Node& name) {
    const std::string shown = file.lexically_normal().generic_string();
    const fs::path path = folder_ / file;
    std::error_code none;
    const bool yaml = path.extension() == ".yaml" || path.extension() == ".yml";
    if (!yaml || ++read_ > kMostFiles || !fs::is_regular_file(path, none)) return std::nullopt;
    if (std::find(open_.begin(), open_.end(), shown) != open_.end()) {
      broken_.push_back({name.where, name.text, "it goes on from itself"});
      return std::nullopt;
    }
    const Result<std::string> text = read_text_file(path.string());
    Result<Node> node = text ? parse_document(*text, shown, Syntax::Yaml) : tl::unexpected<Diagnostics>(text.error());
    if (!node || !node->is_object()) {
      const std::string why = node ? "it is no mapping" : to_string(node.error().front());
      broken_.push_back({name.where, name.text, why});
      return std::nullopt;
    }
    name_file(*node, shown);
    open_.push_back(shown);
    std::optional<Node> whole = with_defaults(std::move(*node), file.parent_path());
    open_.pop_back();
    return whole;
  }

  /// `below` is the file's own folder.
  std::optional<Node> with_defaults(Node file, const fs::path& below) {
    const Node* defaults = file.find("defaults");
    if (!goes_on(file)) return file;
    const std::vector<Node> names = defaults->is_array() ? defaults->items : std::vector<Node>{*defaults};
    Node whole;
    whole.kind = Node::Kind::Object;
    for (const Node& name : names) {
      if (!name.is_string() || is_placeholder(name.text) || fs::path(name.text).is_absolute()) return std::nullopt;
      std::optional<Node> parent = read(below / name.text, name);
      if (!parent) return std::nullopt;
      lay_file_over(whole, std::move(*parent));
    }
    drop(file, "defaults");
    lay_file_over(whole, std::move(file));
    return whole;
  }

 private:
  fs::path folder_;
  std::vector<BrokenFile>& broken_;
  std::vector<std::string> open_;  ///< those that go on from the next
  int read_ = 0;
};

/// Overrides of a command line, on the file that it names.
class Changes {
 public:
  explicit Changes(const Node& file) : file_(file) {}

  /// Sets it, with what the file has in its place. What Hydra refuses stays, for a rule to tell. A part that is added
  /// in braces is laid over the file's: `judged` is false for what stands in it.
  void apply(Node& base, Node given, bool judged = true) const {
    const Node* found = base.find(given.key);
    if (found != nullptr && found->is_object() && given.is_object()) {
      judged = judged && !(given.braces && given.plus > 0);
      for (Node& inner : given.items) apply(item(base, found), std::move(inner), judged);
      return;
    }
    given.under = judged ? under(base, found) : Node::Under::Unknown;
    const bool there = given.under != Node::Under::Nothing && given.under != Node::Under::Null;
    if (given.removed && there) return drop(base, given.key);
    if (given.is_object() && !given.braces) {
      Node members = std::exchange(given, bare(given));
      for (Node& inner : members.items) apply(given, std::move(inner));
    }
    if (found != nullptr) {
      item(base, found) = std::move(given);
    } else {
      base.items.push_back(std::move(given));
    }
  }

 private:
  static Node bare(const Node& object) {
    Node out = object;
    out.items.clear();
    return out;
  }

  /// A reference is what it names: from the root, or beside it (`${.top_p}`).
  [[nodiscard]] Node::Under under(const Node& base, const Node* found) const {
    if (found == nullptr) return Node::Under::Nothing;
    if (found->is_null()) return Node::Under::Null;
    if (!refers(*found)) return Node::Under::Value;
    std::string_view path = found->text;
    if (!path.starts_with("${") || path.find('}') + 1 != path.size()) return Node::Under::Unknown;
    path = path.substr(2, path.size() - 3);
    const bool beside = path.starts_with('.');
    if (beside) path.remove_prefix(1);
    const Node* named = node_by(beside ? base : file_, path);
    if (named == nullptr || refers(*named)) return Node::Under::Unknown;
    return named->is_null() ? Node::Under::Null : Node::Under::Value;
  }

  const Node& file_;
};

/// The file of `--config`, from the script's folder or one above it.
std::optional<Node> file_of_command(const Job& job, std::vector<BrokenFile>& broken) {
  const Node* named = job.root().find("config");
  if (named == nullptr || !named->is_string() || named->text.find('$') != std::string::npos) return std::nullopt;
  if (fs::path(named->text).is_absolute() || is_placeholder(named->text)) return std::nullopt;
  std::error_code none;
  fs::path above;
  for (int level = 0; level < kMostFiles; ++level) {
    if (fs::is_regular_file(fs::path(job.file).parent_path() / above / named->text, none)) {
      return Files(job.file, broken).read(above / named->text, *named);
    }
    above /= "..";
  }
  return std::nullopt;
}

std::optional<Node> whole_command(const Job& job, std::vector<BrokenFile>& broken) {
  const Node& root = job.root();
  std::optional<Node> whole = file_of_command(job, broken);
  if (!whole) return std::nullopt;
  const Node file = *whole;
  for (const Node& given : root.items) {
    if (given.plus >= 0) Changes(file).apply(*whole, given);
  }
  whole->text = root.text;
  whole->plus = root.plus;
  whole->open = root.open;
  whole->where = root.where;
  return whole;
}

}  // namespace

std::string_view nemo_rl_program(std::string_view word) {
  const std::string_view file = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
  const auto at = std::find_if(kPrograms.begin(), kPrograms.end(), [&](const auto& p) { return p.first == file; });
  return at == kPrograms.end() ? std::string_view() : at->second;
}

bool starts_nemo_rl(const Node& arguments) {
  const std::vector<std::string_view> words = words_of(arguments.text);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return !nemo_rl_program(word).empty(); });
}

NemoRlConfiguration nemo_rl_configuration(const Node& root) {
  if (root.plus < 0) return {of_members(root), !goes_on(root)};
  // What is of a file stands in objects without plus signs.
  const bool laid = std::any_of(root.items.begin(), root.items.end(),
                                [](const Node& member) { return member.plus < 0 && member.is_object(); });
  return {of_programs(root), laid};
}

void read_inherited(Job& job) {
  if (job.kind != JobKind::NemoRl) return;
  const Node& root = job.root();
  std::vector<BrokenFile> broken;
  std::optional<Node> whole;
  if (root.plus >= 0) {
    whole = whole_command(job, broken);
  } else if (goes_on(root)) {
    whole = Files(job.file, broken).with_defaults(root, "");
    if (whole) whole->where = root.where;
  }
  if (whole) job = reread_job(job, std::move(*whole));
  job.broken_files = std::move(broken);
}

}  // namespace smplan
