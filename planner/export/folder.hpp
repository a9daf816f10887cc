#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "planner/export/target.hpp"

namespace smplan {

/// Lists the files of an export with the hash of each, so that the next export knows which are its own.
inline constexpr std::string_view kExportMarker = ".smplan-export.json";

/// Writes an export into a folder, which is made if it is missing; each file whole or not at all. Files that an earlier
/// export left and this one has not are removed. Fails, and changes nothing, where a file stands in the way that no
/// export wrote or that was changed since, and where a symbolic link would lead elsewhere.
Result<void> write_export(const std::string& folder, const std::vector<ExportFile>& files);

}  // namespace smplan
