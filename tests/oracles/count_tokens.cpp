// Counts tokens for tests/oracles/tokenizers.py: `smplan_count_tokens TOKENIZER.json` reads a JSON string a line, and
// writes how many tokens each has, those of a sequence included.

#include <cstdio>
#include <iostream>
#include <string>

#include "base/json_reader.hpp"
#include "catalogs/tokenizer/tokenizer.hpp"

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto tokenizer = smplan::Tokenizer::read(words[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s", smplan::to_string(tokenizer.error()).c_str());
    return 2;
  }
  smplan::TokenCounter counter(*tokenizer);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto value = smplan::parse_json(line, "text");
    smplan::Diagnostics faults;
    const std::string text = value ? value->as_text(faults) : std::string();
    if (!value || !faults.empty()) return 2;
    const auto tokens = counter.count(text);
    if (!tokens) {
      std::puts(smplan::to_string(tokens.error()).c_str());
      continue;
    }
    std::printf("%lld\n", static_cast<long long>(*tokens + tokenizer->added_to_a_sequence()));
  }
}
