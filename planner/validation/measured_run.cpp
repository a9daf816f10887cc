#include "planner/validation/measured_run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/words.hpp"
#include "models/dimensions.hpp"
#include "planner/validation/run_words.hpp"

namespace smplan {
namespace {

using ColumnNames = std::pair<std::string_view, std::string_view>;

/// What other tables call a column: those of fine-tuning memory, and smplan's own long names.
constexpr std::array<ColumnNames, 19> kOtherNames{{
    {"micro_batch", "batch"},
    {"recompute", "grad_ckpt"},
    {"peak_mem_gib_per_gpu", "peak_mem_gib"},
    {"instance", "instance_type"},
    {"gpu", "accelerator"},
    {"framework", "stack"},
    {"dtype", "precision"},
    {"dp", "data_parallel"},
    {"tp", "tensor_parallel"},
    {"pp", "pipeline_parallel"},
    {"vpp", "virtual_pipeline"},
    {"cp", "context_parallel"},
    {"ep", "expert_parallel"},
    {"etp", "expert_tensor_parallel"},
    {"shard", "sharding"},
    {"shard", "zero_stage"},
    {"global_batch", "global_batch_size"},
    {"micro_batch", "micro_batch_size"},
    {"grad_accum", "gradient_accumulation"},
}};

/// `smplan plan --format csv`, where these words mean degrees; elsewhere `data` may name a data set.
constexpr std::array<ColumnNames, 7> kPlanNames{{
    {"dp", "data"},
    {"tp", "tensor"},
    {"pp", "pipeline"},
    {"cp", "context"},
    {"ep", "expert"},
    {"etp", "expert_tensor"},
    {"sequence_parallel", "sequence"},
}};

bool is_plan(const CsvTable& table) { return table.column("tensor") && table.column("pipeline"); }

/// For people: where a row's figures come from.
constexpr std::string_view kReference = "source_ref";

/// Where a column stands under its own name or, lacking that, under another.
std::optional<std::size_t> position(const CsvTable& table, std::string_view column) {
  std::optional<std::size_t> index = table.column(column);
  const auto look_for = [&](const auto& names) {
    for (const auto& [name, other] : names) {
      if (!index && name == column) index = table.column(other);
    }
  };
  look_for(kOtherNames);
  if (is_plan(table)) look_for(kPlanNames);
  return index;
}

/// Where a table has the columns that a run is read from: looked up once, however many rows there are.
class Columns {
 public:
  explicit Columns(const CsvTable& table) : table_(table) {}

  /// `column`: a literal.
  std::optional<std::size_t> at(std::string_view column) {
    const auto [entry, is_new] = asked_.try_emplace(column);
    if (is_new) entry->second = position(table_, column);
    return entry->second;
  }
  /// Every column that a run may have.
  [[nodiscard]] const std::map<std::string_view, std::optional<std::size_t>>& asked() const { return asked_; }

 private:
  const CsvTable& table_;
  std::map<std::string_view, std::optional<std::size_t>> asked_;
};

/// What tables write where a figure is not known.
bool is_not_stated(std::string_view cell) {
  constexpr std::array<std::string_view, 11> kBlanks{"",    "-",   "--",      "n/a",  "na",        "?",
                                                     "nan", "tbd", "unknown", "null", "not stated"};
  const std::string text = lower_case(trim(cell));
  return std::find(kBlanks.begin(), kBlanks.end(), text) != kBlanks.end();
}

/// Reads typed cells of one row and collects the faults.
class RowReader {
 public:
  RowReader(Columns& columns, const CsvRow& row, std::string_view where)
      : columns_(columns), row_(row), where_(where) {}

  std::string text(std::string_view column) {
    const std::optional<std::size_t> index = columns_.at(column);
    return index && *index < row_.fields.size() ? std::string(trim(row_.fields[*index])) : std::string();
  }

  std::optional<double> number(std::string_view column) {
    const std::string cell = text(column);
    if (is_not_stated(cell)) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0) {
      refuse(column, cell, "a number that is not negative");
      return std::nullopt;
    }
    return value;
  }

