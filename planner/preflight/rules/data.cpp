// How the data reaches the processes.
#include <algorithm>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kManyFiles = 100'000;
/// What one node reads from S3 in File mode, whatever its network. Source: engineering judgement; AWS states none.
constexpr double kDownloadBytesPerSecond = 1e9;

/// Calls `judge(mode, channel)` for the job's mode and for every channel with a mode of its own.
template <typename Judge>
void for_modes(const CheckInput& in, Judge judge) {
  if (in.job.input_mode) judge(in.job.input_mode, nullptr);
  for (const JobChannel& c : in.job.channels) {
    if (c.input_mode) judge(c.input_mode, &c);
  }
}

void input_mode(const CheckInput& in, Report& report) {
  for_modes(in, [&](const Text& mode, const JobChannel*) {
    if (*mode != "File" && *mode != "Pipe" && *mode != "FastFile") report.at(mode, {quote(*mode)});
  });
}

void mode_of_manifest(const CheckInput& in, Report& report) {
  for (const JobChannel& c : in.job.channels) {
    if (c.s3_type.is("AugmentedManifestFile") && mode_of(in, c) == "File") {
      Finding& finding = report.at(c.s3_type, {*c.s3_type});
      finding.message = "an augmented manifest is read in Pipe mode alone, not in File mode";
      finding.fix = "set the channel's input mode to Pipe";
      finding.source = kApi;
    }
    if (mode_of(in, c) == "FastFile" && c.s3_type &&
        (*c.s3_type == "ManifestFile" || *c.s3_type == "AugmentedManifestFile")) {
      report.at(c.s3_type, {*c.s3_type});
    }
  }
}

bool has_attributes(const JobChannel& c) {
  return c.attributes != nullptr && !c.attributes->is_null() &&
         !(c.attributes->is_array() && c.attributes->items.empty());
}

void augmented_manifest(const CheckInput& in, Report& report) {
  for (const JobChannel& c : in.job.channels) {
    if (c.s3_type.is("AugmentedManifestFile") && !has_attributes(c)) {
      report.at(c.s3_type, {"an augmented manifest without AttributeNames, and of its lines only those are sent"});
    }
    const bool plain = c.s3_uri.stated && (!c.s3_type.stated || (c.s3_type && *c.s3_type != "AugmentedManifestFile"));
    if (plain && has_attributes(c)) {
      Finding& finding = report.at(*c.attributes, {"AttributeNames, and " + c.s3_type.value_or("S3Prefix") +
                                                   " has no attributes: only an augmented manifest has"});
      finding.severity = Severity::Warning;
      finding.fix = "drop them, or write AugmentedManifestFile";
    }
  }
}

void for_pipes_alone(const CheckInput& in, Report& report) {
  for (const JobChannel& c : in.job.channels) {
    const Text& stated = c.input_mode.stated ? c.input_mode : in.job.input_mode;
    const std::string mode = mode_of(in, c);
    if ((stated.stated && !stated) || (mode != "File" && mode != "FastFile")) continue;
    if (c.compression && *c.compression != "None")
      report.at(c.compression, {"CompressionType " + *c.compression, mode});
    if (mode == "File" && c.record_wrapper && *c.record_wrapper != "None") {
      report.at(c.record_wrapper, {"RecordWrapperType " + *c.record_wrapper, mode});
    }
  }
}

void pipe_readers(const CheckInput& in, Report& report) {
  const std::int64_t processes = in.processes_per_node();
  if (processes < 2) return;
  for_modes(in, [&](const Text& mode, const JobChannel*) {
    if (*mode == "Pipe") report.at(mode, {count_text(processes)});
  });
}

void pipe_legacy(const CheckInput& in, Report& report) {
  for_modes(in, [&](const Text& mode, const JobChannel*) {
    if (*mode == "Pipe") report.at(mode);
  });
}

void file_mode_size(const CheckInput& in, Report& report) {
  const double bytes = file_mode_bytes(in);
  const InstanceType* type = in.instance();
  if (type == nullptr || bytes <= 0) return;
  const double disk = type->local_nvme.value() > 0 ? type->local_nvme.value()
                                                   : static_cast<double>(in.job.volume_gb.value_or(30)) * 1e9;
  if (bytes > disk) {
    report.at(in.job.channels.front().where, {format_bytes(Bytes(bytes)), type->name, format_bytes(Bytes(disk))});
  }
}

void many_small_files(const CheckInput& in, Report& report) {
  for (const JobChannel& c : in.job.channels) {
    const Facts::Dataset* d = dataset_of(in, c);
    if (d == nullptr || mode_of(in, c) != "FastFile") continue;
    if (d->files.value_or(0) > kManyFiles) report.at(c.where, {count_text(*d->files) + " files"});
    if (d->random_access == true) report.at(c.where, {"random access"});
  }
}

