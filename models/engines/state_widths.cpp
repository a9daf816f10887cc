#include "models/engines/state_widths.hpp"

#include <algorithm>

#include "models/engines/memory_constants.hpp"
#include "models/job/execution.hpp"

namespace smplan {

StateWidths half_widths(Optimizer optimizer, const Execution& execution) {
  const double moments = optimizer_state_bytes(optimizer);
  const bool own_format = optimizer == Optimizer::Adam8bit || is_on(execution.paged_optimizer);
  return {2, 2, own_format ? moments : moments / 2, 2};
}

double optimizer_state_bytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::AdamW:
    case Optimizer::Lamb:
      return 8;  // two fp32 moments
    case Optimizer::Adam8bit:
      return 2;
    case Optimizer::SgdMomentum:
    case Optimizer::Lion:
    case Optimizer::Muon:
      return 4;  // one fp32 moment
    case Optimizer::Adafactor:
      // Row and column sums, 4 (n + m) / (n m): at most 8 / 512 where no side is under 512. Shazeer & Stern 2018.
      return 8.0 / 512;
  }
  return 8;
}

double moment_bytes(const Workload& workload, const Stack& stack) {
  return optimizer_state_bytes(workload.optimizer) / (is_on(stack.execution.half_moments) ? 2 : 1);
}

StateWidths state_widths(const Workload& w, const Strategy& s, const Stack& stack) {
  const double moments = moment_bytes(w, stack);
  if (keeps_32_bits(w.precision)) return {4, 4, moments, 4};
  if (is_on(stack.execution.pure_half)) return half_widths(w.optimizer, stack.execution);
  StateWidths b{stack.weight_bytes, stack.gradient_bytes, moments + stack.master_bytes, 2};
  // DeepSpeed's BF16_Optimizer, which pipelines take, accumulates gradients in fp32 beside the 16-bit ones, if it is
  // not told to in theirs (`grad_accum_dtype`).
  const bool accumulates = stack.deepspeed_engine && stack.pipeline_parallel && s.sharding == Sharding::Zero1 &&
                           !is_on(stack.execution.half_gradients);
  if (accumulates && w.precision == Precision::Bf16 && b.gradient < 4) b.gradient += 4;
  return b;
}

double frozen_weight_bytes(const Workload& workload, const Stack& stack) {
  if (workload.finetune == FineTune::Qlora) {
    return stack.execution.double_quantization != Toggle::Off ? kMemoryConstants.nf4_bytes
                                                              : kMemoryConstants.nf4_plain_bytes;
  }
  return base_format_bytes(stack.execution.base_format, workload.precision);
}

double gathered_parameter_bytes(const Workload& workload, const Stack& stack) {
  const double tensor = tensor_bytes(workload.precision);
  return workload.finetune == FineTune::Full ? tensor : std::min(tensor, frozen_weight_bytes(workload, stack));
}

double reduced_gradient_bytes(const Workload& workload, const Stack& stack) {
  return std::max(stack.gradient_reduce_bytes, tensor_bytes(workload.precision));
}

}  // namespace smplan
