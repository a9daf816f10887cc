#pragma once

#include <optional>
#include <string>

#include "catalogs/catalog.hpp"
#include "cli/render/listing.hpp"

namespace smplan::cli {

/// Rates are kept per second; the hour's price comes back to the micro-dollar.
double hourly_usd(const Price& price);

/// How many facts of each kind, and the span of their dates.
Listing catalog_summary(const Catalog& catalog);
Listing accelerator_list(const Catalog& catalog);
/// Types that SageMaker training takes, took or does not take; measured systems only if `reference`.
Listing instance_list(const Catalog& catalog, bool reference);
/// Prices of a region (all where nullopt) and market (all where nullopt), catalog order.
Listing price_list(const Catalog& catalog, const std::optional<std::string>& region, std::optional<Market> market);
Listing stack_list(const Catalog& catalog);

Listing accelerator_page(const Accelerator& accelerator, const Catalog& catalog);
Listing instance_page(const InstanceType& instance, const Catalog& catalog);
Listing stack_page(const Stack& stack);

}  // namespace smplan::cli
