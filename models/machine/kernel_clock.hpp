#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"
#include "models/machine/cluster.hpp"
#include "models/machine/compute.hpp"

namespace smplan {

/// The device and the software on it, as one clock for kernels. Holds references.
class KernelClock {
 public:
  KernelClock(const Workload& workload, const Cluster& cluster, const Stack& stack)
      : workload_(workload), cluster_(cluster), stack_(stack) {}

  [[nodiscard]] Seconds gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) const;
  /// The output projection and router stay in 16 bits when the layers run in 8 or 4.
  [[nodiscard]] Seconds wide_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool misaligned = false) const;
  [[nodiscard]] Seconds stream(Bytes bytes) const;
  /// Elements read and written, in the format of the activations.
  [[nodiscard]] Seconds stream(double elements) const;
  /// Traffic that no fusion avoids.
  [[nodiscard]] Seconds copy(Bytes bytes) const;
  /// Of adding a gradient to the main gradient, which is read and written.
  [[nodiscard]] Bytes accumulation(double weights) const { return Bytes(2 * stack_.gradient_bytes * weights); }
  /// `ring`: ranks pass keys and values round, so that a kernel sees a part of the keys at a time.
  [[nodiscard]] Seconds attention(const AttentionShape& shape, Pass pass, bool ring) const;
  [[nodiscard]] bool eight_bit() const {
    return workload_.precision == Precision::Fp8 || workload_.precision == Precision::Fp4;
  }

 private:
  [[nodiscard]] double sustained_attention(Pass pass) const;
  [[nodiscard]] static double per_token(double slowdown, const AttentionShape& shape, bool ring);
  [[nodiscard]] Precision attention_precision() const;
  /// The kernel's time where the power cap allows its rate, the time at the cap's rate elsewhere.
  [[nodiscard]] Seconds powered(Seconds kernel, Flops flops, Precision precision) const;
  [[nodiscard]] Seconds gemm_in(Precision precision, const GemmShape& shape) const;

  const Workload& workload_;
  const Cluster& cluster_;
  const Stack& stack_;
};

}  // namespace smplan
