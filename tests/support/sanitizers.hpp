#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SMPLAN_SANITIZED 1
#elif defined(__has_feature)  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SMPLAN_SANITIZED 1
#endif
#endif

namespace smplan::test {

/// Whether a sanitizer takes memory of its own: freed blocks held back, shadows that span terabytes of addresses.
#ifdef SMPLAN_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace smplan::test
