// Where checkpoints are written, and whether they survive.
#include <algorithm>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::string_view kDefaultPath = "/opt/ml/checkpoints";

/// `path` is `folder` or below it.
bool is_under(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

void local_path(const CheckInput& in, Report& report) {
  if (!in.job.checkpoint_uri.stated || !in.facts.script->saves_to) return;
  const std::string synced = in.job.checkpoint_path.value_or(std::string(kDefaultPath));
  if (!is_under(*in.facts.script->saves_to, synced)) {
    report.at(in.job.checkpoint_path.stated ? in.job.checkpoint_path.where : in.job.checkpoint_uri.where,
              {quote(*in.facts.script->saves_to), quote(synced)});
  }
}

void reserved_path(const CheckInput& in, Report& report) {
  const Text& path = in.job.checkpoint_path;
  if (!path) return;
  for (const std::string_view reserved : {"/opt/ml/input", "/opt/ml/model", "/opt/ml/output"}) {
    if (is_under(*path, reserved)) report.at(path, {quote(*path)});
  }
}

/// The last part of an S3 URI's key; empty for a bare bucket.
std::string_view last_part(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  const std::size_t scheme = uri.find("://");
  const std::size_t slash = uri.rfind('/');
  if (slash == std::string_view::npos || (scheme != std::string_view::npos && slash < scheme + 3)) return "";
  return uri.substr(slash + 1);
}

void shared_prefix(const CheckInput& in, Report& report) {
  const Text& uri = in.job.checkpoint_uri;
  if (!uri) return;
  if (in.facts.checkpoint_uris_in_use) {
    if (contains(*in.facts.checkpoint_uris_in_use, *uri)) report.at(uri, {quote(*uri)});
    return;
  }
  if (!uri->starts_with("s3://")) return;  // C007 says so
  if (in.job.name && uri->find(*in.job.name) != std::string::npos) return;
  const std::string_view last = last_part(*uri);
  for (const std::string_view common :
       {"", "checkpoint", "checkpoints", "ckpt", "ckpts", "ck", "model", "models", "output"}) {
    if (last == common) {
      report.at(uri, {quote(*uri)});
      return;
    }
  }
}

void rank_collision(const CheckInput& in, Report& report) {
  if (in.job.checkpoint_uri.stated && in.nodes().value_or(1) > 1 && in.facts.script->rank_in_checkpoint_name == false) {
    report.at(in.job.checkpoint_uri, {count_text(*in.nodes())});
  }
}

void local_mode(const CheckInput& in, Report& report) {
  if (!is_local(in.job)) return;
  if (in.job.checkpoint_uri.stated) report.at(in.job.checkpoint_uri, {"checkpoint_s3_uri"});
  if (in.job.checkpoint_path.stated) report.at(in.job.checkpoint_path, {"checkpoint_local_path"});
  if (any_spot(in.job)) report.at(in.job.spot, {"use_spot_instances"});
  if (in.job.instance_type.is("local_gpu") && in.job.instance_count.value_or(1) > 1) {
    report.at(in.job.instance_count, {"a second instance with GPUs"}).fix = "set instance_count to 1";
  }
}

constexpr Rule kCheckpointsRules[] = {
    {"C191", Severity::Warning, "Path of checkpoints", "the script saves outside the folder that is synced",
     "the script saves to {}, and {} is synced to S3", "save below the synced folder", kDocs, kSubmitted,
     &Facts::script, local_path},
    {"C192", Severity::Error, "Reserved path", "checkpoints are kept in a folder that SageMaker uses itself",
     "{} belongs to SageMaker", "use /opt/ml/checkpoints", kJudgement, kSubmitted, Need::Nothing, reserved_path},
    {"C193", Severity::Warning, "Shared checkpoint location", "the location is not the job's own",
     "{} is not this job's alone: a new job would resume from another's checkpoints", "append the job's name",
     "notebooks of aws/amazon-sagemaker-examples", kSubmitted, Need::Nothing, shared_prefix},
    {"C194", Severity::Warning, "Checkpoint names of several nodes", "several nodes write files of the same name",
     "{} nodes write the same file names to one location, and the last one wins",
     "put the rank in the name, or save sharded (DCP)", kDocs, kSubmitted, &Facts::script, rank_collision},
    {"C197", Severity::Error, "Local mode",
     "synced checkpoints, spot capacity or several instances with GPUs in local mode", "{} does not work in local mode",
     "drop it", "SageMaker Python SDK v2.257.6, estimator.py", kEstimator, Need::Nothing, local_mode},
};

}  // namespace

std::span<const Rule> checkpoint_rules() { return kCheckpointsRules; }

}  // namespace smplan
