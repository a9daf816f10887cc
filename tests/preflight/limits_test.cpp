#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(SagemakerLimits, HoldTheWholeRequest) {
  const SagemakerLimits& limits = test::shipped_limits();
  EXPECT_EQ(limits.fields.size(), 174U);
  EXPECT_EQ(limits.training_types.size(), 225U);
  EXPECT_THAT(limits.members_of(""), Contains("StoppingCondition"));
  EXPECT_THAT(limits.members_of(""), Not(Contains("MaxRuntimeInSeconds")));
  EXPECT_THAT(limits.members_of("StoppingCondition"), Contains("MaxRuntimeInSeconds"));
}

TEST(SagemakerLimits, EveryMemberHasAParentAndAPatternThatCompiles) {
  const SagemakerLimits& limits = test::shipped_limits();
  for (const RequestField& field : limits.fields) {
    EXPECT_NO_THROW(std::regex(field.pattern)) << field.path;
    EXPECT_FALSE(field.min && field.max && *field.min > *field.max) << field.path;
    const std::size_t end = std::min({field.path.rfind('.'), field.path.rfind("[]"), field.path.rfind('<')});
    if (end == std::string::npos) continue;
    EXPECT_NE(limits.find(field.path.substr(0, end)), nullptr) << field.path;
  }
}

TEST(SagemakerLimits, SdkNamesAgreeWithEachOther) {
  const SagemakerLimits& limits = test::shipped_limits();
  std::vector<std::string> known = limits.estimator_base;
  std::vector<ArgumentNeed> needs = limits.estimator_needs;
  for (const EstimatorClass& one : limits.estimator_classes) {
    known.insert(known.end(), one.arguments.begin(), one.arguments.end());
    needs.insert(needs.end(), one.needs.begin(), one.needs.end());
  }
  for (const ArgumentNeed& need : needs) {
    for (const auto& way : need) EXPECT_THAT(known, IsSupersetOf(way));
  }
  for (const auto& [old_name, new_name] : limits.renamed) {
    EXPECT_THAT(known, Contains(new_name)) << old_name;
    EXPECT_THAT(known, Not(Contains(old_name)));
  }
  for (const std::vector<std::string>* types :
       {&limits.smddp_instances, &limits.smp_v1_instances, &limits.smp_v2_instances}) {
    for (const std::string& type : *types) EXPECT_TRUE(limits.is_training_type(type)) << type;
  }
}

/// Every instance type that the catalog says can be ordered is one that the API knows.
TEST(SagemakerLimits, CoverTheCatalog) {
  for (const InstanceType& type : test::shipped_catalog().instances()) {
    if (type.support == TrainingSupport::OnDemand) {
      EXPECT_TRUE(test::shipped_limits().is_training_type(type.name)) << type.name;
    }
  }
}

}  // namespace
}  // namespace smplan
