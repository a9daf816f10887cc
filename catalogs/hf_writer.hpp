#pragma once

#include <optional>
#include <string>

#include "catalogs/architecture.hpp"

namespace smplan {

/// The text of a Hugging Face config.json of which transformers builds this architecture, or nothing where no model
/// type that is known here can say it. What is returned was read back by read_hf_config() and is the same model in all
/// that decides parameters and computation. Of several types the one of the architecture's family is taken, else the
/// plainest. Ids of tokens are placeholders within the vocabulary: whoever has a tokenizer sets its own.
std::optional<std::string> hf_config_text(const Architecture& architecture);

}  // namespace smplan
