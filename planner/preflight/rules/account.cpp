// Quotas, regions, secrets.
#include <algorithm>
#include <array>

#include "catalogs/quotas.hpp"
#include "catalogs/regions.hpp"
#include "planner/preflight/image.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

void instance_quota(const CheckInput& in, Report& report) {
  for (const Machines& m : in.machines) {
    if (!m.type || !m.count) continue;
    const std::string name = account_quota(any_spot(in.job) ? "spot" : "training-job").name(*m.type);
    const std::int64_t* quota = said_of(in.facts.quotas, name);
    if ((quota == nullptr ? 0 : *quota) >= *m.count) continue;
    report.at(m.count,
              {quote(name), quota == nullptr ? "not among the facts" : count_text(*quota), count_text(*m.count)});
  }
}

void instances_per_job(const CheckInput& in, Report& report) {
  const auto nodes = in.nodes();
  if (!nodes || static_cast<double>(*nodes) <= account_quota("instances").new_account) return;
  const std::int64_t* quota = said_of(in.facts.quotas, account_quota("instances").name());
  if (quota != nullptr && *quota >= *nodes) return;
  const Count& where = in.job.instance_count.stated ? in.job.instance_count : in.job.strategy.nodes;
  report.at(where, {count_text(*nodes)});
}

void region_of_type(const CheckInput& in, Report& report) {
  if (in.region.empty()) return;
  for (const Machines& m : in.machines) {
    if (m.instance == nullptr || m.instance->regions.empty() || contains(m.instance->regions, in.region)) continue;
    report.at(m.type, {m.instance->name, in.region}).fix = "offered in " + list_text(m.instance->regions);
  }
}

bool is_account(std::string_view text) {
  return text.size() == 12 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void image_region(const CheckInput& in, Report& report) {
  const auto image = in.job.image ? parse_image(*in.job.image) : std::nullopt;
  if (!image) return;
  if (!image->region.empty() && !in.region.empty() && image->region != in.region) {
    report.at(in.job.image, {"is in " + image->region + ", the job in " + in.region});
  }
  const ContainerRegistry* registry = in.catalog.containers().registry_of(image->repository);
  const std::string region = image->region.empty() ? in.region : image->region;
  if (registry == nullptr || region.empty() || !is_account(image->account)) return;
  const std::string_view account = registry->account_in(region);
  // A copy in the user's own registry is none of AWS's accounts.
  const bool of_aws = std::any_of(registry->accounts.begin(), registry->accounts.end(),
                                  [&](const ContainerRegistry::Account& a) { return a.account == image->account; });
  if (account.empty() || !of_aws || account == image->account) return;
  Finding& finding = report.at(
      in.job.image, {"is served in " + region + " by account " + std::string(account) + ", not " + image->account});
  finding.fix = "write account " + std::string(account);
}

std::string_view bucket_of(std::string_view uri) {
  if (!uri.starts_with("s3://")) return "";
  uri.remove_prefix(5);
  return uri.substr(0, uri.find('/'));
}

void bucket_region(const CheckInput& in, Report& report) {
  if (in.region.empty()) return;
  const auto judge = [&](const Text& uri) {
    if (!uri) return;
    const std::string bucket(bucket_of(*uri));
    const std::string* region = said_of(in.facts.buckets, bucket);
    if (region != nullptr && *region != in.region) report.at(uri, {quote(bucket), *region, in.region});
  };
  judge(in.job.output_uri);
  judge(in.job.checkpoint_uri);
  for (const JobChannel& c : in.job.channels) judge(c.s3_uri);
}

bool names_a_secret(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const std::string_view word :
       {"secret", "password", "passwd", "api_key", "apikey", "api-key", "access_key", "access_token", "auth_token",
        "hf_token", "hub_token", "wandb_key", "private_key"}) {
    if (key.find(word) != std::string::npos) return true;
  }
  return key == "token" || key.ends_with("_token");
}

bool looks_secret(std::string_view value) {
  for (const std::string_view prefix : {"hf_", "AKIA", "ASIA", "ghp_", "github_pat_", "sk-", "xoxb-", "-----BEGIN"}) {
    if (value.starts_with(prefix) && value.size() >= 16) return true;
  }
  return false;
}

/// A reference to where the secret is kept is what should be there.
bool is_reference(std::string_view value) {
  return value.starts_with("arn:aws") || value.starts_with("ssm://") || value.starts_with("secretsmanager");
}

