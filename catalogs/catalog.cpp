#include "catalogs/catalog.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/embedded_file.hpp"
#include "base/hash.hpp"
#include "base/words.hpp"
#include "catalogs/model_names.hpp"

namespace smplan {
namespace {

constexpr std::string_view kSchema = "smplan.catalog/1";

void sustain(AcceleratorProfile& profile, const SustainedRate& rate) {
  for (const DeviceParameter& p : device_parameters()) profile.*p.profile = rate.*p.rate;
}

std::string key_of(const Accelerator& a) { return a.key; }
std::string key_of(const InstanceType& i) { return i.name; }
std::string key_of(const Price& p) { return fmt::format("{} {} {}", p.instance, p.region, to_string(p.market)); }
std::string key_of(const ModelPreset& m) { return m.architecture.name; }
std::string key_of(const Stack& s) { return s.id; }
std::string key_of(const StackProfile& p) { return p.stack; }
std::string key_of(const SustainedRate& r) { return r.accelerator; }
std::string key_of(const AcceleratorProfile& p) { return p.accelerator; }
std::string key_of(const FabricProfile& p) { return p.fabric; }
std::string key_of(const ContainerRegistry& r) { return r.key; }
std::string key_of(const Container& c) { return fmt::format("{}:{}", c.repository, c.tag); }
std::string key_of(const OperationFact& f) { return f.key; }
std::string key_of(const StorageService& s) { return s.key; }
std::string key_of(const SpotInterruption& s) { return s.region.empty() ? s.types : s.types + " " + s.region; }
std::string key_of(const Toolkit& t) { return t.key; }
std::string key_of(const FrameworkVersion& v) { return fmt::format("{} {}", v.table, v.version); }

template <typename T>
std::vector<std::string> aliases_of(const T&) {
  return {};
}
std::vector<std::string> aliases_of(const Accelerator& a) { return a.aliases; }
std::vector<std::string> aliases_of(const ModelPreset& m) { return m.aliases; }
std::vector<std::string> aliases_of(const Stack& s) { return s.aliases; }

template <typename T>
std::vector<std::pair<std::string, std::size_t>> sorted_keys(const std::vector<T>& entries) {
  std::vector<std::pair<std::string, std::size_t>> keys;
  keys.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) keys.emplace_back(key_of(entries[i]), i);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Reads one array of a catalog document into `entries`: new keys at the end, known ones in place. An item may hold
/// several entries.
template <typename T, typename Item>
void read_section(ObjectReader& document, std::string_view section, Item (*read_item)(const JsonValue&, Diagnostics&),
                  bool may_replace, std::vector<T>& entries) {
  Diagnostics& out = document.diagnostics();
  const std::vector<JsonValue> items = document.optional_array(section);
  if (items.empty()) return;
  const auto known = sorted_keys(entries);
  std::set<std::string> seen;
  entries.reserve(entries.size() + items.size());
  const auto add = [&](T entry, const JsonValue& item) {
    std::string key = key_of(entry);
    const auto at = std::lower_bound(known.begin(), known.end(), key,
                                     [](const auto& pair, const std::string& name) { return pair.first < name; });
    const bool replaces = at != known.end() && at->first == key;
    if (!key.empty() && (!seen.insert(key).second || (replaces && !may_replace))) {
      out.push_back({"duplicate-entry", item.location(), fmt::format("{} has a second entry for {}", section, key),
                     "keep one of them"});
    } else if (replaces) {
      entries[at->second] = std::move(entry);
    } else {
      entries.push_back(std::move(entry));
    }
  };
  for (const JsonValue& item : items) {
    if constexpr (std::is_same_v<Item, T>) {
      add(read_item(item, out), item);
    } else {
      for (T& entry : read_item(item, out)) add(std::move(entry), item);
    }
  }
}

void check_schema(ObjectReader& document) {
  const std::size_t faults = document.diagnostics().size();
  const std::string schema = document.string("schema");
  if (document.diagnostics().size() == faults && schema != kSchema) {
    document.diagnostics().push_back({"bad-schema", document.location("schema"), fmt::format("schema is '{}'", schema),
                                      fmt::format("write \"{}\"", kSchema)});
  }
}

/// A name as the index of its kind has it. Models are called as their authors, papers and people please; what AWS and
/// frameworks read has one spelling.
template <typename T>
std::string indexed_name(const std::string& name) {
  return std::is_same_v<T, ModelPreset> ? plain_model_name(name) : name;
}

/// Sorted names and aliases; one name for two entries is reported.
template <typename T, typename Index>
void build_index(const std::vector<T>& entries, std::string_view where, Index& index, Diagnostics& out) {
  index.clear();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto position = static_cast<std::uint32_t>(i);
    index.push_back({indexed_name<T>(key_of(entries[i])), position});
    for (const std::string& alias : aliases_of(entries[i])) index.push_back({indexed_name<T>(alias), position});
  }
  std::sort(index.begin(), index.end(),
            [](const auto& a, const auto& b) { return std::tie(a.name, a.position) < std::tie(b.name, b.position); });
  for (std::size_t i = 1; i < index.size(); ++i) {
    if (index[i].name == index[i - 1].name && index[i].position != index[i - 1].position) {
      out.push_back({"duplicate-name", std::string(where),
                     fmt::format("'{}' names both {} and {}", index[i].name, key_of(entries[index[i - 1].position]),
                                 key_of(entries[index[i].position])),
                     "give the name or alias to one of them"});
    }
  }
}

/// Glob with * (any run) and ? (one character), whole name. Linear: backtracks to the last star only.
bool glob_matches(std::string_view glob, std::string_view name) {
  std::size_t g = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& entries) {
  std::vector<std::string> names;
  for (const T& entry : entries) {
    names.push_back(key_of(entry));
    for (std::string& alias : aliases_of(entry)) names.push_back(std::move(alias));
  }
  return names;
}

template <typename T>
Result<const T*> found(const T* entry, std::string_view kind, std::string_view name, std::string_view where,
                       const std::vector<T>& entries) {
  if (entry != nullptr) return entry;
  return tl::unexpected<Diagnostics>(Diagnostics{unknown_name(kind, name, where, names_of(entries))});
}

/// What a device computes in, its profile must know the speed of: of nothing at all, steps would never end.
void check_rates(const Catalog& catalog, const AcceleratorProfile& profile, std::string_view where, Diagnostics& out) {
  const Accelerator* device = catalog.find_accelerator(profile.accelerator);
  if (device == nullptr) return;
  const auto need = [&](double rate, const std::string& what) {
    if (rate >= kMinEfficiency) return;
    out.push_back({"no-rate", std::string(where), fmt::format("{} of {} is {}", what, profile.accelerator, rate),
                   fmt::format("give it a value of at least {}", kMinEfficiency)});
  };
  need(device->memory_bandwidth.value(), "memory_bandwidth_gb_per_s");
  for (std::size_t i = 0; i < static_cast<std::size_t>(kPrecisionCount); ++i) {
    if (!(device->peak[i].value() > 0)) continue;
    const std::string_view precision = to_string(static_cast<Precision>(i));
    need(profile.gemm_efficiency[i], fmt::format("gemm_efficiency/{}", precision));
    for (const auto& [name, rates] :
         {std::pair("flash2", &profile.flash2), std::pair("vendor_attention", &profile.vendor_attention)}) {
      need(rates->forward_efficiency[i], fmt::format("{}/forward_efficiency/{}", name, precision));
      need(rates->backward_efficiency[i], fmt::format("{}/backward_efficiency/{}", name, precision));
    }
  }
}

/// Letters and digits of an accelerator's name without maker, form factor and kind of memory: `NVIDIA H100 80GB HBM3`
/// and `H100-SXM5-80GB` are `h10080gb`.
std::string bare_accelerator_name(std::string_view name) {
  constexpr auto kBeside =
      std::to_array<std::string_view>({"nvidia", "tesla", "geforce", "amd",   "instinct",   "aws",  "dgx",  "hgx",
                                       "oam",    "sxm",   "sxm2",    "sxm3",  "sxm4",       "sxm5", "sxm6", "hbm2",
                                       "hbm2e",  "hbm3",  "hbm3e",   "nvl72", "neuroncore", "core", "chip", "chips"});
  std::string bare;
  std::string word;
  const auto end_word = [&] {
    if (std::find(kBeside.begin(), kBeside.end(), word) == kBeside.end()) bare += word;
    word.clear();
  };
  for (const char c : name) {
    if (is_letter_or_digit(c)) {
      word += lower_case(c);
    } else {
      end_word();
    }
  }
  end_word();
  return bare;
}

/// The only entry with a name or alias of the same letters and digits; nullptr if there is none, or more.
template <typename T>
const T* spelled_otherwise(const std::vector<T>& entries, std::string_view typed,
                           std::string (*letters)(std::string_view) = letters_and_digits) {
  const std::string wanted = letters(typed);
  const T* found = nullptr;
  for (const T& entry : entries) {
    const std::vector<std::string> names = names_of<T>({entry});
    const bool same =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return letters(name) == wanted; });
    if (!same || wanted.empty()) continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

/// Names that begin with what was typed, such as bert-base of `bert`; at most three.
template <typename T>
std::vector<std::string> longer_names(const std::vector<T>& entries, std::string_view typed) {
  constexpr std::size_t kShown = 3;
  const std::string start = letters_and_digits(typed);
  std::vector<std::string> names;
  for (const T& entry : entries) {
    const bool longer = !start.empty() && letters_and_digits(key_of(entry)).starts_with(start);
    if (longer && names.size() < kShown) names.push_back(key_of(entry));
  }
  return names;
}

std::string model_hint(const std::vector<ModelPreset>& models, std::string_view name, std::string otherwise) {
  if (names_no_transformer(name)) {
    return "smplan knows transformers (decoders, encoders, T5, ViT) and state-space models, no convolutional networks";
  }
  const std::vector<std::string> longer = longer_names(models, name);
  if (!longer.empty()) return fmt::format("did you mean {}?", fmt::join(longer, ", "));
  if (!otherwise.empty()) return otherwise;
  return "`smplan models list` lists the known; --hf-config, --arch or --params take any other";
}

/// References that lead nowhere.
void check_references(const Catalog& catalog, std::string_view where, Diagnostics& out) {
  const std::vector<std::string> accelerators = names_of(catalog.accelerators());
  for (const InstanceType& instance : catalog.instances()) {
    if (instance.accelerator_count > 0 && catalog.find_accelerator(instance.accelerator) == nullptr) {
      out.push_back(unknown_name("accelerator of " + instance.name, instance.accelerator, where, accelerators));
    }
  }
  for (const AcceleratorProfile& profile : catalog.accelerator_profiles()) {
    if (catalog.find_accelerator(profile.accelerator) == nullptr) {
      out.push_back(unknown_name("accelerator of a profile", profile.accelerator, where, accelerators));
    }
  }
  for (const AcceleratorProfile& profile : catalog.accelerator_profiles()) check_rates(catalog, profile, where, out);
  for (const Price& price : catalog.prices()) {
    if (catalog.find_instance(price.instance) == nullptr) {
      out.push_back(unknown_name("instance type of a price", price.instance, where, names_of(catalog.instances())));
    }
  }
}

}  // namespace

