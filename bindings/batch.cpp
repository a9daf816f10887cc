#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/request/runs_on.hpp"
#include "planner/search/batch_estimate.hpp"
#include "planner/search/group.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

// Arrays pass by the buffer protocol: it is the same under every numpy, whose own structs are not.

std::vector<std::int32_t> column(const py::dict& columns, const std::string& name, std::size_t rows) {
  const py::buffer_info info = py::cast<py::buffer>(columns[py::str(name)]).request();
  const bool plain = info.ndim == 1 && static_cast<std::size_t>(info.size) == rows &&
                     info.itemsize == sizeof(std::int32_t) && (info.size == 0 || info.strides[0] == info.itemsize);
  if (!plain) {
    throw Refused{
        {{"bad-shape", name, "is no contiguous column of the batch's length and type", "use smplan.estimate_batch()"}}};
  }
  const auto* data = static_cast<const std::int32_t*>(info.ptr);
  return std::vector<std::int32_t>(data, data + info.size);
}

/// A column of results that numpy looks into without a copy.
template <typename T>
struct Column {
  std::vector<T> values;
};

template <typename T>
void bind_column(py::module_& module, const char* name) {
  py::class_<Column<T>>(module, name, py::buffer_protocol(), "A column of results: numpy.asarray() looks into it.")
      .def_buffer([](Column<T>& c) {
        return py::buffer_info(c.values.data(), static_cast<py::ssize_t>(c.values.size()), true);
      });
}

/// The columns as C++ owns them: the caller's arrays may change while the batch runs.
struct OwnedColumns {
  std::vector<std::int32_t> nodes;
  std::array<std::vector<std::int32_t>, kDimensionCount> dimensions;
  [[nodiscard]] BatchColumns view() const {
    BatchColumns out{nodes, {}, {}};
    std::copy(dimensions.begin(), dimensions.end(), out.dimensions.begin());
    return out;
  }
  [[nodiscard]] bool has(Dimension dimension, std::int32_t value) const {
    const std::vector<std::int32_t>& column = dimensions[static_cast<std::size_t>(dimension)];
    return std::find(column.begin(), column.end(), value) != column.end();
  }
};

/// Least value of a dimension's column.
std::int32_t least_of(const DimensionRow& row) { return row.zero_follows ? 0 : row.least; }

void refuse_values(const std::vector<std::int32_t>& values, const DimensionRow& row) {
  constexpr std::int32_t kMost = 1 << 20;
  const std::int32_t most = row.kind == DimensionRow::Kind::Degree ? kMost : row.most;
  for (const std::int32_t value : values) {
    const bool named = row.words == nullptr ||
                       std::find(row.words->values.begin(), row.words->values.end(), value) != row.words->values.end();
    if (value < least_of(row) || value > most || !named) {
      throw Refused{{{"out-of-range", std::string(row.keyword), "holds " + std::to_string(value),
                      "from " + std::to_string(least_of(row)) + " to " + std::to_string(most)}}};
    }
  }
}

std::shared_ptr<const OwnedColumns> columns_of(const py::dict& given) {
  const auto rows = static_cast<std::size_t>(py::len(given["count"]));
  auto c = std::make_shared<OwnedColumns>();
  c->nodes = column(given, "count", rows);
  for (const DimensionRow& row : dimensions()) {
    if (!given.contains(py::str(std::string(row.keyword)))) continue;
    std::vector<std::int32_t>& values = c->dimensions[static_cast<std::size_t>(row.dimension)];
    values = column(given, std::string(row.keyword), rows);
    refuse_values(values, row);
  }
  return c;
}