void secrets(const CheckInput& in, Report& report) {
  const auto judge = [&](const Node& at, const std::string& key, const std::string& value) {
    if (value.empty() || is_placeholder(value) || is_reference(value)) return;
    // Counts and switches (pad_token: 0, use_auth_token: true) are no secrets.
    if (looks_secret(value) || (names_a_secret(key) && value.size() >= 8)) report.at(at, {quote(key)});
  };
  for (const Node* map : {in.job.hyperparameters, in.job.environment}) {
    if (map == nullptr) continue;
    for (const Node& entry : map->items) {
      if (entry.is_string()) judge(entry, entry.key, entry.text);
    }
  }
  if (in.job.tags == nullptr) return;
  for (const Node& tag : in.job.tags->items) {
    const bool pair = tag.is_object();
    judge(tag, pair ? member_text(tag, {"Key", "key"}) : tag.key,
          pair ? member_text(tag, {"Value", "value"}) : tag.text);
  }
}

void submission_rate(const CheckInput& in, Report& report) {
  if (*in.facts.jobs_per_second > 1) report.at(in.job.root().where, {format_shortest(*in.facts.jobs_per_second)});
}

constexpr std::string_view kQuotas = "SageMaker service quotas, 2026-11-20";

/// Members whose texts are the script's own.
constexpr std::array<std::string_view, 6> kToldToScripts = {
    "HyperParameters", "hyperparameters", "Environment", "environment", "MetricDefinitions", "metric_definitions"};

using Placeholders = std::vector<std::pair<std::string, const Node*>>;

/// Services whose resources a job uses in its own region alone. A role has none, and a secret may be read from afar.
constexpr std::array<std::string_view, 5> kRegional = {"kms", "sagemaker", "ecr", "fsx", "elasticfilesystem"};
/// The same by the names of hosts: `111122223333.dkr.ecr.eu-west-1.amazonaws.com`.
constexpr std::array<std::string_view, 4> kRegionalHosts = {"ecr", "s3", "fsx", "efs"};

