#include "catalogs/framework_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "catalogs/setting_combinations.hpp"

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using Type = FrameworkSetting::Type;

const FrameworkSetting& setting(std::string_view framework, std::string_view section, std::string_view name) {
  const FrameworkSetting* found = framework_table(framework)->find(section)->find(name);
  if (found == nullptr) throw std::runtime_error("no setting " + std::string(name));
  return *found;
}

TEST(FrameworkTables, AreThoseOfEveryFramework) {
  std::set<std::string> names;
  for (const FrameworkTable& table : framework_tables()) {
    names.insert(table.framework);
    EXPECT_FALSE(table.version.empty() || table.source.empty()) << table.framework;
    EXPECT_EQ(table.as_of.size(), 10U) << table.framework;
  }
  EXPECT_THAT(names,
              ElementsAre("accelerate", "accelerate-launch", "axolotl", "deepspeed", "deepspeed-launch",
                          "hyp-pytorch-job", "hyperpod-job", "hyperpod-recipe", "llama-factory", "megatron", "nemo-rl",
                          "pytorch-job", "sbatch", "torchrun", "torchtitan", "torchtune", "trl", "verl"));
  EXPECT_EQ(framework_table("nemo"), nullptr);
}

TEST(FrameworkTables, LeadToSectionsThatAreThere) {
  for (const FrameworkTable& table : framework_tables()) {
    for (const SettingSection& section : table.sections) {
      std::set<std::string> names;
      for (const FrameworkSetting& s : section.settings) {
        EXPECT_TRUE(names.insert(s.name).second) << table.framework << ' ' << section.path << ' ' << s.name;
        EXPECT_FALSE(s.types.empty()) << table.framework << ' ' << s.name;
        // Some are of the configuration that the section around them is of.
        const std::string variant = table.by_configuration ? section.path.substr(section.path.find(':')) : "";
        const std::string path = s.section + variant;
        if (!s.section.empty()) EXPECT_NE(table.find(path), nullptr) << table.framework << ' ' << path;
        if (s.section_of.empty()) continue;
        const SettingSection& holder = s.section.empty() ? section : *table.find(s.section);
        EXPECT_NE(holder.find(s.section_of), nullptr) << table.framework << ' ' << s.name;
      }
    }
  }
}

TEST(FrameworkTables, KnowTypesLimitsWordsAndSpellings) {
  const FrameworkSetting& bucket = setting("deepspeed", "zero_optimization", "reduce_bucket_size");
  EXPECT_THAT(bucket.types, ElementsAre(Type::Integer));
  EXPECT_EQ(bucket.above, 0);
  const FrameworkSetting& optimizer = setting("deepspeed", "optimizer", "type");
  EXPECT_THAT(optimizer.values, Contains("onebitlamb"));
  EXPECT_EQ(optimizer.last_with("onebitlamb"), "0.19.6");
  EXPECT_EQ(optimizer.last_with("adamw"), "");
  EXPECT_EQ(setting("deepspeed", "zero_optimization", "mics_shard_size").last, "0.19.6");
  EXPECT_TRUE(
      setting("deepspeed", "zero_optimization", "stage3_prefetch_bucket_size").answers_to("prefetch_bucket_size"));
  EXPECT_TRUE(setting("deepspeed", "zero_optimization", "cpu_offload").deprecated);
  EXPECT_EQ(setting("deepspeed", "zero_optimization", "cpu_offload").replaced_by, "offload_optimizer");
  EXPECT_TRUE(setting("deepspeed", "scheduler.params:WarmupDecayLR", "total_num_steps").required);
  EXPECT_THAT(setting("torchtitan", "activation_checkpoint", "mode").values, Contains("memory_budget"));
  EXPECT_EQ(setting("torchtitan", "training", "seed").last, "0.2.0");
  EXPECT_EQ(setting("megatron", "", "bf16").option, OptionValues::None);
  EXPECT_THAT(setting("megatron", "", "recompute-granularity").values, ElementsAre("full", "selective"));
  EXPECT_FALSE(setting("trl", "", "evaluation_strategy").last.empty());
  EXPECT_TRUE(setting("accelerate", "fsdp_config", "offload_params").answers_to("fsdp_offload_params"));
  EXPECT_THAT(setting("axolotl", "", "bf16").values, ElementsAre("auto"));
  EXPECT_THAT(setting("axolotl", "", "bf16").free, ElementsAre(Type::Boolean));
  EXPECT_EQ(setting("axolotl", "", "datasets").section, "datasets");
  EXPECT_TRUE(setting("axolotl", "", "learning_rate").required);
  EXPECT_TRUE(setting("accelerate", ":AMAZON_SAGEMAKER", "iam_role_name").required);
}

