#pragma once

#include <cstdint>
#include <vector>

namespace smplan {

enum class LengthShape {
  LogNormal,
  Exponential,  ///< as if each token ended the response with the same chance; its variation is 1
};

/// How lengths of responses vary where nobody knows: standard deviation by mean, before the limit cuts them. An
/// assumption. Answers of one kind (a short proof, a summary) vary by a third, chains of thought by more than their
/// mean.
inline constexpr double kLengthVariation = 0.7;
inline constexpr double kLeastLengthVariation = 0.3;  ///< taken as its P10
inline constexpr double kMostLengthVariation = 1.2;   ///< taken as its P90

/// Lengths of the responses of a step, in tokens.
struct ResponseLengths {
  double mean = 0;         ///< of the responses as they end: one that the limit cuts is as long as the limit
  std::int64_t limit = 0;  ///< longest; 1 <= mean <= limit
  double variation = kLengthVariation;  ///< 0: all are as long as the mean
  LengthShape shape = LengthShape::LogNormal;
};

/// Responses that are as long as each other.
struct LengthGroup {
  std::int64_t count = 0;
  std::int64_t tokens = 0;
};

/// `sequences` lengths of the distribution, shortest first: at the middles of equal parts of it, so that the same
/// request gives the same lengths, scaled so that their mean is the one asked for. The longest stand alone, because
/// they decide how long a step lasts; the others are in at most kMostLengthGroups groups.
inline constexpr std::int64_t kMostLengthGroups = 512;
std::vector<LengthGroup> length_groups(const ResponseLengths& lengths, std::int64_t sequences);

}  // namespace smplan
