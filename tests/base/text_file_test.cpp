#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/json_reader.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TextFile : public ::testing::Test {
 protected:
  TextFile() {
    std::string name = ::testing::TempDir() + "smplan_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~TextFile() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(TextFile, RoundTripsAnyBytes) {
  const std::string content("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_text_file(path("a"), content));
  EXPECT_EQ(*read_text_file(path("a")), content);
  EXPECT_EQ(entries(), 1);
}

TEST_F(TextFile, ReplacesAndKeepsPermissions) {
  ASSERT_TRUE(write_text_file(path("a"), "a long first content"));
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_text_file(path("a"), "short"));
  EXPECT_EQ(*read_text_file(path("a")), "short");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TextFile, NewFilesObeyTheUmask) {
  const mode_t before = ::umask(027);
  const auto written = write_text_file(path("a"), "x");
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(static_cast<unsigned>(fs::status(path("a")).permissions()), 0640U);
}

TEST_F(TextFile, LeavesTheUmaskAsItWas) {
  const mode_t before = ::umask(027);
  const auto written = write_text_file(path("a"), "x");
  EXPECT_EQ(::umask(before), static_cast<mode_t>(027));
  EXPECT_TRUE(written);
}

TEST_F(TextFile, WritesThroughALink) {
  ASSERT_TRUE(write_text_file(path("real"), "old"));
  fs::create_symlink("real", path("link"));
  ASSERT_TRUE(write_text_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_text_file(path("real")), "new");
}

TEST_F(TextFile, LeavesDevicesAlone) {
  ASSERT_TRUE(write_text_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(TextFile, FailsWithoutLeavingAnything) {
  EXPECT_FALSE(write_text_file(path("no/such/folder"), "x"));
  fs::create_directory(path("dir"));
  const auto folder = write_text_file(path("dir"), "x");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error()[0].code, "file-unwritable");
  EXPECT_EQ(entries(), 1);
}

TEST_F(TextFile, AnInterruptionLeavesTheOldFileOrTheNew) {
  const std::string first(1 << 20, '1');
  const std::string second(1 << 20, '2');
  for (int attempt = 1; attempt <= 20; ++attempt) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGINT, SIG_DFL);  // a shell that runs this in the background has it ignored
      std::signal(SIGALRM, [](int) { ::raise(SIGINT); });
      const itimerval soon{{0, 0}, {0, 700 * attempt}};
      ::setitimer(ITIMER_REAL, &soon, nullptr);
      while (write_text_file(path("a"), first) && write_text_file(path("a"), second)) {
      }
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);
    ASSERT_LE(entries(), 1) << "a temporary was left";
    if (entries() == 1) {
      const auto content = read_text_file(path("a"));
      ASSERT_TRUE(content);
      ASSERT_TRUE(*content == first || *content == second);
    }
  }
}

TEST_F(TextFile, RefusesFoldersMissingAndLargeFiles) {
  const auto folder = read_text_file(folder_.string());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error()[0].message, HasSubstr("folder"));
  const auto missing = read_text_file(path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].code, "file-unreadable");
  EXPECT_EQ(missing.error()[0].location, path("missing"));
  ASSERT_TRUE(write_text_file(path("ten"), "0123456789"));
  EXPECT_TRUE(read_text_file(path("ten"), 10));
  EXPECT_EQ(read_text_file(path("ten"), 9).error()[0].code, "file-too-large");
  // An endless file ends at the limit.
  EXPECT_EQ(read_text_file("/dev/zero", 1 << 20).error()[0].code, "file-too-large");
}

TEST_F(TextFile, JsonFilesNameThemselvesInLocations) {
  ASSERT_TRUE(write_text_file(path("bad.json"), "[1"));
  EXPECT_EQ(read_json_file(path("bad.json")).error()[0].location, path("bad.json") + ":1:2");
  ASSERT_TRUE(write_text_file(path("good.json"), "[1]"));
  EXPECT_EQ(read_json_file(path("good.json"))->dump(), "[1]");
}

}  // namespace
}  // namespace smplan
