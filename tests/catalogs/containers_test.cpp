#include "fixture.hpp"

namespace smplan {
namespace {

const ContainerFacts& facts() { return test::shipped().containers(); }

TEST(Versions, CompareByNumberAndNotByLetter) {
  EXPECT_TRUE(version_before("2.9.0", "2.10.0"));
  EXPECT_FALSE(version_before("2.10.0", "2.9.0"));
  EXPECT_TRUE(version_before("2.8", "2.8.1"));
  EXPECT_FALSE(version_before("2.8", "2.8.0"));
}

TEST(Containers, NewestPyTorchImageIsStillPatchedOnTheDayOfTheFacts) {
  const Container* image = facts().newest("pytorch-training", "gpu");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->tag, "2.10.0-gpu-py313-cu130-ubuntu22.04-sagemaker");
  EXPECT_TRUE(image->patched_on(facts().as_of()));
  EXPECT_TRUE(image->patched_on("2027-01-21")) << "the last day counts";
  EXPECT_FALSE(image->patched_on("2027-01-22"));
}

// CUDA 13 removed Volta; the 12.8 build of PyTorch 2.7 left it out, that of 2.8 has it again; nothing before 12.8 knows
// Blackwell.
TEST(Containers, RunOnDevicesThatTheyHaveKernelsFor) {
  const auto tag = [](int capability) {
    const Container* image = facts().newest("pytorch-training", "gpu", capability);
    return image == nullptr ? std::string() : image->tag.substr(0, image->tag.find("-ubuntu"));
  };
  EXPECT_EQ(tag(70), "2.8.0-gpu-py312-cu129");
  EXPECT_EQ(tag(75), "2.10.0-gpu-py313-cu130");
  EXPECT_EQ(tag(103), "2.10.0-gpu-py313-cu130");
  EXPECT_EQ(tag(0), tag(90)) << "a device of unknown capability is no reason against an image";
  for (const Container& image : facts().images) {
    if (image.framework != "pytorch" || image.accelerator != "gpu") continue;
    EXPECT_NE(facts().find_toolkit(image.toolkit), nullptr) << image.tag << " has a toolkit that nobody describes";
  }
  Container image;
  image.framework = "pytorch";
  image.toolkit = "cu126";
  EXPECT_TRUE(facts().runs_on(image, 70));
  EXPECT_FALSE(facts().runs_on(image, 100));
  image.least_capability = 75;
  EXPECT_FALSE(facts().runs_on(image, 70));
  image.framework = "tensorflow";
  EXPECT_TRUE(facts().runs_on(image, 100)) << "compiled by the driver";
}

TEST(Containers, RefuseAToolkitOfNoDevices) {
  Catalog catalog = test::shipped();
  const auto merged = catalog.merge(test::json(test::overlay("toolkits", R"({"key": "cu999", "least_capability": 9,
      "newest_capability": 8, "source": "here", "as_of": "2026-12-01"})")));
  ASSERT_FALSE(merged.has_value());
  EXPECT_TRUE(test::has_code(merged.error(), "bad-capability"));
}

TEST(Containers, NewestNeuronImageHasTheNewestSdk) {
  const Container* image = facts().newest("pytorch-training-neuronx", "neuronx");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->tag, "2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04");
  EXPECT_FALSE(image->patched_on(facts().as_of())) << "its end of support is not published";
}

TEST(Containers, AreServedByTheAccountOfTheirRegion) {
  const Container* image = facts().newest("pytorch-training", "gpu");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(
      facts().image_uri(*image, "us-east-1"),
      "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.10.0-gpu-py313-cu130-ubuntu22.04-sagemaker");
  EXPECT_EQ(facts().image_uri(*image, "cn-north-1").substr(0, 49), "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn/");
  EXPECT_EQ(facts().image_uri(*image, "eu-south-1").substr(0, 12), "692866216735");
  EXPECT_EQ(facts().image_uri(*image, "mars-north-1"), "");
}

TEST(Containers, AllComeFromAKnownRegistry) {
  for (const Container& image : facts().images) EXPECT_NE(facts().registry_of(image.repository), nullptr) << image.tag;
}

TEST(Containers, SmpV2EndsAtPyTorch25InSeventeenRegions) {
  const Container* image = facts().newest("smdistributed-modelparallel", "gpu");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->version, "2.5.1");
  EXPECT_EQ(image->library, "2.8");
  const ContainerRegistry* registry = facts().registry_of(image->repository);
  ASSERT_NE(registry, nullptr);
  ASSERT_EQ(registry->accounts.size(), 1u);
  EXPECT_EQ(registry->accounts.front().regions.size(), 17u);
  EXPECT_EQ(registry->account_in("eu-south-1"), "");
}

TEST(FrameworkVersions, TellWhichTheSdkStartsWithTorchrun) {
  const auto verdict = [](std::string_view table, std::string_view version) {
    for (const FrameworkVersion& v : facts().versions) {
      if (v.table == table && v.version == version) return v.torchrun;
    }
    ADD_FAILURE() << table << ' ' << version << " is not known";
    return SdkVerdict::NotApplicable;
  };
  EXPECT_EQ(verdict("pytorch", "2.8.0"), SdkVerdict::Accepted);
  EXPECT_EQ(verdict("pytorch", "2.4.0"), SdkVerdict::Refused);
  EXPECT_EQ(verdict("tensorflow", "2.19.0"), SdkVerdict::NotApplicable);
}

TEST(Containers, OfAnOverlayReplaceThoseOfTheSameTag) {
  const Catalog catalog = test::with("containers",
                                     R"({"repository": "pytorch-training", "framework": "pytorch", "version": "2.11.0",
      "python": "py313", "accelerator": "gpu", "tag": "2.11.0-gpu", "patched_until": "2027-06-01", "source": "here",
      "as_of": "2026-12-01"})");
  EXPECT_EQ(catalog.containers().newest("pytorch-training", "gpu")->version, "2.11.0");
  EXPECT_EQ(catalog.containers().as_of(), "2026-12-01");
}

TEST(Containers, RefuseAnAccountThatIsNone) {
  Catalog catalog = test::shipped();
  const auto merged = catalog.merge(test::json(test::overlay(
      "registries", R"({"key": "mine", "accounts": [{"account": "12345"}], "source": "here", "as_of": "2026"})")));
  ASSERT_FALSE(merged.has_value());
  EXPECT_TRUE(test::has_code(merged.error(), "bad-account"));
}

}  // namespace
}  // namespace smplan
