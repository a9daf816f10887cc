#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

// Source: draft-eastlake-fnv-17, appendix C, test vectors of FNV-1a with 64 bits.
TEST(HashText, IsFnv1a) {
  EXPECT_EQ(hash_text(""), "cbf29ce484222325");
  EXPECT_EQ(hash_text("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_text("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace smplan
