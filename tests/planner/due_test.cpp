#include "planner/request/due.hpp"

#include <gtest/gtest.h>

#include "tests/support/environment.hpp"

namespace smplan {
namespace {

using test::EnvironmentVariable;

Instant at(std::string_view text) { return *instant_of(*parse_civil_time(text, ""), text, ""); }

struct Case {
  const char* zone;
  const char* now;
  const char* text;
  const char* due;
  double hours;
};

TEST(Due, IsTheInstantThatPeopleMeanInTheirZone) {
  constexpr const char* kCalifornia = "America/Los_Angeles";
  constexpr const char* kBerlin = "Europe/Berlin";
  constexpr Case kCases[] = {
      {kCalifornia, "2026-11-26T17:00-08:00", "Friday", "2026-11-27 24:00 UTC-08:00", 31},
      {kBerlin, "2026-11-26T17:00-08:00", "Friday", "2026-12-04 24:00 UTC+01:00", 190},
      {"UTC", "2026-11-26T17:00Z", "fri", "2026-11-27 24:00 UTC+00:00", 31},
      {"UTC", "2026-11-26T17:00Z", "FRIDAY", "2026-11-27 24:00 UTC+00:00", 31},
      {"UTC", "2026-11-26T17:00Z", "thurs", "2026-12-03 24:00 UTC+00:00", 175},
      {"UTC", "2026-11-26T17:00Z", "today", "2026-11-26 24:00 UTC+00:00", 7},
      {"UTC", "2026-11-26T17:00Z", "Tomorrow", "2026-11-27 24:00 UTC+00:00", 31},
      {"UTC", "2026-11-26T17:00Z", "Friday 12:30", "2026-11-27 12:30 UTC+00:00", 19.5},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04", "2026-12-04 24:00 UTC+01:00", 199},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04T17:00", "2026-12-04 17:00 UTC+01:00", 192},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04 17:00", "2026-12-04 17:00 UTC+01:00", 192},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04t17:00z", "2026-12-04 18:00 UTC+01:00", 193},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04T17:00-08:00", "2026-12-05 02:00 UTC+01:00", 201},
      {kBerlin, "2026-11-26T17:00+01:00", "2026-12-04T17:00:30-0800", "2026-12-05 02:00 UTC+01:00", 201 + 30 / 3600.0},
      // Days of 23 and 25 hours: the clocks change on 2027-03-14 and 2026-11-01, in Europe on 2027-03-28 and
      // 2026-10-25.
      {kCalifornia, "2027-03-13T12:00-08:00", "Sunday", "2027-03-14 24:00 UTC-07:00", 35},
      {kCalifornia, "2026-10-31T12:00-07:00", "Sunday", "2026-11-01 24:00 UTC-08:00", 37},
      {kBerlin, "2027-03-27T12:00+01:00", "Sunday", "2027-03-28 24:00 UTC+02:00", 35},
      {kBerlin, "2026-10-24T12:00+02:00", "Sunday", "2026-10-25 24:00 UTC+01:00", 37},
      {kBerlin, "2027-03-27T12:00+01:00", "2027-03-28T04:00", "2027-03-28 04:00 UTC+02:00", 15},
      // In Chile the clocks jump over midnight: the day ends as they jump.
      {"America/Santiago", "2026-09-05T12:00-04:00", "today", "2026-09-06 01:00 UTC-03:00", 12},
  };
  for (const Case& c : kCases) {
    const EnvironmentVariable zone("TZ", c.zone);
    ASSERT_TRUE(names_a_day(c.text)) << c.text;
    const auto due = parse_due(c.text, "--deadline", at(c.now));
    ASSERT_TRUE(due) << c.zone << ' ' << c.text << ": " << to_string(due.error());
    EXPECT_EQ(to_string(*due), c.due) << c.zone << ' ' << c.now << ' ' << c.text;
    EXPECT_DOUBLE_EQ(static_cast<double>((due->at - due->ordered).count()) / 3600, c.hours) << c.zone << ' ' << c.text;
  }
}