template <typename T>
const T* Catalog::find(const std::vector<T>& entries, const Index& index, std::string_view name) {
  const auto at = std::lower_bound(index.begin(), index.end(), name, [](const IndexEntry& entry, std::string_view n) {
    return entry.name.compare(n) < 0;
  });
  return at != index.end() && at->name == name ? &entries[at->position] : nullptr;
}

void Catalog::read(const JsonValue& document, Known known, Diagnostics& out) {
  const bool may_replace = known == Known::Replace;
  ObjectReader reader(document, out);
  check_schema(reader);
  reader.ignore("$schema");
  reader.ignore("note");
  reader.ignore("refreshed");  // when and from where, of an overlay that `catalog refresh` wrote
  read_section(reader, "accelerators", read_accelerator, may_replace, accelerators_);
  read_section(reader, "instances", read_instance, may_replace, instances_);
  read_section(reader, "prices", read_price, may_replace, prices_);
  read_section(reader, "models", read_model_preset, may_replace, models_);
  read_section(reader, "stacks", read_stack, may_replace, stacks_);
  read_section(reader, "accelerator_profiles", read_accelerator_profile, may_replace, accelerator_profiles_);
  read_section(reader, "fabric_profiles", read_fabric_profile, may_replace, fabric_profiles_);
  read_section(reader, "stack_profiles", read_stack_profile, may_replace, stack_profiles_);
  read_section(reader, "sustained_rates", read_sustained_rate, may_replace, sustained_rates_);
  read_section(reader, "registries", read_container_registry, may_replace, containers_.registries);
  read_section(reader, "containers", read_container, may_replace, containers_.images);
  read_section(reader, "framework_versions", read_framework_version, may_replace, containers_.versions);
  read_section(reader, "toolkits", read_toolkit, may_replace, containers_.toolkits);
  read_section(reader, "operations", read_operation_fact, may_replace, operations_.figures);
  read_section(reader, "storages", read_storage_service, may_replace, operations_.storages);
  read_section(reader, "spot_interruptions", read_spot_interruptions, may_replace, operations_.spot);
  reader.finish();
}

