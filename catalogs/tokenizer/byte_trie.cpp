#include "catalogs/tokenizer/byte_trie.hpp"

#include <algorithm>
#include <numeric>

namespace smplan {

ByteTrie::ByteTrie(const std::vector<std::string>& texts) : nodes_(1) {
  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return texts[a] < texts[b]; });
  // Each node's texts are a range of the order that shares its first `depth` bytes.
  struct Open {
    std::uint32_t node;
    std::size_t begin, end, depth;
  };
  std::vector<Open> open{{0, 0, order.size(), 0}};
  for (std::size_t done = 0; done < open.size(); ++done) {
    Open at = open[done];
    while (at.begin < at.end && texts[order[at.begin]].size() == at.depth) {
      if (at.depth > 0) nodes_[at.node].number = static_cast<std::int32_t>(order[at.begin]);
      ++at.begin;
    }
    nodes_[at.node].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (at.begin < at.end) {
      const char byte = texts[order[at.begin]][at.depth];
      std::size_t end = at.begin;
      while (end < at.end && texts[order[end]][at.depth] == byte) ++end;
      open.push_back({static_cast<std::uint32_t>(nodes_.size()), at.begin, end, at.depth + 1});
      nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
      ++nodes_[at.node].children;
      at.begin = end;
    }
  }
}

std::uint32_t ByteTrie::child(std::uint32_t node, unsigned char byte) const {
  if (nodes_.empty()) return 0;
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto last = first + nodes_[node].children;
  const auto at =
      std::lower_bound(first, last, byte, [](const Node& n, unsigned char wanted) { return n.byte < wanted; });
  return at != last && at->byte == byte ? static_cast<std::uint32_t>(at - nodes_.begin()) : 0;
}

}  // namespace smplan
