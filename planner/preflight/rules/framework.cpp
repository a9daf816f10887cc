// Framework versions: which of them the SDK maps to an image, and which images are still patched.
#include <algorithm>

#include <fmt/format.h>

#include "planner/preflight/image.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// By version and not by image: then the SDK's tables decide. A placeholder for the image is an image.
bool by_version(const CheckInput& in) {
  return in.job.kind == JobKind::Estimator && in.job.framework_version && !in.job.image.stated;
}

bool on_trainium(const CheckInput& in) {
  return in.job.instance_type && is_trainium_type(in.catalog, *in.job.instance_type);
}

bool has_version(const CheckInput& in, std::string_view table, std::string_view version) {
  for (const FrameworkVersion& v : in.catalog.containers().versions) {
    if (v.table == table && v.version == version) return true;
  }
  return false;
}

bool judged_for_torchrun(const CheckInput& in) {
  return by_version(in) && in.pytorch() && in.job.launcher.torchrun.is(true) && !in.job.launcher.smp.is(true) &&
         !on_trainium(in);
}

constexpr std::string_view kFirstTorchrun = "1.13.1";

void ddp_version(const CheckInput& in, Report& report) {
  if (by_version(in) && in.job.launcher.pytorchddp.is(true) && version_before("2.2.0", *in.job.framework_version)) {
    report.at(in.job.framework_version, {*in.job.framework_version});
  }
}

bool split_verdict(const CheckInput& in) {
  const std::string& version = *in.job.framework_version;
  const bool launcher = contains(in.limits.torchrun_versions, version);
  const bool image = has_version(in, "pytorch", version);
  return launcher != image && !version_before(version, kFirstTorchrun);
}

void exact_version(const CheckInput& in, Report& report) {
  if (!judged_for_torchrun(in) || contains(in.limits.torchrun_versions, *in.job.framework_version)) return;
  if (in.job.framework == Framework::PyTorch && split_verdict(in)) return;  // the next rule's
  Finding& finding =
      report.at(in.job.framework_version, {quote(*in.job.framework_version), list_text(in.limits.torchrun_versions)});
  for (const std::string& known : in.limits.torchrun_versions) {
    if (known.starts_with(*in.job.framework_version + '.')) {
      finding.fix = "write " + known + ", or give image_uri";
      if (has_version(in, "pytorch", known)) {
        finding.edits = {{Edit::Kind::Set, in.job.framework_version.where.path, json_text(known)}};
      }
    }
  }
}

std::string minor_of(std::string_view version) {
  const std::size_t first = version.find('.');
  const std::size_t second = first == std::string_view::npos ? first : version.find('.', first + 1);
  return std::string(version.substr(0, second));
}

/// The newest version that the SDK maps to an image of the framework; empty for pairs.
std::string newest_of_sdk(const CheckInput& in) {
  const std::string_view table = in.job.framework == Framework::PyTorch      ? "pytorch"
                                 : in.job.framework == Framework::TensorFlow ? "tensorflow"
                                                                             : "";
  std::string newest;
  for (const FrameworkVersion& v : in.catalog.containers().versions) {
    if (v.table == table && (newest.empty() || version_before(newest, v.version))) newest = v.version;
  }
  return newest;
}

bool above_sdk(const CheckInput& in) {
  const std::string newest = newest_of_sdk(in);
  return !newest.empty() && version_before(minor_of(newest), minor_of(*in.job.framework_version));
}

/// A Hugging Face image is named by both versions in full or by both in short: 4.56 with 2.8, not 4.56 with 2.8.0.
bool short_pair(const FrameworkVersion& row, const Job& job, std::string_view framework) {
  const std::size_t at = row.version.find(framework);
  return at != std::string::npos && contains(row.aliases, *job.transformers_version) &&
         minor_of(std::string_view(row.version).substr(at + framework.size())) == *job.framework_version;
}

