#include "planner/calibration/calibration_overlay.hpp"
#include "base/json_writer.hpp"

#include <charconv>

namespace smplan {
namespace {
/// Six significant digits: no fit knows more, and a file stays readable.
double rounded(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::general, 6).ptr;
  double value = x;
  std::from_chars(text, end, value);
  return value;
}

Json stack_profile_json(const StackProfile& profile, const std::string& source, const std::string& as_of) {
  Json entry = {{"stack", profile.stack}};
  for (const StackParameter& parameter : stack_parameters()) {
    entry[std::string(parameter.key)] = rounded(parameter.get(profile));
  }
  entry["measured"] = profile.measured;
  entry["source"] = source;
  entry["as_of"] = as_of;
  return entry;
}

}  // namespace

std::string calibration_overlay(const CalibrationResult& result, const std::string& source, const std::string& as_of) {
  const std::string told = "fitted on " + std::to_string(result.runs) + " runs of " + source;
  Json overlay = {{"schema", "smplan.catalog/1"}};
  Json& profiles = overlay["stack_profiles"] = Json::array();
  for (const std::string& id : result.stacks) {
    profiles.push_back(stack_profile_json(result.catalog.find_stack(id)->profile, told, as_of));
  }
  if (!result.accelerators.empty()) {
    Json& rates = overlay["sustained_rates"] = Json::array();
    for (const std::string& key : result.accelerators) {
      const AcceleratorProfile& profile = *result.catalog.find_accelerator_profile(key);
      Json rate = {{"accelerator", key}};
      for (const DeviceParameter& p : device_parameters()) rate[p.key] = rounded(profile.*p.profile);
      rate["source"] = told;
      rate["as_of"] = as_of;
      rates.push_back(std::move(rate));
    }
  }
  // File names may hold any bytes; JSON may not.
  return overlay.dump(2) + "\n";
}

}  // namespace smplan
