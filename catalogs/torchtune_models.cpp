#include "catalogs/torchtune_models.hpp"

#include "catalogs/finetuning_file.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

TorchtuneModel read_model(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  TorchtuneModel model;
  model.name = read_name(reader, "name");
  model.package = read_name(reader, "package");
  model.builder = read_name(reader, "builder");
  model.tokenizer = reader.string("tokenizer");
  if (const auto files = reader.optional_value("tokenizer_files")) {
    for (const std::string& argument : files->keys(out)) {
      model.tokenizer_files.emplace_back(argument, files->find(argument)->as_string(out));
    }
  }
  model.checkpoint = read_name(reader, "checkpoint");
  reader.finish();
  return model;
}

}  // namespace

const std::vector<TorchtuneModel>& torchtune_models() {
  static const std::vector<TorchtuneModel> kModels = finetuning_rows("torchtune_models", read_model);
  return kModels;
}

const TorchtuneModel* torchtune_model(std::string_view name) { return row_named(torchtune_models(), name); }

}  // namespace smplan
