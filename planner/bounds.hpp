#pragma once

#include "models/step.hpp"

namespace smplan {

/// Lower bounds that dismiss candidates before they are priced. Admissible: no bound exceeds what the
/// models say of any candidate it stands for (a property test holds them to it).

/// Forward and backward of all layers and both ends, one micro-batch: exposed communication at its least.
Seconds table_floor(const LayerTable& table, const StackProfile& profile);
/// What full recomputation adds to it.
Seconds recompute_floor(const LayerTable& table, const StackProfile& profile);

/// What stretches every step of a number of devices: waiting for the slowest rank.
double straggler_stretch(std::int64_t gpus, const StackProfile& profile);

/// Bubble of even stages in units of one stage's micro-batch: (p-1)/v, nothing for zero-bubble schedules.
/// Source: as pipeline_closed_form; uneven stages take longer.
double bubble_floor(Schedule schedule, std::int32_t pipeline, std::int32_t chunks);

/// Step of `micro_batches` on `pipeline` ranks that takes `model_time` a micro-batch without sharding,
/// transfers, optimizer and offload.
Seconds step_floor(Seconds model_time, double micro_batches, std::int32_t pipeline, double bubble, double stretch,
                   const StackProfile& profile);

}  // namespace smplan
