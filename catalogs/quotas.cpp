#include "catalogs/quotas.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "catalogs/shipped_rows.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_quota_files();

namespace {

AccountQuota read_quota(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  AccountQuota quota;
  quota.use = read_name(reader, "use");
  quota.pattern = reader.string("name");
  quota.new_account = reader.number("new_account", 0, 1e9);
  quota.unit = read_name(reader, "unit");
  quota.provenance = read_provenance(reader);
  reader.finish();
  return quota;
}

}  // namespace

std::string AccountQuota::name(std::string_view instance_type) const {
  std::string text = pattern;
  const std::size_t place = text.find("{}");
  return place == std::string::npos ? text : text.replace(place, 2, instance_type);
}

const std::vector<AccountQuota>& account_quotas() {
  static const std::vector<AccountQuota> kQuotas = shipped_rows(shipped_quota_files(), "quotas", read_quota);
  return kQuotas;
}

const AccountQuota& account_quota(std::string_view use) {
  const std::vector<AccountQuota>& quotas = account_quotas();
  const auto found = std::find_if(quotas.begin(), quotas.end(), [&](const AccountQuota& q) { return q.use == use; });
  SMPLAN_ASSERT(found != quotas.end());
  return *found;
}

}  // namespace smplan
