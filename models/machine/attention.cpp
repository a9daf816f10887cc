#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "models/machine/compute.hpp"

namespace smplan {
namespace {

constexpr double kQueryBlock = 128;
// A masked edge cuts 128 x 128 blocks along their diagonal: half of each is computed for nothing.
constexpr double kEdgeKeys = 64;
constexpr std::int64_t kHeadDimStep = 32;  // kernels exist for head_dim 32, 64, 96, 128, ...; others are padded
/// Of FlashAttention in Triton beside FlashAttention-2: the middle of 1.3 to 2.5 (Dao 2023, 2307.08691, section 4.1).
constexpr double kTritonSlowdown = 1.9;
constexpr double kReferenceHeadDim = 128;  // what AttentionRates' efficiencies are quoted at
// Bytes per score beyond what the GEMMs move: softmax reads and writes forward, and reads twice and
// writes backward; an additive mask is one more read and write each way. Fit of scripts/fit/kernels.py
// on 40 points of PyTorch attention (Dao-AILab/flash-attention figures), split by passes, 2 : 3.
constexpr double kSoftmaxForwardBytes = 9.8;
constexpr double kSoftmaxBackwardBytes = 14.6;
constexpr double kMaskForwardBytes = 4.0;
constexpr double kMaskBackwardBytes = 6.1;
// The same of Megatron's kernel, counted: a row is read up to its diagonal and written whole, zeros with it; backward
// probabilities and their gradients are read so (scaled_upper_triang_masked_softmax.h). Beside a mask of padding all is
// read, and a byte of the mask.
constexpr double kFusedCausalForwardBytes = 1 + 2;
constexpr double kFusedCausalBackwardBytes = 1 + 1 + 2;
constexpr double kFusedForwardBytes = 2 + 1 + 2;
constexpr double kFusedBackwardBytes = 2 + 2 + 2;
// Probabilities are read and written with a byte of the mask, forward and backward.
constexpr double kDropoutBytes = 2 + 2 + 1;
constexpr std::int64_t kFusedSoftmaxStep = 4;
constexpr std::int64_t kFusedSoftmaxOverKeys = 16;
constexpr std::int64_t kFusedSoftmaxUpToKeys = 4096;
// Of the fp32 peak: 9 to 11 TFLOP/s on A100, from pairs of runs of BigScience's BLOOM prequel that differ by their
// heads alone (head_dim 108 beside 144 and 128, 450 beside 224).
constexpr double kSimtShare = 0.5;
constexpr double kFp16PerFp32 = 16;  // of tensor cores, where a part's fp32 peak is not stated: A100's
constexpr std::int64_t kHeadAlignment = 8;

bool leaves_tensor_cores(const AttentionShape& s) {
  return s.head_dim % kHeadAlignment != 0 || s.value_dim % kHeadAlignment != 0;
}

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// Multiply-adds per query-key pair in units of FLOP: QK' and PV forward; QK', dP, dV, dQ, dK backward.
double flops_per_pair(double query_dim, double value_dim, Pass pass) {
  return pass == Pass::Forward ? 2 * (query_dim + value_dim) : 2 * (3 * query_dim + 2 * value_dim);
}

// Queries, keys, values and outputs once; backward also their gradients and the output's.
double streamed_bytes(const AttentionShape& s, Pass pass) {
  const double heads = static_cast<double>(s.heads) * static_cast<double>(s.query_len);
  const double kv_heads = static_cast<double>(s.kv_heads) * static_cast<double>(s.key_len + s.prefix);
  const auto dims = static_cast<double>(s.head_dim + s.value_dim);
  return 2 * static_cast<double>(s.batch) * dims * (heads + kv_heads) * (pass == Pass::Forward ? 1 : 2);
}

double softmax_bytes(const AttentionShape& s, Pass pass, bool fused) {
  const bool forward = pass == Pass::Forward;
  if (fused && s.causal) return forward ? kFusedCausalForwardBytes : kFusedCausalBackwardBytes;
  if (fused) return forward ? kFusedForwardBytes : kFusedBackwardBytes;
  const bool masked = s.causal || s.window > 0;
  return forward ? kSoftmaxForwardBytes + (masked ? kMaskForwardBytes : 0)
                 : kSoftmaxBackwardBytes + (masked ? kMaskBackwardBytes : 0);
}

}  // namespace

bool takes_fused_softmax(const AttentionShape& s) {
  const auto in_steps = [](std::int64_t n) { return n % kFusedSoftmaxStep == 0; };
  return s.key_len > kFusedSoftmaxOverKeys && s.key_len <= kFusedSoftmaxUpToKeys && in_steps(s.query_len) &&
         in_steps(s.key_len) && in_steps(s.batch * s.heads);
}

double mean_attended_keys(const AttentionShape& s) {
  const auto keys = static_cast<double>(s.key_len);
  const auto window = static_cast<double>(s.window);
  const auto prefix = static_cast<double>(s.prefix);
  if (s.window > 0 && s.window < s.key_len) {
    return prefix + (s.causal ? window - window * (window - 1) / (2 * keys) : window);
  }
  return prefix + (s.causal ? (keys + 1) / 2 : keys);
}

Flops attention_flops(const AttentionShape& s, Pass pass) {
  const double pairs =
      static_cast<double>(s.batch * s.heads) * static_cast<double>(s.query_len) * mean_attended_keys(s);
  return Flops(pairs * flops_per_pair(static_cast<double>(s.head_dim), static_cast<double>(s.value_dim), pass));
}

Seconds flash_attention_time(const AttentionShape& s, Pass pass, Precision precision, const Accelerator& a,
                             const AcceleratorProfile& p, AttentionKernel kernel) {
  const AttentionRates& rates = p.attention(kernel);
  const bool forward = pass == Pass::Forward;
  const auto& efficiency = forward ? rates.forward_efficiency : rates.backward_efficiency;
  const double slowdown = kernel == AttentionKernel::Triton ? kTritonSlowdown : 1;
  const double rate = a.peak_rate(precision).value() * efficiency[static_cast<std::size_t>(precision)] / slowdown;
  if (!(rate > 0)) return Seconds(std::numeric_limits<double>::infinity());

  const auto query_dim = static_cast<double>(round_up(s.head_dim, kHeadDimStep));
  const auto value_dim = static_cast<double>(round_up(s.value_dim, kHeadDimStep));
  const double dim = (query_dim + value_dim) / 2;
  const double narrow = std::max(1.0, (1 + rates.half_dim / dim) / (1 + rates.half_dim / kReferenceHeadDim));
  const int edges = (s.causal ? 1 : 0) + (s.window > 0 ? 1 : 0);
  const double keys = mean_attended_keys(s) + kEdgeKeys * edges +
                      (forward ? rates.forward_overhead_keys : rates.backward_overhead_keys);
  const double heads = static_cast<double>(s.batch) * static_cast<double>(s.heads);
  const auto queries = static_cast<double>(s.query_len);
  // One block of queries of one head keeps one SM busy.
  const double blocks = heads * std::ceil(queries / kQueryBlock);
  const double fill = std::min(1.0, blocks / std::max(1, a.sm_count));
  const double flops = heads * queries * keys * flops_per_pair(query_dim, value_dim, pass);
  const Seconds compute(flops * narrow / (rate * fill));
  return std::max(compute, streaming_time(Bytes(streamed_bytes(s, pass)), a, p));
}

Seconds unfused_attention_time(const AttentionShape& s, Pass pass, Precision precision, const Accelerator& a,
                               const AcceleratorProfile& p, ScoreKernels kernels) {
  const std::int64_t heads = s.batch * s.heads;
  const bool forward = pass == Pass::Forward;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return gemm_time({.m = m, .n = n, .k = k, .batch = heads}, precision, a, p);
  };
  Seconds products;
  if (leaves_tensor_cores(s)) {
    // misaligned_attention_time() has them.
  } else if (forward) {
    products = product(s.query_len, s.key_len, s.head_dim) + product(s.query_len, s.value_dim, s.key_len);
  } else {
    // dP has the shape of the scores; dV is P' dO; dQ and dK are dS K and dS' Q.
    products = product(s.query_len, s.key_len, s.value_dim) + product(s.key_len, s.value_dim, s.query_len) +
               product(s.query_len, s.head_dim, s.key_len) + product(s.key_len, s.head_dim, s.query_len);
  }
  const double scores = static_cast<double>(heads) * static_cast<double>(s.query_len) * static_cast<double>(s.key_len);
  const double bytes = softmax_bytes(s, pass, kernels.fused_softmax) + (kernels.dropout ? kDropoutBytes : 0);
  return products + streaming_time(Bytes(scores * bytes), a, p);
}

Seconds misaligned_attention_time(const AttentionShape& s, Pass pass, const Accelerator& a) {
  if (!leaves_tensor_cores(s)) return {};
  const double fp32 = a.peak_rate(Precision::Fp32).value();
  const double rate = kSimtShare * (fp32 > 0 ? fp32 : a.peak_rate(Precision::Fp16).value() / kFp16PerFp32);
  if (!(rate > 0)) return Seconds(std::numeric_limits<double>::infinity());
  const double pairs = static_cast<double>(s.batch * s.heads) * static_cast<double>(s.query_len * s.key_len);
  const double passes = pass == Pass::Forward ? 1 : 2;
  return Seconds(pairs * passes * 2 * static_cast<double>(s.head_dim + s.value_dim) / rate);
}

}  // namespace smplan
