#include <memory>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "catalogs/hf_config.hpp"
#include "cli/command.hpp"
#include "cli/render/model_page.hpp"
#include "cli/request_options.hpp"
#include "models/layers/layers.hpp"

namespace smplan::cli {
namespace {

struct ModelsFlags {
  std::string action;
  std::string name;
  RequestSpec spec;
};

Result<Architecture> architecture_file(const std::string& path) {
  const Result<JsonValue> json = read_json_file(path);
  if (!json) return tl::unexpected<Diagnostics>(json.error());
  Diagnostics faults;
  Architecture architecture = read_architecture(*json, faults);
  if (faults.empty()) faults = check(architecture, path);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return architecture;
}

Result<Architecture> hugging_face_file(const std::string& path) {
  const Result<JsonValue> json = read_hf_config_file(path);
  if (!json) return tl::unexpected<Diagnostics>(json.error());
  return read_hf_config(*json);
}

Result<Architecture> sized(const std::string& text) {
  const Result<double> parameters = parse_count(text, "--params");
  if (!parameters) return tl::unexpected<Diagnostics>(parameters.error());
  return architecture_of_size(*parameters);
}

Result<Answer> show(const ModelsFlags& flags, const Context& context) {
  const RequestSpec& spec = flags.spec;
  const std::string name = flags.name.empty() ? spec.model.value_or("") : flags.name;
  const int sources = (name.empty() ? 0 : 1) + (spec.params ? 1 : 0) + (spec.hf_config ? 1 : 0) + (spec.arch ? 1 : 0);
  if (sources != 1) {
    return fail("model-choice", "models show", "needs exactly one model",
                "a name from `smplan models list`, or one of --params, --hf-config, --arch");
  }
  if (!name.empty()) {
    const Result<const ModelPreset*> preset = context.catalog.model(name, "models show");
    if (!preset) return tl::unexpected<Diagnostics>(preset.error());
    return Answer{ExitCode::Done, render(model_page((*preset)->architecture, *preset), context), {}};
  }
  const Result<Architecture> architecture = spec.params      ? sized(*spec.params)
                                            : spec.hf_config ? hugging_face_file(*spec.hf_config)
                                                             : architecture_file(*spec.arch);
  if (!architecture) return tl::unexpected<Diagnostics>(architecture.error());
  return Answer{ExitCode::Done, render(model_page(*architecture, nullptr), context), {}};
}

Result<Answer> run_models(const ModelsFlags& flags, const Context& context) {
  if (flags.action == "show") return show(flags, context);
  if (flags.action != "list") {
    return tl::unexpected<Diagnostics>({unknown_name("action", flags.action, "models", {"list", "show"})});
  }
  if (!flags.name.empty()) {
    return fail("unexpected-argument", "models list", fmt::format("takes no name, has '{}'", flags.name),
                fmt::format("`smplan models show {}`", flags.name));
  }
  return Answer{ExitCode::Done, render(model_list(context.catalog.models()), context), {}};
}

}  // namespace

Command models_command() {
  auto flags = std::make_shared<ModelsFlags>();
  return {"models", "Public architectures: list them, or show one with its parameters by part",
          "smplan models list\n  smplan models show llama-2-13b\n  smplan models show --hf-config config.json --format "
          "json",
          [flags](Flags& app) {
            app.add_option("action", flags->action, "What to do")->required()->type_name("list|show");
            app.add_option("name", flags->name, "Model to show")->type_name("MODEL");
            add_model_options(app, flags->spec);
          },
          [flags](const Context& context) { return run_models(*flags, context); }};
}

}  // namespace smplan::cli
