#include "base/units.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace smplan {
namespace {

using namespace units;

TEST(Quantity, QuotientsAndProductsCarryTheirDimension) {
  EXPECT_EQ(Bytes(800) / BytesPerSecond(400), Seconds(2));
  EXPECT_EQ(FlopsPerSecond(3) * Seconds(2), Flops(6));
  static_assert(std::is_same_v<decltype(Bytes(1) / Bytes(1)), double>);
  EXPECT_EQ(usd_per_hour(36) * hours(2), Usd(72));
}

TEST(Quantity, LiteralsAgreeWithTheParser) {
  EXPECT_EQ(80.0_GiB, *parse_bytes("80GiB", ""));
  EXPECT_EQ(80.0_GB, *parse_bytes("80GB", ""));
  EXPECT_EQ(800.0_GBps, gbit_per_s(6400));
  EXPECT_EQ(microseconds(25), *parse_duration("25us", ""));
}

TEST(ParseBytes, ReadsEveryUnit) {
  struct Case {
    const char* text;
    double bytes;
  };
  constexpr Case kCases[] = {{"7B", 7},
                             {"1kB", 1e3},
                             {"1MB", 1e6},
                             {"1GB", 1e9},
                             {"1TB", 1e12},
                             {"1PB", 1e15},
                             {"1KiB", 1024},
                             {"1MiB", 1048576},
                             {"1GiB", 1073741824},
                             {"1TiB", 1099511627776},
                             {"1PiB", 1125899906842624},
                             {" 1.5 GiB ", 1610612736},
                             {"0", 0},
                             {"0.0", 0},
                             {".5kB", 500},
                             {"2e3B", 2000},
                             {"6.74GB", 6.74e9}};
  for (const Case& c : kCases) {
    const auto parsed = parse_bytes(c.text, "--size");
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(parsed->value(), c.bytes) << c.text;
  }
}

TEST(ParseBytes, RefusesWhatIsAmbiguousOrNotANumber) {
  struct Case {
    const char* text;
    const char* code;
    const char* hint;
  };
  constexpr Case kCases[] = {{"80", "missing-unit", "write for example 80GiB"},
                             {"80G", "bad-unit", "write 80GB or 80GiB"},
                             {"80K", "bad-unit", "write 80kB or 80KiB"},
                             {"80gb", "bad-unit", "write 80GB or 80GiB; sizes are in bytes"},
                             {"80Gbit", "bad-unit", "write 80GB or 80GiB; sizes are in bytes"},
                             {"80b", "bad-unit", "write 80B; sizes are in bytes"},
                             {"80s", "bad-unit", nullptr},
                             {"", "bad-number", nullptr},
                             {"GiB", "bad-number", nullptr},
                             {".", "bad-number", nullptr},
                             {"nan", "bad-number", nullptr},
                             {"inf", "bad-number", nullptr},
                             {"+1B", "bad-number", nullptr},
                             {"0x10B", "bad-unit", nullptr},
                             {"-1B", "negative", nullptr},
                             {"-0", "negative", nullptr},
                             {"1e999B", "out-of-range", nullptr},
                             {"1e308TB", "out-of-range", nullptr},
                             {"1e99999999999999B", "out-of-range", nullptr},
                             {"1,5GB", "bad-unit", nullptr}};
  for (const Case& c : kCases) {
    const auto parsed = parse_bytes(c.text, "--size");
    ASSERT_FALSE(parsed) << c.text;
    ASSERT_EQ(parsed.error().size(), 1U) << c.text;
    EXPECT_EQ(parsed.error()[0].code, c.code) << c.text;
    EXPECT_EQ(parsed.error()[0].location, "--size");
    if (c.hint != nullptr) {
      EXPECT_EQ(parsed.error()[0].hint, c.hint) << c.text;
    }
  }
}

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("90s", "")->value(), 90);
  EXPECT_EQ(parse_duration("15m", "")->value(), 900);
  EXPECT_EQ(parse_duration("15min", "")->value(), 900);
  EXPECT_EQ(parse_duration("36h", ""), hours(36));
  EXPECT_EQ(parse_duration("7d", ""), days(7));
  EXPECT_EQ(parse_duration("2w", ""), days(14));
  EXPECT_EQ(parse_duration("250ms", "")->value(), 0.25);
  EXPECT_FALSE(parse_duration("7", ""));
}

