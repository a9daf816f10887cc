#pragma once

#include <nlohmann/json.hpp>

#include "cli/options.hpp"

namespace smplan::cli {

/// The same facts twice: formatted for people, and as an array of objects with numbers in full.
struct Listing {
  Table table;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

/// In the format asked for.
std::string render(const Listing& listing, const Context& context);

/// A two-column table of an object's members, and the object itself.
class FactSheet {
 public:
  FactSheet() { listing_.table.columns = {{"FACT"}, {"VALUE", Align::Left, 0, 30}}; }

  /// `shown` is for people, `value` for machines.
  void add(const std::string& key, std::string shown, nlohmann::ordered_json value);
  /// Text and whole numbers are the same for both.
  void add(const std::string& key, const std::string& text) { add(key, text, text); }
  void add(const std::string& key, std::int64_t number) { add(key, std::to_string(number), number); }

  [[nodiscard]] Listing listing() const;

 private:
  Listing listing_;
  nlohmann::ordered_json object_ = nlohmann::ordered_json::object();
};

}  // namespace smplan::cli