void Catalog::apply_sustained_rates(std::string_view where, Diagnostics& out) {
  for (const SustainedRate& rate : sustained_rates_) {
    const auto profile = std::find_if(accelerator_profiles_.begin(), accelerator_profiles_.end(),
                                      [&](const AcceleratorProfile& p) { return p.accelerator == rate.accelerator; });
    if (profile == accelerator_profiles_.end()) {
      out.push_back(
          unknown_name("accelerator of a sustained rate", rate.accelerator, where, names_of(accelerator_profiles_)));
    } else {
      sustain(*profile, rate);
    }
  }
}

/// Profiles may be read before the stacks that they belong to.
void Catalog::apply_stack_profiles(std::string_view where, Diagnostics& out) {
  for (const StackProfile& profile : stack_profiles_) {
    const auto stack =
        std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack& s) { return s.id == profile.stack; });
    if (stack == stacks_.end()) {
      out.push_back(unknown_name("stack of a profile", profile.stack, where, names_of(stacks_)));
    } else {
      stack->profile = profile;
    }
  }
  share_profiles(where, out);
}

void Catalog::share_profiles(std::string_view where, Diagnostics& out) {
  for (Stack& stack : stacks_) {
    if (stack.runs_like.empty()) continue;
    const auto model =
        std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack& s) { return s.id == stack.runs_like; });
    if (model == stacks_.end()) {
      out.push_back(unknown_name("stack that another runs like", stack.runs_like, where, names_of(stacks_)));
    } else {
      stack.profile = model->profile;
    }
  }
}

