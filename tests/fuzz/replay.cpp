// smplan_fuzz_replay TARGET RUNS DICTIONARY SEEDS...: gives a reader its seeds, then RUNS mutations of them. An
// input that crashes, takes more than kMaxSeconds of processor time or needs more than kMaxMemory ends the
// program, and is left in a file. One TARGET and one FILE: that input again.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/json_reader.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/sanitizers.hpp"

namespace {

constexpr int kMaxSeconds = 10;
constexpr std::uint64_t kSeed = 20261121;
constexpr rlim_t kMaxMemory = smplan::test::kSanitized ? RLIM_INFINITY : rlim_t{2} << 30;

// What the handler of a deadly signal reads.
std::string input;       // NOLINT(cert-err58-cpp)
std::string crash_file;  // NOLINT(cert-err58-cpp)

extern "C" void keep_input(int signal) {
  const int file = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const char* text = signal == SIGPROF ? "too slow; the input is in " : "crashed; the input is in ";
  bool kept = file >= 0 && ::write(file, input.data(), input.size()) >= 0;
  kept = ::write(2, text, 26) >= 0 && ::write(2, crash_file.c_str(), crash_file.size()) >= 0 && kept;
  ::_exit(kept ? 1 : 3);
}

void limit_time() {
  const itimerval limit{{0, 0}, {kMaxSeconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

std::string read(const std::string& path) {
  const auto text = smplan::read_text_file(path);
  smplan::fuzz::require(text.has_value(), "seeds and dictionaries can be read: " + path);
  return *text;
}

std::vector<std::string> read_all(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  texts.reserve(files.size());
  for (const std::string& file : files) texts.push_back(read(file));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 2 && words.size() < 4) {
    std::fputs("usage: smplan_fuzz_replay TARGET RUNS DICTIONARY SEEDS...\n       smplan_fuzz_replay TARGET FILE\n",
               stderr);
    return 2;
  }
  const smplan::fuzz::Target* target = smplan::fuzz::find_target(words[0]);
  smplan::fuzz::require(target != nullptr, "the first word names a target");
  const bool again = words.size() == 2;
  crash_file = again ? "/dev/null" : "build/crash_" + words[0];
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGPROF}) {
    if (!again) std::signal(signal, keep_input);
  }
  const rlimit memory{kMaxMemory, kMaxMemory};
  ::setrlimit(RLIMIT_AS, &memory);
  const std::vector<std::string> seeds = read_all({words.begin() + (again ? 1 : 3), words.end()});
  for (const std::string& seed : seeds) {
    input = seed;
    limit_time();
    target->run(input);
  }
  if (again) return 0;
  smplan::fuzz::Mutator mutator(seeds, smplan::fuzz::dictionary_words(read(words[2])), kSeed);
  const long runs = std::strtol(words[1].c_str(), nullptr, 10);
  for (long i = 0; i < runs; ++i) {
    input = mutator.next();
    limit_time();
    target->run(input);
  }
  std::printf("%s: %zu seeds, %ld mutations\n", words[0].c_str(), seeds.size(), runs);
}