TEST(ParseDuration, ReadsTheWordsThatPeopleType) {
  struct Case {
    const char* text;
    double seconds;
  };
  constexpr double kDay = 86400;
  constexpr Case kCases[] = {{"14 days", 14 * kDay}, {"1 day", kDay},       {"14D", 14 * kDay},
                             {"2weeks", 14 * kDay},  {"1 week", 7 * kDay},  {"2 wks", 14 * kDay},
                             {"36 hours", 129600},   {"36H", 129600},       {"36hrs", 129600},
                             {"90 minutes", 5400},   {"90 Min", 5400},      {"45 sec", 45},
                             {"45 seconds", 45},     {"1 h 30 min", 5400},  {"1h30m", 5400},
                             {"1d12h", 1.5 * kDay},  {"1.5 d 6 h", 151200}, {"1 week 2 days 3 hours", 9 * kDay + 10800},
                             {" 1 h  30 min ", 5400}};
  for (const Case& c : kCases) {
    const auto parsed = parse_duration(c.text, "--deadline");
    ASSERT_TRUE(parsed) << c.text << ": " << to_string(parsed.error());
    EXPECT_DOUBLE_EQ(parsed->value(), c.seconds) << c.text;
  }
}

TEST(ParseDuration, RefusesWhatCouldBeSomethingElse) {
  struct Case {
    const char* text;
    const char* code;
    const char* hint;
  };
  constexpr const char* kMonths = "months differ in length: write days such as 30d; minutes are 3min";
  constexpr const char* kOrder = "write large units first and each once, such as 1 h 30 min";
  constexpr Case kCases[] = {{"3M", "bad-unit", kMonths},
                             {"3 months", "bad-unit", kMonths},
                             {"3mo", "bad-unit", kMonths},
                             {"30", "missing-unit", "write for example 36h or 7d"},
                             {"1h30", "missing-unit", "write for example 36h or 7d"},
                             {"30 min 1 h", "bad-duration", kOrder},
                             {"1d 2d", "bad-duration", kOrder},
                             {"5 MS", "bad-unit", "did you mean 5ms or 5m or 5s?"},
                             {"1 h and more", "bad-unit", nullptr},
                             {"1 h -30 min", "bad-unit", nullptr},
                             {"5 GB", "bad-unit", nullptr}};
  for (const Case& c : kCases) {
    const auto parsed = parse_duration(c.text, "--deadline");
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_EQ(parsed.error()[0].code, c.code) << c.text;
    if (c.hint != nullptr) {
      EXPECT_EQ(parsed.error()[0].hint, c.hint) << c.text;
    }
  }
}

TEST(ParseCount, ReadsSuffixesAsDecimalPowersCorrectlyRounded) {
  EXPECT_EQ(*parse_count("13B", ""), 13e9);
  EXPECT_EQ(*parse_count("13G", ""), 13e9);
  EXPECT_EQ(*parse_count("6.74B", ""), 6.74e9);
  EXPECT_EQ(*parse_count("1.5T", ""), 1.5e12);
  EXPECT_EQ(*parse_count("4k", ""), 4000);
  EXPECT_EQ(*parse_count("4K", ""), 4000);
  EXPECT_EQ(*parse_count("2e12", ""), 2e12);
  EXPECT_EQ(*parse_count("2e3k", ""), 2e6);
  struct Case {
    const char* text;
    double count;
  };
  constexpr Case kAnyCase[] = {{"13b", 13e9},      {"1.4t", 1.4e12},     {"300bn", 300e9},         {"300BN", 300e9},
                               {"350m", 350e6},    {"13g", 13e9},        {"13Bn", 13e9},           {"20 mn", 20e6},
                               {"2tn", 2e12},      {"13 billion", 13e9}, {"1.4 Trillion", 1.4e12}, {"7 million", 7e6},
                               {"50thousand", 5e4}};
  for (const Case& c : kAnyCase) {
    ASSERT_TRUE(parse_count(c.text, "")) << c.text;
    EXPECT_EQ(*parse_count(c.text, ""), c.count) << c.text;
  }
  for (const char* bad : {"0", "-13B", "13GB", "13GiB", "13bit", "13bb", "13min", "13 %", "13 and a half", "1e400",
                          "1e-400", "nan", "", "13 B B"}) {
    EXPECT_FALSE(parse_count(bad, "")) << bad;
  }
}

