#include "planner/export/folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

class ExportFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "smplan-export-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::string job() const { return (root_ / "job").string(); }
  [[nodiscard]] std::string text(const std::string& path) const {
    return read_text_file((root_ / "job" / path).string()).value_or("missing");
  }
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories((root_ / "job" / path).parent_path());
    ASSERT_TRUE(write_text_file((root_ / "job" / path).string(), content));
  }
  /// What was refused, and that nothing changed.
  [[nodiscard]] std::string refusal(const std::vector<ExportFile>& files) const {
    const std::vector<std::string> before = tree();
    const Result<void> written = write_export(job(), files);
    EXPECT_EQ(tree(), before);
    return written ? "written" : to_string(written.error());
  }
  [[nodiscard]] std::vector<std::string> tree() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      all.push_back(entry.path().string() + "=" +
                    (entry.is_regular_file() ? read_text_file(entry.path().string()).value() : ""));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  fs::path root_;
};

const std::vector<ExportFile> kFirst = {{"launch.py", "one"}, {"src/a.txt", "a"}, {"NOTES.md", "n"}};
const std::vector<ExportFile> kSecond = {{"request.json", "two"}, {"NOTES.md", "m"}};

TEST_F(ExportFolder, ReplacesAnEarlierExportAndLeavesTheUsersFiles) {
  ASSERT_TRUE(write_export(job(), kFirst));
  put("src/train.py", "mine");
  ASSERT_TRUE(write_export(job(), kSecond));
  EXPECT_EQ(text("launch.py"), "missing") << "a stale launcher";
  EXPECT_EQ(text("src/a.txt"), "missing");
  EXPECT_EQ(text("src/train.py"), "mine");
  EXPECT_EQ(text("request.json"), "two");
  EXPECT_EQ(text("NOTES.md"), "m");
  ASSERT_TRUE(write_export(job(), kSecond)) << "the same again";
}

TEST_F(ExportFolder, TakesAFolderWhereNothingIsInTheWay) {
  put("plan.json", "{}");
  put("src/train.py", "mine");
  EXPECT_TRUE(write_export(job(), kFirst));
}

TEST_F(ExportFolder, RefusesWhatNoExportWrote) {
  put("launch.py", "mine");
  EXPECT_NE(refusal(kFirst).find("launch.py: is there already, and no export wrote it"), std::string::npos);
  put("launch.py", "one");
  EXPECT_TRUE(write_export(job(), kFirst)) << "the same content loses nothing";
}

TEST_F(ExportFolder, RefusesWhatWasChangedSince) {
  ASSERT_TRUE(write_export(job(), kFirst));
  put("launch.py", "my role");
  EXPECT_NE(refusal({{"launch.py", "three"}}).find("was changed since smplan wrote it"), std::string::npos);
  EXPECT_NE(refusal(kSecond).find("launch.py: was changed"), std::string::npos) << "removal would lose it too";
}

TEST_F(ExportFolder, FollowsNoLink) {
  ASSERT_TRUE(write_text_file((root_ / "outside").string(), "theirs"));
  fs::create_directory(job());
  fs::create_symlink(root_ / "outside", fs::path(job()) / "launch.py");
  EXPECT_NE(refusal(kFirst).find("is a symbolic link"), std::string::npos);
  fs::remove(fs::path(job()) / "launch.py");
  fs::create_directory(root_ / "elsewhere");
  fs::create_directory_symlink(root_ / "elsewhere", fs::path(job()) / "src");
  EXPECT_NE(refusal(kFirst).find("src: is a symbolic link"), std::string::npos);
  fs::remove(fs::path(job()) / "src");
  fs::create_symlink(root_ / "outside", fs::path(job()) / kExportMarker);
  EXPECT_NE(refusal(kFirst).find("is a symbolic link"), std::string::npos);
}

TEST_F(ExportFolder, RefusesAMarkerThatLeadsOut) {
  ASSERT_TRUE(write_text_file((root_ / "outside").string(), "theirs"));
  for (const std::string path : {"../outside", "/etc/passwd", "", "a/../../outside", "./launch.py"}) {
    put(std::string(kExportMarker),
        R"({"schema": "smplan.export/1", "files": [{"path": ")" + path + R"(", "hash": "0"}]})");
    EXPECT_NE(refusal(kFirst).find("is no path below the folder"), std::string::npos) << path;
  }
  put(std::string(kExportMarker), "{}");
  EXPECT_NE(refusal(kFirst).find("missing"), std::string::npos);
  put(std::string(kExportMarker), R"({"schema": "other/1", "files": []})");
  EXPECT_NE(refusal(kFirst).find("schema"), std::string::npos);
}

TEST_F(ExportFolder, SaysWhereAFolderCannotBeMade) {
  put("src", "a file");
  EXPECT_NE(refusal({{"src/a.txt", "a"}}).find("src"), std::string::npos);
}

}  // namespace
}  // namespace smplan