TEST(FrameworkCombinations, SayWhatAndWhatToDo) {
  for (const FrameworkCombinations& file : all_framework_combinations()) {
    EXPECT_NE(framework_table(file.framework), nullptr) << file.framework;
    EXPECT_FALSE(file.source.empty() || file.rows.empty()) << file.framework;
    for (const SettingCombination& row : file.rows) {
      EXPECT_FALSE(row.when.empty() || row.says.empty() || row.fix.empty()) << file.framework << ": " << row.says;
    }
  }
}

/// In one of a table's configurations, or in a part that it knows and does not describe.
bool is_of_configuration(const FrameworkTable& table, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string part = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string name = path.substr(dot + 1);  // npos + 1 is 0
  bool described = false;
  for (const SettingSection& section : table.sections) {
    if (!section.path.starts_with(part + ':')) continue;
    if (section.find(name) != nullptr) return true;
    described = true;
  }
  return !described && !part.empty() && is_of_configuration(table, part);
}

/// In one of the sections that a member chooses: `model.lora_rank`, by the component that the model is.
bool is_of_chosen(const FrameworkTable& table, const FrameworkSetting& object, std::string_view name) {
  return std::any_of(table.sections.begin(), table.sections.end(), [&](const SettingSection& section) {
    return section.path.starts_with(object.section + ':') && section.find(name) != nullptr;
  });
}

/// Through the sections that the members name: `spec.elasticPolicy.nProcPerNode`.
bool is_reached(const FrameworkTable& table, std::string_view path) {
  const SettingSection* section = table.find("");
  while (section != nullptr) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const FrameworkSetting* setting = section->find(path.substr(0, dot));
    if (setting == nullptr || dot == path.size()) return setting != nullptr;
    section = setting->section.empty() ? nullptr : table.find(setting->section);
    path.remove_prefix(dot + 1);
  }
  return false;
}

/// A condition about a setting that no table knows can never hold.
TEST(FrameworkCombinations, AskForSettingsOfTheTables) {
  for (const FrameworkCombinations& file : all_framework_combinations()) {
    const FrameworkTable& table = *framework_table(file.framework);
    const auto known = [&](const std::string& path) {
      if (table.by_configuration) return is_of_configuration(table, path);
      if (is_reached(table, path)) return true;
      const std::size_t dot = path.rfind('.');
      const SettingSection* section = table.find(dot == std::string::npos ? "" : path.substr(0, dot));
      if (section == nullptr) {  // its section hangs on a type, or it stands in an object that is handed on
        const FrameworkSetting* object = table.find("")->find(path.substr(0, dot));
        if (object != nullptr && !object->section_of.empty()) return is_of_chosen(table, *object, path.substr(dot + 1));
        return path.find(".params.") != std::string::npos || (object != nullptr && object->is(Type::Object));
      }
      const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
      return section->find(name) != nullptr || section->unknown == UnknownKey::Open ||
             section->unknown == UnknownKey::HandedOn;
    };
    for (const SettingCombination& row : file.rows) {
      for (const auto* conditions : {&row.when, &row.must}) {
        for (const SettingCondition& c : *conditions) {
          for (const std::string& name : c.settings) EXPECT_TRUE(known(name)) << file.framework << ": " << name;
          if (!c.other.empty()) EXPECT_TRUE(known(c.other)) << file.framework << ": " << c.other;
        }
      }
    }
  }
}

}  // namespace
}  // namespace smplan
