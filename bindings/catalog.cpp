#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "catalogs/import/import.hpp"
#include "catalogs/refreshed_facts.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

using Overlays = std::vector<std::pair<std::string, std::string>>;

Overlays pairs_of(const CatalogHandle& handle) {
  Overlays pairs;
  for (const NamedText& overlay : handle.overlays) pairs.emplace_back(overlay.name, overlay.text);
  return pairs;
}

CatalogHandle from_pairs(const Overlays& pairs) {
  const py::gil_scoped_release without_lock;
  std::vector<NamedText> overlays;
  for (const auto& pair : pairs) overlays.push_back({pair.first, pair.second});
  return make_catalog(overlays);
}

CatalogHandle refreshed() {
  const py::gil_scoped_release without_lock;
  const auto file = refreshed_file();
  if (!file) return make_catalog({});
  Catalog catalog = value_or_throw(Catalog::shipped());
  RefreshedFacts facts = value_or_throw(merge_refreshed(catalog, *file));
  return {std::make_shared<const Catalog>(std::move(catalog)), {{facts.path, std::move(facts.text)}}, facts.on};
}

CatalogHandle with_overlay(const CatalogHandle& handle, const std::string& path) {
  const py::gil_scoped_release without_lock;
  std::vector<NamedText> overlays = handle.overlays;
  overlays.push_back({path, value_or_throw(read_text_file(path))});
  return make_catalog(overlays);
}

CatalogHandle with_overlay_text(const CatalogHandle& handle, const std::string& name, const std::string& text) {
  const py::gil_scoped_release without_lock;
  std::vector<NamedText> overlays = handle.overlays;
  overlays.push_back({name, text});
  return make_catalog(overlays);
}

template <typename T, typename Name>
std::vector<std::string> names(const std::vector<T>& entries, Name name) {
  std::vector<std::string> out;
  for (const T& entry : entries) out.push_back(name(entry));
  return out;
}

/// What a newcomer asks of an instance type, with the unit in the key; None where it is not known.
py::dict instance_facts(const CatalogHandle& handle, const std::string& name) {
  const InstanceType& i = *value_or_throw(handle.catalog->instance(name, "instance"));
  const Accelerator* accelerator = handle.catalog->find_accelerator(i.accelerator);
  py::dict out;
  out["name"] = i.name;
  out["accelerator"] = i.accelerator;
  out["accelerator_name"] = accelerator != nullptr ? py::object(py::str(accelerator->name)) : py::object(py::none());
  out["accelerator_count"] = i.accelerator_count;
  out["accelerator_memory_gib"] = in_gib(i.accelerator_memory);
  out["fabric"] = std::string(to_string(i.fabric.kind));
  out["network"] = std::string(to_string(i.network.kind));
  out["network_gbit_per_s"] = std::round(i.network.bandwidth_per_node.value() * 8 / 1e6) / 1e3;
  out["vcpus"] = i.vcpus;
  out["host_memory_gib"] = in_gib(i.host_memory);
  out["support"] = std::string(to_string(i.support));
  out["support_reason"] = i.support_reason;
  out["source"] = i.provenance.source;
  out["as_of"] = i.provenance.as_of;
  return out;
}

/// The price of one instance, or None.
py::object price_facts(const CatalogHandle& handle, const std::string& instance, const std::string& region,
                       const std::string& market_name) {
  const std::optional<Market> market = market_from(market_name);
  if (!market) {
    throw Refused{{unknown_name("market", market_name, "market", {"on-demand", "spot", "capacity-block"})}};
  }
  value_or_throw(handle.catalog->instance(instance, "instance"));
  const Price* price = handle.catalog->find_price(instance, region, *market);
  if (price == nullptr) return py::none();
  py::dict out;
  out["instance"] = price->instance;
  out["region"] = price->region;
  out["market"] = std::string(to_string(price->market));
  out["usd_per_hour"] = in_usd_per_hour(price->rate);
  out["basis"] = std::string(to_string(price->basis));
  out["formula"] = price->formula;
  out["source"] = price->provenance.source;
  out["as_of"] = price->provenance.as_of;
  return out;
}

std::vector<std::string> regions(const CatalogHandle& handle) {
  std::vector<std::string> out = names(handle.catalog->prices(), [](const Price& p) { return p.region; });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// (overlay, notes, counts) of `smplan catalog import`.
std::tuple<std::string, std::vector<std::string>, std::map<std::string, std::size_t>> import_catalog(
    const CatalogHandle& handle, const std::vector<std::string>& paths, const std::optional<std::string>& region,
    const std::string& as_of, int savings_plan_years) {
  return interruptible([=, catalog = handle.catalog](Monitor&) {
    const ImportOptions options{.region = region, .as_of = as_of, .savings_plan_years = savings_plan_years};
    const ImportedFacts facts = value_or_throw(import_files(paths, *catalog, options));
    const std::map<std::string, std::size_t> counts{{"prices", facts.prices.size()},
                                                    {"instances", facts.instances.size()},
                                                    {"interruption_rates", facts.spot.size()},
                                                    {"other_entries", facts.other},
                                                    {"unknown_instances", facts.unknown}};
    return std::tuple(overlay_of(facts), facts.notes, counts);
  });
}

/// Facts that a catalog knows differently from another one.
py::list changes(const CatalogHandle& after, const CatalogHandle& before) {
  py::list out;
  for (const CatalogChange& c : catalog_changes(*before.catalog, *after.catalog)) {
    py::dict change;
    change["fact"] = c.fact;
    change["before"] = c.before;
    change["after"] = c.after;
    change["ratio"] = c.ratio;
    out.append(change);
  }
  return out;
}

}  // namespace