/// The SDK's row for the job's version, by full version or alias.
const FrameworkVersion* sdk_row(const CheckInput& in) {
  const Job& job = in.job;
  const bool pair = job.framework == Framework::HuggingFace;
  const std::string_view framework = in.pytorch() ? "/pytorch" : "/tensorflow";
  std::string table = "tensorflow";
  std::string version = *job.framework_version;
  if (job.framework == Framework::PyTorch) {
    table = job.launcher.smp.is(true) && job.launcher.torchrun.is(true) ? "pytorch-smp" : "pytorch";
  } else if (pair) {
    if (!job.transformers_version) return nullptr;
    table = "huggingface";
    version = *job.transformers_version + std::string(framework) + version;
  } else if (job.framework != Framework::TensorFlow) {
    return nullptr;
  }
  // The SDK looks among the aliases first: for the model-parallel library 2.3.1 is one of 2.5.0.
  const FrameworkVersion* exact = nullptr;
  const FrameworkVersion* alias = nullptr;
  for (const FrameworkVersion& v : in.catalog.containers().versions) {
    if (v.table != table) continue;
    if (v.version == version) exact = &v;
    if (pair ? short_pair(v, job, framework) : contains(v.aliases, version)) alias = &v;
  }
  const bool by_exact = exact != nullptr && (pair || alias == nullptr);
  return by_exact ? exact : alias;
}

/// An image that the SDK finds by the framework's own table; SMP 2, the compiler and Trainium have tables of their own.
bool by_own_table(const CheckInput& in) {
  const Launcher& l = in.job.launcher;
  const bool compiled = in.job.compiler != nullptr && !in.job.compiler->is_null();
  if (!by_version(in) || on_trainium(in) || compiled || (l.smp.is(true) && l.torchrun.is(true))) return false;
  if (in.job.framework == Framework::HuggingFace) return static_cast<bool>(in.job.transformers_version);
  return in.job.framework == Framework::PyTorch || in.job.framework == Framework::TensorFlow;
}

void version_without_image(const CheckInput& in, Report& report) {
  if (!by_own_table(in)) return;
  const Text& version = in.job.framework_version;
  if (judged_for_torchrun(in) && in.job.framework == Framework::PyTorch && split_verdict(in)) {
    const bool launcher = contains(in.limits.torchrun_versions, *version);
    report.at(version, {*version, launcher ? "is known to the launcher and not to the image table"
                                           : "is known to the image table and not to the launcher"});
  } else if (sdk_row(in) == nullptr && !above_sdk(in) &&
             (!judged_for_torchrun(in) || contains(in.limits.torchrun_versions, *version))) {
    report.at(version, {*version, in.job.framework == Framework::HuggingFace
                                      ? "with transformers " + *in.job.transformers_version + " is a pair of no image"
                                      : "is none of the image table"});
  }
}

/// The one Neuron image that the SDK takes for any PyTorch version on Trainium.
const FrameworkVersion* neuron_row(const CheckInput& in) {
  if (in.job.framework != Framework::PyTorch || !in.job.launcher.torchrun.is(true)) return nullptr;
  for (const FrameworkVersion& v : in.catalog.containers().versions) {
    if (v.table == "pytorch-neuron") return &v;
  }
  return nullptr;
}

/// An image of AWS's own: what others put into theirs, no name says.
std::optional<ImageName> image_of_aws(const CheckInput& in) {
  std::optional<ImageName> image = in.job.image ? parse_image(*in.job.image) : std::nullopt;
  if (!image || image->account.empty()) return std::nullopt;
  for (const ContainerRegistry& registry : in.catalog.containers().registries) {
    for (const ContainerRegistry::Account& a : registry.accounts) {
      if (a.account == image->account) return image;
    }
  }
  return std::nullopt;
}

