#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "catalogs/hf_config.hpp"
#include "catalogs/hf_writer.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

/// Expects a config.json of as many parameters.
void expect_written(const Result<Architecture>& a, double size) {
  ASSERT_TRUE(a.has_value()) << size;
  const auto text = hf_config_text(*a);
  ASSERT_TRUE(text.has_value()) << size << ", " << a->name;
  const auto json = parse_hf_config(*text, "config.json");
  ASSERT_TRUE(json.has_value()) << size;
  const auto read = read_hf_config(*json);
  ASSERT_TRUE(read.has_value()) << size;
  EXPECT_EQ(count_parameters(*read).total(), count_parameters(*a).total()) << size;
}

TEST(HfWriterOfSizes, EveryModelOfASizeHasAConfig) {
  for (int step = 0; step <= 140; ++step) {
    const double size = std::min(1e13, 1e6 * std::pow(10.0, step / 20.0));
    expect_written(architecture_of_size(size), size);
    expect_written(architecture_of_size(size, {}), size);
  }
}

}  // namespace
}  // namespace smplan
