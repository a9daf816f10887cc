#include "planner/analysis/fine_tune.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/layers/layers.hpp"
#include "planner/answer/plan_json.hpp"

namespace smplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Examples : public testing::Test {
 protected:
  std::string file(std::string_view text) {
    const auto path = std::filesystem::path(testing::TempDir()) /
                      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".jsonl");
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string fault(std::string_view text) {
    const auto lengths = read_examples(file(text));
    return lengths ? std::string() : to_string(lengths.error());
  }
};

TEST_F(Examples, CountCharactersOfEveryForm) {
  const auto of = [&](std::string_view line) { return read_examples(file(line))->tokens; };
  EXPECT_THAT(of(R"({"text": "twelve chars"})"), ElementsAre(3));
  EXPECT_THAT(of(R"({"prompt": "12345678", "completion": "1234"})"), ElementsAre(3));
  EXPECT_THAT(of(R"({"instruction": "1234", "input": "", "output": "12345"})"), ElementsAre(3));
  EXPECT_THAT(of(R"({"messages": [{"role": "user", "content": "1234"}, {"role": "assistant", "content": "1234"}]})"),
              ElementsAre(2 + 2 * kTokensOfATurn));
  EXPECT_THAT(of(R"({"conversations": [{"from": "human", "value": "12345678"}]})"), ElementsAre(2 + kTokensOfATurn));
  EXPECT_THAT(of(R"({"prompt": "1234", "chosen": "1234", "rejected": "12345678"})"), ElementsAre(2, 3)) << "a pair";
  EXPECT_THAT(of(R"({"input_ids": [5, 6, 7]})"), ElementsAre(3));
  EXPECT_THAT(of(R"({"tokens": 77})"), ElementsAre(77));
  EXPECT_THAT(of(R"({"text": "éééé"})"), ElementsAre(2)) << "bytes of UTF-8";
  EXPECT_THAT(of(R"({"text": "日本語の文章です"})"), ElementsAre(6)) << "a token has fewer of such characters";
}

TEST_F(Examples, SayWhatTheyAre) {
  const auto pairs = read_examples(file(R"({"chosen": "a", "rejected": "b"})"));
  EXPECT_TRUE(pairs->pairs);
  EXPECT_EQ(pairs->examples, 1);
  EXPECT_FALSE(pairs->counted);
  EXPECT_TRUE(read_examples(file("{\"tokens\": 3}\n\n{\"tokens\": 4}\n"))->counted);
  EXPECT_THAT(read_examples(file("{\"text\": \"12345678\"}"), {.characters_per_token = 2})->tokens, ElementsAre(4));
}

TEST_F(Examples, RefuseWithLineAndReason) {
  EXPECT_THAT(fault("{\"text\": \"a\"}\n[]\n"), HasSubstr(":2"));
  EXPECT_THAT(fault("{\"text\": \"a\"}\n{\"output\": \"b\"}\n"), HasSubstr("without text"));
  EXPECT_THAT(fault("{\"text\": \"a\"}\n{\"tokens\": 5}\n"), HasSubstr("those before have `text`"));
  EXPECT_THAT(fault("{\"text\": 5}\n"), HasSubstr("text"));
  EXPECT_THAT(fault("{\"text\": \"a\"\n"), HasSubstr("syntax"));
  EXPECT_THAT(fault("\n \n"), HasSubstr("no example"));
  EXPECT_FALSE(read_examples("/no/such/file"));
}

/// A token a word, and one of the beginning of a sequence.
TextMeasure by_words() {
  const auto tokenizer = Tokenizer::parse(R"({
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "TemplateProcessing", "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [0]}},
                       "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]},
    "model": {"type": "WordLevel", "vocab": {"<s>": 0, "<unk>": 1}, "unk_token": "<unk>"}})",
                                          "t.json");
  EXPECT_TRUE(tokenizer) << to_string(tokenizer.error());
  return measure_of(*tokenizer);
}

TEST_F(Examples, CountTokensOfEveryForm) {
  const auto of = [&](std::string_view line) { return read_examples(file(line), by_words())->tokens; };
  EXPECT_THAT(of(R"({"text": "one two three"})"), ElementsAre(4));
  EXPECT_THAT(of(R"({"prompt": "one tw", "completion": "o three"})"), ElementsAre(4)) << "one text";
  EXPECT_THAT(of(R"({"instruction": "one", "input": "", "output": "two"})"), ElementsAre(3));
  EXPECT_THAT(of(R"({"messages": [{"role": "user", "content": "one two"}, {"role": "assistant", "content": "x"}]})"),
              ElementsAre(1 + 3 + 2 * kTokensOfATurn));
  EXPECT_THAT(of(R"({"prompt": "one", "chosen": "two", "rejected": "two three"})"), ElementsAre(3, 4)) << "a pair";
  EXPECT_THAT(of(R"({"tokens": 77})"), ElementsAre(77));
}

