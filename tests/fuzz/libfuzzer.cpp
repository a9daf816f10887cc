// Entry for clang's -fsanitize=fuzzer; SMPLAN_FUZZ_TARGET names the reader.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const smplan::fuzz::Target* const target = [] {
    const char* name = std::getenv("SMPLAN_FUZZ_TARGET");
    const auto* found = smplan::fuzz::find_target(name == nullptr ? "" : name);
    smplan::fuzz::require(found != nullptr, "SMPLAN_FUZZ_TARGET names a target");
    return found;
  }();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
