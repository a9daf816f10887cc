#pragma once

#include <cstdio>
#include <cstdlib>

/// Checks an invariant of our own code, never of user input. On in Debug and in CI builds.
#if defined(SMPLAN_ENABLE_ASSERTS)
#define SMPLAN_ASSERT(condition)                                                           \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "%s:%d: internal fault: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
#else
#define SMPLAN_ASSERT(condition) static_cast<void>(0)
#endif
