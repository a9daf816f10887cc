#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// A model's name without what writers differ in: lower case, and of what stands between letters and digits only
/// what parts two digits, the point as itself. `Llama 3.1 8B` and `llama-3.1-8b` are `llama3.1-8b`; `opt-1.3b` and
/// `opt-13b` stay two, and so do `command-r` and `Command R+`, which is `commandrplus`.
std::string plain_model_name(std::string_view name);

/// The same without what never changes the widths: who publishes the weights (`meta-llama/`), how they were trained on
/// (`Instruct`, `chat`, `it`), their format (`hf`, `bnb-4bit`) and the month of a release (`-2507`).
std::string plain_base_model_name(std::string_view name);

/// Whether the name is of a family that no layer of a transformer or state-space model describes: convolutional,
/// recurrent and diffusion networks, recommenders (`ResNet-50`, `Mask R-CNN`, `DLRM`).
bool names_no_transformer(std::string_view name);

/// `organisation/name` as the Hugging Face hub has them: letters, digits, `_`, and within a part `-` and `.`, at most
/// 96 characters a part, no `--` or `..`. Source: huggingface_hub 2.4.0, utils/_validators.py.
bool is_hub_name(std::string_view name);

}  // namespace smplan
