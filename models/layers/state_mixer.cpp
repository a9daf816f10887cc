#include "models/layers/state_mixer.hpp"

namespace smplan {
namespace {

/// Values of one token in the tensors that the kernels move.
struct Tensors {
  double values = 0;
  double keys = 0;    ///< of all groups
  double states = 0;  ///< written once a chunk
  double pairs = 0;   ///< of a token with those of its chunk, for each group or head
  double heads = 0;
};

/// Bytes moved for each such value.
struct Traffic {
  double values = 0;
  double keys = 0;
  double states = 0;
  double pairs = 0;
  double heads = 0;
};

// Forward: convolution; products of queries and keys within a chunk, states of chunks and their passing; output and
// gate; norm. Backward the same again but for the norm, and the gradients of each.
constexpr Traffic kMambaForward{.values = 18, .keys = 16, .states = 12, .pairs = 8, .heads = 10};
constexpr Traffic kMambaBackward{.values = 48, .keys = 54, .states = 36, .pairs = 24, .heads = 28};

// Keys here are repeated for every head of values. Forward: convolution, norms of keys and queries; the chunk's
// triangular system and its solution; keys and values as that transforms them; states; output; gated norm.
constexpr Traffic kDeltaForward{.values = 22, .keys = 26, .states = 4, .pairs = 12, .heads = 12};
constexpr Traffic kDeltaBackward{.values = 48, .keys = 52, .states = 8, .pairs = 8, .heads = 24};
/// Of keys and queries before they are repeated.
constexpr double kDeltaKeysForward = 12;
constexpr double kDeltaKeysBackward = 16;

double number(std::int64_t n) { return static_cast<double>(n); }

Tensors tensors(const StateMixer& m) {
  const double keys = number(m.delta_rule ? m.n_heads * m.state_dim : m.keys());
  const double rows = number(m.delta_rule ? m.n_heads : m.n_groups);
  return {.values = number(m.values()),
          .keys = keys,
          .states = number(m.values()) * number(m.state_dim) / number(m.chunk),
          .pairs = rows * number(m.chunk),
          .heads = number(m.n_heads)};
}

double moved(const Tensors& t, const Traffic& bytes) {
  return t.values * bytes.values + t.keys * bytes.keys + t.states * bytes.states + t.pairs * bytes.pairs +
         t.heads * bytes.heads;
}

}  // namespace

Bytes state_mixer_traffic(const StateMixer& m, Pass pass) {
  const bool forward = pass == Pass::Forward;
  if (!m.delta_rule) return Bytes(moved(tensors(m), forward ? kMambaForward : kMambaBackward));
  const double grouped = number(m.keys()) * (forward ? kDeltaKeysForward : kDeltaKeysBackward);
  return Bytes(moved(tensors(m), forward ? kDeltaForward : kDeltaBackward) + grouped);
}

Bytes state_mixer_kept(const StateMixer& m) {
  const double values = number(m.values());
  // The ungated output, and the gated one that the norm reads.
  if (!m.delta_rule) return Bytes(2 * values + 2 * values);
  // What the convolution wrote, keys and queries repeated, the solved system, the output.
  const Tensors t = tensors(m);
  return Bytes(2 * (2 * number(m.keys()) + values) + 2 * 2 * t.keys + 2 * t.pairs + 2 * values);
}

}  // namespace smplan
