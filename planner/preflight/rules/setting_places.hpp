#pragma once

#include <functional>
#include <string>
#include <vector>

#include "catalogs/framework_settings.hpp"
#include "planner/preflight/rules/settings.hpp"

namespace smplan {

// The objects of a framework's file beside the sections of its table, which the checks of settings.hpp walk over.

/// An object of the file and the section that describes it.
struct Place {
  const FrameworkTable& table;
  const SettingSection& section;
  const Node& object;
  std::string variant;  ///< of several configurations
  bool inside_off = false;
};

std::string underscored(std::string name);
/// The file's key as the table has it: a tree of options has hyphens for underscores.
std::string key_of(const SettingSection& section, const Node& node, const FrameworkSetting*& setting);
/// Of members by their paths with dots.
bool has_one_of(const Node& root, const std::vector<std::string>& paths);
/// Hydra's overrides, made a tree.
bool has_overrides(const Job& job);
/// The path of the section that a member inside the object chooses; empty where none does.
std::string chosen_path(const Node& object, const FrameworkSetting& setting);
/// A dotted path without the private modules in it: what they make, the package above them mostly has too.
std::string without_private(const std::string& path);
/// The part is switched off, or may be, or is inside of one: nothing else in it is asked.
bool is_off(const Place& place);
/// The objects that a member is: itself, or those of its list.
std::vector<const Node*> objects_of(const Node& member, const FrameworkSetting& setting);
/// An option of a launcher's in the same command line, which a rule of its own judges.
bool is_before_program(const Job& job, const Node& member);

/// Calls `visit` for every described object of the job's file.
void each_object(const CheckInput& in, const std::function<void(const Place&)>& visit);

using VisitSetting = std::function<void(const Place&, const Node&, const FrameworkSetting&)>;
/// Calls `visit` for every member that the table knows.
void each_setting(const CheckInput& in, const VisitSetting& visit);
/// The same of verl's part of a HyperPod recipe.
void each_setting_of_verl(const CheckInput& in, const VisitSetting& visit);

}  // namespace smplan