/// AWS builds each version for one Python or two: a tag of another is of no image.
void python_of_tag(const CheckInput& in, Report& report) {
  const std::optional<ImageName> image = image_of_aws(in);
  if (!image || image->python.empty()) return;
  const ContainerFacts& facts = in.catalog.containers();
  const auto row = std::find_if(facts.versions.begin(), facts.versions.end(), [&](const FrameworkVersion& v) {
    return v.version == image->version && v.repository == image->repository;
  });
  const bool listed = std::any_of(facts.images.begin(), facts.images.end(), [&](const Container& c) {
    return c.repository == image->repository && c.version == image->version &&
           c.tag.find(image->python) != std::string::npos;
  });
  if (row == facts.versions.end() || listed || contains(row->pythons, image->python)) return;
  Finding& finding = report.at(in.job.image, {quote(image->python), image->repository + ' ' + row->version +
                                                                        " comes with " + list_text(row->pythons)});
  finding.severity = Severity::Warning;
  finding.fix = "use a tag of " + list_text(row->pythons);
}

void python_version(const CheckInput& in, Report& report) {
  const Text& py = in.job.py_version;
  if (in.job.image.stated) return python_of_tag(in, report);
  if (!py) return;
  if (py->find("py3") == std::string::npos) {
    report.at(py, {quote(*py), "only Python 3 containers train"});
    return;
  }
  const FrameworkVersion* row = !by_version(in) ? nullptr : on_trainium(in) ? neuron_row(in) : sdk_row(in);
  if (row == nullptr || contains(row->pythons, *py)) return;
  Finding& finding = report.at(py, {quote(*py), row->version + " comes with " + list_text(row->pythons)});
  if (row->pythons.size() == 1) {
    finding.fix = "write " + row->pythons.front();
    finding.edits = {{Edit::Kind::Set, py.where.path, json_text(row->pythons.front())}};
  }
}

void trainium_version(const CheckInput& in, Report& report) {
  if (!by_version(in) || !on_trainium(in) || in.job.framework != Framework::PyTorch) return;
  const std::string& v = *in.job.framework_version;
  if (version_before(v, "1.11") || version_before("2.0.0", v)) {
    report.at(in.job.framework_version, {v});
    return;
  }
  const FrameworkVersion* row = neuron_row(in);
  if (row == nullptr || row->version == v || contains(row->aliases, v)) return;
  Finding& finding = report.at(in.job.framework_version, {v});
  finding.severity = Severity::Warning;
  finding.message =
      "the SDK takes the Neuron image of PyTorch " + row->version + ", whatever version is named: here " + v;
}

/// Ten times the compute capability of the job's devices; 0 where it is not known, or where they have none.
int capability_of(const CheckInput& in) {
  const InstanceType* instance = in.instance();
  return instance == nullptr ? 0 : compute_capability(in, *instance).value_or(0);
}

/// The newest training image of the job's framework for its hardware; empty where none is known.
std::string fitting_image(const CheckInput& in) {
  const ContainerFacts& facts = in.catalog.containers();
  std::string repository;
  if (in.job.class_name.is("TensorFlow") || (in.job.framework == Framework::TensorFlow && !in.job.class_name)) {
    repository = "tensorflow-training";
  } else if (in.job.framework == Framework::HuggingFace) {
    repository = "huggingface-pytorch-training";
  } else {
    repository = "pytorch-training";
  }
  const bool neuron = on_trainium(in);
  const Container* newest =
      facts.newest(repository + (neuron ? "-neuronx" : ""), neuron ? "neuronx" : "gpu", capability_of(in));
  if (newest == nullptr) return "";
  const std::string uri = in.region.empty() ? std::string() : facts.image_uri(*newest, in.region);
  return uri.empty() ? newest->repository + ":" + newest->tag : uri;
}

/// Who brings a command needs no toolkit in the image; a ModelTrainer always does.
bool own_command(const Job& job) {
  return job.kind == JobKind::ModelTrainer || (job.entrypoint_words != nullptr && !job.entrypoint_words->is_null());
}

bool trains(const ImageName& image) { return image.repository.find("-inference") == std::string::npos; }

/// What a node of the job has.
struct Hardware {
  std::string owner;
  bool gpus = false, trainium = false, neither = false;
};

