#include <algorithm>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/export/target.hpp"

// What the API would refuse after submission. Source: CreateTrainingJob in botocore 1.43.67 (2026-08-07).

namespace smplan {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alphanumeric(char c) { return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z'); }

/// `arn:aws:iam::<12 digits>:role/<name>`, in any partition.
bool is_role_arn(std::string_view text) {
  const std::size_t iam = text.find(":iam::");
  if (text.substr(0, 7) != "arn:aws" || iam == std::string_view::npos || text.size() > 2048) return false;
  const std::string_view rest = text.substr(iam + 6);
  return rest.size() > 18 && std::all_of(rest.begin(), rest.begin() + 12, is_digit) && rest.substr(12, 6) == ":role/";
}

bool is_bucket(std::string_view text) {
  const auto allowed = [](char c) { return is_digit(c) || is_lower(c) || c == '-' || c == '.'; };
  return text.size() >= 3 && text.size() <= 63 && std::all_of(text.begin(), text.end(), allowed) &&
         text.front() != '-' && text.back() != '-';
}

/// Letters, digits and inner hyphens; the SDKs append a time stamp of 24 characters.
bool is_job_name(std::string_view text) {
  const auto allowed = [](char c) { return is_alphanumeric(c) || c == '-'; };
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), allowed) && text.front() != '-' &&
         text.back() != '-';
}

bool is_script(std::string_view text) {
  const auto plain = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '/'; };
  // It is put below src/ and starts no option.
  const bool inside = ('/' + std::string(text) + '/').find("/../") == std::string::npos;
  return text.size() > 3 && text.size() <= 200 && text.substr(text.size() - 3) == ".py" && text.front() != '/' &&
         text.front() != '-' && inside && std::all_of(text.begin(), text.end(), plain);
}

bool is_file_system(std::string_view text) {
  const auto hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return text.substr(0, 3) == "fs-" && text.size() >= 11 && text.size() <= 21 &&
         std::all_of(text.begin() + 3, text.end(), hex);
}

}  // namespace

Diagnostics check(const ExportOptions& options) {
  Diagnostics out;
  const auto judge = [&](const std::optional<std::string>& value, bool (*good)(std::string_view), const char* flag,
                         const char* what, const char* hint) {
    if (!value || good(*value)) return;
    out.push_back({"bad-value", flag, fmt::format("{} is no {}", quote(*value), what), hint});
  };
  judge(options.role, is_role_arn, "--role", "ARN of a role", "write arn:aws:iam::<12 digits>:role/<name>");
  judge(options.bucket, is_bucket, "--bucket", "name of a bucket", "write the name alone, without s3:// and folders");
  judge(options.job_name, is_job_name, "--job-name", "name of a training job",
        "up to 63 letters, digits and inner hyphens");
  judge(options.script, is_script, "--script", "Python script in source_dir",
        "give its path below src/, ending in .py");
  judge(options.file_system, is_file_system, "--file-system", "id of a file system",
        "write fs- and 8 to 18 hex digits");
  return out;
}

}  // namespace smplan
