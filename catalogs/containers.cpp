#include "catalogs/containers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

/// Takes the number at the front of `text` and the separator behind it; a part without digits counts as 0.
std::int64_t take_part(std::string_view& text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  const std::size_t dot = text.find('.');
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return value;
}

SdkVerdict read_verdict(ObjectReader& reader, std::string_view key) {
  const std::optional<bool> accepted = reader.optional_bool(key);
  if (!accepted) return SdkVerdict::NotApplicable;
  return *accepted ? SdkVerdict::Accepted : SdkVerdict::Refused;
}

/// Ten times a compute capability such as 7.5; 0 where it is absent.
int read_capability(ObjectReader& reader, std::string_view key) {
  return static_cast<int>(std::lround(10 * read_number_or(reader, key, 0, 99, 0)));
}

ContainerRegistry::Account read_account(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  ContainerRegistry::Account account;
  const std::size_t faults = out.size();
  account.account = reader.string("account");
  const bool digits =
      std::all_of(account.account.begin(), account.account.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (out.size() == faults && (account.account.size() != 12 || !digits)) {
    out.push_back({"bad-account", reader.location("account"),
                   fmt::format("{} is no AWS account", quote(account.account)), "write its twelve digits as a string"});
  }
  account.regions = read_names(reader, "regions");
  reader.finish();
  return account;
}

}  // namespace

bool version_before(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::int64_t x = take_part(a);
    const std::int64_t y = take_part(b);
    if (x != y) return x < y;
  }
  return false;
}

std::string_view ContainerRegistry::account_in(std::string_view region) const {
  for (const Account& account : accounts) {
    if (std::find(account.regions.begin(), account.regions.end(), region) != account.regions.end()) {
      return account.account;
    }
  }
  return {};
}

const ContainerRegistry* ContainerFacts::registry_of(std::string_view repository) const {
  for (const ContainerRegistry& registry : registries) {
    const auto& known = registry.repositories;
    if (std::find(known.begin(), known.end(), repository) != known.end()) return &registry;
  }
  return nullptr;
}

const Toolkit* ContainerFacts::find_toolkit(std::string_view key) const {
  for (const Toolkit& toolkit : toolkits) {
    if (toolkit.key == key) return &toolkit;
  }
  return nullptr;
}

bool ContainerFacts::runs_on(const Container& image, int capability) const {
  if (capability == 0) return true;
  if (capability < image.least_capability) return false;
  const Toolkit* toolkit = find_toolkit(image.toolkit);
  if (toolkit == nullptr) return true;
  // TensorFlow's binaries carry code that the driver compiles for devices that came later.
  const bool older = image.framework == "pytorch" && capability / 10 > toolkit->newest_capability / 10;
  return capability >= toolkit->least_capability && !older;
}

const Container* ContainerFacts::newest(std::string_view repository, std::string_view accelerator,
                                        int capability) const {
  const Container* best = nullptr;
  for (const Container& image : images) {
    if (image.repository != repository || image.accelerator != accelerator || !runs_on(image, capability)) continue;
    if (best == nullptr || version_before(best->version, image.version) ||
        (best->version == image.version && version_before(best->toolkit, image.toolkit))) {
      best = &image;
    }
  }
  return best;
}

std::string ContainerFacts::as_of() const {
  std::string latest;
  for (const Container& image : images) latest = std::max(latest, image.provenance.as_of);
  return latest;
}

std::string ContainerFacts::image_uri(const Container& image, std::string_view region) const {
  const ContainerRegistry* registry = registry_of(image.repository);
  const std::string_view account = registry == nullptr ? std::string_view() : registry->account_in(region);
  if (account.empty()) return {};
  const std::string_view domain = region.substr(0, 3) == "cn-" ? "amazonaws.com.cn" : "amazonaws.com";
  return fmt::format("{}.dkr.ecr.{}.{}/{}:{}", account, region, domain, image.repository, image.tag);
}

ContainerRegistry read_container_registry(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  ContainerRegistry registry;
  registry.key = read_name(reader, "key");
  registry.repositories = read_names(reader, "repositories");
  for (const JsonValue& account : reader.array("accounts")) registry.accounts.push_back(read_account(account, out));
  registry.provenance = read_provenance(reader);
  reader.finish();
  return registry;
}

Container read_container(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Container image;
  image.repository = read_name(reader, "repository");
  image.framework = read_name(reader, "framework");
  image.version = read_name(reader, "version");
  image.python = read_name(reader, "python");
  image.accelerator = read_name(reader, "accelerator");
  image.transformers = read_optional_name(reader, "transformers");
  image.library = read_optional_name(reader, "library");
  image.toolkit = read_optional_name(reader, "toolkit");
  image.tag = read_name(reader, "tag");
  image.released = read_optional_name(reader, "released");
  image.patched_until = read_optional_name(reader, "patched_until");
  image.least_capability = read_capability(reader, "least_capability");
  image.provenance = read_provenance(reader);
  reader.finish();
  return image;
}

FrameworkVersion read_framework_version(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FrameworkVersion version;
  version.table = read_name(reader, "table");
  version.version = read_label(reader, "version");  // `4.10.2/pytorch1.8.1`
  version.pythons = read_names(reader, "pythons");
  version.repository = read_name(reader, "repository");
  version.aliases = read_strings(reader, "aliases");
  version.torchrun = read_verdict(reader, "torchrun");
  version.smddp = read_verdict(reader, "smddp");
  version.provenance = read_provenance(reader);
  reader.finish();
  return version;
}

Toolkit read_toolkit(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Toolkit toolkit;
  toolkit.key = read_name(reader, "key");
  toolkit.least_capability = read_capability(reader, "least_capability");
  toolkit.newest_capability = read_capability(reader, "newest_capability");
  const bool stated = toolkit.least_capability > 0 && toolkit.newest_capability > 0;
  if (out.empty() && (!stated || toolkit.least_capability > toolkit.newest_capability)) {
    out.push_back({"bad-capability", value.location(), "least_capability and newest_capability span no devices",
                   "give both, the smaller one first, such as 7.5 and 12"});
  }
  toolkit.provenance = read_provenance(reader);
  reader.finish();
  return toolkit;
}

}  // namespace smplan
