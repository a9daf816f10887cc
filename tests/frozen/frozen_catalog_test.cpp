// Linked against tests/data/frozen: the shipped catalog is the frozen one here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/embedded_file.hpp"
#include "catalogs/catalog.hpp"
#include "catalogs/hf_families.hpp"
#include "catalogs/sagemaker_limits.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_huggingface_files();
std::span<const EmbeddedFile> shipped_finetuning_files();

namespace {

using Files = std::map<std::string, std::string>;

Files embedded(std::span<const EmbeddedFile> files) {
  Files found;
  for (const EmbeddedFile& file : files) found.emplace(file.name, file.content);
  return found;
}

Files on_disk(const std::string& folder) {
  Files found;
  for (const auto& entry : std::filesystem::directory_iterator(SMPLAN_TEST_DATA "/data/frozen" + folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    found.emplace(entry.path().filename(), text.str());
  }
  return found;
}

TEST(FrozenCatalog, StandsInThePlaceOfTheShippedFiles) {
  EXPECT_EQ(embedded(shipped_catalog_files()), on_disk(""));
  EXPECT_EQ(embedded(shipped_sagemaker_files()), on_disk("/sagemaker"));
  EXPECT_EQ(embedded(shipped_huggingface_files()), on_disk("/huggingface"));
  EXPECT_EQ(embedded(shipped_finetuning_files()), on_disk("/finetuning"));
}

TEST(FrozenCatalog, PassesTheChecksOfCatalogVerify) {
  const Result<Catalog> catalog = Catalog::shipped();
  ASSERT_TRUE(catalog.has_value()) << to_string(catalog.error());
  const Diagnostics faults = check(*catalog);
  EXPECT_TRUE(faults.empty()) << to_string(faults);
}

TEST(FrozenCatalog, HasReadableNamesOfSageMakerAndHuggingFace) {
  const Result<SagemakerLimits> limits = SagemakerLimits::shipped();
  EXPECT_TRUE(limits.has_value()) << to_string(limits.error());
  Diagnostics faults;
  EXPECT_FALSE(hf_variants(faults).empty());
  EXPECT_TRUE(faults.empty()) << to_string(faults);
}

}  // namespace
}  // namespace smplan