CatalogHandle make_catalog(const std::vector<NamedText>& overlays) {
  Catalog catalog = value_or_throw(Catalog::shipped());
  std::optional<std::string> refreshed_on;
  for (const NamedText& overlay : overlays) {
    const JsonValue facts = value_or_throw(parse_json(overlay.text, overlay.name));
    value_or_throw(catalog.merge(facts));
    if (std::optional<std::string> day = refresh_day(facts)) refreshed_on = std::move(day);
  }
  return {std::make_shared<const Catalog>(std::move(catalog)), overlays, std::move(refreshed_on)};
}

void bind_catalog(py::module_& module) {
  py::class_<CatalogHandle>(module, "Catalog",
                            "Every fact that planning rests on: instance types, prices, models, stacks. Immutable.\n\n"
                            "    >>> import smplan\n"
                            "    >>> 'ml.p5.48xlarge' in smplan.Catalog.shipped().instances\n"
                            "    True\n")
      .def(py::init(&from_pairs), py::arg("overlays") = Overlays{},
           "The shipped catalog with overlays, (name, JSON text) each, laid over it in their order.")
      .def_static(
          "shipped", [] { return from_pairs({}); }, "The catalog built into smplan.")
      .def_static(
          "refreshed", &refreshed,
          "The shipped catalog under what `smplan catalog refresh` wrote to the cache: what calls plan with that\n"
          "name no catalog. The shipped one where there is no such file or SMPLAN_NO_CACHE is set. Raises\n"
          "InputError for a file that is broken, of another release or older than the shipped prices.\n\n"
          "    >>> import smplan\n"
          "    >>> smplan.Catalog.refreshed().refreshed_on  # doctest: +SKIP\n"
          "    '2026-11-28'\n")
      .def("with_overlay", &with_overlay, py::arg("path"),
           "A copy with the facts of an overlay file in place. Raises InputError with every fault of the file.")
      .def("with_overlay_text", &with_overlay_text, py::arg("name"), py::arg("text"),
           "The same from JSON text; `name` stands in messages.")
      .def_property_readonly("overlays", &pairs_of, "What lies over the shipped catalog: (name, JSON text), in order.")
      .def_property_readonly(
          "refreshed_on", [](const CatalogHandle& h) { return h.refreshed_on; },
          "Day of the facts of `smplan catalog refresh` that lie over it, YYYY-MM-DD; None without them.")
      .def_property_readonly(
          "instances",
          [](const CatalogHandle& h) {
            return names(h.catalog->instances(), [](const InstanceType& i) { return i.name; });
          },
          "Names of the instance types.")
      .def_property_readonly(
          "accelerators",
          [](const CatalogHandle& h) {
            return names(h.catalog->accelerators(), [](const Accelerator& a) { return a.key; });
          },
          "Keys of the accelerators.")
      .def_property_readonly(
          "models",
          [](const CatalogHandle& h) {
            return names(h.catalog->models(), [](const ModelPreset& m) { return m.architecture.name; });
          },
          "Names of the model presets.")
      .def_property_readonly(
          "stacks",
          [](const CatalogHandle& h) { return names(h.catalog->stacks(), [](const Stack& s) { return s.id; }); },
          "Ids of the training stacks.")
      .def_property_readonly("regions", &regions, "Regions that any price is known for.")
      .def("instance", &instance_facts, py::arg("name"),
           "Facts of one instance type, units in the keys. Raises InputError with the nearest names.\n\n"
           "    >>> import smplan\n"
           "    >>> smplan.Catalog.shipped().instance('ml.p4d.24xlarge')['accelerator_count']\n"
           "    8\n")
      .def("price", &price_facts, py::arg("instance"), py::arg("region") = "us-east-1", py::arg("market") = "on-demand",
           "Price of one instance an hour with its date and source, or None.")
      .def(
          "verify", [](const CatalogHandle& h) { return python_diagnostics(check(*h.catalog)); },
          "Facts that contradict each other, as a list of Diagnostic: none in the shipped catalog.\n\n"
          "    >>> import smplan\n"
          "    >>> smplan.Catalog.shipped().verify()\n"
          "    []\n")
      .def("changes", &changes, py::arg("before"),
           "What this catalog knows differently from `before`: dictionaries of `fact`, `before`, `after` (text, empty\n"
           "if there is none) and `ratio` of numbers.\n\n"
           "    >>> import smplan\n"
           "    >>> shipped = smplan.Catalog.shipped()\n"
           "    >>> shipped.changes(shipped)\n"
           "    []\n")
      .def("__eq__",
           [](const CatalogHandle& a, const py::object& b) {
             return py::isinstance<CatalogHandle>(b) && a.overlays == b.cast<const CatalogHandle&>().overlays;
           })
      .def("__hash__", [](const CatalogHandle& h) { return py::hash(py::tuple(py::cast(pairs_of(h)))); })
      .def("__repr__",
           [](const CatalogHandle& h) {
             return py::str("Catalog({} instance types, {} models, {} stacks, {} overlays)")
                 .format(h.catalog->instances().size(), h.catalog->models().size(), h.catalog->stacks().size(),
                         h.overlays.size());
           })
      .def(py::pickle([](const CatalogHandle& h) { return py::make_tuple(pairs_of(h)); },
                      [](const py::tuple& state) { return from_pairs(state[0].cast<Overlays>()); }));
  module.def(
      "refreshed_file",
      [] {
        const auto file = refreshed_file();
        return file ? std::optional(file->string()) : std::nullopt;
      },
      "What `smplan catalog refresh` wrote; None where it wrote nothing or the cache is off.");
  module.def("import_catalog", &import_catalog, py::arg("catalog"), py::arg("paths"), py::arg("region"),
             py::arg("as_of"), py::arg("savings_plan_years"),
             "What files of AWS say about what the catalog knows; (overlay, notes, counts).");
}

}  // namespace smplan::python
