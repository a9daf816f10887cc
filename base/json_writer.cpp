#include "base/json_writer.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace smplan {

/// Between our values and those of the library that writes text.
class JsonText {
 public:
  using Theirs = nlohmann::ordered_json;

  static Theirs theirs(const Json& json) {
    return std::visit([](const auto& value) { return theirs_of(value); }, json.value_);
  }

  static Json ours(const Theirs& theirs) {
    switch (theirs.type()) {
      case Theirs::value_t::boolean:
        return theirs.get<bool>();
      case Theirs::value_t::number_integer:
      case Theirs::value_t::number_unsigned:
        return theirs.get<std::int64_t>();
      case Theirs::value_t::number_float:
        return theirs.get<double>();
      case Theirs::value_t::string:
        return theirs.get<std::string>();
      case Theirs::value_t::array: {
        Json out = Json::array();
        for (const Theirs& element : theirs) out.push_back(ours(element));
        return out;
      }
      case Theirs::value_t::object: {
        Json out = Json::object();
        for (const auto& [name, member] : theirs.items()) out[name] = ours(member);
        return out;
      }
      default:
        return nullptr;
    }
  }

 private:
  static Theirs theirs_of(const Json::Array& array) {
    Theirs out = Theirs::array();
    for (const Json& element : array) out.push_back(theirs(element));
    return out;
  }
  static Theirs theirs_of(const Json::Object& object) {
    Theirs out = Theirs::object();
    for (const auto& [name, member] : object) out.push_back({name, theirs(member)});
    return out;
  }
  template <typename T>
  static Theirs theirs_of(const T& value) {
    return value;
  }
};

Json::Json(std::initializer_list<Json> values) {
  const bool members = std::all_of(values.begin(), values.end(), [](const Json& value) {
    const Array* pair = std::get_if<Array>(&value.value_);
    return pair != nullptr && pair->size() == 2 && pair->front().is_string();
  });
  if (!members) {
    value_ = Array(values);
    return;
  }
  Object object;
  for (const Json& value : values) object.emplace_back(value.elements()[0].text(), value.elements()[1]);
  value_ = std::move(object);
}

Json Json::parse(std::string_view text) { return JsonText::ours(JsonText::Theirs::parse(text)); }

bool Json::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<double>(value_);
}

double Json::number() const {
  const auto* whole = std::get_if<std::int64_t>(&value_);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value_);
}

std::size_t Json::size() const {
  if (const Array* array = std::get_if<Array>(&value_)) return array->size();
  if (const Object* object = std::get_if<Object>(&value_)) return object->size();
  return is_null() ? 0 : 1;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  Object& object = std::get<Object>(value_);
  const auto found = std::find_if(object.begin(), object.end(), [&](const Member& m) { return m.first == name; });
  return found != object.end() ? found->second : object.emplace_back(std::string(name), nullptr).second;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNull;
  const Json* member = find(name);
  return member == nullptr ? kNull : *member;
}

const Json* Json::find(std::string_view name) const {
  const Object* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = std::find_if(object->begin(), object->end(), [&](const Member& m) { return m.first == name; });
  return found == object->end() ? nullptr : &found->second;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  std::get<Array>(value_).push_back(std::move(value));
}

void Json::update(const Json& other) {
  for (const auto& [name, member] : other.members()) (*this)[name] = member;
}

void Json::erase(std::string_view name) {
  std::erase_if(std::get<Object>(value_), [&](const Member& m) { return m.first == name; });
}

std::string Json::dump(int indent) const {
  return JsonText::theirs(*this).dump(indent, ' ', false, JsonText::Theirs::error_handler_t::replace);
}

}  // namespace smplan
