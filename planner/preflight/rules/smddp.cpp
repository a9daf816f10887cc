// SageMaker's data-parallel library.
#include "planner/preflight/rules/smddp.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planner/preflight/image.hpp"

namespace smplan {
namespace {

bool on(const CheckInput& in) { return in.job.launcher.smddp.is(true); }

/// The version in full by which the SDK starts the library, of a short one that it does not take: 2.1.0 for 2.1.
std::string full_version(const CheckInput& in) {
  const Text& v = in.job.framework_version;
  if (in.job.image.stated || !v || in.job.kind != JobKind::Estimator || !in.pytorch()) return {};
  for (const FrameworkVersion& known : in.catalog.containers().versions) {
    const bool of_this = known.table == "pytorch" && known.smddp == SdkVerdict::Accepted;
    if (of_this && known.version != *v && known.version.starts_with(*v + '.')) return known.version;
  }
  return {};
}

/// Why a framework version names no image with the library; empty where it does.
std::string version_obstacle(const CheckInput& in) {
  const Text& v = in.job.framework_version;
  if (in.job.image.stated || !v || in.job.kind != JobKind::Estimator) return {};
  if (in.pytorch()) {
    for (const FrameworkVersion& known : in.catalog.containers().versions) {
      if (known.table != "pytorch") continue;
      // The launcher's list names short versions up to 1.12 only.
      const bool same = known.version == *v || (version_before(known.version, "1.13") && contains(known.aliases, *v));
      if (same && known.smddp == SdkVerdict::Accepted) return {};
    }
    return fmt::format("the SDK starts it on PyTorch up to 2.2.0, not on {}", *v);
  }
  if (in.job.framework == Framework::TensorFlow && !below(v, "2.12")) {
    return fmt::format("the SDK starts it on TensorFlow up to 2.11, not on {}", *v);
  }
  return {};
}

/// Why AWS's own image lacks the library; empty for other images. What is in an account of one's own is not known.
std::string image_obstacle(const CheckInput& in) {
  const auto image = in.job.image ? parse_image(*in.job.image) : std::nullopt;
  if (!image || image->version.empty()) return {};
  const ContainerRegistry* registry = in.catalog.containers().registry_of(image->repository);
  if (registry == nullptr) return {};
  const auto serves = [&](const ContainerRegistry::Account& a) { return a.account == image->account; };
  if (!image->account.empty() && std::none_of(registry->accounts.begin(), registry->accounts.end(), serves)) return {};
  for (const auto& [repository, newest] : in.limits.smddp_images) {
    // 2.3 and 2.3.0 are one image.
    if (repository != image->repository || image->version == newest || newest.starts_with(image->version + '.'))
      continue;
    if (version_before(newest, image->version)) {
      return fmt::format("{} {} comes without it, {} was the last with it", repository, image->version, newest);
    }
  }
  return {};
}

void version(const CheckInput& in, Report& report) {
  if (!on(in)) return;
  if (const std::string why = version_obstacle(in); !why.empty()) {
    const std::string full = full_version(in);
    Finding& finding = report.at(in.job.framework_version, {why});
    if (!full.empty()) {
      finding.message = "SMDDP is not there: the SDK starts it by the full version, " + full + ", not by " +
                        *in.job.framework_version;
      finding.fix = "write " + full;
      finding.edits = {{Edit::Kind::Set, in.job.framework_version.where.path, json_text(full)}};
    }
  }
  if (const std::string why = image_obstacle(in); !why.empty()) report.at(in.job.image, {why});
}

bool legacy(const CheckInput& in, std::string_view type) { return contains(in.limits.smddp_legacy_instances, type); }

bool has_kernels(const CheckInput& in, std::string_view type) {
  // C015 says that ml. is missing.
  const std::string name = type.starts_with("ml.") ? std::string(type) : "ml." + std::string(type);
  return legacy(in, name) || contains(in.limits.smddp_instances, name);
}

void instance(const CheckInput& in, Report& report) {
  if (!on(in)) return;
  for (const Machines& m : in.machines) {
    const bool other_group = !in.job.launcher.groups.empty() && !in.job.launcher.groups.front().is(m.group);
    if (!m.type || other_group || has_kernels(in, *m.type)) continue;
    report.at(m.type, {*m.type});
  }
}

void p3(const CheckInput& in, Report& report) {
  if (on(in) && in.job.instance_type && legacy(in, *in.job.instance_type)) {
    report.at(in.job.instance_type, {*in.job.instance_type});
  }
}

void p5_without_torchrun(const CheckInput& in, Report& report) {
  const Launcher& l = in.job.launcher;
  if (!on(in) && !l.smp.is(true)) return;
  if (l.torchrun.is(true) || !in.job.instance_type) return;
  if (!contains(in.limits.torchrun_families, family_of(*in.job.instance_type))) return;
  report.at(in.job.instance_type, {*in.job.instance_type});
}

void single_node(const CheckInput& in, Report& report) {
  if (on(in) && in.nodes() == 1) report.at(in.job.launcher.smddp);
}

void with_compiler(const CheckInput& in, Report& report) {
  if (on(in) && in.job.compiler != nullptr && !in.job.compiler->is_null()) report.at(*in.job.compiler);
}

/// Since 1.4.0 the library is a process-group backend; the wrapper of before is what old tutorials import.
void old_imports(const CheckInput& in, Report& report) {
  if (!on(in) || !in.pytorch()) return;
  if (in.facts.script && in.facts.script->imports) {
    bool old = false;
    for (const std::string& name : *in.facts.script->imports) {
      old = old ||
            (name.starts_with("smdistributed.dataparallel.torch.") && name.find("torch_smddp") == std::string::npos);
    }
    if (!old) return;
  } else if (!below(in.job.framework_version, "1.12")) {
    return;  // scripts of that age are where the old wrapper is found
  }
  report.at(in.job.launcher.smddp);
}

void mixed_precision_claim(const CheckInput& in, Report& report) {
  if (on(in) && in.facts.script->claims_smddp_amp == true) report.at(in.job.launcher.smddp);
}

constexpr Rule kSmddpRules[] = {
    {"C082", Severity::Error, "Framework version of SMDDP",
     "SMDDP by a framework version that the SDK does not take, or in an AWS image that no longer holds it",
     "SMDDP is not there: {}", "torch_distributed with NCCL, or an image that holds SMDDP",
     "SageMaker Python SDK v2.257.6, executed 2026-11-20; developer guide, distributed-data-parallel-support (2026)",
     kSubmitted, Need::Nothing, version},
    {"C083", Severity::Error, "Instance type of SMDDP", "SMDDP on other types than p4d and p4de",
     "SMDDP has no kernels for {}, and the SDK does not look", "use ml.p4d.24xlarge or ml.p4de.24xlarge, or NCCL",
     "SageMaker developer guide, distributed-data-parallel-support (2026)", kSubmitted | kAccelerate, Need::Nothing,
     instance},
    {"C084", Severity::Warning, "SMDDP on p3", "SMDDP on p3dn.24xlarge or p3.16xlarge",
     "SMDDP is no longer improved for {}, and its AllGather needs p4", "use NCCL, or p4d", kDocs, kSubmitted,
     Need::Nothing, p3},
    {"C085", Severity::Error, "smdistributed on p5", "smdistributed on p5 without torch_distributed",
     "the smdistributed launchers do not start on {}", "torch_distributed with NCCL; SMDDP has no kernels for p5",
     "SageMaker Python SDK v2.257.6 (raised in fit() for p5.48xlarge; p5e and p5en slip through)", kSubmitted,
     Need::Nothing, p5_without_torchrun},
    {"C086", Severity::Warning, "SMDDP on one node", "SMDDP with a single instance",
     "SMDDP speeds up traffic between nodes, and there is one", "use NCCL", kDocs, kSubmitted, Need::Nothing,
     single_node},
    {"C087", Severity::Error, "SMDDP with the Training Compiler", "SMDDP and compiler_config stand together",
     "SMDDP and the Training Compiler exclude each other", "drop compiler_config", kSdk2, kSubmitted, Need::Nothing,
     with_compiler},
    {"C088", Severity::Info, "Old import of SMDDP",
     "SMDDP with the imports, or a PyTorch of the age, of its old DistributedDataParallel",
     "the library's own DistributedDataParallel is deprecated since SMDDP 1.4",
     "import smdistributed.dataparallel.torch.torch_smddp and init_process_group(\"smddp\"), then PyTorch's DDP", kDocs,
     kSubmitted, Need::Nothing, old_imports},
    {"C089", Severity::Info, "SMDDP and mixed precision", "the script relies on SMDDP to switch on mixed precision",
     "SMDDP does not change the precision", "set bf16 or fp16 in the script", kDocs, kSubmitted, &Facts::script,
     mixed_precision_claim},
};

}  // namespace

std::string smddp_obstacle(const CheckInput& in) {
  for (const Machines& m : in.machines) {
    if (m.type && !has_kernels(in, *m.type)) return fmt::format("it has no kernels for {}", *m.type);
  }
  // A short version is written in full; that is no reason to do without the library.
  const std::string why = full_version(in).empty() ? version_obstacle(in) : std::string();
  return why.empty() ? image_obstacle(in) : why;
}

std::span<const Rule> smddp_rules() { return kSmddpRules; }

}  // namespace smplan
