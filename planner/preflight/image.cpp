#include "planner/preflight/image.hpp"

#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

/// The part of `text` up to `mark`, which is then dropped; the whole text where there is no mark.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + mark.size());
  return part;
}

void read_tag(std::string_view tag, ImageName& image) {
  image.tag = tag;
  const std::size_t end = tag.find_first_not_of("0123456789.");
  image.version = tag.substr(0, end);
  while (!tag.empty()) {
    const std::string_view part = cut(tag, "-");
    if (part == "gpu" || part == "cpu" || part == "neuron" || part == "neuronx") image.accelerator = part;
    if (part.starts_with("py3") || part.starts_with("py2")) image.python = part;
    if (part.starts_with("cu") && part.find_first_not_of("0123456789", 2) == std::string_view::npos)
      image.toolkit = part;
  }
}

}  // namespace

std::optional<ImageName> parse_image(std::string_view uri) {
  const std::size_t slash = uri.find('/');
  if (slash == std::string_view::npos || slash + 1 == uri.size()) return std::nullopt;
  ImageName image;
  std::string_view host = uri.substr(0, slash);
  std::string_view rest = uri.substr(slash + 1);
  if (host.find(".dkr.ecr.") != std::string_view::npos) {
    const std::string_view account = cut(host, ".dkr.ecr.");
    const std::string_view region = cut(host, ".amazonaws.com");
    if (!is_placeholder(account)) image.account = account;
    if (!is_placeholder(region)) image.region = region;
  }
  image.repository = cut(rest, ":");
  read_tag(rest, image);
  return image;
}

}  // namespace smplan
