#include "planner/preflight/rules/sdk_calls.hpp"

#include <algorithm>
#include <optional>

namespace smplan {
namespace {

constexpr std::string_view kCalled = "()";

/// What a path of a script stands for: a signature, or the method that a class has not.
struct Callee {
  const SdkCallable* owner = nullptr;
  const SdkSignature* signature = nullptr;
  std::string name;
  std::string missing_method;
};

const SdkSignature* method_of(const SdkCallable& owner, std::string_view name) {
  const auto at = std::find_if(owner.methods.begin(), owner.methods.end(),
                               [&](const SdkSignature& one) { return one.name == name; });
  return at == owner.methods.end() ? nullptr : &*at;
}

Callee method(const SdkCallable& owner, std::string_view name) {
  Callee callee{&owner, method_of(owner, name), owner.made.name + '.' + std::string(name), ""};
  const bool known =
      callee.signature != nullptr || owner.methods.empty() || name.starts_with('_') || contains(owner.attributes, name);
  if (!known) callee.missing_method = name;
  return callee;
}

/// `sagemaker.train.ModelTrainer().with_retry_strategy().train`: a class by its import, then methods of what they
/// return.
std::optional<Callee> callee_of(const SagemakerLimits& limits, std::string_view path) {
  const auto end = std::min(path.find(kCalled), path.size());
  const std::string_view first = path.substr(0, end);
  std::optional<Callee> at;
  if (const SdkCallable* made = limits.find_callable(first)) {
    at = Callee{made, &made->made, made->made.name, ""};
  } else if (const auto dot = first.rfind('.'); dot != std::string_view::npos) {
    const SdkCallable* owner = limits.find_callable(first.substr(0, dot));
    if (owner != nullptr) at = method(*owner, first.substr(dot + 1));
  }
  std::string_view rest = path.substr(end);
  while (at && !rest.empty()) {
    const bool constructed = at->signature == &at->owner->made;
    if (!constructed && (at->signature == nullptr || !at->signature->returns_itself)) return std::nullopt;
    rest.remove_prefix(kCalled.size());
    if (!rest.starts_with('.')) return std::nullopt;
    const auto next = std::min(rest.find(kCalled), rest.size());
    const std::string_view name = rest.substr(1, next - 1);
    if (name.find('.') != std::string_view::npos) return std::nullopt;
    at = method(*at->owner, name);
    rest.remove_prefix(next);
  }
  return at;
}

/// A call as the reader wrote it.
struct Call {
  Callee callee;
  std::int64_t line = 0;
  std::size_t positional = 0;
  bool open = false;
  const Node* arguments = nullptr;
};

std::int64_t number(const Node& node, std::string_view name) {
  const Node* member = node.find(name);
  return member == nullptr ? 0 : member->integer;
}

std::vector<Call> calls_of(const CheckInput& in) {
  std::vector<Call> out;
  const Node* list = in.job.root().find("calls");
  if (list == nullptr || !list->is_array()) return out;
  for (const Node& node : list->items) {
    const Node* path = node.find("path");
    const Node* open = node.find("open");
    if (path == nullptr || open == nullptr) continue;
    auto callee = callee_of(in.limits, path->text);
    if (!callee) continue;
    out.push_back({std::move(*callee), number(node, "line"), static_cast<std::size_t>(number(node, "positional")),
                   open->truth, node.find("arguments")});
  }
  return out;
}

Where place(std::int64_t line, const std::string& callee, std::string_view name) {
  return {pointer_to(pointer_to("", callee), name), static_cast<int>(line)};
}

void judge_arguments(const Call& call, CallFault::Kind kind, std::vector<CallFault>& out) {
  using enum CallFault::Kind;
  const SdkSignature& takes = *call.callee.signature;
  const std::string callee = call.callee.name + std::string(kCalled);
  std::vector<std::string> given(
      takes.arguments.begin(),
      takes.arguments.begin() + static_cast<std::ptrdiff_t>(std::min(call.positional, takes.arguments.size())));
  for (const Node& argument : call.arguments == nullptr ? std::vector<Node>() : call.arguments->items) {
    const Node* name = argument.find("name");
    if (name == nullptr) continue;
    given.push_back(name->text);
    if (kind != UnknownArgument || takes.open || contains(takes.arguments, name->text)) continue;
    out.push_back(
        {kind, place(number(argument, "line"), call.callee.name, name->text), name->text, callee, takes.arguments});
  }
  if (kind != MissingArgument || call.open) return;
  for (const std::string& needed : takes.required) {
    if (!contains(given, needed)) out.push_back({kind, place(call.line, call.callee.name, needed), needed, callee, {}});
  }
}

}  // namespace

std::vector<CallFault> call_faults(const CheckInput& in, CallFault::Kind kind) {
  std::vector<CallFault> out;
  for (const Call& call : calls_of(in)) {
    if (call.callee.signature != nullptr) {
      judge_arguments(call, kind, out);
    } else if (kind == CallFault::Kind::UnknownMethod && !call.callee.missing_method.empty()) {
      std::vector<std::string> known;
      for (const SdkSignature& one : call.callee.owner->methods) known.push_back(one.name);
      out.push_back({kind, place(call.line, call.callee.owner->made.name, call.callee.missing_method),
                     call.callee.missing_method, call.callee.name + std::string(kCalled), std::move(known)});
    }
  }
  return out;
}

bool is_missing_import(const SagemakerLimits& limits, const std::string& path) {
  if (limits.find_module(path) != nullptr) return false;
  for (std::size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const SdkModule* module = limits.find_module(std::string_view(path).substr(0, dot));
    if (module == nullptr) continue;
    // The first package belongs to several distributions: what is not in one may be in another.
    if (module->name.find('.') == std::string::npos) return false;
    const std::string name = path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
    return name != "*" && !name.starts_with('_') && !contains(module->names, name);
  }
  return false;
}

}  // namespace smplan
