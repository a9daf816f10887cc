#include "planner/preflight/facts.hpp"

#include <fmt/format.h>

namespace smplan {
namespace {

/// Every member by its row. What no row reads is an unknown key.
template <typename Of, typename Row, std::size_t N>
void read_rows(ObjectReader& reader, const Row (&rows)[N], Of& into);

void read(const JsonValue& value, bool& into, Diagnostics& out) { into = value.as_bool(out); }
void read(const JsonValue& value, std::int64_t& into, Diagnostics& out) { into = value.as_integer(out); }
void read(const JsonValue& value, double& into, Diagnostics& out) { into = value.as_number(out); }
void read(const JsonValue& value, std::string& into, Diagnostics& out) { into = value.as_string(out); }

void read(const JsonValue& value, std::vector<std::string>& into, Diagnostics& out) {
  for (const JsonValue& item : value.as_array(out)) into.push_back(item.as_string(out));
}

template <typename Of, typename Row, std::size_t N>
void read_object(const JsonValue& value, const Row (&rows)[N], Of& into, Diagnostics& out) {
  ObjectReader reader(value, out);
  read_rows(reader, rows, into);
  reader.finish();
}

void read(const JsonValue& value, Facts::Dataset& into, Diagnostics& out) {
  read_object(value, kDatasetFacts, into, out);
}

void read(const JsonValue& value, Facts::Script& into, Diagnostics& out) {
  read_object(value, kScriptFacts, into, out);
}

template <typename Value>
void read(const JsonValue& value, std::map<std::string, Value>& into, Diagnostics& out) {
  for (const std::string& name : value.keys(out)) read(*value.find(name), into[name], out);
}

template <typename Of, typename Row, std::size_t N>
void read_rows(ObjectReader& reader, const Row (&rows)[N], Of& into) {
  for (const Row& row : rows) {
    const auto value = reader.optional_value(row.key);
    if (!value) continue;
    std::visit([&](auto member) { read(*value, (into.*member).emplace(), reader.diagnostics()); }, row.member);
  }
}

}  // namespace

bool is_known(const Fact& fact, const Facts& facts) {
  return std::visit([&](auto member) { return (facts.*member).has_value(); }, fact.member);
}

Result<Facts> read_facts(const JsonValue& document) {
  Diagnostics out;
  ObjectReader reader(document, out);
  Facts facts;
  const std::string schema = reader.string("schema");
  if (out.empty() && schema != "smplan.facts/1") {
    out.push_back({"bad-schema", reader.location("schema"), fmt::format("schema is {}", quote(schema)),
                   "write \"smplan.facts/1\""});
  }
  read_rows(reader, kFacts, facts);
  reader.finish();
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return facts;
}

}  // namespace smplan
