#include "catalogs/vendor.hpp"

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Vendor, 3> kVendors = {{{Vendor::Nvidia, "nvidia"}, {Vendor::Amd, "amd"}, {Vendor::Aws, "aws"}}};

}  // namespace

std::string_view to_string(Vendor vendor) { return name_of(kVendors, vendor); }

Vendor read_vendor(ObjectReader& reader) { return read_enum(reader, "vendor", kVendors); }
std::vector<Vendor> read_vendors(ObjectReader& reader) { return read_enums(reader, "vendors", kVendors); }

}  // namespace smplan