/// Workload, hardware and stack from the request's own keywords, strategies from the columns.
py::dict estimate_columns(const CatalogHandle& handle, const Arguments& arguments,
                          const std::optional<std::string>& environment_region, const py::dict& given,
                          const py::object& progress) {
  const std::shared_ptr<const OwnedColumns> columns = columns_of(given);
  const RequestSpec spec = spec_of(arguments);
  struct Outcome {
    BatchEstimates estimates;
    double limit_gib = 0;
  };
  const auto work = [catalog = handle.catalog, spec, environment_region, columns](Monitor& monitor) {
    const PlanRequest request = value_or_throw(resolve(spec, *catalog, environment_region));
    Diagnostics faults;
    if (request.instances.size() != 1) {
      faults.push_back({"instance-choice", "instances", "a batch is on one instance type", "name one"});
    }
    const auto is_other = [&](const Stack* stack) { return stack->id != request.stacks.front()->id; };
    if (request.stacks.empty() || std::any_of(request.stacks.begin(), request.stacks.end(), is_other)) {
      faults.push_back({"stack-choice", "stack", "a batch is of one stack", "name one"});
    }
    if (!faults.empty()) throw Refused{std::move(faults)};
    const Stack& stack = *catalog->find_stack(request.stacks.front()->id);
    const InstanceType& instance = *request.instances.front();
    if (!instance.smddp && columns->has(Dimension::Collectives, dimension_value(Collectives::Smddp))) {
      throw Refused{{{"unsupported", "collectives", "smddp does not run on " + instance.name, "use nccl"}}};
    }
    const Cluster one_node = value_or_throw(make_cluster(*catalog, instance, 1));
    Workload workload = request.workload;
    workload.precision = effective_precision(request, one_node.accelerator);
    if (!stack_runs_on(stack, one_node, instance, workload.precision)) {
      throw Refused{{{"unsupported", "stack", stack.name + " does not run on " + instance.name,
                      "choose another stack or dtype"}}};
    }
    BatchColumns rows = columns->view();
    rows.execution = stated_execution(request);
    return Outcome{estimate_batch(workload, one_node, stack, rows, 0, BatchDetail::MemoryAndTime, &monitor),
                   in_gib(one_node.device_memory)};
  };
  Outcome outcome = interruptible(work, progress);
  py::dict out;
  out["status"] = Column<std::int8_t>{std::move(outcome.estimates.status)};
  out["peak_gib"] = Column<double>{std::move(outcome.estimates.peak_gib)};
  out["out_of_memory_probability"] = Column<double>{std::move(outcome.estimates.out_of_memory_probability)};
  out["step_time_s"] = Column<double>{std::move(outcome.estimates.step_time_s)};
  out["tokens_per_s"] = Column<double>{std::move(outcome.estimates.tokens_per_s)};
  out["mfu"] = Column<double>{std::move(outcome.estimates.mfu)};
  out["limit_gib"] = outcome.limit_gib;
  return out;
}

py::tuple statuses() {
  py::list names;
  for (int i = 0; i < kBatchStatusCount; ++i) names.append(std::string(to_string(static_cast<BatchStatus>(i))));
  return py::tuple(names);
}

/// The table of dimensions as Python, the schema of plan files and their tests need it.
py::tuple dimension_table() {
  py::list out;
  for (const DimensionRow& row : dimensions()) {
    py::dict names;
    if (row.words != nullptr) {
      for (const std::int32_t value : row.words->values) names[py::str(row.words->name(value))] = value;
    }
    py::dict entry;
    entry["keyword"] = std::string(row.keyword);
    entry["path"] = std::string(row.path);
    entry["kind"] = row.kind == DimensionRow::Kind::Degree   ? "degree"
                    : row.kind == DimensionRow::Kind::Switch ? "switch"
                                                             : "words";
    entry["least"] = least_of(row);
    entry["names"] = names;
    entry["always"] = row.applies(Strategy());
    out.append(entry);
  }
  return py::tuple(out);
}

}  // namespace

void bind_batch(py::module_& module) {
  bind_column<double>(module, "DoubleColumn");
  bind_column<std::int8_t>(module, "ByteColumn");
  module.def("estimate_batch", &estimate_columns, py::arg("catalog"), py::arg("arguments"),
             py::arg("environment_region"), py::arg("columns"), py::arg("progress") = py::none(),
             "Many configurations at once, by column.");
  module.attr("batch_statuses") = statuses();
  module.attr("dimensions") = dimension_table();
}

}  // namespace smplan::python
