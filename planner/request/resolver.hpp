#pragma once

#include "catalogs/recovery_features.hpp"
#include "planner/request/request.hpp"

namespace smplan {

/// Fills a PlanRequest from the text of a RequestSpec, collecting every fault. One use.
class Resolver {
 public:
  Resolver(const RequestSpec& spec, const Catalog& catalog, Purpose purpose, std::optional<Instant> now)
      : spec_(spec), catalog_(catalog), purpose_(purpose), now_(now) {}

  Result<PlanRequest> run(const std::optional<std::string>& environment_region);

 private:
  using Text = std::optional<std::string>;

  // request.cpp: what is trained, limits, goal.
  void read_model();
  void use_architecture(Architecture architecture, std::string assumption);
  void use_weights(const std::string& name, const ModelPreset& preset);
  void read_formats();
  void read_precision(const std::string& text);
  void read_loss();
  void read_trained_layers();
  void read_adapters();
  void read_prompt();
  void weigh_adapters();
  void read_work();
  void read_batch();
  void read_limits();
  void read_deadline();

  // request_hardware.cpp: where and with which software.
  void read_market(const std::optional<std::string>& environment_region);
  void read_counts();
  void read_instances();
  void consider_named(std::string_view name);
  void consider(const InstanceType& instance, bool named);
  [[nodiscard]] std::string reason_to_leave_out(const InstanceType& instance, bool named);
  void name_markets_without_prices();
  [[nodiscard]] std::vector<std::string> priced_regions(const std::string& instance) const;
  void refuse_empty_selection();
  void read_launchable(std::string_view text);
  void read_stacks();
  void default_precision();
  void choose_stacks();
  bool choose_tool();
  bool refuses_span(const Stack& stack);
  [[nodiscard]] std::optional<std::string> refusal_of_named(const Stack& stack) const;
  [[nodiscard]] bool runs_somewhere(const Stack& stack) const;
  [[nodiscard]] bool has_kernels(const Stack& stack) const;

  // request_execution.cpp: what software is told.
  [[nodiscard]] std::vector<std::int32_t> values_of(const DimensionRow& row, const Stack& stack) const;
  [[nodiscard]] std::vector<Execution> executions_of(const Stack& stack) const;
  [[nodiscard]] std::optional<Diagnostic> refusal_of(const Stack& way) const;
  bool refuses_ways(const Stack& stack);
  void execute_stacks();
  void adapt_layers();

  // recovery.cpp: what runs the job, and what keeps it going.
  void read_recovery();
  void read_preemption();
  void check_recovery();
  void fit_recovery();
  void refuse_feature(const RecoveryFeature& feature, const std::string& flag);
  [[nodiscard]] std::optional<std::string> recovery_refusal(const Stack& stack) const;

  // request_operation.cpp: checkpoints and data.
  void read_operation();
  void read_data();
  void read_series();

  // request_strategy.cpp: fixed dimensions.
  void read_dimensions();
  void read_zero_stage();
  void read_fused_loss();
  void read_recomputation();
  void narrow_to_target();
  [[nodiscard]] std::vector<std::int32_t> said_by_target(const DimensionRow& row,
                                                         const std::vector<std::int32_t>& values) const;
  void check_dimensions();
  void check_estimate();
  void check_sale();

  void add(std::string code, std::string where, std::string message, std::string hint = {}) {
    faults_.push_back({std::move(code), std::move(where), std::move(message), std::move(hint)});
  }
  void assume(std::string sentence) { request_.assumptions.push_back(std::move(sentence)); }

  const RequestSpec& spec_;
  const Catalog& catalog_;
  Purpose purpose_;
  std::optional<Instant> now_;
  bool has_model_ = false;
  bool region_known_ = true;
  const ModelPreset* preset_ = nullptr;  ///< the model's, where the catalog has it
  PlanRequest request_;
  Diagnostics faults_;
};

}  // namespace smplan
