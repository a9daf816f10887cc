#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "models/machine/collectives.hpp"
#include "models/machine/stated_machine.hpp"

namespace smplan {

/// One line of nccl-tests: a size and how long the collective took.
struct MeasuredCollective {
  Bytes size;    ///< as nccl-tests counts it, see collective_time()
  Seconds time;  ///< out of place
};

/// What a program of NVIDIA's nccl-tests wrote: who took part, and a sweep over sizes.
struct NcclSweep {
  std::optional<CollectiveKind> kind;  ///< where the output or the name of its file says it
  StatedMachine machine;               ///< devices and hosts of its ranks
  std::vector<MeasuredCollective> points;
};

/// Whether a text is such output: it has the header of its columns.
bool is_nccl_tests(std::string_view text);

/// Reads the output of all_reduce_perf and its kin (nccl-tests 2.0 and later). `where` names the file, whose name may
/// tell the collective. Errors: a line of figures that holds no number, sizes or times that are not positive, no line
/// of figures at all.
Result<NcclSweep> read_nccl_tests(std::string_view text, std::string_view where);

/// A collective beside its prediction.
struct ComparedCollective {
  MeasuredCollective measured;
  CollectiveTime predicted;
  [[nodiscard]] double ratio() const { return predicted.time / measured.time; }
};
std::vector<ComparedCollective> compare_collectives(const NcclSweep& sweep, CollectiveKind kind,
                                                    const Cluster& cluster);

}  // namespace smplan
