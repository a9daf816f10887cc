#pragma once

#include <cstdint>
#include <span>

#include "models/pipeline/schedule.hpp"

namespace smplan {

/// Closed form for a schedule. Exact for equal stages without transfer time; for uneven stages the
/// busiest stage paces the steady state.
/// Source: Narayanan et al. 2021 (1F1B, interleaved), Huang et al. 2019 (GPipe), Qi et al. 2023 (zero bubble).
PipelineTime pipeline_closed_form(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                                  Schedule schedule, Seconds transfer);

}  // namespace smplan