TEST(ParseIntegerCount, KeepsEveryDigitUpTo63Bits) {
  EXPECT_EQ(*parse_integer_count("9223372036854775807", ""), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_integer_count("9007199254740993", ""), 9007199254740993);
  EXPECT_EQ(*parse_integer_count("6.74B", ""), 6740000000);
  EXPECT_FALSE(parse_integer_count("9223372036854775808", ""));
  EXPECT_FALSE(parse_integer_count("1.5", ""));
  EXPECT_FALSE(parse_integer_count("0.0001k", ""));
  EXPECT_FALSE(parse_integer_count("0", ""));
}

TEST(ParseLength, CountsTokensInPowersOf1024) {
  struct Case {
    const char* text;
    std::int64_t tokens;
  };
  constexpr Case kCases[] = {{"4k", 4096},     {"4K", 4096},    {"8k", 8192},    {"32k", 32768},
                             {"128k", 131072}, {"1M", 1048576}, {"1m", 1048576}, {"0.5k", 512},
                             {"4 Ki", 4096},   {"4096", 4096},  {"4000", 4000},  {"4e3", 4000}};
  for (const Case& c : kCases) {
    ASSERT_TRUE(parse_length(c.text, "")) << c.text;
    EXPECT_EQ(*parse_length(c.text, ""), c.tokens) << c.text;
  }
  for (const char* bad : {"1.3k", "0k", "-4k", "4kB", "4KiB", "4k tokens", "k", "", "1e300k"}) {
    EXPECT_FALSE(parse_length(bad, "")) << bad;
  }
}

TEST(ParseUsd, ReadsDollarsAndGroups) {
  for (const char* text : {"50000", "$50000", "50,000", "$50,000", "50k", "$50K", "50000.00"}) {
    const auto parsed = parse_usd(text, "--budget");
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->value(), 50000) << text;
  }
  EXPECT_EQ(parse_usd("1,234,567.89", "")->value(), 1234567.89);
  for (const char* bad : {"5,0000", "50,00", ",500", "5000,000", "1,234,56", "$", "$-5", "50 EUR", "$$5"}) {
    EXPECT_FALSE(parse_usd(bad, "")) << bad;
  }
}

TEST(ParseFraction, AcceptsPercentAndPlain) {
  EXPECT_EQ(*parse_fraction("5%", ""), 0.05);
  EXPECT_EQ(*parse_fraction("0.05", ""), 0.05);
  EXPECT_EQ(*parse_fraction("100 %", ""), 1.0);
  EXPECT_EQ(*parse_fraction("0", ""), 0.0);
  EXPECT_EQ(*parse_fraction("5", ""), 0.05) << "no part is 5";
  EXPECT_EQ(*parse_fraction("90", ""), 0.9);
  EXPECT_EQ(*parse_fraction("2.5", ""), 0.025);
  EXPECT_EQ(*parse_fraction("1", ""), 1.0);
  EXPECT_EQ(parse_fraction("1.5", "").error()[0].hint, "write 1.5% for a percentage");
  for (const char* bad : {"101%", "101", "1.01", "1.9", "-5%", "5%%", "x", ""})
    EXPECT_FALSE(parse_fraction(bad, "")) << bad;
}

