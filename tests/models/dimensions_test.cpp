#include "models/job/dimensions.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

/// Another value than the plain one, as far from it as the dimension goes.
std::int32_t other_value(const DimensionRow& row) {
  return row.kind == DimensionRow::Kind::Degree ? 7 : row.words != nullptr ? row.words->values.back() : 1;
}

TEST(Dimensions, StandInTheOrderOfTheirEnumeration) {
  ASSERT_EQ(dimensions().size(), kDimensionCount);
  for (std::size_t i = 0; i < kDimensionCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(dimensions()[i].dimension), i) << dimensions()[i].keyword;
  }
}

TEST(Dimensions, AreAllMembersOfAStrategy) {
  // Does not compile with a member more or less.
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, told] = Strategy{};
  const std::set<const void*> members{&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &p};
  const auto& [a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, k1, l1, m1, n1, o1, p1, q1, r1, s1, t1, u1, v1, w1, x1, y1, z1,
               aa1, ab1, ac1, ad1, ae1, af1] = told;
  const std::set<const void*> options{&a1, &b1, &c1, &d1, &e1,  &f1,  &g1,  &h1,  &i1,  &j1, &k1,
                                      &l1, &m1, &n1, &o1, &p1,  &q1,  &r1,  &s1,  &t1,  &u1, &v1,
                                      &w1, &x1, &y1, &z1, &aa1, &ab1, &ac1, &ad1, &ae1, &af1};
  EXPECT_EQ(members.size() + options.size(), kDimensionCount);
  for (const DimensionRow& row : dimensions()) {
    Strategy changed;
    row.set(changed, other_value(row));
    EXPECT_EQ(row.get(changed), other_value(row)) << row.keyword;
    for (const DimensionRow& other : dimensions()) {
      if (other.dimension == row.dimension || other.dimension == Dimension::ExpertTensor) continue;
      EXPECT_EQ(other.get(changed), other.get(Strategy())) << row.keyword << " moves " << other.keyword;
    }
  }
}

TEST(Dimensions, HaveNamesOfTheirOwn) {
  std::set<std::string_view> keywords, paths, columns, helps;
  for (const DimensionRow& row : dimensions()) {
    EXPECT_TRUE(keywords.insert(row.keyword).second) << row.keyword;
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_TRUE(columns.insert(row.column).second) << row.column;
    EXPECT_TRUE(helps.insert(row.help).second) << row.help;
    EXPECT_EQ(&row_of(row.dimension), &row);
  }
  EXPECT_EQ(row_of(Dimension::ShardDegree).flag(), "--shard-degree");
}

TEST(Dimensions, ReadBackEveryNameThatTheyWrite) {
  for (const DimensionRow& row : dimensions()) {
    if (row.kind != DimensionRow::Kind::Words) continue;
    std::set<std::string> names;
    for (const std::int32_t value : row.words->values) {
      EXPECT_EQ(row.words->parse(row.text(value)), value) << row.keyword << ' ' << row.text(value);
      EXPECT_TRUE(names.insert(row.text(value)).second) << row.text(value);
    }
    EXPECT_FALSE(row.words->parse("nonsense"));
    EXPECT_GE(names.size(), row.names().size());
  }
  EXPECT_EQ(row_of(Dimension::Offload).words->values.size(), 14U) << "none, and NVMe for states alone";
  EXPECT_THAT(row_of(Dimension::Recompute).names(), testing::ElementsAre("none", "selective", "full"));
}