/// By the types of its instances, and in a manifest without one by what its pod asks for.
std::vector<Hardware> hardware_of(const CheckInput& in) {
  std::vector<Hardware> out;
  for (const Machines& m : in.machines) {
    if (!m.type) continue;
    out.push_back({*m.type, is_gpu_type(in, *m.type), is_trainium_type(in.catalog, *m.type), is_cpu_type(in, *m.type)});
  }
  const Node* limits = in.job.pod_resources == nullptr ? nullptr : in.job.pod_resources->find("limits");
  if (out.empty() && limits != nullptr) {
    out.push_back({"the pod", limits->has("nvidia.com/gpu"),
                   limits->has("aws.amazon.com/neuron") || limits->has("aws.amazon.com/neuroncore"), false});
  }
  return out;
}

/// What the image is for, where no node or not every one has it; empty where it fits. A group of processors beside one
/// of GPUs shares its image.
std::string other_hardware(const CheckInput& in, const ImageName& image) {
  const bool neuron = image.accelerator.starts_with("neuron");
  const std::vector<Hardware> all = hardware_of(in);
  for (const Hardware& h : all) {
    const std::string has = ", and " + h.owner + " has ";
    if (neuron && h.gpus) return "Neuron" + has + "GPUs";
    if (image.accelerator == "gpu" && h.trainium) return "GPUs" + has + "Trainium";
    if (image.accelerator == "cpu" && (h.gpus || h.trainium)) return "CPUs" + has + (h.gpus ? "GPUs" : "Trainium");
    if ((neuron || image.accelerator == "gpu") && h.neither && all.size() == 1) {
      return (neuron ? "Neuron" : "GPUs") + has + "neither GPUs nor Trainium";
    }
  }
  return "";
}

/// What the image is for, where that is not this job; empty where it fits.
std::string other_purpose(const CheckInput& in, const ImageName& image) {
  const Job& job = in.job;
  if (!job.submitted()) return other_hardware(in, image);  // a manifest brings the command
  if (!trains(image)) return "inference, and has no training toolkit";
  if (!own_command(job) && (image.tag + '-').find("-ec2-") != std::string::npos) {
    return "EC2, and has no training toolkit";
  }
  const bool tensorflow = image.repository.find("tensorflow") != std::string::npos;
  const bool pytorch = image.repository.find("pytorch") != std::string::npos;
  if (tensorflow && (job.class_name.is("PyTorch") || job.launcher.torchrun.is(true))) return "TensorFlow";
  if (pytorch && job.class_name.is("TensorFlow")) return "PyTorch";
  return other_hardware(in, image);
}

bool on_processors(const CheckInput& in) {
  const std::vector<Hardware> all = hardware_of(in);
  return std::any_of(all.begin(), all.end(), [](const Hardware& h) { return h.neither; });
}

/// A framework's inference image may train by a command; without a launcher a CPU image runs, if slowly, and on
/// processors one for GPUs does.
bool runs_anyway(const CheckInput& in, const ImageName& image) {
  const bool launched = in.job.submitted() ? in.job.launcher.any() : !in.job.command.program.empty();
  if (!trains(image)) return !in.job.submitted() || own_command(in.job);
  return image.accelerator == "cpu" ? !launched : image.accelerator == "gpu" && on_processors(in);
}

void other_image(const CheckInput& in, Report& report) {
  const auto image = image_of_aws(in);
  if (!image) return;
  const std::string purpose = other_purpose(in, *image);
  if (purpose.empty()) return;
  Finding& finding = report.at(in.job.image);
  finding.message = "the image is for " + purpose;
  finding.source = "names of the images of aws/deep-learning-containers, 2026-11-20";
  const std::string fitting = in.job.submitted() && !on_processors(in) ? fitting_image(in) : std::string();
  finding.fix = fitting.empty() ? "use a training image for this hardware" : "use " + fitting;
  if (runs_anyway(in, *image)) finding.severity = Severity::Warning;
}

