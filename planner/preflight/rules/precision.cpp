// Number formats and kernels against what the silicon has.
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr int kAmpere = 80;
constexpr int kAda = 89;
constexpr int kHopper = 90;
constexpr int kBlackwell = 100;

/// Calls `judge(type, capability)` for every GPU type of the job.
template <typename Judge>
void for_gpus(const CheckInput& in, Judge judge) {
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || has_trainium(in, *m.instance)) continue;
    if (const auto capability = compute_capability(in, *m.instance)) judge(*m.instance, *capability);
  }
}

void need(const CheckInput& in, const Switch& format, int capability, Report& report) {
  if (!format.is(true)) return;
  for_gpus(in, [&](const InstanceType& type, int has) {
    if (has < capability) report.at(format, {type.name, type.accelerator});
  });
}

void bf16(const CheckInput& in, Report& report) { need(in, in.job.strategy.bf16, kAmpere, report); }
void fp8(const CheckInput& in, Report& report) { need(in, in.job.strategy.fp8, kAda, report); }
void fp4(const CheckInput& in, Report& report) { need(in, in.job.strategy.fp4, kBlackwell, report); }

void fp4_and_fp8(const CheckInput& in, Report& report) {
  if (in.job.strategy.fp4.is(true) && in.job.strategy.fp8.is(true)) report.at(in.job.strategy.fp4);
}

void flash_attention(const CheckInput& in, Report& report) {
  const Text& attention = in.job.strategy.attention;
  if (!attention || attention->find("flash") == std::string::npos) return;
  const bool third = attention->find('3') != std::string::npos;
  for_gpus(in, [&](const InstanceType& type, int has) {
    if (has < (third ? kHopper : kAmpere)) {
      report.at(attention, {third ? "FlashAttention-3" : "FlashAttention-2", third ? "Hopper" : "Ampere", type.name});
    }
  });
}

/// Megatron's layers are Transformer Engine's unless it is told otherwise.
void transformer_engine(const CheckInput& in, Report& report) {
  const Node* implementation = in.job.root().find("transformer-impl");
  if (implementation != nullptr && implementation->text == "local") return;
  for_gpus(in, [&](const InstanceType& type, int has) {
    if (has < kAmpere) report.at(implementation ? *implementation : in.job.root(), {type.name, type.accelerator});
  });
}

void fp16_and_bf16(const CheckInput& in, Report& report) {
  if (in.job.strategy.fp16.is(true) && in.job.strategy.bf16.is(true)) report.at(in.job.strategy.fp16);
}

void fp16_on_ampere(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.fp16.is(true) || s.bf16.is(true)) return;
  for_gpus(in, [&](const InstanceType& type, int has) {
    if (has >= kAmpere) report.at(s.fp16, {type.name});
  });
}

void fp32_on_ampere(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const Node* tf32 = in.job.hyperparameters == nullptr ? nullptr : in.job.hyperparameters->find("tf32");
  const bool said = tf32 != nullptr && !tf32->is_null();
  const bool off = said && truth_of(*tf32) == false;
  // Beside a shorter format, products in fp32 are few; and what is on, or not known to be off, may well be used.
  const bool shorter = s.bf16.is(true) || s.fp16.is(true) || s.fp8.is(true) || s.fp4.is(true);
  if (shorter || (said && !off) || (!off && !s.fp32.is(true))) return;
  for_gpus(in, [&](const InstanceType& type, int has) {
    if (has >= kAmpere) report.at(off ? tf32->where : s.fp32.where, {type.name});
  });
}

void amp_argument(const CheckInput& in, Report& report) {
  const Node* amp = in.job.hyperparameters == nullptr ? nullptr : in.job.hyperparameters->find("amp");
  if (amp != nullptr && truth_of(*amp) == true) report.at(*amp);
}

constexpr std::string_view kSilicon = "NVIDIA data sheets; CUDA C++ programming guide, compute capabilities";

constexpr Rule kPrecisionRules[] = {
    {"C149", Severity::Error, "bf16 before Ampere", "bf16 on V100 or T4",
     "{} ({}) has no bf16 units: it is emulated or refused", "use fp16 with loss scaling", kSilicon, kAnyKind,
     Need::Nothing, bf16},
    {"C150", Severity::Error, "FP8 hardware", "FP8 on accelerators before Ada and Hopper", "{} ({}) has no FP8 units",
     "use bf16, or Hopper or Blackwell", kSilicon, kAnyKind, Need::Nothing, fp8},
    {"C151", Severity::Error, "FP4 hardware", "FP4 or MXFP8 on accelerators before Blackwell",
     "{} ({}) has no FP4 units", "use FP8 or bf16, or Blackwell (p6, g7)", kSilicon, kAnyKind, Need::Nothing, fp4},
    {"C152", Severity::Error, "FP4 and FP8", "both are switched on", "FP4 and FP8 exclude each other", "choose one",
     "Megatron-LM d98e8a6, arguments.py", kAnyKind, Need::Nothing, fp4_and_fp8},
    {"C153", Severity::Error, "FlashAttention", "FlashAttention-2 before Ampere, or FlashAttention-3 before Hopper",
     "{} needs {} or later, and this is {}", "use PyTorch's own attention (sdpa) or xformers",
     "Dao-AILab/flash-attention, README", kAnyKind, Need::Nothing, flash_attention},
    {"C154", Severity::Error, "fp16 and bf16", "both are switched on", "fp16 and bf16 exclude each other",
     "keep one of them", "DeepSpeed 0.19.5, config.py", kAnyKind, Need::Nothing, fp16_and_bf16},
    {"C155", Severity::Warning, "fp16 where bf16 is there", "fp16 on Ampere or later",
     "{} has bf16, which needs no loss scaling", "use bf16", kDocs, kAnyKind, Need::Nothing, fp16_on_ampere},
    {"C156", Severity::Warning, "fp32 on tensor cores", "a plan in fp32, or with TF32 off, on Ampere or later",
     "fp32 without TF32 leaves the tensor cores of {} idle", "use bf16, or at least TF32", kJudgement, kAnyKind,
     Need::Nothing, fp32_on_ampere},
    {"C157", Severity::Info, "Hyperparameter amp", "amp is passed as a hyperparameter",
     "amp is only an argument of the script: the estimator does nothing with it", "check that the script reads --amp",
     kSdk2, kEstimator, Need::Nothing, amp_argument},
    {"C213", Severity::Error, "Transformer Engine before Ampere", "Megatron with Transformer Engine on V100 or T4",
     "{} ({}) is older than what Transformer Engine supports", "use --transformer-impl local, or Ampere or later",
     "nvidia.github.io/TransformerEngine/support_matrix.html, read 2026-11-24", kMegatron, Need::Nothing,
     transformer_engine},
};

}  // namespace

std::span<const Rule> precision_rules() { return kPrecisionRules; }

}  // namespace smplan
