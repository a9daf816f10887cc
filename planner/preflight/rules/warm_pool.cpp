// Instances kept between jobs.
#include <array>

#include "catalogs/quotas.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kApiMaximum = 21'600;
constexpr std::int64_t kDocumented = 3'600;

bool kept(const CheckInput& in) { return in.job.keep_alive_s && *in.job.keep_alive_s > 0; }

void keep_alive_range(const CheckInput& in, Report& report) {
  const Count& keep = in.job.keep_alive_s;
  if (keep && (*keep < 0 || *keep > kApiMaximum)) report.at(keep, {count_text(*keep)});
}

void over_documented_hour(const CheckInput& in, Report& report) {
  const Count& keep = in.job.keep_alive_s;
  if (keep && *keep > kDocumented && *keep <= kApiMaximum) report.at(keep, {count_text(*keep)});
}

void with_groups(const CheckInput& in, Report& report) {
  if (kept(in) && !in.job.groups.empty()) report.at(in.job.keep_alive_s);
}

void pool_quota(const CheckInput& in, Report& report) {
  if (!kept(in)) return;
  for (const Machines& m : in.machines) {
    if (!m.type) continue;
    const std::string name = account_quota("warm-pool").name(*m.type);
    const std::int64_t* quota = said_of(in.facts.quotas, name);
    if (quota != nullptr && m.count && *quota >= *m.count) continue;
    report.at(in.job.keep_alive_s, {quote(name)});
  }
}

/// The fields that a waiting pool is matched by, as facts.previous_job names them.
std::array<std::pair<std::string_view, std::string>, 5> matched_fields(const CheckInput& in) {
  const Job& job = in.job;
  const auto count = [](const Count& c) { return c ? count_text(*c) : std::string(); };
  return {{{"role", job.role.value_or("")},
           {"instance_count", count(job.instance_count)},
           {"instance_type", job.instance_type.value_or("")},
           {"volume_size_gb", count(job.volume_gb)},
           {"volume_kms_key", job.volume_kms_key.value_or("")}}};
}

void pool_match(const CheckInput& in, Report& report) {
  if (!kept(in)) return;
  for (const auto& [name, value] : matched_fields(in)) {
    const std::string* before = said_of(in.facts.previous_job, std::string(name));
    if (before == nullptr || *before == value) continue;
    report.at(in.job.keep_alive_s, {std::string(name), quote(value), quote(*before)});
  }
}

void pool_cost(const CheckInput& in, Report& report) {
  if (!kept(in)) return;
  const std::string seconds = count_text(*in.job.keep_alive_s);
  const InstanceType* type = in.instance();
  const Price* price =
      type == nullptr || in.region.empty() ? nullptr : in.catalog.find_price(type->name, in.region, Market::OnDemand);
  const auto nodes = in.nodes();
  if (price == nullptr || !nodes) {
    report.at(in.job.keep_alive_s, {seconds + " s on every instance"});
    return;
  }
  const Usd cost = price->rate * Seconds(static_cast<double>(*in.job.keep_alive_s)) * static_cast<double>(*nodes);
  report.at(in.job.keep_alive_s, {seconds + " s x " + count_text(*nodes) + " x " + format_usd_per_hour(price->rate) +
                                  " = " + format_usd(cost)});
}

void pool_total(const CheckInput& in, Report& report) {
  constexpr double kWeek = 7 * kSecondsPerDay;
  if (kept(in) && *in.facts.warm_pool_total_s > kWeek) {
    report.at(in.job.keep_alive_s, {format_duration(Seconds(*in.facts.warm_pool_total_s))});
  }
}

constexpr Rule kWarmPoolRules[] = {
    {"C039", Severity::Error, "Keep-alive over the maximum", "instances are to be kept for under 0 or over 21600 s",
     "a keep-alive of {} s is outside 0 to 21600", "keep them for an hour at most",
     "SageMaker API model (21600 since botocore 1.43.0, 3600 before)", kSubmitted, Need::Nothing, keep_alive_range},
    {"C040", Severity::Warning, "Keep-alive over an hour", "the keep-alive is over 3600 s and at most 21600 s",
     "a keep-alive of {} s needs a recent SDK and a raised quota: guide and default quota say 3600 s",
     "stay at 3600 s, or raise the quota \"Keep alive period for cluster reuse\"", kDocs, kSubmitted, Need::Nothing,
     over_documented_hour},
    {"C041", Severity::Error, "Warm pool of instance groups", "a keep-alive is given for instance groups",
     "a warm pool cannot hold instance groups", "drop the keep-alive, or use one instance type", kDocs, kSubmitted,
     Need::Nothing, with_groups},
    {"C042", Severity::Warning, "Warm pool quota", "instances are to be kept and no quota for it is known",
     "the default quota {} is 0, and without one the pool is quietly not kept", "request the quota", kDocs, kSubmitted,
     Need::Nothing, pool_quota},
    {"C043", Severity::Info, "Warm pool of another job", "the job differs from the one whose pool it is to use",
     "the waiting pool will not be used: {} is {}, was {}",
     "keep role, count, type, volume, keys, VPC, encryption and isolation as they were", kDocs, kSubmitted,
     &Facts::previous_job, pool_match},
    {"C044", Severity::Info, "Cost of a warm pool", "instances are to be kept", "idle instances are billed: {}",
     "give the time in which the next job will really start", kDocs, kSubmitted, Need::Nothing, pool_cost},
    {"C045", Severity::Info, "Life of a warm pool", "a chain of jobs is to keep one pool for more than 7 days",
     "a pool does not live for {}: 7 days by the guide of 2023, 28 days by the API", "plan for a cold start in between",
     kDocs, kSubmitted, &Facts::warm_pool_total_s, pool_total},
};

}  // namespace

std::span<const Rule> warm_pool_rules() { return kWarmPoolRules; }

}  // namespace smplan