void Catalog::rebuild_indexes(std::string_view where, Diagnostics& out) {
  apply_stack_profiles(where, out);
  apply_sustained_rates(where, out);
  build_index(accelerators_, where, accelerator_index_, out);
  build_index(instances_, where, instance_index_, out);
  build_index(models_, where, model_index_, out);
  build_index(stacks_, where, stack_index_, out);
  build_index(accelerator_profiles_, where, accelerator_profile_index_, out);
  build_index(fabric_profiles_, where, fabric_profile_index_, out);
  price_index_.resize(prices_.size());
  for (std::size_t i = 0; i < prices_.size(); ++i) price_index_[i] = static_cast<std::uint32_t>(i);
  std::sort(price_index_.begin(), price_index_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const Price& x = prices_[a];
    const Price& y = prices_[b];
    return std::tie(x.instance, x.region, x.market) < std::tie(y.instance, y.region, y.market);
  });
}

Result<Catalog> Catalog::shipped() {
  Catalog catalog;
  Diagnostics out;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    const auto document = parse_json(file.content, file.name);
    if (!document) {
      out.insert(out.end(), document.error().begin(), document.error().end());
    } else {
      catalog.read(*document, Known::Refuse, out);
    }
  }
  catalog.rebuild_indexes("shipped catalog", out);
  check_references(catalog, "shipped catalog", out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return catalog;
}

Result<void> Catalog::merge(const JsonValue& overlay) {
  Catalog merged = *this;
  Diagnostics out;
  merged.read(overlay, Known::Replace, out);
  merged.rebuild_indexes(overlay.location(), out);
  // A faulty entry may have lost its key: its references would only repeat the first complaint.
  if (out.empty()) check_references(merged, overlay.location(), out);
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  merged.overlays_ = hash_text(merged.overlays_ + overlay.dump());
  *this = std::move(merged);
  return {};
}

void Catalog::set_stack_profile(const StackProfile& profile) {
  std::erase_if(stack_profiles_, [&](const StackProfile& p) { return p.stack == profile.stack; });
  stack_profiles_.push_back(profile);
  for (Stack& stack : stacks_) {
    if (stack.id == profile.stack || stack.runs_like == profile.stack) stack.profile = profile;
  }
}

