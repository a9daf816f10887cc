// Each case must be refused by the compiler; without a case the file must compile.
#include "base/units.hpp"

using namespace smplan;

[[maybe_unused]] static const Bytes kSize(1);
[[maybe_unused]] static const Seconds kTime(1);

#if defined(SUM_OF_BYTES_AND_SECONDS)
[[maybe_unused]] static const auto kWrong = kSize + kTime;
#elif defined(DIFFERENCE_OF_BYTES_AND_FLOPS)
[[maybe_unused]] static const auto kWrong = kSize - Flops(1);
#elif defined(COMPARISON_OF_BYTES_AND_SECONDS)
[[maybe_unused]] static const bool kWrong = kSize < kTime;
#elif defined(NUMBER_WITHOUT_UNIT)
[[maybe_unused]] static const Bytes kWrong = 80.0;
#elif defined(SUM_WITH_A_NUMBER)
[[maybe_unused]] static const auto kWrong = kSize + 1.0;
#elif defined(TIME_FROM_A_PRODUCT)
[[maybe_unused]] static const Seconds kWrong = kSize * BytesPerSecond(1);
#elif defined(QUANTITY_AS_A_NUMBER)
[[maybe_unused]] static const double kWrong = kSize;
#elif defined(RATE_IN_PLACE_OF_SIZE)
[[maybe_unused]] static const std::string kWrong = format_bytes(BytesPerSecond(1));
#else
[[maybe_unused]] static const Seconds kRight = kSize / BytesPerSecond(1) + kTime;
#endif
