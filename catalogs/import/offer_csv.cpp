#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/csv_stream.hpp"
#include "catalogs/import/reader.hpp"

namespace smplan {
namespace {

/// Five rows about the file, then the header. AWS changes spelling and order of the columns from offer to offer:
/// names count without case and spaces.
constexpr std::size_t kRowsAboutTheFile = 5;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != ' ' && c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

class OfferCsv {
 public:
  OfferCsv(std::istream& in, std::string_view name, ImportReader& reader)
      : rows_(in, name), name_(name), reader_(reader) {}

  Result<void> read() {
    if (Result<void> head = read_head(); !head) return head;
    while (true) {
      const Result<bool> more = rows_.next(fields_);
      if (!more) return tl::unexpected<Diagnostics>(more.error());
      if (!*more) return {};
      Diagnostics out;
      read_row(out);
      if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
    }
  }

 private:
  Result<void> read_head() {
    for (std::size_t row = 0; row < kRowsAboutTheFile; ++row) {
      const Result<bool> more = rows_.next(fields_);
      if (!more) return tl::unexpected<Diagnostics>(more.error());
      if (!*more || fields_.size() < 2) return unknown_format();
      const std::string key = plain(fields_[0]);
      if (key == "publicationdate") reader_.published = date_of(fields_[1]);
      if (key == "version") reader_.version = fields_[1];
      if (key == "offercode") reader_.offer_code = fields_[1];
    }
    if (reader_.offer_code != "AmazonSageMaker") return unknown_format();
    const Result<bool> more = rows_.next(fields_);
    if (!more) return tl::unexpected<Diagnostics>(more.error());
    for (std::size_t i = 0; i < fields_.size(); ++i) columns_.try_emplace(plain(fields_[i]), i);
    for (const char* needed : {"sku", "termtype", "unit", "priceperunit", "currency", "usagetype", "regioncode"}) {
      if (columns_.contains(needed)) continue;
      return fail("missing-column", fmt::format("{}:{}", name_, rows_.line()), fmt::format("has no column {}", needed),
                  "fetch the file again; nothing was taken from it");
    }
    width_ = fields_.size();
    reader_.recognised = true;
    return {};
  }

  [[nodiscard]] tl::unexpected<Diagnostics> unknown_format() const {
    return fail("unknown-format", name_, "is neither JSON nor the CSV of the AmazonSageMaker offer",
                "see `smplan catalog --help` for the AWS commands that write what can be imported");
  }

  [[nodiscard]] const std::string& field(const char* column) const {
    static const std::string kNone;
    const auto at = columns_.find(column);
    return at == columns_.end() ? kNone : fields_[at->second];
  }

  void read_row(Diagnostics& out) {
    if (fields_.size() == 1 && fields_[0].empty()) return;
    const std::string where = fmt::format("{}:{}", name_, rows_.line());
    if (fields_.size() != width_) {
      out.push_back({"ragged-row", where, fmt::format("has {} fields, the header {}", fields_.size(), width_),
                     "fetch the file again; nothing was taken from it"});
      return;
    }
    const std::string& family = field("productfamily");
    const std::string& place = field("locationtype");
    const std::string type =
        training_type(field("instancename"), field("usagetype"), field("component"), field("platoinstancetype"));
    const bool priced = field("termtype") == "OnDemand" && field("unit") == "Hrs";
    if (type.empty() || !priced || (!family.empty() && family != "ML Instance") ||
        (!place.empty() && place != "AWS Region") || field("regioncode").empty()) {
      ++reader_.facts().other;
      return;
    }
    if (field("currency") != "USD") {
      reader_.pass_over(field("currency"));
      return;
    }
    const auto usd = read_usd(field("priceperunit"), where + ":PricePerUnit", out);
    if (!usd || *usd == 0) return;
    if (reader_.catalog().find_instance(type) != nullptr) {
      if (!has_room(reader_.skus.size(), where, out)) return;
      reader_.skus.emplace(field("sku"), std::pair(type, field("regioncode")));
    }
    reader_.add_price({type,
                       field("regioncode"),
                       Market::OnDemand,
                       usd_per_hour(*usd),
                       PriceBasis::Measured,
                       {},
                       {fmt::format("AWS Price List, AmazonSageMaker {}", reader_.version),
                        reader_.published.empty() ? reader_.options().as_of : reader_.published}});
  }

  CsvStream rows_;
  std::string name_;
  ImportReader& reader_;
  std::vector<std::string> fields_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::size_t width_ = 0;
};

}  // namespace

Result<void> read_offer_csv(std::istream& in, std::string_view name, ImportReader& reader) {
  return OfferCsv(in, name, reader).read();
}

}  // namespace smplan
