#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan {

/// Where a file was fetched.
struct ImportOrigin {
  std::string source;  ///< URL or command, named by each fact taken from the file
  std::string as_of;   ///< of facts that carry no date themselves
};

struct ImportOptions {
  std::optional<std::string> region;  ///< facts of this region only
  /// Date of what carries none (capacity blocks, instance types).
  std::string as_of;
  int savings_plan_years = 1;
  /// By path; files that it lacks name no origin.
  std::map<std::string, ImportOrigin, std::less<>> origins;
  /// A file that is one of the kinds and has nothing to take is no fault.
  bool may_be_empty = false;
};

/// What files of AWS say about what the catalog knows.
struct ImportedFacts {
  std::vector<Price> prices;
  std::vector<InstanceType> instances;
  std::vector<SpotInterruption> spot;
  std::size_t used = 0;            ///< entries taken
  std::size_t other = 0;           ///< entries for something else: hosting, notebooks, other operating systems
  std::size_t unknown = 0;         ///< training entries of instance types that the catalog lacks
  std::vector<std::string> notes;  ///< what a reader should look at
};

/// Reads files (`-` is standard input) of any of these kinds, told apart by their content, in memory bounded by
/// the largest entry:
/// - the price list offer of SageMaker, JSON or CSV, one region or all;
/// - `aws pricing get-products`, `aws ec2 describe-spot-price-history`, `describe-instance-types`,
///   `describe-capacity-block-offerings`, `aws sagemaker search-training-plan-offerings`;
/// - the data file of Spot Instance Advisor;
/// - the price list of Machine Learning Savings Plans, behind the offer whose SKUs it discounts.
/// A fault in any file, or nothing to take from them, leaves nothing to use.
Result<ImportedFacts> import_files(const std::vector<std::string>& paths, const Catalog& catalog,
                                   const ImportOptions& options);

/// The facts as an overlay (`smplan.catalog/1`), sorted; what Catalog::merge reads back as the same facts.
std::string overlay_of(const ImportedFacts& facts);

/// One fact that two catalogs know differently.
struct CatalogChange {
  std::string fact;             ///< `prices/ml.p5.48xlarge us-east-1 on-demand`
  std::string before;           ///< empty: new
  std::string after;            ///< empty: gone
  std::optional<double> ratio;  ///< of numbers, after over before
};
/// Prices, instance types and operational figures that differ, in catalog order.
std::vector<CatalogChange> catalog_changes(const Catalog& before, const Catalog& after);

}  // namespace smplan