TEST(Due, RefusesWhatIsNoDayOrIsOver) {
  struct Refusal {
    const char* text;
    const char* code;
    const char* message;
    const char* hint;
  };
  constexpr const char* kForms = "write 2026-12-04, 2026-12-04T17:00 or 2026-12-04T17:00-08:00";
  constexpr Refusal kCases[] = {
      {"2026-02-30", "no-such-time", "'2026-02-30': this day does not exist; the month has 28 days", kForms},
      {"2026-13-01", "no-such-time", "'2026-13-01': there is no month 13", kForms},
      {"2026-12-00", "no-such-time", "'2026-12-00': this day does not exist; the month has 31 days", kForms},
      {"2026-12-04T25:00", "no-such-time", "'2026-12-04T25:00': this time of day does not exist", kForms},
      {"2026-12-04T17:60", "no-such-time", "'2026-12-04T17:60': this time of day does not exist", kForms},
      {"2026-12-04T17", "bad-date", "'2026-12-04T17' is no date", kForms},
      {"2026-12-04T17:00+99:00", "bad-date", "'2026-12-04T17:00+99:00' is no date", kForms},
      {"2026-12-04T17:00 PST", "bad-date", "'2026-12-04T17:00 PST' is no date", kForms},
      {"2026/12/04", "bad-date", "'2026/12/04' is no date", kForms},
      {"4.12.2026", "bad-date", "'4.12.2026' is no date", kForms},
      {"12/04/2026", "bad-date", "'12/04/2026' is no date", kForms},
      {"17:00", "bad-date", "'17:00' is no date", kForms},
      {"2026-12", "bad-date", "'2026-12' is no date", kForms},
      {"Frieday", "bad-deadline", "'Frieday' is neither a duration nor a day", "did you mean friday?"},
      {"whenever it suits", "bad-deadline", "'whenever it suits' is neither a duration nor a day",
       "write for example 36h, 7d, Friday or 2026-12-04T17:00"},
      {"2026-11-25", "out-of-range",
       "'2026-11-25' is over: 2026-11-25 24:00 UTC-08:00 is before now, 2026-11-26 17:00 UTC-08:00",
       "give a later time"},
      {"today 09:00", "out-of-range",
       "'today 09:00' is over: 2026-11-26 09:00 UTC-08:00 is before now, 2026-11-26 17:00 UTC-08:00",
       "give a later time"},
      {"2027-03-14T02:30", "no-such-time", "'2027-03-14T02:30': the clocks jump over this time",
       "write another time, or one with its offset from UTC such as 2026-12-04T17:00-08:00"},
      {"2027-11-07T01:30", "ambiguous", "'2027-11-07T01:30': the clocks show this time twice",
       "write 2027-11-07T01:30-07:00 or 2027-11-07T01:30-08:00"},
  };
  const EnvironmentVariable zone("TZ", "America/Los_Angeles");
  for (const Refusal& c : kCases) {
    ASSERT_TRUE(names_a_day(c.text)) << c.text;
    const auto due = parse_due(c.text, "--deadline", at("2026-11-26T17:00-08:00"));
    ASSERT_FALSE(due) << c.text;
    EXPECT_EQ(due.error().front(), (Diagnostic{c.code, "--deadline", c.message, c.hint}));
  }
}

TEST(Due, DurationsAreNoDays) {
  for (const char* text : {"36h", "7d", "1 h 30 min", "2 weeks", "0.5d", "1e3s", "-7d", "", " "}) {
    EXPECT_FALSE(names_a_day(text)) << text;
  }
}

TEST(Due, TellsTheLocalDayOfAnEnd) {
  const EnvironmentVariable zone("TZ", "America/Los_Angeles");
  const Due due{at("2026-11-26T17:00-08:00"), {}, false};
  EXPECT_EQ(day_after_order(due, 6 * 3600), "2026-11-26");
  EXPECT_EQ(day_after_order(due, 8 * 3600), "2026-11-27");
  EXPECT_EQ(day_after_order(due, 1e300).substr(0, 1), "5") << "some thousand years, not undefined";
}

}  // namespace
}  // namespace smplan