TEST(Parsers, SurviveAnyBytes) {
  std::mt19937_64 random(7);
  constexpr std::string_view kAlphabet = "0123456789.eE+-,%$kKMGTiBbst/ \t\n\xff\x80";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const std::size_t length = random() % 12;
    for (std::size_t i = 0; i < length; ++i) text += kAlphabet[random() % kAlphabet.size()];
    for (const double value :
         {parse_bytes(text, "").value_or(Bytes(0)).value(), parse_duration(text, "").value_or(Seconds(0)).value(),
          parse_usd(text, "").value_or(Usd(0)).value(), parse_count(text, "").value_or(1),
          parse_fraction(text, "").value_or(0)}) {
      EXPECT_TRUE(std::isfinite(value) && value >= 0) << text;
    }
  }
}

TEST(FormatBytes, ShowsThreeDigitsInTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(512)), "512 B");
  EXPECT_EQ(format_bytes(Bytes(1536)), "1.50 KiB");
  EXPECT_EQ(format_bytes(gib(61.2)), "61.2 GiB");
  EXPECT_EQ(format_bytes(gib(999.4)), "999 GiB");
  EXPECT_EQ(format_bytes(gib(1000)), "0.977 TiB");
  EXPECT_EQ(format_bytes(gib(-2)), "-2.00 GiB");
}

TEST(FormatDuration, ReadsAsAPersonWouldSay) {
  EXPECT_EQ(format_duration(Seconds(0)), "0 s");
  EXPECT_EQ(format_duration(microseconds(12.34)), "12.3 us");
  EXPECT_EQ(format_duration(Seconds(0.9999)), "1.00 s");
  EXPECT_EQ(format_duration(Seconds(93)), "93.0 s");
  EXPECT_EQ(format_duration(Seconds(150)), "2.50 min");
  EXPECT_EQ(format_duration(hours(36)), "36.0 h");
  EXPECT_EQ(format_duration(days(10.9)), "10.9 d");
  EXPECT_EQ(format_duration(days(12345)), "12,300 d");
}

TEST(FormatUsd, RoundsToThreeDigitsAndGroups) {
  EXPECT_EQ(format_usd(Usd(49321)), "$49,300");
  EXPECT_EQ(format_usd(Usd(0)), "$0");
  EXPECT_EQ(format_usd(Usd(1.005)), "$1.00");
  EXPECT_EQ(format_usd(Usd(0.01234)), "$0.0123");
  EXPECT_EQ(format_usd(Usd(-120)), "-$120");
  EXPECT_EQ(format_usd(Usd(999400)), "$999,000");
  EXPECT_EQ(format_usd(Usd(999600)), "$1M");
  EXPECT_EQ(format_usd(Usd(1234567)), "$1.23M");
  EXPECT_EQ(format_usd_per_hour(usd_per_hour(412)), "$412/h");
}

TEST(FormatCount, LooksLikeAModelName) {
  EXPECT_EQ(format_count(13e9), "13B");
  EXPECT_EQ(format_count(6.738e9), "6.74B");
  EXPECT_EQ(format_count(350e6), "350M");
  EXPECT_EQ(format_count(4096), "4096");
  EXPECT_EQ(format_count(999.96e6), "1B");
  EXPECT_EQ(format_count(1.5e12), "1.5T");
}

TEST(Formatters, RatesAndShares) {
  EXPECT_EQ(format_bandwidth(gbit_per_s(3200)), "400 GB/s");
  EXPECT_EQ(format_flops_rate(tflops(312)), "312 TFLOP/s");
  EXPECT_EQ(format_flops_rate(tflops(2500)), "2.50 PFLOP/s");
  EXPECT_EQ(format_percent(0.431), "43.1%");
  EXPECT_EQ(format_percent(1), "100.0%");
  EXPECT_EQ(format_percent(0.0001), "<0.1%");
  EXPECT_EQ(format_percent(0), "0.0%");
}

