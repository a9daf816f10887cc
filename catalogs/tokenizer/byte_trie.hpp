#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// Texts by their bytes, each with a number, for finding those that another text begins with.
class ByteTrie {
 public:
  ByteTrie() = default;
  /// Of equal texts the last one counts; an empty text is never found.
  explicit ByteTrie(const std::vector<std::string>& texts);

  /// Calls `each(length, number)` for every text that `text` begins with, shortest first.
  template <typename F>
  void each_prefix(std::string_view text, F&& each) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == 0) return;
      if (nodes_[node].number >= 0) each(i + 1, nodes_[node].number);
    }
  }
  [[nodiscard]] bool empty() const { return nodes_.size() <= 1; }

 private:
  struct Node {
    std::uint32_t first_child = 0;
    std::int32_t number = -1;
    std::uint16_t children = 0;
    unsigned char byte = 0;
  };
  /// 0 if there is none: the root is nobody's child.
  [[nodiscard]] std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;  ///< children of a node stand together, by their bytes
};

}  // namespace smplan