void download_billed(const CheckInput& in, Report& report) {
  const Seconds download(file_mode_bytes(in) / kDownloadBytesPerSecond);
  const std::optional<Seconds> time = predicted_time(in);
  const double run = time ? time->value() : static_cast<double>(in.job.max_run_s.value_or(0));
  if (run > 0 && download.value() > run / 10) report.at(in.job.channels.front().where, {format_duration(download)});
}

void file_system(const CheckInput& in, Report& report) {
  for (const JobChannel& c : in.job.channels) {
    if (c.file_system_id) {
      const std::string& id = *c.file_system_id;
      const bool hex = std::all_of(id.begin() + std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(id.size())),
                                   id.end(), [](char k) { return (k >= '0' && k <= '9') || (k >= 'a' && k <= 'f'); });
      if (!id.starts_with("fs-") || !hex || id.size() < 11 || id.size() > 21) {
        report.at(c.file_system_id, {quote(id) + " is no file system id (fs- and 8 to 18 hexadecimal digits)"});
      }
    }
    if (c.directory && !c.directory->starts_with('/')) {
      report.at(c.directory, {quote(*c.directory) + " is no path below the file system's root: it begins with /"}).fix =
          "write /<mount name>/... for FSx for Lustre, /... for EFS";
    }
    if (c.file_system_type && *c.file_system_type != "EFS" && *c.file_system_type != "FSxLustre") {
      report.at(c.file_system_type, {quote(*c.file_system_type) + " is neither EFS nor FSxLustre"});
    }
  }
}

void replicated(const CheckInput& in, Report& report) {
  const auto nodes = in.nodes();
  if (!nodes || *nodes < 2) return;
  for (const JobChannel& c : in.job.channels) {
    const bool copied = !c.distribution.stated || c.distribution.is("FullyReplicated");
    if (copied && c.s3_uri.stated && mode_of(in, c) == "File") report.at(c.where, {count_text(*nodes)});
  }
}

constexpr Rule kDataRules[] = {
    {"C182", Severity::Error, "Input mode", "the mode is not File, Pipe or FastFile", "{} is no input mode",
     "write File, FastFile or Pipe", kApi, kSubmitted, Need::Nothing, input_mode},
    {"C183", Severity::Error, "Mode of a manifest", "FastFile with a manifest, or File with an augmented one",
     "FastFile reads prefixes, not a {}", "use S3Prefix, or File mode (Pipe of an augmented manifest)", kDocs,
     kSubmitted, Need::Nothing, mode_of_manifest},
    {"C242", Severity::Error, "Attributes of a manifest",
     "an augmented manifest has no AttributeNames, or (a warning) another type of data has them", "the channel has {}",
     "name the attributes that the algorithm reads, in their order",
     "Amazon SageMaker AI developer guide, augmented-manifest, read 2026-11-29; API model of botocore 1.44.8, "
     "S3DataSource",
     kSubmitted, Need::Nothing, augmented_manifest},
    {"C243", Severity::Warning, "For Pipe mode alone",
     "a channel in File or FastFile mode has a compression, or one in File mode a wrapper of records",
     "{} is for Pipe mode, and the channel's mode is {}", "leave it out: the files come as they are",
     "API model of botocore 1.44.8, Channel", kSubmitted, Need::Nothing, for_pipes_alone},
    {"C184", Severity::Error, "Readers of a pipe", "Pipe mode with more than one process a node",
     "{} processes of a node would read one pipe, and a pipe has one reader",
     "use FastFile, or a channel for every process", kDocs, kSubmitted, Need::Nothing, pipe_readers},
    {"C185", Severity::Warning, "Pipe mode", "Pipe mode is used", "FastFile has taken the place of Pipe mode",
     "use FastFile", kDocs, kSubmitted, Need::Nothing, pipe_legacy},
    {"C186", Severity::Error, "Data on the disk", "the data in File mode exceed the instance's storage",
     "{} in File mode do not fit the storage of {}, {}", "use FastFile or FSx for Lustre", kDocs, kSubmitted,
     &Facts::datasets, file_mode_size},
    {"C187", Severity::Warning, "Small files by FastFile", "FastFile over 100000 files, or with random access",
     "FastFile is slow with {}", "pack the data in shards (tar, Parquet, .bin) and read them in order", kDocs,
     kSubmitted, &Facts::datasets, many_small_files},
    {"C188", Severity::Warning, "Billed download", "downloading in File mode takes more than a tenth of the run",
     "File mode downloads for about {} while all instances are billed", "use FastFile or FSx for Lustre", kDocs,
     kSubmitted, &Facts::datasets, download_billed},
    {"C189", Severity::Error, "File system",
     "the id is no fs-..., the type neither EFS nor FSxLustre, or the directory no path from the root", "{}",
     "write the id and the type as the console shows them", kApi, kSubmitted, Need::Nothing, file_system},
    {"C190", Severity::Info, "Replicated download", "several nodes each download a replicated channel in File mode",
     "each of the {} nodes downloads all of the channel", "ShardedByS3Key if the loader expects its part only", kApi,
     kSubmitted, Need::Nothing, replicated},
};

}  // namespace

std::span<const Rule> data_rules() { return kDataRules; }

}  // namespace smplan
