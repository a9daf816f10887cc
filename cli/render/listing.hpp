#pragma once

#include "base/json_writer.hpp"
#include "cli/options.hpp"

namespace smplan::cli {

/// The same facts twice: formatted for people, and as an array of objects with numbers in full.
struct Listing {
  Table table;
  Json rows = Json::array();
};

/// In the format asked for.
std::string render(const Listing& listing, const Context& context);

/// A two-column table of an object's members, and the object itself.
class FactSheet {
 public:
  FactSheet() { listing_.table.columns = {{"FACT"}, {"VALUE", Align::Left, 0, 30}}; }

  /// `shown` is for people, `value` for machines.
  void add(const std::string& key, std::string shown, Json value);
  /// Text and whole numbers are the same for both.
  void add(const std::string& key, const std::string& text) { add(key, text, text); }
  void add(const std::string& key, std::int64_t number) { add(key, std::to_string(number), number); }

  [[nodiscard]] Listing listing() const;

 private:
  Listing listing_;
  Json object_ = Json::object();
};

}  // namespace smplan::cli
