#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"
#include "base/result.hpp"

namespace smplan {

/// A file that AWS serves to everybody.
struct PublishedFile {
  std::string name;          ///< `offers`
  std::string about;         ///< what it holds, in words
  std::string host;          ///< `https://pricing.us-east-1.amazonaws.com`
  std::string path;          ///< of the one file of all regions; empty where each region has one
  std::string region_index;  ///< path of the list of the regions' files; empty where one file has all
  std::string holds;         ///< pattern of places (base/json_stream.hpp) that it must have
  std::string needs;         ///< another file, without which this one says nothing
  std::uint64_t max_bytes = 0;
  [[nodiscard]] bool by_region() const { return !region_index.empty(); }
};

/// What AWS tells those who have an account, by its command line. In the arguments `{region}`, `{instance}` and `{now}`
/// stand for what is asked.
struct PublishedCommand {
  std::string name;
  std::string about;
  std::string holds;                   ///< pattern of the places of its entries, of which there may be none
  std::vector<std::string> arguments;  ///< of the program `aws`
  std::uint64_t max_bytes = 0;
  [[nodiscard]] bool by_instance() const;
};

/// Where prices come from, in the order in which they are imported.
struct PublishedSources {
  std::vector<PublishedFile> files;
  std::vector<PublishedCommand> commands;
  std::vector<std::string> credentials;  ///< arguments of `aws` that succeed where it is set up

  [[nodiscard]] std::vector<std::string> names() const;

  /// The facts compiled into the library.
  static Result<PublishedSources> shipped();
};

/// Where each region's file lies, as a region index of AWS says: of offers an object by region, of savings plans an
/// array. Paths on the index's host only. `text` came from a network.
struct RegionFile {
  std::string region;
  std::string path;
};
Result<std::vector<RegionFile>> read_region_index(std::string_view text, std::string_view where);

/// `us-gov-west-1`: lower case letters, digits and dashes, with a digit at the end.
bool is_region_name(std::string_view name);

/// Generated at build time from catalogs/data/published.
std::span<const EmbeddedFile> shipped_published_files();

}  // namespace smplan
