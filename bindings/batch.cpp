#include <memory>
#include <optional>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/batch_estimate.hpp"
#include "planner/group.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

// Arrays pass by the buffer protocol: it is the same under every numpy, whose own structs are not.

template <typename T>
std::vector<T> column(const py::dict& columns, const char* name, std::size_t rows) {
  const py::buffer_info info = py::cast<py::buffer>(columns[name]).request();
  const bool plain = info.ndim == 1 && static_cast<std::size_t>(info.size) == rows && info.itemsize == sizeof(T) &&
                     (info.size == 0 || info.strides[0] == info.itemsize);
  if (!plain) {
    throw Refused{
        {{"bad-shape", name, "is no contiguous column of the batch's length and type", "use smplan.estimate_batch()"}}};
  }
  const T* data = static_cast<const T*>(info.ptr);
  return std::vector<T>(data, data + info.size);
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
  std::vector<std::int32_t> nodes, data, tensor, pipeline, virtual_pipeline, context, expert, shard, micro_batch;
  std::vector<std::int8_t> sharding, recompute, sequence_parallel;
  [[nodiscard]] BatchColumns view() const {
    return {nodes,  data,  tensor,      pipeline, virtual_pipeline, context,
            expert, shard, micro_batch, sharding, recompute,        sequence_parallel};
  }
};

void refuse_codes(const std::vector<std::int8_t>& codes, int least, int most, const char* name) {
  for (const std::int8_t code : codes) {
    if (code < least || code > most) throw Refused{{{"out-of-range", name, "holds no code of its kind", ""}}};
  }
}

std::shared_ptr<const OwnedColumns> columns_of(const py::dict& given) {
  const auto rows = static_cast<std::size_t>(py::len(given["count"]));
  const auto integers = [&](const char* name) { return column<std::int32_t>(given, name, rows); };
  const auto codes = [&](const char* name) { return column<std::int8_t>(given, name, rows); };
  auto c = std::make_shared<OwnedColumns>(
      OwnedColumns{integers("count"), integers("dp"), integers("tp"), integers("pp"), integers("vpp"), integers("cp"),
                   integers("ep"), integers("shard_degree"), integers("micro_batch"), codes("sharding"),
                   codes("recompute"), codes("sequence_parallel")});
  refuse_codes(c->sharding, -1, static_cast<int>(Sharding::FsdpHybrid), "sharding");
  refuse_codes(c->recompute, 0, static_cast<int>(Recompute::Full), "recompute");
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
    if (request.stacks.size() != 1) faults.push_back({"stack-choice", "stack", "a batch is of one stack", "name one"});
    if (!faults.empty()) throw Refused{std::move(faults)};
    const InstanceType& instance = *request.instances.front();
    const Cluster one_node = value_or_throw(make_cluster(*catalog, instance, 1));
    Workload workload = request.workload;
    workload.precision = effective_precision(request, one_node.accelerator);
    if (!stack_runs_on(*request.stacks.front(), one_node, instance, workload.precision)) {
      throw Refused{{{"unsupported", "stack", request.stacks.front()->name + " does not run on " + instance.name,
                      "choose another stack or dtype"}}};
    }
    return Outcome{estimate_batch(workload, one_node, *request.stacks.front(), columns->view(), 0,
                                  BatchDetail::MemoryAndTime, &monitor),
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

template <typename E>
py::tuple names_of(int count) {
  py::list names;
  for (int i = 0; i < count; ++i) names.append(std::string(to_string(static_cast<E>(i))));
  return py::tuple(names);
}

}  // namespace

void bind_batch(py::module_& module) {
  bind_column<double>(module, "DoubleColumn");
  bind_column<std::int8_t>(module, "ByteColumn");
  module.def("estimate_batch", &estimate_columns, py::arg("catalog"), py::arg("arguments"),
             py::arg("environment_region"), py::arg("columns"), py::arg("progress") = py::none(),
             "Many configurations at once, by column.");
  module.attr("batch_statuses") = names_of<BatchStatus>(kBatchStatusCount);
  module.attr("shardings") = names_of<Sharding>(static_cast<int>(Sharding::FsdpHybrid) + 1);
  module.attr("recomputes") = names_of<Recompute>(static_cast<int>(Recompute::Full) + 1);
}

}  // namespace smplan::python
