#include "cli/refresh/refresh.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "base/json_stream.hpp"
#include "base/json_writer.hpp"
#include "base/units.hpp"
#include "catalogs/import/import.hpp"
#include "catalogs/published.hpp"
#include "catalogs/refreshed_facts.hpp"
#include "cli/refresh/program.hpp"
#include "cli/refresh/store.hpp"
#include "cli/render/listing.hpp"
#include "cli/request_options.hpp"

namespace smplan::cli {
namespace {

constexpr const char* kProgram = "aws";
/// No pager and no questions, whatever the user's settings say.
const std::vector<std::string> kProgramVariables = {"AWS_PAGER=", "AWS_CLI_AUTO_PROMPT=off"};
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{4} << 20;
constexpr const char* kEveryRegion = "all";
constexpr const char* kFolder = "downloads";

/// One file of the cache that is to be fetched.
struct Wanted {
  std::string name;  ///< `offers.us-east-1.json`
  std::string what, region;
  std::string source;  ///< URL or command
  std::string holds;
  std::uint64_t max_bytes = 0;
  std::vector<std::string> arguments;  ///< of a command; empty: a URL
};

std::string name_of(const std::string& what, const std::string& region, const std::string& instance = {}) {
  std::string name = what;
  for (const std::string& part : {region, instance}) name += part.empty() ? "" : "." + part;
  return name + ".json";
}

/// `offers` of `offers.us-east-1.json`.
std::string source_name(const std::string& file) { return file.substr(0, file.find('.')); }

std::string region_part(const std::string& file) {
  const std::size_t begin = file.find('.') + 1;
  const std::size_t end = file.find('.', begin);
  return end == std::string::npos ? std::string() : file.substr(begin, end - begin);
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

/// `2026-11-28T09:30:00Z`: the command line of AWS takes no word for now.
std::string utc_text(Instant instant) {
  const std::chrono::hh_mm_ss time(instant - std::chrono::floor<std::chrono::days>(instant));
  return fmt::format("{}T{:02}:{:02}:{:02}Z", utc_date(instant), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

/// How far a download is, where a person watches; the line is wiped when it ends.
class ProgressLine {
 public:
  ProgressLine(std::string about, bool shown) : about_(std::move(about)), shown_(shown) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() {
    if (written_) std::fputs("\r\033[K", stderr);
  }
  void show(std::uint64_t here, std::uint64_t all) {
    constexpr double kStep = 0.2;
    const double time = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    if (!shown_ || time - last_ < kStep) return;
    last_ = time;
    written_ = true;
    const std::string size = here > 0 ? ": " + megabytes(here) : std::string();
    const std::string of = all > 0 ? " of " + megabytes(all) : std::string();
    std::fputs(fmt::format("\r\033[K{}{}{}", about_, size, of).c_str(), stderr);
  }

 private:
  std::string about_;
  bool shown_;
  bool written_ = false;
  double last_ = 0;
};

/// How many places a document has that match the pattern; the whole of it is read.
Result<std::size_t> count_places(const std::string& path, const std::string& pattern) {
  std::ifstream in(path, std::ios::binary);
  std::size_t count = 0;
  const Result<void> read = stream_json(in, path, {pattern}, [&count](const JsonPiece&) {
    ++count;
    return Diagnostics{};
  });
  if (!read) return tl::unexpected<Diagnostics>(read.error());
  return count;
}

/// Faults of a downloaded file are those of its source: the path of a part says nothing to a reader.
Diagnostics at_source(Diagnostics faults, const std::string& path, const std::string& source) {
  for (Diagnostic& fault : faults) {
    if (fault.location.starts_with(path)) fault.location = source + fault.location.substr(path.size());
  }
  return faults;
}

class Refresh {
 public:
  Refresh(const RefreshQuestion& question, const Context& context, PublishedSources sources, Catalog shipped)
      : question_(question),
        context_(context),
        sources_(std::move(sources)),
        shipped_(std::move(shipped)),
        store_(question.cache / kFolder),
        today_(today()) {}

  Result<Answer> run();

 private:
  struct Row {
    std::string what, region, state, on;
    std::uint64_t bytes = 0;
  };
  /// What could not be had, with why and how to get it by hand.
  struct LeftOut {
    std::string what, reason, command;
    std::size_t count = 0;
  };

  Result<void> check_names() const;
  [[nodiscard]] bool asked(const std::string& what) const;
  [[nodiscard]] bool asked_by_name(const std::string& what) const;
  Result<std::vector<RegionFile>> region_index(const PublishedFile& file);
  Result<void> choose_regions();
  void add_by_region(const PublishedFile& file);
  void add_command(const PublishedCommand& command);
  [[nodiscard]] std::string url_of(const PublishedFile& file, const std::string& path) const;
  [[nodiscard]] HttpLimits limits(std::uint64_t max_bytes) const;
  [[nodiscard]] bool watched() const { return !context_.quiet && isatty(STDERR_FILENO) == 1; }

  void download(const Wanted& wanted);
  void ask(const std::string& program, const Wanted& wanted);
  void ask_all();
  /// The part as a file of the cache, if it is what it should be; whether it holds anything.
  Result<bool> accept(const Wanted& wanted, PartBody& body, const Version& version);
  void leave_out(const Wanted& wanted, const std::string& reason);
  void add_row(const Wanted& wanted, const std::string& state);

  /// Files of the cache in the order of their import, those of earlier calls among them.
  std::vector<StoredFile> usable_files();
  [[nodiscard]] int savings_plan_years() const;
  Result<Answer> write();
  Answer answer_of(const ImportedFacts& facts, const Catalog& after);
  Diagnostics with_what_stays(Diagnostics faults) const;

  const RefreshQuestion& question_;
  const Context& context_;
  PublishedSources sources_;
  Catalog shipped_;
  Store store_;
  std::string today_;
  std::vector<std::string> regions_;
  std::map<std::string, std::vector<RegionFile>> indexes_;
  std::vector<Wanted> downloads_, questions_;
  std::set<std::string> unreachable_;  ///< hosts
  std::vector<Row> rows_;
  std::vector<LeftOut> left_out_;
  std::vector<std::string> notes_;
  Diagnostics faults_;
};

bool Refresh::asked_by_name(const std::string& what) const {
  return std::find(question_.what.begin(), question_.what.end(), what) != question_.what.end();
}

bool Refresh::asked(const std::string& what) const { return question_.what.empty() || asked_by_name(what); }

Result<void> Refresh::check_names() const {
  Diagnostics faults;
  if (!question_.mirror.empty()) {
    const Result<void> mirror = check_mirror(question_.mirror, question_.allow_http);
    if (!mirror) faults = mirror.error();
  }
  const std::vector<std::string> known = sources_.names();
  for (const std::string& what : question_.what) {
    if (std::find(known.begin(), known.end(), what) == known.end()) {
      faults.push_back(unknown_name("source", what, "--what", known));
    }
  }
  for (const std::string& region : question_.regions) {
    if (region != kEveryRegion && !is_region_name(region)) {
      faults.push_back(
          {"bad-region", "--region", fmt::format("{} is no region", quote(region)), "write for example us-east-1"});
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return {};
}

std::string Refresh::url_of(const PublishedFile& file, const std::string& path) const {
  std::string base = question_.mirror.empty() ? file.host : question_.mirror;
  while (base.ends_with('/')) base.pop_back();
  return base + path;
}

HttpLimits Refresh::limits(std::uint64_t max_bytes) const {
  HttpLimits limits;
  limits.max_bytes = max_bytes;
  if (question_.timeout) limits.total = *question_.timeout;
  limits.allow_http = question_.allow_http;
  return limits;
}

Result<std::vector<RegionFile>> Refresh::region_index(const PublishedFile& file) {
  if (const auto known = indexes_.find(file.name); known != indexes_.end()) return known->second;
  const std::string url = url_of(file, file.region_index);
  TextBody body;
  const Result<Fetched> fetched = http_get(url, {}, limits(kMostIndexBytes), body);
  if (!fetched) return tl::unexpected<Diagnostics>(fetched.error());
  Result<std::vector<RegionFile>> index = read_region_index(body.text(), url);
  if (index) indexes_.emplace(file.name, *index);
  return index;
}

/// As asked; else where the catalog has on-demand prices and where the user works.
Result<void> Refresh::choose_regions() {
  std::set<std::string> regions(question_.regions.begin(), question_.regions.end());
  if (regions.erase(kEveryRegion) > 0) {
    const auto listed = std::find_if(sources_.files.begin(), sources_.files.end(),
                                     [](const PublishedFile& f) { return f.by_region(); });
    if (listed == sources_.files.end()) return {};
    const Result<std::vector<RegionFile>> index = region_index(*listed);
    if (!index) return tl::unexpected<Diagnostics>(index.error());
    for (const RegionFile& file : *index) regions.insert(file.region);
  } else if (regions.empty()) {
    for (const Price& price : shipped_.prices()) {
      if (price.market == Market::OnDemand) regions.insert(price.region);
    }
    if (const auto region = environment_region(); region && is_region_name(*region)) regions.insert(*region);
  }
  regions_.assign(regions.begin(), regions.end());
  return {};
}

void Refresh::add_by_region(const PublishedFile& file) {
  const Result<std::vector<RegionFile>> index = region_index(file);
  if (!index) {
    faults_.insert(faults_.end(), index.error().begin(), index.error().end());
    if (index.error().front().code == "unreachable") unreachable_.insert(host_of(url_of(file, "/")));
    return;
  }
  std::vector<std::string> known;
  for (const RegionFile& entry : *index) known.push_back(entry.region);
  for (const std::string& region : regions_) {
    const auto entry =
        std::find_if(index->begin(), index->end(), [&](const RegionFile& f) { return f.region == region; });
    if (entry != index->end()) {
      downloads_.push_back(
          {name_of(file.name, region), file.name, region, url_of(file, entry->path), file.holds, file.max_bytes, {}});
    } else if (!question_.regions.empty() && file.needs.empty()) {
      faults_.push_back(unknown_name("region", region, "--region", known));
    } else {
      notes_.push_back(fmt::format("{}: AWS lists no file of {}", file.name, region));
    }
  }
}

void Refresh::add_command(const PublishedCommand& command) {
  std::vector<std::string> instances = {""};
  if (command.by_instance()) {
    instances.clear();
    for (const InstanceType& type : shipped_.instances()) {
      if (type.training_plan) instances.push_back(type.name);
    }
  }
  const std::string now_text = utc_text(now());
  for (const std::string& region : regions_) {
    for (const std::string& instance : instances) {
      const InstanceType* type = instance.empty() ? nullptr : shipped_.find_instance(instance);
      if (type != nullptr && !type->regions.empty() &&
          std::find(type->regions.begin(), type->regions.end(), region) == type->regions.end()) {
        continue;
      }
      std::vector<std::string> arguments = command.arguments;
      const std::map<std::string, std::string> stands_for = {
          {"{region}", region}, {"{instance}", instance}, {"{now}", now_text}};
      for (std::string& argument : arguments) {
        if (const auto value = stands_for.find(argument); value != stands_for.end()) argument = value->second;
      }
      questions_.push_back({name_of(command.name, region, instance), command.name, region,
                            command_line(kProgram, arguments), command.holds, command.max_bytes, arguments});
    }
  }
}

void Refresh::add_row(const Wanted& wanted, const std::string& state) {
  const auto file = store_.find(wanted.name);
  rows_.push_back({wanted.name, wanted.region, state, file ? file->on : "", file ? file->bytes : 0});
}

Result<bool> Refresh::accept(const Wanted& wanted, PartBody& body, const Version& version) {
  if (const Result<void> finished = body.finish(); !finished) return tl::unexpected<Diagnostics>(finished.error());
  const std::string part = store_.part(wanted.name);
  const auto refused = [&](Diagnostics faults) {
    store_.drop_part(wanted.name);
    return tl::unexpected<Diagnostics>(at_source(std::move(faults), part, wanted.source));
  };
  // An empty list of offers is an answer too, but no file that an import knows.
  const Result<std::size_t> places = count_places(part, wanted.holds);
  if (places && *places == 0 && !wanted.arguments.empty()) {
    store_.drop_part(wanted.name);
    store_.drop(wanted.name);  // what was on offer before is no more
    return false;
  }
  ImportOptions options;
  options.as_of = today_;
  options.may_be_empty = true;
  const Result<ImportedFacts> facts = import_files({part}, shipped_, options);
  if (!facts) return refused(facts.error());
  if (!places) return refused(places.error());
  if (*places == 0) {
    return refused({{"wrong-document", part, fmt::format("is no file of {}: it has no {}", wanted.what, wanted.holds),
                     "check what a proxy or mirror makes of it"}});
  }
  const Result<void> kept = store_.commit({wanted.name, wanted.source, version, today_, body.size()});
  if (!kept) return tl::unexpected<Diagnostics>(kept.error());
  return true;
}

void Refresh::download(const Wanted& wanted) {
  if (unreachable_.contains(host_of(wanted.source))) return;
  const auto known = store_.find(wanted.name);
  PartBody body(store_, wanted.name, wanted.source);
  // What broke off is continued, and not asked for again.
  const bool same = known && known->source == wanted.source && body.held() == 0;
  ProgressLine line(fmt::format("{} {}", wanted.what, wanted.region), watched());
  const Result<Fetched> fetched =
      http_get(wanted.source, same ? known->version : Version(), limits(wanted.max_bytes), body,
               [&line](std::uint64_t here, std::uint64_t all) { line.show(here, all); });
  Diagnostics faults;
  if (!fetched) {
    faults = fetched.error();
    if (faults.front().code == "unreachable") unreachable_.insert(host_of(wanted.source));
    if (faults.front().code == "too-large") store_.drop_part(wanted.name);
  } else if (fetched->unchanged) {
    StoredFile file = *known;
    file.on = today_;
    const Result<void> begun = store_.begin();
    const Result<void> kept = begun ? store_.set_facts(file) : begun;
    if (!kept) faults = kept.error();
    if (kept) add_row(wanted, "unchanged");
  } else {
    const Result<bool> accepted = accept(wanted, body, fetched->version);
    if (!accepted) faults = accepted.error();
    if (accepted) add_row(wanted, "new");
  }
  faults_.insert(faults_.end(), faults.begin(), faults.end());
}

void Refresh::leave_out(const Wanted& wanted, const std::string& reason) {
  const auto same = std::find_if(left_out_.begin(), left_out_.end(),
                                 [&](const LeftOut& l) { return l.what == wanted.what && l.reason == reason; });
  if (same != left_out_.end()) {
    ++same->count;
  } else {
    left_out_.push_back({wanted.what, reason, wanted.source, 1});
  }
}

void Refresh::ask(const std::string& program, const Wanted& wanted) {
  PartBody body(store_, wanted.name, wanted.source);
  ProgramLimits limits;
  limits.max_bytes = wanted.max_bytes;
  if (question_.timeout) limits.time = *question_.timeout;
  ProgressLine line(wanted.name, watched());
  line.show(0, 0);
  const Result<void> run = run_program(program, wanted.arguments, kProgramVariables, limits, body);
  const Result<bool> accepted = run ? accept(wanted, body, {}) : tl::unexpected<Diagnostics>(run.error());
  if (!run) store_.drop_part(wanted.name);
  if (!accepted) {
    leave_out(wanted, accepted.error().front().message);
  } else {
    add_row(wanted, *accepted ? "new" : "nothing on offer");
  }
}

void Refresh::ask_all() {
  if (questions_.empty()) return;
  const auto program = find_program(kProgram);
  std::string reason;
  if (!program) {
    reason = "there is no program `aws` on PATH";
  } else {
    TextBody said;
    ProgramLimits limits;
    limits.max_bytes = kMostIndexBytes;
    if (question_.timeout) limits.time = *question_.timeout;
    const Result<void> known = run_program(*program, sources_.credentials, kProgramVariables, limits, said);
    if (!known) {
      reason = fmt::format("`{}` {}", command_line(kProgram, sources_.credentials), known.error().front().message);
    }
  }
  for (const Wanted& question : questions_) {
    if (reason.empty()) {
      ask(*program, question);
    } else {
      leave_out(question, reason);
    }
  }
}

std::vector<StoredFile> Refresh::usable_files() {
  const std::string newest = newest_price(shipped_);
  const std::vector<std::string> order = sources_.names();
  std::vector<StoredFile> files;
  for (StoredFile& file : store_.files()) {
    if (std::find(order.begin(), order.end(), source_name(file.name)) == order.end()) continue;
    const bool fresh = std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.what == file.name; });
    if (!fresh && file.on < newest) {
      rows_.push_back({file.name, region_part(file.name), "too old: left out", file.on, file.bytes});
      continue;
    }
    if (!fresh) rows_.push_back({file.name, region_part(file.name), "kept", file.on, file.bytes});
    files.push_back(std::move(file));
  }
  std::stable_sort(files.begin(), files.end(), [&](const StoredFile& a, const StoredFile& b) {
    const auto at = [&](const StoredFile& f) { return std::find(order.begin(), order.end(), source_name(f.name)); };
    return at(a) < at(b);
  });
  return files;
}

/// As asked, else as in the refresh before.
int Refresh::savings_plan_years() const {
  if (question_.savings_plan_years) return *question_.savings_plan_years;
  const Result<JsonValue> before = read_json_file((question_.cache / kRefreshedFile).string());
  const auto refreshed = before ? before->find("refreshed") : std::nullopt;
  const auto years = refreshed ? refreshed->find("savings_plan_years") : std::nullopt;
  Diagnostics ignored;
  return years && years->as_integer(ignored) == 3 ? 3 : 1;
}

Diagnostics Refresh::with_what_stays(Diagnostics faults) const {
  const std::string path = (question_.cache / kRefreshedFile).string();
  std::error_code error;
  std::string used =
      fmt::format("is not written: the shipped prices are used, the newest of {}", newest_price(shipped_));
  if (std::filesystem::exists(path, error)) used = "stays as it was";
  if (context_.refreshed && context_.refreshed->path == path) used += ", of " + context_.refreshed->on;
  faults.push_back({"not-refreshed", path, used, ""});
  return faults;
}

Answer Refresh::answer_of(const ImportedFacts& facts, const Catalog& after) {
  Listing listing;
  listing.table.columns = {{"FILE"}, {"REGION"}, {"STATE"}, {"OF"}, {"SIZE", Align::Right}};
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.what < b.what; });
  for (const Row& row : rows_) {
    const std::string size = row.bytes > 0 ? megabytes(row.bytes) : "";
    listing.table.rows.push_back({row.what, row.region, row.state, row.on, size});
    listing.rows.push_back(
        {{"file", row.what}, {"region", row.region}, {"state", row.state}, {"on", row.on}, {"bytes", row.bytes}});
  }
  Answer answer{ExitCode::Done, render(listing, context_), facts.notes};
  answer.notes.insert(answer.notes.end(), notes_.begin(), notes_.end());
  for (const LeftOut& l : left_out_) {
    answer.notes.push_back(fmt::format("{} left out{}: {}; the command: {}", l.what,
                                       l.count > 1 ? fmt::format(" ({} times)", l.count) : "", l.reason, l.command));
  }
  const std::string path = (question_.cache / kRefreshedFile).string();
  answer.notes.push_back(fmt::format("{} prices and {} interruption rates written to {}, {} facts change",
                                     facts.prices.size(), facts.spot.size(), path,
                                     catalog_changes(context_.catalog, after).size()));
  if (question_.own_cache) {
    answer.notes.push_back(
        fmt::format("commands use it with SMPLAN_CACHE={} or --catalog {}", question_.cache.string(), path));
  }
  return answer;
}

Result<Answer> Refresh::write() {
  const std::vector<StoredFile> files = usable_files();
  if (files.empty()) {
    Diagnostics faults;
    for (const LeftOut& l : left_out_) faults.push_back({"left-out", l.what, l.reason, "the command: " + l.command});
    faults.push_back({"nothing-to-import", "catalog refresh", "got nothing", "ask for other sources with --what"});
    return tl::unexpected<Diagnostics>(with_what_stays(std::move(faults)));
  }
  // Nobody else may change the files meanwhile.
  if (const Result<void> locked = store_.begin(); !locked) return tl::unexpected<Diagnostics>(locked.error());
  ImportOptions options;
  options.as_of = today_;
  options.savings_plan_years = savings_plan_years();
  std::vector<std::string> paths;
  Json refreshed;
  refreshed["on"] = today_;
  refreshed["savings_plan_years"] = options.savings_plan_years;
  refreshed["files"] = Json::array();
  for (const StoredFile& file : files) {
    paths.push_back(store_.path(file.name));
    options.origins[paths.back()] = {file.source, file.on};
    refreshed["files"].push_back({{"file", file.name}, {"source", file.source}, {"on", file.on}});
  }
  const Result<ImportedFacts> facts = import_files(paths, shipped_, options);
  if (!facts) return tl::unexpected<Diagnostics>(with_what_stays(facts.error()));
  Json overlay;
  const Json imported = Json::parse(overlay_of(*facts));
  overlay["schema"] = imported["schema"];
  overlay["note"] = "Written by `smplan catalog refresh`; the next one replaces it.";
  overlay["refreshed"] = std::move(refreshed);
  overlay.update(imported);
  const std::string text = overlay.dump(2) + "\n";
  Catalog after = shipped_;
  const Result<JsonValue> document = parse_json(text, "overlay");
  const Result<void> merged = document ? after.merge(*document) : tl::unexpected<Diagnostics>(document.error());
  if (!merged) return tl::unexpected<Diagnostics>(with_what_stays(merged.error()));
  const Result<void> written = write_text_file((question_.cache / kRefreshedFile).string(), text);
  if (!written) return tl::unexpected<Diagnostics>(written.error());
  return answer_of(*facts, after);
}

Result<Answer> Refresh::run() {
  if (const Result<void> named = check_names(); !named) return tl::unexpected<Diagnostics>(named.error());
  if (const Result<void> chosen = choose_regions(); !chosen) {
    return tl::unexpected<Diagnostics>(with_what_stays(chosen.error()));
  }
  for (const PublishedFile& file : sources_.files) {
    if (!asked(file.name)) continue;
    if (unreachable_.contains(host_of(url_of(file, "/")))) continue;
    if (file.by_region()) {
      add_by_region(file);
    } else {
      downloads_.push_back(
          {name_of(file.name, ""), file.name, "", url_of(file, file.path), file.holds, file.max_bytes, {}});
    }
  }
  for (const PublishedCommand& command : sources_.commands) {
    if (asked(command.name)) add_command(command);
  }
  for (const Wanted& wanted : downloads_) download(wanted);
  for (const PublishedFile& file : sources_.files) {
    if (file.needs.empty() || !asked(file.name)) continue;
    for (const std::string& region : regions_) {
      if (!store_.find(name_of(file.name, region)) || store_.find(name_of(file.needs, region))) continue;
      faults_.push_back({"missing-source", "--what",
                         fmt::format("{} of {} say nothing without {}", file.name, region, file.needs),
                         fmt::format("write --what {},{}", file.needs, file.name)});
    }
  }
  if (!faults_.empty()) return tl::unexpected<Diagnostics>(with_what_stays(faults_));
  ask_all();
  for (const LeftOut& l : left_out_) {
    if (!asked_by_name(l.what)) continue;
    faults_.push_back({"left-out", l.what, l.reason, "the command: " + l.command});
  }
  if (!faults_.empty()) return tl::unexpected<Diagnostics>(with_what_stays(faults_));
  return write();
}

}  // namespace

Result<Answer> refresh(const RefreshQuestion& question, const Context& context) {
  if (const Result<void> built_in = http_available(); !built_in) return tl::unexpected<Diagnostics>(built_in.error());
  Result<PublishedSources> sources = PublishedSources::shipped();
  if (!sources) return tl::unexpected<Diagnostics>(sources.error());
  Result<Catalog> shipped = Catalog::shipped();
  if (!shipped) return tl::unexpected<Diagnostics>(shipped.error());
  return Refresh(question, context, std::move(*sources), std::move(*shipped)).run();
}

}  // namespace smplan::cli
