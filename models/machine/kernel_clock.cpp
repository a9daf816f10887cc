#include "models/machine/kernel_clock.hpp"

#include <algorithm>

#include "models/job/execution.hpp"

namespace smplan {
namespace {

/// Under autocast norms read and write 32 bits, the residuals that meet them too, and a cast stands before the
/// products; activation functions keep 16 (PyTorch, op-specific behaviour of torch.amp): half of the tensors are of
/// each.
constexpr double kAutocastBytes = 3;
/// The length of most measured runs whose attention is a large part of their step.
constexpr double kFittedKeys = 8192;

double element_bytes(const Workload& w, const Stack& stack) {
  return runs_under_autocast(w, stack) ? kAutocastBytes : tensor_bytes(w.precision);
}

}  // namespace

Seconds KernelClock::gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) const {
  return gemm_in(stack_.product_precision(workload_.precision), {.m = m, .n = n, .k = k, .batch = batch});
}

Seconds KernelClock::wide_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool misaligned) const {
  return gemm_in(attention_precision(), {.m = m, .n = n, .k = k, .misaligned = misaligned});
}

Seconds KernelClock::stream(Bytes bytes) const {
  return streaming_time(bytes * stack_.profile.elementwise_traffic, cluster_.accelerator, cluster_.accelerator_profile);
}

Seconds KernelClock::stream(double elements) const {
  return stream(Bytes(element_bytes(workload_, stack_) * elements));
}

Seconds KernelClock::copy(Bytes bytes) const {
  return streaming_time(bytes, cluster_.accelerator, cluster_.accelerator_profile);
}

Seconds KernelClock::attention(const AttentionShape& shape, Pass pass, bool ring) const {
  const bool flash = stack_.flash_attention;
  const ScoreKernels between{.fused_softmax = stack_.fused_kernels && takes_fused_softmax(shape),
                             .dropout = workload_.drops_out()};
  const Seconds kernel = flash ? flash_attention_time(shape, pass, attention_precision(), cluster_.accelerator,
                                                      cluster_.accelerator_profile, stack_.attention_kernel)
                               : unfused_attention_time(shape, pass, attention_precision(), cluster_.accelerator,
                                                        cluster_.accelerator_profile, between);
  const AcceleratorProfile& p = cluster_.accelerator_profile;
  const Seconds time = powered(kernel, attention_flops(shape, pass), attention_precision());
  const Seconds simt = flash ? Seconds() : misaligned_attention_time(shape, pass, cluster_.accelerator);
  const bool vendor = flash && stack_.attention_kernel == AttentionKernel::Vendor;
  const double beyond = per_token(stack_.profile.attention_slowdown, shape, ring) *
                        (vendor ? per_token(1 / sustained_attention(pass), shape, ring) : 1);
  return time * (beyond / p.sustained_fraction) + simt;
}

/// Vendors publish their kernels at the best sizes; the others' rates are means over many. Who wrote a kernel for the
/// part ships none that is slower than the one before.
double KernelClock::sustained_attention(Pass pass) const {
  const AcceleratorProfile& p = cluster_.accelerator_profile;
  const auto efficiency = [&](const AttentionRates& rates) {
    const auto format = static_cast<std::size_t>(attention_precision());
    return pass == Pass::Forward ? rates.forward_efficiency[format] : rates.backward_efficiency[format];
  };
  const double best = efficiency(p.vendor_attention);
  const double before = best > 0 ? std::min(1.0, efficiency(p.flash2) / best) : 0;
  return std::max(p.sustained_attention, before);
}

/// Profiles are fitted on sequences of a few thousand tokens, where what a stack loses beside the kernels that were
/// benchmarked (layouts, launches, masks) is a cost for each token. The core grows with every pair of tokens, so that
/// this cost is an ever smaller part of it: kernels of long contexts run at the rate that was benchmarked. A ring works
/// through pieces and joins their results, whatever the length.
double KernelClock::per_token(double slowdown, const AttentionShape& shape, bool ring) {
  if (ring || slowdown <= 1) return slowdown;
  return 1 + (slowdown - 1) * std::min(1.0, kFittedKeys / static_cast<double>(shape.key_len));
}

Seconds KernelClock::powered(Seconds kernel, Flops flops, Precision precision) const {
  return std::max(kernel, flops / powered_rate(precision, cluster_.accelerator, cluster_.accelerator_profile));
}

Precision KernelClock::attention_precision() const {
  if (!eight_bit()) return stack_.product_precision(workload_.precision);
  return cluster_.accelerator.supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16;
}

Seconds KernelClock::gemm_in(Precision precision, const GemmShape& shape) const {
  const AcceleratorProfile& p = cluster_.accelerator_profile;
  const Seconds kernel = gemm_time(shape, precision, cluster_.accelerator, p);
  const Seconds time =
      powered(kernel, shape.flops(), precision) * (stack_.profile.gemm_slowdown / p.sustained_fraction);
  // Factors fitted on other formats must not add up to more than the device can do.
  return std::max(time, shape.flops() / cluster_.accelerator.peak_rate(precision));
}

}  // namespace smplan