  std::optional<std::int64_t> integer(std::string_view column) {
    const std::optional<double> value = number(column);
    if (!value) return std::nullopt;
    if (*value != std::floor(*value) || *value > 9e15) {
      refuse(column, text(column), "a whole number");
      return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
  }

  /// A degree or size: zero is no configuration.
  std::optional<std::int64_t> positive(std::string_view column) {
    const std::optional<std::int64_t> value = integer(column);
    if (value && *value == 0) {
      refuse(column, "0", "a positive whole number");
      return std::nullopt;
    }
    return value;
  }

  /// `named`: what else its words may say.
  std::optional<bool> flag(std::string_view column, std::optional<bool> (*named)(std::string_view) = nullptr) {
    const std::string cell = lower_case(text(column));
    if (is_not_stated(cell)) return std::nullopt;
    if (const auto on = switched(cell)) return on;
    const std::optional<bool> said = named != nullptr ? named(cell) : std::nullopt;
    if (!said) refuse(column, cell, "0 or 1");
    return said;
  }

  /// A member of the execution by the words of its row, of a switch by any word for on and off; nullopt: not stated, or
  /// left to the framework.
  std::optional<std::int32_t> told(const DimensionRow& row) {
    const std::string cell = lower_case(text(row.keyword));
    if (is_not_stated(cell)) return std::nullopt;
    if (row.kind == DimensionRow::Kind::Degree) {
      const std::optional<std::int64_t> value = positive(row.keyword);
      if (value && *value > row.most) refuse(row.keyword, cell, "at most " + std::to_string(row.most));
      return value && *value <= row.most ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
    }
    std::optional<std::int32_t> value = row.words->parse(cell);
    if (const auto on = value ? std::nullopt : switched(cell)) value = row.words->parse(*on ? "on" : "off");
    if (!value) refuse(row.keyword, cell, "one of " + known_names(row));
    return value == 0 ? std::nullopt : value;
  }

  Diagnostics faults;

 private:
  static std::string known_names(const DimensionRow& row) {
    std::string out;
    for (const std::string& name : row.names()) out += (out.empty() ? "" : ", ") + name;
    return out;
  }
  static std::optional<bool> switched(const std::string& cell) {
    constexpr std::array<std::string_view, 9> kOn{"1", "true", "yes", "on", "y", "t", "enabled", "✓", "✔"};
    constexpr std::array<std::string_view, 10> kOff{"0", "false", "no", "off", "n", "f", "disabled", "none", "✗", "✘"};
    if (std::find(kOn.begin(), kOn.end(), cell) != kOn.end()) return true;
    if (std::find(kOff.begin(), kOff.end(), cell) != kOff.end()) return false;
    return std::nullopt;
  }
  void refuse(std::string_view column, std::string_view value, std::string_view expected) {
    faults.push_back({"bad-cell", std::string(where_) + ":" + std::to_string(row_.line),
                      std::string(column) + " is '" + std::string(value) + "'", "expected " + std::string(expected)});
  }

  Columns& columns_;
  const CsvRow& row_;
  std::string_view where_;
};

MeasuredRun read_run(Columns& columns, const CsvRow& row, std::string_view where) {
  RowReader in(columns, row, where);
  MeasuredRun run;
  run.line = row.line;
  run.id = in.text("id");
  run.source = in.text("source");
  run.model = in.text("model");
  run.gpu = in.text("gpu");
  run.instance = in.text("instance");
  run.network = in.text("network");
  run.framework = in.text("framework");
  run.dtype = in.text("dtype");
  run.mlp = in.text("mlp");
  run.shard = in.text("shard");
  run.recompute = in.text("recompute");
  run.schedule = in.text("schedule");
  run.offload = in.text("offload");
  run.optimizer = in.text("optimizer");
  run.tflops_kind = in.text("tflops_kind");
  run.mem_kind = in.text("mem_kind");
  run.notes = in.text("notes");
  run.method = in.text("method");
  run.quant = in.text("quant");
  run.lora_targets = in.text("lora_targets");
  run.params_b = in.number("params_b");
  run.n_layers = in.positive("n_layers");
  run.hidden = in.positive("hidden");
  run.ffn_hidden = in.positive("ffn_hidden");
  run.n_heads = in.positive("n_heads");
  run.n_kv_heads = in.positive("n_kv_heads");
  run.head_dim = in.positive("head_dim");
  run.vocab = in.positive("vocab");
  run.seq_len = in.positive("seq_len");
  run.n_experts = in.integer("n_experts");
  run.top_k = in.integer("top_k");
  run.expert_ffn_hidden = in.integer("expert_ffn_hidden");
  run.n_gpus = in.positive("n_gpus");
  run.gpus_per_node = in.positive("gpus_per_node");
  run.internode_gbps_per_node = in.number("internode_gbps_per_node");
  run.tp = in.positive("tp");
  run.pp = in.positive("pp");
  run.vpp = in.positive("vpp");
  run.cp = in.positive("cp");
  run.ep = in.positive("ep");
  run.etp = in.positive("etp");
  run.dp = in.positive("dp");
  run.shard_degree = in.positive("shard_degree");
  run.micro_batch = in.positive("micro_batch");
  run.global_batch = in.positive("global_batch");
  run.grad_accum = in.positive("grad_accum");
  run.recompute_layers = in.positive("recompute_layers");
  run.lora_rank = in.positive("lora_rank");
  run.sequence_parallel = in.flag("sequence_parallel");
  run.flash_attention = in.flag("flash_attention", flash_attention_in);
  run.lora = in.flag("lora");
  run.packing = in.flag("packing");
  for (const DimensionRow& told : dimensions()) {
    if (!told.of_execution || told.dimension == Dimension::FlashAttention) continue;
    if (const auto value = in.told(told)) told.set(run.stated, *value);
  }
  RowReader measured(columns, row, where);
  run.step_time_s = measured.number("step_time_s");
  run.tokens_per_s_per_gpu = measured.number("tokens_per_s_per_gpu");
  run.samples_per_s = measured.number("samples_per_s");
  run.tflops_per_gpu = measured.number("tflops_per_gpu");
  run.mfu_pct = measured.number("mfu_pct");
  run.hfu_pct = measured.number("hfu_pct");
  run.peak_mem_gib_per_gpu = measured.number("peak_mem_gib_per_gpu");
  run.measured_faults = std::move(measured.faults);
  run.faults = std::move(in.faults);
  return run;
}

}  // namespace

Result<std::vector<MeasuredRun>> read_measured_runs(const CsvTable& table, std::string_view where) {
  if (!table.column("id")) {
    const bool one = table.header.size() == 1 && table.header[0].find_first_of(";\t|") != std::string::npos;
    return fail("missing-column", std::string(where), "there is no column 'id'",
                one ? "the columns are not parted by commas: save the table as comma-separated values"
                    : "the first line must name the columns; docs/validation.md lists them");
  }
  Columns columns(table);
  std::vector<MeasuredRun> runs;
  runs.reserve(table.rows.size());
  for (const CsvRow& row : table.rows) runs.push_back(read_run(columns, row, where));
  return runs;
}

std::vector<UnreadColumn> unread_columns(const CsvTable& table) {
  Columns columns(table);
  read_run(columns, {}, {});
  std::set<std::size_t> read;
  std::vector<std::string> known;
  for (const auto& [column, at] : columns.asked()) {
    known.emplace_back(column);
    if (at) read.insert(*at);
  }
  if (const auto reference = columns.at(kReference)) read.insert(*reference);
  std::vector<UnreadColumn> unread;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (read.contains(i)) continue;
    const std::vector<std::string> nearest = nearest_names(table.header[i], known, 1);
    // Slips rarely begin with the first letter; other words that look alike are no help.
    const bool slip = !nearest.empty() && !table.header[i].empty() && nearest[0][0] == table.header[i][0];
    unread.push_back({table.header[i], slip ? nearest[0] : std::string()});
  }
  return unread;
}

std::optional<double> measured_tokens_per_s_per_gpu(const MeasuredRun& run) {
  if (run.tokens_per_s_per_gpu && *run.tokens_per_s_per_gpu > 0) return run.tokens_per_s_per_gpu;
  if (!run.seq_len || !run.n_gpus) return std::nullopt;
  const auto tokens = static_cast<double>(*run.seq_len);
  const auto gpus = static_cast<double>(*run.n_gpus);
  if (run.step_time_s && *run.step_time_s > 0 && run.global_batch) {
    return tokens * static_cast<double>(*run.global_batch) / *run.step_time_s / gpus;
  }
  if (run.samples_per_s && *run.samples_per_s > 0) return tokens * *run.samples_per_s / gpus;
  return std::nullopt;
}

}  // namespace smplan