void image_for_hardware(const CheckInput& in, Report& report) {
  if (in.job.kind == JobKind::Estimator) trainium_version(in, report);
  other_image(in, report);
}

/// Repository and version of the image that will run; empty where that is not known.
std::pair<std::string, std::string> image_of(const CheckInput& in) {
  const Job& job = in.job;
  if (job.image) {
    const auto image = parse_image(*job.image);
    return image ? std::pair(image->repository, image->version) : std::pair<std::string, std::string>();
  }
  if (!job.framework_version) return {};
  std::string repository;
  if (job.framework == Framework::PyTorch) {
    repository = on_trainium(in) ? "pytorch-training-neuronx" : "pytorch-training";
  } else if (job.framework == Framework::TensorFlow) {
    repository = "tensorflow-training";
  } else if (job.framework == Framework::HuggingFace) {
    repository = in.pytorch() ? "huggingface-pytorch-training" : "huggingface-tensorflow-training";
  }
  return {repository, *job.framework_version};
}

void patched(const CheckInput& in, Report& report) {
  const auto [repository, version] = image_of(in);
  if (repository.empty() || version.empty() || version[0] < '0' || version[0] > '9') return;
  const ContainerFacts& facts = in.catalog.containers();
  const std::string today = facts.as_of();
  std::string until;
  bool listed = false;
  const Container* oldest = nullptr;
  for (const Container& c : facts.images) {
    if (c.repository != repository) continue;
    if (oldest == nullptr || version_before(c.version, oldest->version)) oldest = &c;
    if (minor_of(c.version) != minor_of(version)) continue;
    listed = true;
    until = std::max(until, c.patched_until);
  }
  if (oldest == nullptr) return;
  const bool past =
      listed ? !until.empty() && until < today : version_before(minor_of(version), minor_of(oldest->version));
  if (!past) return;
  const Where& where = in.job.image ? in.job.image.where : in.job.framework_version.where;
  Finding& finding =
      report.at(where, {repository, version, until.empty() ? std::string() : " (the last day was " + until + ")"});
  const std::string_view kind = on_trainium(in) ? "neuronx" : "gpu";
  const Container* newest = facts.newest(repository, kind, capability_of(in));
  if (newest == nullptr) return;
  const bool last = newest != facts.newest(repository, kind);
  if (last && !version_before(minor_of(version), minor_of(newest->version))) {
    finding.fix = "no later image has kernels for " + in.instance()->accelerator + ": use a newer instance type";
    return;
  }
  const std::string uri = in.region.empty() ? std::string() : facts.image_uri(*newest, in.region);
  finding.fix = "use " + (uri.empty() ? repository + ":" + newest->tag : uri);
  if (last && !newest->patched_on(today)) {
    finding.fix += ", the last with kernels for " + in.instance()->accelerator + "; it gets no patches either";
  } else if (!newest->patched_until.empty()) {
    finding.fix += " (until " + newest->patched_until + ")";
  }
}

/// What the catalog knows of the image that will run; nullopt where nobody but its builder knows.
std::optional<Container> known_image(const CheckInput& in) {
  const std::optional<ImageName> name = image_of_aws(in);
  if (in.job.image && !name) return std::nullopt;
  const auto [repository, version] = image_of(in);
  for (const Container& c : in.catalog.containers().images) {
    if (c.repository == repository && (name ? c.tag == name->tag : c.version == version && !c.toolkit.empty()))
      return c;
  }
  if (!name) return std::nullopt;
  Container unlisted;  // an older one: its tag says enough
  unlisted.repository = name->repository;
  unlisted.framework = name->repository.find("pytorch") != std::string::npos ? "pytorch" : "";
  unlisted.tag = name->tag;
  unlisted.toolkit = name->toolkit;
  return unlisted;
}

