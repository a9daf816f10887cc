#include "planner/export/export_json.hpp"
#include "base/json_writer.hpp"

namespace smplan {

std::string to_json(const Export& exported) {
  Json out;
  out["target"] = exported.target;
  out["plan_id"] = exported.plan_id;
  out["files"] = Json::array();
  for (const ExportFile& file : exported.files) {
    out["files"].push_back(Json{{"path", file.path}, {"content", file.content}});
  }
  out["placeholders"] = Json::array();
  for (const Placeholder& p : exported.placeholders) {
    out["placeholders"].push_back(Json{{"text", p.text}, {"meaning", p.meaning}});
  }
  out["notes"] = exported.notes;
  return out.dump(2) + "\n";
}

}  // namespace smplan