// ShardingStrategy of FSDP, `stage` of DeepSpeed, kernels of attention: what people write means the same everywhere.
TEST(Dimensions, KnowTheNamesOfPrograms) {
  const auto name = [](Dimension d, const char* word) {
    const auto value = row_of(d).words->parse(word);
    return value ? row_of(d).text(*value) : std::string("?");
  };
  for (const char* word : {"ZeRO-3", "zero stage 3", "stage 3", "3"})
    EXPECT_EQ(name(Dimension::Sharding, word), "zero3");
  for (const char* word : {"FULL_SHARD", "fsdp", "FSDP2", "fully_shard"}) {
    EXPECT_EQ(name(Dimension::Sharding, word), "fsdp-full") << word;
  }
  EXPECT_EQ(name(Dimension::Sharding, "SHARD_GRAD_OP"), "fsdp-grad-op");
  EXPECT_EQ(name(Dimension::Sharding, "HSDP"), "fsdp-hybrid");
  EXPECT_EQ(name(Dimension::Sharding, "distributed optimizer"), "zero1");
  EXPECT_EQ(name(Dimension::Sharding, "DDP"), "none");
  for (const char* word : {"zero4", "zero2/3", "full shard of zero"}) EXPECT_EQ(name(Dimension::Sharding, word), "?");
  for (const char* word : {"yes", "uniform", "AC", "gradient checkpointing", "1"}) {
    EXPECT_EQ(name(Dimension::Recompute, word), "full") << word;
  }
  EXPECT_EQ(name(Dimension::Recompute, "no recompute"), "none");
  EXPECT_EQ(name(Dimension::Recompute, "SAC"), "selective");
  EXPECT_EQ(name(Dimension::FlashAttention, "FA2"), "on");
  EXPECT_EQ(name(Dimension::FlashAttention, "eager"), "off");
  EXPECT_EQ(name(Dimension::Schedule, "Interleaved 1F1B"), "interleaved");
  EXPECT_EQ(name(Dimension::Offload, "cpu"), "optimizer");
}

TEST(Dimensions, HaveSynonymsThatNameNothingElse) {
  for (const DimensionRow& row : dimensions()) {
    if (row.words == nullptr) continue;
    std::set<std::string_view> letters;
    for (const DimensionSynonym& s : row.words->synonyms) {
      EXPECT_TRUE(letters.insert(s.letters).second) << row.keyword << ' ' << s.letters;
      EXPECT_EQ(row.words->parse(s.letters), s.value) << row.keyword << ' ' << s.letters << " is a name already";
    }
  }
}

/// What the short form leaves out is what a strategy has anyway.
TEST(Dimensions, ArePlainInAPlainStrategy) {
  for (const DimensionRow& row : dimensions()) {
    EXPECT_EQ(row.get(Strategy()), row.plain(Strategy())) << row.keyword;
    if (row.dimension == Dimension::Schedule) continue;
    Strategy changed;
    row.set(changed, other_value(row));
    EXPECT_NE(to_string(changed), "single") << row.keyword;
  }
}

TEST(Dimensions, ApplyWhereTheyMeanSomething) {
  const auto applies = [](Dimension d, const Strategy& s) { return row_of(d).applies(s); };
  Strategy s;
  EXPECT_FALSE(applies(Dimension::Schedule, s) || applies(Dimension::ExpertTensor, s));
  EXPECT_FALSE(applies(Dimension::RecomputeLayers, s));
  s.pipeline_parallel = 2;
  s.expert_parallel = 2;
  s.recompute_layers = 1;
  EXPECT_TRUE(applies(Dimension::Schedule, s) && applies(Dimension::ExpertTensor, s));
  EXPECT_TRUE(applies(Dimension::RecomputeLayers, s));
}

TEST(Dimensions, OfExpertsStayOpenWhereTheyAreAsUsual) {
  Strategy s;
  s.tensor_parallel = 4;
  const DimensionRow& row = row_of(Dimension::ExpertTensor);
  row.set(s, 4);
  EXPECT_EQ(s, (Strategy{.tensor_parallel = 4})) << "cut like all else";
  row.set(s, 2);
  EXPECT_EQ(s.expert_tensor_parallel, 2);
  s.expert_parallel = 8;
  row.set(s, 1);
  EXPECT_EQ(s.expert_tensor_parallel, 0) << "whole, as they are spread";
}

}  // namespace
}  // namespace smplan