void Catalog::set_sustained_rate(const SustainedRate& rate) {
  std::erase_if(sustained_rates_, [&](const SustainedRate& r) { return r.accelerator == rate.accelerator; });
  sustained_rates_.push_back(rate);
  for (AcceleratorProfile& p : accelerator_profiles_) {
    if (p.accelerator == rate.accelerator) sustain(p, rate);
  }
}

const Accelerator* Catalog::find_accelerator(std::string_view key) const {
  return find(accelerators_, accelerator_index_, key);
}
const InstanceType* Catalog::find_instance(std::string_view name) const {
  return find(instances_, instance_index_, name);
}
const ModelPreset* Catalog::find_model(std::string_view name) const {
  const ModelPreset* named = find(models_, model_index_, plain_model_name(name));
  return named != nullptr ? named : find(models_, model_index_, plain_base_model_name(name));
}
const Stack* Catalog::find_stack(std::string_view id_or_alias) const {
  return find(stacks_, stack_index_, id_or_alias);
}
const AcceleratorProfile* Catalog::find_accelerator_profile(std::string_view accelerator) const {
  return find(accelerator_profiles_, accelerator_profile_index_, accelerator);
}
const FabricProfile* Catalog::find_fabric_profile(std::string_view fabric) const {
  return find(fabric_profiles_, fabric_profile_index_, fabric);
}

const Price* Catalog::find_price(std::string_view instance, std::string_view region, Market market) const {
  const auto wanted = std::tie(instance, region, market);
  const auto key = [this](std::uint32_t position) {
    const Price& p = prices_[position];
    return std::tuple<std::string_view, std::string_view, Market>(p.instance, p.region, p.market);
  };
  const auto at = std::lower_bound(price_index_.begin(), price_index_.end(), wanted,
                                   [&](std::uint32_t position, const auto& w) { return key(position) < w; });
  return at != price_index_.end() && key(*at) == wanted ? &prices_[*at] : nullptr;
}

Result<const Accelerator*> Catalog::accelerator(std::string_view name, std::string_view where) const {
  const Accelerator* entry = find_accelerator(name);
  if (entry == nullptr) entry = spelled_otherwise(accelerators_, name, bare_accelerator_name);
  Result<const Accelerator*> answer = found(entry, "accelerator", name, where, accelerators_);
  if (!answer && answer.error().front().hint.empty()) {
    answer.error().front().hint = "`smplan catalog list accelerators` lists the known";
  }
  return answer;
}
Result<const InstanceType*> Catalog::instance(std::string_view name, std::string_view where) const {
  const std::string lower = lower_case(name);
  const InstanceType* entry = find_instance(name);
  if (entry == nullptr) entry = find_instance(lower);
  if (entry == nullptr) entry = find_instance("ml." + lower);
  Result<const InstanceType*> answer = found(entry, "instance type", name, where, instances_);
  if (!answer && answer.error().front().hint.empty()) {
    answer.error().front().hint = "`smplan catalog list instances` lists the known";
  }
  return answer;
}
Result<const ModelPreset*> Catalog::model(std::string_view name, std::string_view where) const {
  Result<const ModelPreset*> entry = found(find_model(name), "model", name, where, models_);
  if (!entry) entry.error().front().hint = model_hint(models_, name, entry.error().front().hint);
  return entry;
}
Result<const Stack*> Catalog::stack(std::string_view name, std::string_view where) const {
  const Stack* entry = find_stack(name);
  Result<const Stack*> answer =
      found(entry != nullptr ? entry : spelled_otherwise(stacks_, name), "stack", name, where, stacks_);
  if (!answer && answer.error().front().hint.empty()) {
    answer.error().front().hint = "`smplan catalog list stacks` lists the known";
  }
  return answer;
}

Result<std::vector<const InstanceType*>> Catalog::instances_matching(std::string_view glob,
                                                                     std::string_view where) const {
  std::vector<const InstanceType*> matches;
  const std::string lower = lower_case(glob);
  for (const std::string& pattern : {lower, "ml." + lower}) {
    for (const InstanceType& instance : instances_) {
      if (glob_matches(pattern, lower_case(instance.name))) matches.push_back(&instance);
    }
    if (!matches.empty()) break;
  }
  if (matches.empty()) {
    return tl::unexpected<Diagnostics>(Diagnostics{unknown_name("instance type", glob, where, names_of(instances_))});
  }
  return matches;
}

}  // namespace smplan