void kernels_in_image(const CheckInput& in, Report& report) {
  const std::optional<Container> image = known_image(in);
  if (!image) return;
  for (const Machines& m : in.machines) {
    const int capability = m.instance == nullptr ? 0 : compute_capability(in, *m.instance).value_or(0);
    if (in.catalog.containers().runs_on(*image, capability)) continue;
    const Where& where = in.job.image ? in.job.image.where : in.job.framework_version.where;
    Finding& finding = report.at(where, {image->repository + ':' + image->tag, m.instance->accelerator, *m.type,
                                         fmt::format("{}.{}", capability / 10, capability % 10)});
    const std::string fitting = fitting_image(in);
    if (!fitting.empty() && in.job.groups.empty()) finding.fix = "use " + fitting;
    return;
  }
}

void newer_than_sdk(const CheckInput& in, Report& report) {
  if (by_version(in) && above_sdk(in))
    report.at(in.job.framework_version, {*in.job.framework_version, newest_of_sdk(in)});
}

constexpr Rule kFrameworkRules[] = {
    {"C051", Severity::Error, "pytorchddp on a new PyTorch", "pytorchddp with PyTorch above 2.2.0 and no image",
     "pytorchddp becomes smdistributed.dataparallel, which ends at PyTorch 2.2.0, and this is {}",
     "torch_distributed: {\"enabled\": true}", kSdk2, kEstimator, Need::Nothing, ddp_version},
    {"C052", Severity::Error, "Exact version for torch_distributed",
     "torch_distributed by a framework version that is not literally on the launcher's list",
     "torch_distributed does not take framework version {}; it takes {}", "write the full version, or give image_uri",
     kSdk2, kEstimator, Need::Nothing, exact_version},
    {"C053", Severity::Error, "Version without an image",
     "launcher list and image table of the SDK disagree on the version, or the table does not know it",
     "version {} {}, so no such job can start", "give image_uri, or a version of the SDK's table (2.5.1 or later)",
     kSdk2, kEstimator, Need::Nothing, version_without_image},
    {"C056", Severity::Error, "Python version",
     "py_version is no Python 3, or none that the framework version comes with, or (a warning) an image's tag names "
     "another",
     "py_version {}: {}", "write the version's own Python", kSdk2, kSubmitted, Need::Nothing, python_version},
    {"C058", Severity::Error, "Image for the hardware",
     "one of AWS's images is for other hardware (a warning where it runs all the same), for inference, for EC2 or for "
     "another framework; Trainium by a framework version outside 1.11 to 2.0.0, or (a warning) by one whose image is "
     "another's",
     "the SDK maps no Neuron image to version {}", "give image_uri of pytorch-training-neuronx", kSdk2,
     kSubmitted | kHyperpodJob, Need::Nothing, image_for_hardware},
    {"C073", Severity::Warning, "Image no longer patched", "the image's last day of patches is past",
     "{} {} gets no security patches any more{}", "use a newer image",
     "aws/deep-learning-containers support dates, 2026-11-20", kSubmitted, Need::Nothing, patched},
    {"C219", Severity::Error, "Kernels for the device",
     "the image's CUDA toolkit or framework was built for newer devices than the instance type has (CUDA 13 for V100), "
     "or PyTorch's for older ones (CUDA 12.6 for Blackwell)",
     "{} has no kernels for the {} of {} (compute capability {}): the first one fails with \"no kernel image is "
     "available for execution on the device\"",
     "use an image of another CUDA toolkit, or another instance type",
     "CUDA 13.0 release notes, removed architectures; pytorch/pytorch RELEASE.md, CUDA support matrix, 2026-11-26",
     kSubmitted, Need::Nothing, kernels_in_image},
    {"C074", Severity::Warning, "Version newer than the SDK", "the framework version is above the SDK's tables",
     "version {} is newer than the SDK's newest, {}", "give image_uri", kSdk2, kEstimator, Need::Nothing,
     newer_than_sdk},
};

}  // namespace

std::span<const Rule> framework_rules() { return kFrameworkRules; }

}  // namespace smplan