TEST(Formatters, SizesTakeTheNextUnitAtAThousand) {
  const double kSteps[] = {1024, 1048576, 1073741824, 1099511627776};
  const char* kUnits[] = {" KiB", " MiB", " GiB", " TiB"};
  EXPECT_EQ(format_bytes(Bytes(999.4)), "999 B");
  EXPECT_EQ(format_bytes(Bytes(999.6)), "0.976 KiB");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(format_bytes(Bytes(kSteps[i])), std::string("1.00") + kUnits[i]);
    EXPECT_EQ(format_bytes(Bytes(999.4 * kSteps[i])), std::string("999") + kUnits[i]);
    EXPECT_EQ(format_bytes(Bytes(999.6 * kSteps[i])), i < 3 ? std::string("0.976") + kUnits[i + 1] : "0.976 PiB");
  }
}

TEST(Formatters, DurationsTakeTheNextUnitWhereItSaysMore) {
  const std::pair<double, const char*> kDurations[] = {
      {999.4e-6, "999 us"},    {999.6e-6, "1.00 ms"}, {0.9994, "999 ms"},      {0.9996, "1.00 s"},
      {119.4, "119 s"},        {119.6, "1.99 min"},   {119.4 * 60, "119 min"}, {119.6 * 60, "1.99 h"},
      {47.9 * 3600, "47.9 h"}, {48 * 3600, "2.00 d"}};
  for (const auto& [seconds, text] : kDurations) EXPECT_EQ(format_duration(Seconds(seconds)), text);
}

/// A figure goes on to the next unit where it would be shown as 1000 of the last.
TEST(Formatters, RatesTakeTheNextUnitAtAThousand) {
  const std::pair<double, const char*> kFlopRates[] = {
      {999, "999 FLOP/s"},        {999e9, "999 GFLOP/s"},    {999.6e9, "1.00 TFLOP/s"}, {999.4e12, "999 TFLOP/s"},
      {999.6e12, "1.00 PFLOP/s"}, {999.4e15, "999 PFLOP/s"}, {999.6e15, "1.00 EFLOP/s"}};
  for (const auto& [rate, text] : kFlopRates) EXPECT_EQ(format_flops_rate(FlopsPerSecond(rate)), text);
  const std::pair<double, const char*> kBandwidths[] = {
      {999.4, "999 B/s"},    {999.6, "1.00 kB/s"},   {999.4e3, "999 kB/s"}, {999.6e3, "1.00 MB/s"},
      {999.4e6, "999 MB/s"}, {999.6e6, "1.00 GB/s"}, {999.4e9, "999 GB/s"}, {999.6e9, "1.00 TB/s"}};
  for (const auto& [rate, text] : kBandwidths) EXPECT_EQ(format_bandwidth(BytesPerSecond(rate)), text);
}

TEST(FormatShortest, ReadsBackToTheSameDouble) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 100000; ++round) {
    const auto x = std::bit_cast<double>(random());
    if (!std::isfinite(x)) continue;
    const std::string text = format_shortest(x);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(back, x) << text;
  }
  EXPECT_EQ(format_shortest(8), "8");
  EXPECT_EQ(format_shortest(0.1), "0.1");
  EXPECT_EQ(format_shortest(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
}

TEST(Formatters, ParseBackWithinRounding) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 2000; ++round) {
    const double size =
        std::exp2(static_cast<double>(random() % 48)) * (1 + static_cast<double>(random() % 1000) / 1000);
    const auto bytes = parse_bytes(format_bytes(Bytes(size)), "");
    ASSERT_TRUE(bytes) << format_bytes(Bytes(size));
    EXPECT_NEAR(bytes->value() / size, 1, 0.006) << format_bytes(Bytes(size));
    const auto time = parse_duration(format_duration(Seconds(std::min(size, 1e7) * 1e-6)), "");
    ASSERT_TRUE(time);
    EXPECT_NEAR(time->value() / (std::min(size, 1e7) * 1e-6), 1, 0.006);
  }
}

}  // namespace
}  // namespace smplan
