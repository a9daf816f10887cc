#include "cli/commands/collectives.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/words.hpp"
#include "cli/render/collective_page.hpp"
#include "planner/request/names.hpp"

namespace smplan::cli {
namespace {

constexpr std::size_t kMostSizes = 64;

Result<CollectiveKind> kind_of(const std::string& word) {
  if (const auto kind = collective_kind_from(word)) return *kind;
  std::vector<std::string> known;
  for (const CollectiveKind kind : collective_kinds()) known.emplace_back(to_string(kind));
  return tl::unexpected<Diagnostics>({unknown_name("collective", word, "--op", known)});
}

/// `1MiB..1GiB` in powers of two, or sizes with commas between them.
Result<std::vector<Bytes>> sizes_of(const std::string& text) {
  std::vector<Bytes> sizes;
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const Result<Bytes> least = parse_bytes(text.substr(0, dots), "--sizes");
    if (!least) return tl::unexpected<Diagnostics>(least.error());
    const Result<Bytes> most = parse_bytes(text.substr(dots + 2), "--sizes");
    if (!most) return tl::unexpected<Diagnostics>(most.error());
    if (!(least->value() > 0) || *most < *least) {
      return fail("out-of-range", "--sizes", fmt::format("{} is no range of sizes", quote(text)),
                  "write the smaller first, e.g. 1MiB..1GiB");
    }
    for (Bytes size = *least; size <= *most && sizes.size() <= kMostSizes; size = 2 * size) sizes.push_back(size);
  } else {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const Result<Bytes> size = parse_bytes(text.substr(at, comma - at), "--sizes");
      if (!size) return tl::unexpected<Diagnostics>(size.error());
      if (!(size->value() > 0)) return fail("out-of-range", "--sizes", "a message of no bytes", "give a size");
      sizes.push_back(*size);
      at = comma + 1;
    }
  }
  if (sizes.size() > kMostSizes) {
    return fail("out-of-range", "--sizes", fmt::format("more than {} sizes", kMostSizes), "give a smaller range");
  }
  return sizes;
}

std::string described(CollectiveKind kind, const Cluster& cluster) {
  return fmt::format("{} of {} ranks, {} x {} x {}", to_string(kind), cluster.gpus(), cluster.nodes,
                     cluster.gpus_per_node, cluster.accelerator.key);
}

}  // namespace

Result<Answer> list_collectives(const CollectiveFlags& flags, const Context& context) {
  if (!flags.instances) {
    return fail("missing-name", "catalog collectives", "needs an instance type", "give --instances ml.p5.48xlarge");
  }
  const Result<const InstanceType*> instance = context.catalog.instance(*flags.instances, "--instances");
  if (!instance) return tl::unexpected<Diagnostics>(instance.error());
  const Result<std::int64_t> count = parse_integer_count(flags.count.value_or("1"), "--count");
  if (!count) return tl::unexpected<Diagnostics>(count.error());
  constexpr std::int64_t kMostNodes = 65536;
  if (*count > kMostNodes) return fail("out-of-range", "--count", fmt::format("more than {} nodes", kMostNodes));
  const Result<CollectiveKind> kind = kind_of(flags.op.value_or("all-reduce"));
  if (!kind) return tl::unexpected<Diagnostics>(kind.error());
  const Result<std::vector<Bytes>> sizes = sizes_of(flags.sizes.value_or("1KiB..1GiB"));
  if (!sizes) return tl::unexpected<Diagnostics>(sizes.error());
  const Result<Cluster> cluster = make_cluster(context.catalog, **instance, static_cast<std::int32_t>(*count));
  if (!cluster) return tl::unexpected<Diagnostics>(cluster.error());
  if (cluster->gpus() < 2) {
    return fail("out-of-range", "--count",
                fmt::format("{} has one accelerator, which exchanges nothing", (*instance)->name),
                "give --count 2 or a larger type");
  }
  return Answer{
      ExitCode::Done, render(collective_list(*kind, *sizes, *cluster), context), {described(*kind, *cluster)}};
}

Result<Answer> validate_collectives(const std::string& path, const std::string& text,
                                    const std::optional<std::string>& instances, const std::optional<std::string>& op,
                                    const Context& context) {
  Result<NcclSweep> sweep = read_nccl_tests(text, path);
  if (!sweep) return tl::unexpected<Diagnostics>(sweep.error());
  std::optional<CollectiveKind> kind = sweep->kind;
  if (op) {
    const Result<CollectiveKind> said = kind_of(*op);
    if (!said) return tl::unexpected<Diagnostics>(said.error());
    kind = *said;
  }
  if (!kind) return fail("missing-name", path, "does not say which collective it timed", "give --op all-reduce");
  if (instances) sweep->machine.instance = *instances;
  std::vector<std::string> notes;
  const Result<Cluster> cluster = cluster_of(sweep->machine, context.catalog, notes);
  if (!cluster) return tl::unexpected<Diagnostics>(cluster.error());
  if (cluster->gpus() < 2) return fail("out-of-range", path, "one rank exchanges nothing");
  notes.insert(notes.begin(), described(*kind, *cluster));
  const std::vector<ComparedCollective> compared = compare_collectives(*sweep, *kind, *cluster);
  return Answer{ExitCode::Done, render(collective_comparison(*kind, compared, *cluster), context), notes};
}

}  // namespace smplan::cli
