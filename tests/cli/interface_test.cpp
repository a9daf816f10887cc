#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/interface/completion.hpp"
#include "cli/interface/manual.hpp"
#include "cli/interface/values.hpp"
#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::expect_page;
using test::made_up_interface;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ManPages, AreWrittenFromTheInterface) {
  const std::vector<OutputFile> pages = man_pages(made_up_interface(), "1.2.3", "2026-01-02");
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0].path, "smplan.1");
  EXPECT_EQ(pages[1].path, "smplan-fly.1");
  EXPECT_EQ(pages[2].path, "smplan-land-on.1");
  expect_page("man", pages[0].content);
  expect_page("man_fly", pages[1].content);
  expect_page("man_land_on", pages[2].content);
}

TEST(ReferencePage, IsWrittenFromTheInterface) { expect_page("reference.md", reference_page(made_up_interface())); }

TEST(Completions, AreWrittenFromTheInterface) {
  expect_page("completion.bash", bash_completion(made_up_interface(), Catalog()));
  expect_page("completion.zsh", zsh_completion(made_up_interface(), Catalog()));
  expect_page("completion.fish", fish_completion(made_up_interface(), Catalog()));
}

TEST(ValuesOf, AreTheWordsOfTheType) {
  EXPECT_THAT(values_of("a|b|c", Catalog()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(values_of("N", Catalog()), IsEmpty());
  EXPECT_THAT(values_of("'NAME=V|V'", Catalog()), IsEmpty());
  EXPECT_THAT(values_of("TARGET", Catalog()), testing::Contains("megatron"));
}

TEST(ValuesOf, AreNamesOfTheCatalog) {
  const Catalog& catalog = smplan::test::catalog();
  EXPECT_EQ(values_of("MODEL", catalog).size(), catalog.models().size());
  EXPECT_EQ(values_of("MODEL", catalog).front(), catalog.models().front().architecture.name);
  EXPECT_EQ(values_of("INSTANCES", catalog).size(), catalog.instances().size());
  EXPECT_EQ(values_of("INSTANCES", catalog).front(), catalog.instances().front().name);
  EXPECT_EQ(values_of("STACKS", catalog).size(), catalog.stacks().size());
  EXPECT_EQ(values_of("STACKS", catalog).front(), catalog.stacks().front().id);
  const std::vector<std::string> regions = values_of("REGION", catalog);
  EXPECT_THAT(regions, testing::IsSupersetOf({"eu-west-1", "us-east-1", "us-west-2"}));
  EXPECT_TRUE(std::is_sorted(regions.begin(), regions.end()));
  EXPECT_EQ(std::adjacent_find(regions.begin(), regions.end()), regions.end());
}

TEST(IsPath, KnowsFilesAndFolders) {
  EXPECT_TRUE(is_path("FILE"));
  EXPECT_TRUE(is_path("FOLDER"));
  EXPECT_FALSE(is_path("NAME"));
  EXPECT_FALSE(is_path(""));
}

}  // namespace
}  // namespace smplan::cli
