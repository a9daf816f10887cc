#include <chrono>
#include <cstdint>
#include <utility>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/analysis/regions.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

/// The rows as a text of JSON, and the regions without a price.
std::pair<std::string, std::vector<std::string>> regions_text(const CatalogHandle& handle, const Arguments& arguments,
                                                              std::int64_t now) {
  const auto work = [spec = spec_of(arguments), catalog = handle.catalog, now](Monitor& monitor) {
    SearchOptions options;
    options.monitor = &monitor;
    const RegionAnswer answer =
        value_or_throw(compare_regions(spec, *catalog, Instant(std::chrono::seconds(now)), options));
    return std::pair(region_rows(answer).dump(), answer.unpriced);
  };
  return interruptible(work);
}

}  // namespace

void bind_regions(py::module_& module) {
  module.def("regions", &regions_text, py::arg("catalog"), py::arg("arguments"), py::arg("now"),
             "The rows of `smplan regions` as JSON, and the regions that the catalog has no price of.");
}

}  // namespace smplan::python
