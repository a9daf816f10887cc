#include "cli/options.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "cli/interface/description.hpp"
#include "cli/output.hpp"

namespace smplan::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What the user of the tests has downloaded has no part in them.
[[maybe_unused]] const int kWithoutCache = setenv("SMPLAN_NO_CACHE", "1", 1);

/// Options of a command whose answer goes to a file, so that no terminal has a say.
CommonOptions to_file() {
  CommonOptions options;
  options.output = "answer.txt";
  return options;
}

TEST(MakeContext, TakesFormatsInAnyCase) {
  CommonOptions options = to_file();
  EXPECT_EQ(make_context(options, {})->format, Format::Table);
  options.format = "JSON";
  EXPECT_EQ(make_context(options, {})->format, Format::Json);
  options.format = "csv";
  EXPECT_EQ(make_context(options, {})->format, Format::Csv);
  options.format = "Markdown";
  EXPECT_EQ(make_context(options, {})->format, Format::Markdown);
  EXPECT_EQ(make_context(options, {})->format_name, "markdown");
}

TEST(MakeContext, TakesACommandsOwnFormats) {
  const Formats own{{"lines", "page"}, "page"};
  CommonOptions options = to_file();
  EXPECT_EQ(make_context(options, own)->format_name, "lines");  // a file is no terminal
  options.format = "page";
  EXPECT_EQ(make_context(options, own)->format_name, "page");
  EXPECT_EQ(make_context(options, own)->format, Format::Table);
  options.format = "table";
  const Result<Context> refused = make_context(options, own);
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().size(), 1U);
  EXPECT_EQ(to_string(refused.error()[0]), "--format: unknown format 'table' (known: lines, page)");
}

TEST(MakeContext, CollectsEveryFault) {
  CommonOptions options = to_file();
  options.format = "xml";
  options.color = "red";
  options.catalogs = {"nowhere.json"};
  options.calibrations = {"none.json", "none either.json"};
  const Result<Context> refused = make_context(options, {});
  ASSERT_FALSE(refused);
  std::vector<std::string> places;
  for (const Diagnostic& d : refused.error()) places.push_back(d.location);
  EXPECT_THAT(places, ElementsAre("--format", "--color", "nowhere.json", "none.json", "none either.json"));
}

TEST(MakeContext, ColoursWhatIsAskedFor) {
  CommonOptions options = to_file();
  EXPECT_FALSE(make_context(options, {})->style.color);
  options.color = "always";
  EXPECT_TRUE(make_context(options, {})->style.color);
  options.color = "never";
  EXPECT_FALSE(make_context(options, {})->style.color);
}

TEST(MakeContext, KeepsWhereTheAnswerGoesAndHowLoud) {
  CommonOptions options = to_file();
  options.quiet = true;
  const Result<Context> context = make_context(options, {});
  EXPECT_EQ(context->output, "answer.txt");
  EXPECT_TRUE(context->quiet);
  options.quiet = false;
  EXPECT_FALSE(make_context(options, {})->quiet);
}

TEST(MakeContext, TakesTheWidthOfStandardOutputFromColumns) {
  const auto width = [](const char* columns, const CommonOptions& options) {
    setenv("COLUMNS", columns, 1);
    const int found = make_context(options, {})->style.width;
    unsetenv("COLUMNS");
    return found;
  };
  CommonOptions shown;
  shown.format = "table";
  EXPECT_EQ(width("72", shown), 72);
  EXPECT_EQ(width("1", shown), 1);
  EXPECT_EQ(width("100000", shown), 100000);
  EXPECT_EQ(width("72", to_file()), 0);
}

TEST(DescribeArguments, TellsSwitchesValuesAndPositionals) {
  CLI::App app("about", "made up");
  CommonOptions options;
  std::string word;
  std::vector<std::string> words;
  bool on = false;
  app.add_option("where", word, "A place")->required()->type_name("PLACE");
  app.add_option("more", words, "Others");
  app.add_flag("--on,-o", on, "Switch")->group("Knobs");
  Flags flags(app);
  add_common_options(flags, options, {{"a", "b"}, "b"});
  std::string text;
  for (const ArgumentHelp& a : describe_arguments(app)) {
    std::string names;
    for (const std::string& name : a.names) names += name + ' ';
    text += names + '|' + a.type + '|' + a.text + '|' + a.group + (a.positional ? "|positional" : "") +
            (a.required ? "|required" : "") + (a.repeats ? "|repeats" : "") + (a.takes_value() ? "|value" : "") + '\n';
  }
  EXPECT_EQ(
      text,
      "--help -h ||Print this help message and exit|\n"
      "where |PLACE|A place||positional|required|value\n"
      "more |TEXT|Others||positional|repeats|value\n"
      "--on -o ||Switch|Knobs\n"
      "--format |a|b|How to print the answer [a; on a terminal b]|Output and data|value\n"
      "--output |FILE|Write the answer to FILE, whole or not at all [- is standard output]|Output and data|value\n"
      "--quiet ||No notes on standard error, only faults|Output and data\n"
      "--color |auto|always|never|Colour in tables [auto: on a terminal, unless NO_COLOR is set]|Output and "
      "data|value\n"
      "--catalog |FILE|Facts that add to or replace the shipped ones; may be repeated|Output and "
      "data|repeats|value\n"
      "--calibration |FILE|Fitted profiles that replace the shipped ones; may be repeated|Output and "
      "data|repeats|value\n"
      "--price |TYPE=USD|A price of your own in USD an hour: ml.p5.48xlarge=38, ml.p5.48xlarge@eu-west-1=41/spot; may "
      "be repeated|Output and data|repeats|value\n"
      "--discount |PART|What your contract takes off all other prices, e.g. 12%|Output and data|value\n"
      "--no-cache ||Without the facts that `smplan catalog refresh` downloaded|Output and data\n");
}

TEST(FitForDisplay, EscapesByTheFormat) {
  const std::string text = "\"a\x01\"";
  for (const char* json : {"json", "jsonl", "sarif"}) EXPECT_EQ(fit_for_display(text, json), "\"a\\u0001\"") << json;
  for (const char* page : {"table", "text", "markdown"}) EXPECT_EQ(fit_for_display(text, page), "\"a?\"") << page;
  for (const char* own : {"csv", "github", "script"}) EXPECT_EQ(fit_for_display(text, own), text) << own;
}

TEST(NamesFolder, UnlessTheFirstFileAloneIsNamed) {
  EXPECT_FALSE(names_folder("-", "job.json"));
  EXPECT_FALSE(names_folder("no-such-folder/other.json", "job.json"));
  EXPECT_TRUE(names_folder("no-such-folder/job", "job.json"));
  EXPECT_TRUE(names_folder("no-such-folder/job.txt", "job.json"));
  EXPECT_TRUE(names_folder(testing::TempDir(), "job.json"));
}

}  // namespace
}  // namespace smplan::cli
