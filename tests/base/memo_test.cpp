#include "base/memo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace smplan {
namespace {

TEST(Memo, MakesEachValueOnce) {
  Memo<std::string> memo;
  int made = 0;
  const auto get = [&](const std::string& key) -> const std::string& {
    return memo.get(key, [&] { return key + std::to_string(++made); });
  };
  const std::string& first = get("a");
  EXPECT_EQ(get("b"), "b2");
  EXPECT_EQ(get("a"), "a1");
  EXPECT_EQ(&get("a"), &first) << "and keeps it in its place";
}

TEST(Memo, MakesItOnceForAllThreads) {
  Memo<int> memo;
  std::atomic<int> made{0};
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { sum += memo.get("key", [&] { return ++made; }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 8);
}

}  // namespace
}  // namespace smplan
