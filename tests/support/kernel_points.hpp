#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/catalog.hpp"
#include "models/machine/compute.hpp"

namespace smplan::testing {

/// One measured kernel of tests/published/kernels.json.
struct KernelPoint {
  std::string kind;
  std::string gpu;
  std::string library;
  Precision precision = Precision::Fp16;
  GemmShape gemm;
  AttentionShape attention;
  Bytes traffic;
  Seconds time;
};

inline const Catalog& shipped_catalog() {
  static const Result<Catalog> catalog = Catalog::shipped();
  if (!catalog) throw std::runtime_error(to_string(catalog.error()));
  return *catalog;
}

inline KernelPoint read_kernel_point(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  KernelPoint point;
  point.kind = reader.string("kind");
  point.gpu = reader.string("gpu");
  point.time = microseconds(reader.number("time_us"));
  point.library = reader.optional_string("library").value_or("");
  if (const auto name = reader.optional_string("dtype")) point.precision = precision_from(*name).value();
  if (reader.has("m")) point.gemm = {.m = reader.integer("m"), .n = reader.integer("n"), .k = reader.integer("k")};
  if (reader.has("bytes")) point.traffic = Bytes(reader.number("bytes"));
  if (reader.has("seq")) {
    AttentionShape& a = point.attention;
    a.batch = reader.integer("batch");
    a.heads = a.kv_heads = reader.integer("heads");
    a.query_len = a.key_len = reader.integer("seq");
    a.head_dim = reader.integer("head_dim");
    a.value_dim = reader.integer("value_dim");
    a.causal = reader.boolean("causal");
    a.window = reader.integer("window");
  }
  reader.ignore("source");
  reader.finish();
  return point;
}

inline std::vector<KernelPoint> kernel_points() {
  const auto file = read_json_file(std::string(SMPLAN_TEST_DATA) + "/published/kernels.json");
  if (!file) throw std::runtime_error(to_string(file.error()));
  Diagnostics out;
  std::vector<KernelPoint> points;
  for (const JsonValue& value : file->find("points")->as_array(out)) points.push_back(read_kernel_point(value, out));
  if (!out.empty()) throw std::runtime_error(to_string(out));
  return points;
}

/// Mean of |predicted / measured - 1| by a name, for bounds and for the report.
class MeanErrors {
 public:
  void add(const std::string& name, Seconds predicted, Seconds measured) {
    Sum& sum = sums_[name];
    sum.total += std::abs(predicted / measured - 1);
    ++sum.points;
  }
  [[nodiscard]] double mean(const std::string& name) const {
    const Sum& sum = sums_.at(name);
    return sum.total / sum.points;
  }
  /// Every name's mean error is a property of the test, and none exceeds its bound.
  void expect_within(const std::map<std::string, double>& bounds) const {
    for (const auto& [name, sum] : sums_) {
      ::testing::Test::RecordProperty(name, std::to_string(mean(name)));
      ASSERT_EQ(bounds.count(name), 1U) << "no bound for " << name;
      EXPECT_LT(mean(name), bounds.at(name)) << name << ", " << sum.points << " points";
    }
    EXPECT_EQ(sums_.size(), bounds.size());
  }

 private:
  struct Sum {
    double total = 0;
    int points = 0;
  };
  std::map<std::string, Sum> sums_;
};

}  // namespace smplan::testing
