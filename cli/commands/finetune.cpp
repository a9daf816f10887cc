#include <memory>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/render/fine_tune_page.hpp"
#include "cli/request_options.hpp"

namespace smplan::cli {
namespace {

struct FineTuneFlags {
  std::string model;
  RequestSpec spec;
  FineTuneWords words;
};

Result<Answer> run_finetune(const FineTuneFlags& flags, const Context& context) {
  RequestSpec spec = flags.spec;
  if (!flags.model.empty()) {
    if (spec.model) return fail("conflict", "--model", "the model is named twice", "leave --model out");
    spec.model = flags.model;
  }
  const Result<FineTuneQuestion> question = read_fine_tune(flags.words, std::move(spec));
  if (!question) return tl::unexpected<Diagnostics>(question.error());
  const Result<FineTuneAnswer> answer = plan_fine_tune(*question, context.catalog, environment_region(), now());
  if (!answer) return tl::unexpected<Diagnostics>(answer.error());
  Answer out;
  if (answer->cheapest() == nullptr) out.code = ExitCode::NoAnswer;
  out.text = context.format == Format::Table ? fine_tune_text(*question, *answer, context.style)
                                             : render(fine_tune_listing(*answer), context);
  return out;
}

}  // namespace

Command finetune_command() {
  auto flags = std::make_shared<FineTuneFlags>();
  return {"finetune", "Compare methods of fine-tuning on your data: memory, time, money, what is trained",
          "smplan finetune llama-3.1-8b --examples 20k --length 900 --epochs 3 --methods full,lora,qlora\n"
          "  smplan finetune llama-3.1-8b --examples 10k --length 600 --loss dpo --methods lora",
          [flags](Flags& app) {
            FineTuneWords& w = flags->words;
            app.add_option("MODEL", flags->model, "A public model, see `smplan models list`");
            app.add_option("--data", w.data,
                           "JSON lines with text, messages, prompt and completion, instruction and output, chosen and "
                           "rejected, or input_ids; - is standard input")
                ->type_name("FILE");
            app.add_option("--examples", w.examples, "Without a file: so many examples, e.g. 20k")->type_name("N");
            app.add_option("--length", w.length, "Without a file: tokens of each")->type_name("N");
            app.add_option("--tokenizer", w.tokenizer,
                           "The model's tokenizer.json, which counts the file's text [that beside --hf-config]")
                ->type_name("FILE");
            app.add_option("--characters-per-token", w.characters_per_token,
                           "Of the file's text, without a tokenizer [4]")
                ->type_name("N");
            app.add_option("--epochs", w.epochs, "Passes over the examples [3]")->type_name("N");
            app.add_option("--packing", w.packing,
                           "Examples one behind the other in blocks, or each padded to the longest of its batch, at "
                           "random or grouped by length [on; off with --loss]")
                ->type_name("on|off|length-grouped");
            app.add_option("--methods", w.methods, "full, lora, rslora, pissa, dora, qlora [full,lora,qlora]")
                ->type_name("METHODS");
            app.add_option("--evaluation", w.evaluation, "Part of the examples that each epoch is evaluated on [0%]")
                ->type_name("PART");
            add_request_options(app, flags->spec);
          },
          [flags](const Context& context) { return run_finetune(*flags, context); }};
}

}  // namespace smplan::cli