TEST_F(Examples, AreTheSameOnAnyNumberOfThreads) {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += R"({"text": ")";
    for (int n = 0; n <= i % 50; ++n) text += "word ";
    text += "\"}\n";
  }
  TextMeasure measure = by_words();
  measure.threads = 1;
  const auto one = read_examples(file(text), measure);
  measure.threads = 7;
  const auto seven = read_examples(file(text), measure);
  ASSERT_TRUE(one && seven);
  EXPECT_EQ(one->tokens, seven->tokens);
  EXPECT_EQ(one->examples, 20000);
  const auto fault = read_examples(file(text + "[]\n" + text + "{}\n"), measure);
  ASSERT_FALSE(fault);
  EXPECT_THAT(to_string(fault.error()), HasSubstr(":20001")) << "the first fault of the file";
}

TEST(ExampleLengths, PadToTheExpectedLongest) {
  ExampleLengths l;
  l.tokens = {10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(l.mean(), 25);
  EXPECT_DOUBLE_EQ(l.padded_mean(1), 25);
  // Of two draws: the largest is the i-th with probability (2i - 1) / 16.
  EXPECT_DOUBLE_EQ(l.padded_mean(2), (10 * 1 + 20 * 3 + 30 * 5 + 40 * 7) / 16.0);
  EXPECT_NEAR(l.padded_mean(1000), 40, 1e-9);
  EXPECT_EQ(l.quantile(0.5), 30);
  EXPECT_EQ(l.quantile(1), 40);
  EXPECT_THAT(l.cut_to(25).tokens, ElementsAre(10, 20, 25, 25));
}

class FineTunes : public testing::Test {
 protected:
  Catalog catalog = *Catalog::shipped();

  Result<FineTuneAnswer> ask(FineTuneWords words, RequestSpec spec = {}) {
    if (!spec.model) spec.model = "llama-3.1-8b";
    if (!words.examples && !words.data) words.examples = "20k";
    if (!words.length && !words.data) words.length = "900";
    Result<FineTuneQuestion> question = read_fine_tune(words, std::move(spec));
    if (!question) return tl::unexpected<Diagnostics>(question.error());
    return plan_fine_tune(*question, catalog, std::nullopt);
  }
  std::string fault(FineTuneWords words, RequestSpec spec = {}) {
    const auto answer = ask(std::move(words), std::move(spec));
    return answer ? std::string() : to_string(answer.error());
  }
};

TEST_F(FineTunes, CountTokensStepsAndWhatIsTrained) {
  const auto answer = ask({.packing = "off", .methods = "full,lora"}, {.global_batch = "64"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  ASSERT_EQ(answer->rows.size(), 2);
  for (const FineTuneRow& row : answer->rows) {
    ASSERT_TRUE(row.plan) << row.why_not;
    EXPECT_EQ(row.mean_seq_len, 900);
    EXPECT_DOUBLE_EQ(row.tokens, 20000.0 * 900 * 3);
    EXPECT_EQ(row.steps, 938) << "60,000 sequences, 64 a step";
  }
  EXPECT_EQ(answer->seq_len, 960) << "900 in steps of 64";
  EXPECT_EQ(answer->rows[0].trained, 8'030'261'248);
  EXPECT_EQ(answer->rows[1].trained, 41'943'040) << "PEFT: rank 16 on all linear layers of Llama 3.1 8B";
  EXPECT_EQ(answer->rows[1].saved, Bytes(4.0 * 41'943'040));
}

TEST_F(FineTunes, PackingComputesWholeBlocksAndIsLaunchable) {
  const auto answer = ask({.methods = "lora"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->packing, Packing::On);
  EXPECT_EQ(answer->seq_len, 2048);
  EXPECT_DOUBLE_EQ(answer->rows[0].tokens, std::ceil(20000 * 900 / 2048.0) * 2048 * 3);
  EXPECT_TRUE(answer->rows[0].request.launchable);
}

TEST_F(FineTunes, SayByWhatTokensWereCounted) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "finetune_tokenizer";
  std::filesystem::create_directories(folder);
  const std::string data = (folder / "data.jsonl").string();
  const std::string tokenizer = std::string(SMPLAN_TEST_DATA) + "/data/tokenizers/gpt2.json";
  const std::string config = (folder / "config.json").string();
  std::ofstream(data) << R"({"messages": [{"role": "user", "content": "the captain counts"}]})" << '\n';
  std::filesystem::copy_file(std::string(SMPLAN_TEST_DATA) + "/data/hf/llama-2-13b.json", config,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(folder / "tokenizer.json");
  const auto source = [&](FineTuneWords words, RequestSpec spec = {}) {
    words.data = data;
    const auto question = read_fine_tune(words, std::move(spec));
    return question ? question->source : to_string(question.error());
  };
  EXPECT_THAT(source({}), HasSubstr("4 characters a token and 5 for the template of a turn"));
  EXPECT_THAT(source({.tokenizer = tokenizer}), HasSubstr("counted with " + tokenizer));
  EXPECT_THAT(source({}, {.hf_config = config}), HasSubstr("4 characters")) << "nothing lies beside it";
  std::filesystem::copy_file(tokenizer, folder / "tokenizer.json");
  EXPECT_THAT(source({}, {.hf_config = config}), HasSubstr((folder / "tokenizer.json").string()));
  EXPECT_THAT(source({.characters_per_token = "3"}, {.hf_config = config}), HasSubstr("3 characters"));
  EXPECT_THAT(source({.characters_per_token = "3", .tokenizer = tokenizer}), HasSubstr("leave one of the two out"));
  std::ofstream(folder / "tokenizer.json") << "{}";
  EXPECT_THAT(source({}, {.hf_config = config}), HasSubstr("add --characters-per-token 4"));
  std::ofstream(data) << R"({"tokens": 5})" << '\n';
  EXPECT_THAT(source({.tokenizer = tokenizer}), HasSubstr("no text"));
  EXPECT_THAT(fault({.tokenizer = tokenizer}), HasSubstr("add --data FILE"));
}

TEST_F(FineTunes, GroupingByLengthSavesPadding) {
  const auto file = std::filesystem::path(testing::TempDir()) / "lengths.jsonl";
  std::ofstream out(file);
  for (int i = 1; i <= 1000; ++i) out << R"({"tokens": )" << 2 * i << "}\n";
  out.close();
  const auto tokens = [&](const char* packing) {
    return ask({.data = file.string(), .packing = packing, .methods = "lora"})->rows[0].tokens;
  };
  EXPECT_LT(tokens("length-grouped"), tokens("off"));
  EXPECT_NEAR(tokens("length-grouped"), 3.0 * 1000 * 1001, 1500);
}

TEST_F(FineTunes, EvaluationTakesTimeAndExamples) {
  const auto without = ask({.methods = "lora"});
  const auto with = ask({.methods = "lora", .evaluation = "10%"});
  ASSERT_TRUE(with);
  EXPECT_NEAR(with->rows[0].tokens / without->rows[0].tokens, 0.9, 0.001);
  const double planned = with->rows[0].request.workload.tokens;
  EXPECT_NEAR(planned / with->rows[0].tokens, 1 + 0.5 * 0.1 / 0.9, 1e-6) << "a forward pass is half of a LoRA step";
}

TEST_F(FineTunes, FreezingTrainsTheLastQuarterOrWhatIsNamed) {
  const auto answer = ask({.methods = "full,freeze", .evaluation = "10%"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_FALSE(answer->rows[0].request.workload.trained_layers);
  const Workload& w = answer->rows[1].request.workload;
  EXPECT_EQ(to_string(*w.trained_layers), "last:8");
  EXPECT_EQ(answer->rows[1].trained, 8 * 218'112'000) << "blocks of Llama 3.1 8B";
  EXPECT_EQ(answer->rows[1].saved, Bytes(2.0 * 8'030'261'248)) << "the whole model";
  ASSERT_TRUE(answer->rows[1].plan);
  EXPECT_LT(answer->rows[1].plan->cost.total(), answer->rows[0].plan->cost.total());
  EXPECT_NEAR(w.tokens / answer->rows[1].tokens, 1 + 32.0 / (32 + 2 * 8) * 0.1 / 0.9, 1e-6) << "a forward pass of all";
  EXPECT_THAT(command_of(answer->rows[1].spec), HasSubstr("--trained-layers 'last:8'"));
  const auto named = ask({.methods = "full,freeze"}, {.trained_layers = "first:2+head"});
  ASSERT_TRUE(named) << to_string(named.error());
  EXPECT_FALSE(named->rows[0].request.workload.trained_layers) << "the other method trains all";
  EXPECT_EQ(to_string(*named->rows[1].request.workload.trained_layers), "first:2+head");
}

TEST_F(FineTunes, PairsAreTwoSequencesWithAReference) {
  const auto plain = ask({.packing = "off", .methods = "full,lora"}, {.global_batch = "64"});
  const auto dpo = ask({.methods = "full,lora"}, {.global_batch = "64", .loss = "dpo"});
  ASSERT_TRUE(dpo) << to_string(dpo.error());
  EXPECT_EQ(dpo->packing, Packing::Off);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(dpo->rows[i].plan) << dpo->rows[i].why_not;
    EXPECT_DOUBLE_EQ(dpo->rows[i].tokens, 2 * plain->rows[i].tokens);
    EXPECT_EQ(dpo->rows[i].plan->strategy.micro_batch % 2, 0);
    EXPECT_GT(dpo->rows[i].plan->step.components.reference, Seconds());
  }
  EXPECT_GT(dpo->rows[0].plan->memory.components.reference, Bytes()) << "a copy of the weights";
  EXPECT_GT(dpo->rows[1].plan->cost.total(), plain->rows[1].plan->cost.total());
}

TEST_F(FineTunes, ARowSaysThePlanItHas) {
  for (const char* loss : {"", "dpo", "kto"}) {
    for (const char* model : {"llama-3.1-8b", "qwen3-30b-a3b"}) {
      RequestSpec spec{.model = model, .global_batch = "64"};
      if (*loss != '\0') spec.loss = loss;
      const auto answer = ask({.packing = "off", .methods = "full,lora,qlora"}, spec);
      ASSERT_TRUE(answer) << to_string(answer.error());
      for (const FineTuneRow& row : answer->rows) {
        SCOPED_TRACE(command_of(row.spec));
        const auto request = resolve(row.spec, catalog, std::nullopt, Purpose::Plan);
        ASSERT_TRUE(request) << to_string(request.error());
        const PlanSet set = search(*request, catalog);
        ASSERT_EQ(set.plans.empty(), !row.plan);
        if (!row.plan) continue;
        EXPECT_EQ(set.plans.front().instance->name, row.plan->instance->name);
        EXPECT_EQ(set.plans.front().strategy, row.plan->strategy);
        EXPECT_EQ(set.plans.front().cost.total(), row.plan->cost.total());
      }
    }
  }
}

TEST_F(FineTunes, VirtualTokensAreTrainedWithoutLayers) {
  const auto answer = ask({.packing = "off", .methods = "lora,prompt-tuning,prefix-tuning"},
                          {.global_batch = "64", .lora_rank = "8", .virtual_tokens = "10"});
  ASSERT_TRUE(answer) << to_string(answer.error());
  const std::vector<FineTuneRow>& rows = answer->rows;
  const Architecture& a = rows[0].request.workload.architecture;
  EXPECT_EQ(rows[0].request.workload.lora.rank, 8) << "said of layers, and meant for methods that adapt some";
  EXPECT_EQ(rows[1].trained, 10 * a.hidden);
  EXPECT_EQ(rows[2].trained, 10 * a.n_layers * 2 * a.n_kv_heads * a.head_dim);
  EXPECT_EQ(rows[0].steps, rows[1].steps) << "virtual tokens are none of the data's";
  ASSERT_TRUE(rows[1].plan && rows[2].plan);
  EXPECT_EQ(rows[2].plan->strategy.recompute, Recompute::None);
}

TEST_F(FineTunes, LeaveRoomForVirtualTokensWherePositionsEnd) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.virtual_tokens = "100";
  const auto answer = ask({.length = "900", .methods = "lora,prompt-tuning"}, spec);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->seq_len, 924) << "of 1024, for all methods alike";
  EXPECT_EQ(answer->rows[1].request.workload.seq_len, 1024);
}

TEST_F(FineTunes, RefuseWithAReason) {
  EXPECT_THAT(fault({.packing = "sometimes"}), HasSubstr("--packing"));
  EXPECT_THAT(fault({.methods = "lora,doora"}), HasSubstr("--methods"));
  EXPECT_THAT(fault({.epochs = "0"}), HasSubstr("--epochs"));
  EXPECT_THAT(fault({.evaluation = "80%"}), HasSubstr("--evaluation"));
  EXPECT_THAT(fault({}, {.tokens = "1B"}), HasSubstr("--tokens"));
  EXPECT_THAT(fault({.packing = "on"}, {.loss = "dpo"}), HasSubstr("not packed"));
  EXPECT_THAT(fault({.data = "x.jsonl", .length = "7"}), HasSubstr("--data"));
  EXPECT_THAT(fault({}, {.loss = "dpop"}), HasSubstr("unknown loss"));
  EXPECT_THAT(fault({}, {.loss = "distillation"}), HasSubstr("--teacher"));
  EXPECT_THAT(fault({}, {.loss = "distillation", .teacher = "gpt2"}), HasSubstr("vocabulary"));
  EXPECT_THAT(fault({}, {.reference = "copy"}), HasSubstr("compares with no reference"));
}

TEST(FineTune, TakesEachMethodOnce) {
  FineTuneWords words;
  words.methods = "lora,full,lora";
  words.examples = "100";
  words.length = "500";
  RequestSpec base;
  base.model = "llama-3.1-8b";
  const auto question = read_fine_tune(words, base);
  ASSERT_TRUE(question) << to_string(question.error());
  ASSERT_EQ(question->methods.size(), 2U);
  EXPECT_EQ(question->methods[0]->name, "lora");
}

}  // namespace
}  // namespace smplan
