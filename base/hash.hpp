#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// Sixteen hex digits of a text: FNV-1a, 64 bit. Stable over platforms and releases, unlike std::hash; tells texts
/// apart, proves nothing. Source: Fowler, Noll, Vo, draft-eastlake-fnv-17, section 2.
std::string hash_text(std::string_view text);

}  // namespace smplan
