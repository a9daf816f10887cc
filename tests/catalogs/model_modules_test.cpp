// Modules of transformers' models: what scripts/refresh read out of its sources.
#include "catalogs/model_modules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;
using ::testing::Not;

TEST(ModelModules, AreThoseOfTheFamily) {
  const ModelModules* llama = modules_of("llama");
  ASSERT_NE(llama, nullptr);
  EXPECT_THAT(llama->layers, ::testing::ElementsAre("LlamaDecoderLayer"));
  EXPECT_THAT(llama->names, Contains("q_proj"));
  EXPECT_THAT(llama->names, Not(Contains("input_layernorm")));
  EXPECT_THAT(llama->heads, Contains("lm_head"));
  EXPECT_FALSE(llama->open);
  EXPECT_EQ(modules_of("none"), nullptr);
}

TEST(ModelModules, NameWhatTheyHave) {
  EXPECT_FALSE(source_of_modules().empty());
  for (const ModelModules& family : model_modules()) {
    ASSERT_FALSE(family.types.empty());
    SCOPED_TRACE(family.types.front());
    EXPECT_THAT(family.layers, IsSubsetOf(family.classes));
    EXPECT_THAT(family.heads, IsSubsetOf(family.names));
  }
}

}  // namespace
}  // namespace smplan