/// Part by part of what `mark` separates.
std::vector<std::string_view> parts_of(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

bool is_regional(std::string_view word, std::span<const std::string_view> services) {
  return std::find(services.begin(), services.end(), word) != services.end();
}

/// The region of what an ARN, or the address of a service, names; empty for others and where it is not known.
std::string_view region_named(std::string_view text, const std::vector<std::string>& known) {
  if (text.starts_with("arn:aws")) {
    const std::vector<std::string_view> parts = parts_of(text, ':');
    // A job may report to a tracking server anywhere.
    const bool regional = parts.size() > 5 && is_regional(parts[2], kRegional) && !parts[5].starts_with("mlflow");
    return regional && contains(known, parts[3]) ? parts[3] : std::string_view();
  }
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/:"));
  if (text.find(".amazonaws.com") == std::string_view::npos) return {};
  const std::vector<std::string_view> labels = parts_of(text, '.');
  const bool regional =
      std::any_of(labels.begin(), labels.end(), [](auto label) { return is_regional(label, kRegionalHosts); });
  const auto region = std::find_if(labels.begin(), labels.end(), [&](auto label) { return contains(known, label); });
  return regional && region != labels.end() ? *region : std::string_view();
}

struct RegionalResource {
  const Node* node;
  std::string_view region;
};

/// Every resource that the job itself names, and not what its script, its tags or its cloning are told.
void collect_resources(const Node& node, const std::vector<std::string>& known, std::vector<RegionalResource>& out) {
  static constexpr std::array<std::string_view, 4> kOfOthers = {"Tags", "tags", "git_config", "calls"};
  if (is_regional(node.key, kToldToScripts) || is_regional(node.key, kOfOthers)) return;
  if (node.is_string()) {
    const std::string_view region = region_named(node.text, known);
    if (!region.empty()) out.push_back({&node, region});
  }
  for (const Node& item : node.items) collect_resources(item, known, out);
}

void resource_region(const CheckInput& in, Report& report) {
  std::vector<RegionalResource> resources;
  collect_resources(in.job.root(), known_regions(in.catalog), resources);
  if (resources.empty()) return;
  // Without the job's region two of them cannot both be in it.
  const std::string_view due = in.region.empty() ? resources.front().region : std::string_view(in.region);
  const std::string other = in.region.empty() ? resources.front().node->where.path : std::string("the job");
  for (const RegionalResource& one : resources) {
    const bool judged = !in.region.empty() && in.job.image.stated && one.node->where == in.job.image.where;
    if (one.region == due || judged) continue;
    report.at(*one.node, {quote(one.node->text), std::string(one.region), other, std::string(due)});
  }
}

/// What stands for the value: `REPLACE-ME-role`, `<role>`, `${BUCKET}`.
std::string placeholder_in(std::string_view text, bool any) {
  constexpr std::string_view kName = "REPLACE-ME";
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
  if (const std::size_t at = text.find(kName); at != std::string_view::npos) {
    return std::string(text.substr(at, text.find_first_not_of(kLetters, at) - at));
  }
  if (!any || !is_placeholder(text)) return {};
  const std::size_t open = text.find('<');
  if (open != std::string_view::npos) return std::string(text.substr(open, text.find('>', open) + 1 - open));
  const std::size_t dollar = text.find("${");
  return std::string(text.substr(dollar, text.find('}', dollar) + 1 - dollar));
}

/// Each placeholder once, where it stands first.
void collect_placeholders(const Node& node, bool any, Placeholders& out) {
  if (node.is_string()) {
    std::string name = placeholder_in(node.text, any);
    const auto same = [&](const auto& known) { return known.first == name; };
    if (!name.empty() && std::none_of(out.begin(), out.end(), same)) out.emplace_back(std::move(name), &node);
  }
  for (const Node& item : node.items) {
    // What scripts are told may hold such text for good: a token <pad>, a pattern (?P<loss>.*).
    const bool told = std::find(kToldToScripts.begin(), kToldToScripts.end(), item.key) != kToldToScripts.end();
    collect_placeholders(item, any && !told, out);
  }
}

void placeholders_left(const CheckInput& in, Report& report) {
  // Of a script the reader writes <what it cannot know>, and a recipe's ${...} is filled in by Hydra.
  const bool any = in.job.submitted() && !in.job.file.ends_with(".py");
  Placeholders found;
  collect_placeholders(in.job.root(), any, found);
  for (const auto& [name, node] : found) {
    Finding& finding = report.at(*node, {name});
    if (!name.starts_with("REPLACE-ME")) finding.severity = Severity::Info;
  }
  if (in.job.folder == nullptr) return;
  for (const FolderFile& file : in.job.folder->files) {  // what is told already stays told
    const std::size_t told = found.size();
    collect_placeholders(file.job.root(), false, found);
    for (std::size_t i = told; i < found.size(); ++i) {
      report.at(in_file(in.job, file.path, found[i].second->where), {found[i].first});
    }
  }
}

constexpr Rule kAccountRules[] = {
    {"C202", Severity::Warning, "Instance quota", "the quota of the type is not known to cover the job",
     "the quota {} is {}, the job needs {}", "request an increase under Service Quotas", kQuotas, kSubmitted,
     &Facts::quotas, instance_quota},
    {"C203", Severity::Warning, "Instances of a job", "the job has more than 20 instances and no raised quota is known",
     "{} instances are over the default quota of 20 for one job",
     "request the quota \"Number of instances for a training job\"", kQuotas, kSubmitted, Need::Nothing,
     instances_per_job},
    {"C204", Severity::Error, "Type not in the region", "the region does not offer the type", "{} is not offered in {}",
     "choose another region or type", "EC2 instance type offerings, see the catalog's entry", kSubmitted, Need::Nothing,
     region_of_type},
    {"C205", Severity::Error, "Image of another region",
     "the image is in another region than the job, or of another region's account", "the image {}",
     "use the region's own image", "SageMaker Python SDK v2.257.7, image_uri_config", kSubmitted, Need::Nothing,
     image_region},
    {"C241", Severity::Error, "Resource of another region",
     "a key, plan, algorithm, image or file system that the job names by ARN or address is in another region than the "
     "job, or two of them are in two",
     "{} is in {}, and {} is in {}", "use one of the job's own region",
     "AWS KMS developer guide, multi-Region keys; Amazon SageMaker AI API reference, CreateTrainingJob", kSubmitted,
     Need::Nothing, resource_region},
    {"C206", Severity::Error, "Bucket of another region", "a bucket is in another region than the job",
     "the bucket {} is in {}, the job in {}", "use a bucket in the job's region", kApi, kSubmitted, &Facts::buckets,
     bucket_region},
    {"C209", Severity::Info, "Secrets in the open", "a hyperparameter, variable or tag holds what looks like a secret",
     "{} looks like a secret, and DescribeTrainingJob shows it to everybody",
     "keep it in Secrets Manager and read it in the script", kApi, kSubmitted, Need::Nothing, secrets},
    {"C210", Severity::Info, "Rate of submissions", "more than one job a second is submitted",
     "{} jobs a second are over the quota of 1", "submit more slowly, or let a queue do it", kQuotas, kSubmitted,
     &Facts::jobs_per_second, submission_rate},
    {"C211", Severity::Warning, "Placeholder left",
     "a value that `smplan export` leaves to the user (REPLACE-ME) stands unfilled, or (a note) text like <role> or "
     "${ROLE} in what is submitted",
     "{} is still a placeholder, and what it stands for is not checked", "replace it, and check again", kJudgement,
     kAnyKind, Need::Nothing, placeholders_left},
};

}  // namespace

std::span<const Rule> account_rules() { return kAccountRules; }

}  // namespace smplan
