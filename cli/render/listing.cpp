#include "cli/render/listing.hpp"

namespace smplan::cli {

std::string render(const Listing& listing, const Context& context) {
  switch (context.format) {
    case Format::Json:
      return listing.rows.dump(2) + '\n';
    case Format::Csv:
      return render_csv(listing.rows);
    case Format::Markdown:
      return render_markdown(listing.table);
    case Format::Table:
      return render_text(listing.table, context.style);
  }
  return {};
}

void FactSheet::add(const std::string& key, std::string shown, Json value) {
  listing_.table.rows.push_back({key, std::move(shown)});
  object_[key] = std::move(value);
}

Listing FactSheet::listing() const {
  Listing listing = listing_;
  listing.rows.push_back(object_);
  return listing;
}

}  // namespace smplan::cli
