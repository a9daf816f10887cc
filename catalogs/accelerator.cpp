#include "catalogs/accelerator.hpp"

#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

/// `8.0`, `10.3`; empty where the device has none.
std::string read_capability(ObjectReader& reader) {
  std::string text = reader.optional_string("compute_capability").value_or("");
  const std::size_t dot = text.size() < 3 ? 0 : text.size() - 2;
  const bool version = (dot == 1 || dot == 2) && is_digit(text[0]) && is_digit(text[dot - 1]) && text[dot] == '.' &&
                       is_digit(text[dot + 1]);
  if (text.empty() || version) return text;
  reader.diagnostics().push_back({"bad-capability", reader.location("compute_capability"),
                                  quote(text) + " is no compute capability", "write it as NVIDIA does, such as 9.0"});
  return {};
}

}  // namespace

std::string Accelerator::silicon() const {
  if (!architecture.starts_with("Blackwell")) return architecture;
  return key.starts_with("GB") ? "Grace Blackwell" : "Blackwell";
}

int Accelerator::capability() const {
  int tenths = 0;
  for (const char c : compute_capability) tenths = is_digit(c) ? 10 * tenths + (c - '0') : tenths;
  return tenths;
}

Accelerator read_accelerator(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Accelerator a;
  a.key = read_name(reader, "key");
  a.name = read_text(reader, "name");
  a.aliases = read_strings(reader, "aliases");
  a.architecture = reader.optional_string("architecture").value_or("");
  a.vendor = read_vendor(reader);
  a.compute_capability = read_capability(reader);
  a.marketing_memory = gib(reader.number("marketing_memory_gib", 1, 1e5));
  a.device_memory = Bytes(kMiB * reader.number("device_memory_mib", 1, 1e8));
  a.memory_bandwidth = gb_per_s(read_rate_or_zero(reader, "memory_bandwidth_gb_per_s", 1e-3, 1e6));
  a.sm_count = static_cast<int>(read_integer_or(reader, "sm_count", 0, 100000, 0));
  a.cores_per_device = static_cast<int>(read_integer_or(reader, "cores_per_device", 1, 64, 1));
  a.power_limit_w = read_number_or(reader, "power_limit_w", 0, 1e5, 0);
  a.l2_cache = Bytes(kMiB * read_number_or(reader, "l2_cache_mib", 0, 1e5, 0));
  const auto rates = read_by_precision(reader, "peak_tflops", 1e7);
  for (std::size_t i = 0; i < rates.size(); ++i) a.peak[i] = tflops(rates[i]);
  a.unverified_fields = read_strings(reader, "unverified_fields");
  a.note = reader.optional_string("note").value_or("");
  a.provenance = read_provenance(reader);
  reader.finish();
  return a;
}

}  // namespace smplan
