#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smplan {

/// A JSON value to be written: members keep the order in which they were added. Reading files is the matter of
/// base/json_reader.hpp.
///
/// A list in braces is an object where each element is a pair of a string and a value (`Json{{"tp", 8}, {"pp", 2}}`),
/// else an array. A value is null until something is put into it.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}                                       // NOLINT(google-explicit-constructor)
  Json(bool value) : value_(value) {}                           // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value)
      : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <typename T>
  Json(const std::vector<T>& values) : value_(Array(values.begin(), values.end())) {}  // NOLINT(google-explicit-*)
  template <typename T>
  Json(const std::map<std::string, T>& values) : value_(Object(values.begin(), values.end())) {}  // NOLINT(google-*)
  Json(std::initializer_list<Json> values);  // NOLINT(google-explicit-constructor)

  static Json array(std::initializer_list<Json> values = {}) {
    Json out;
    out.value_ = Array(values);
    return out;
  }
  /// Of members with different names.
  static Json object(Object members = {}) {
    Json out;
    out.value_ = std::move(members);
    return out;
  }
  /// Of text that this program wrote; anything else is a fault of the caller.
  static Json parse(std::string_view text);

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(value_); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  [[nodiscard]] bool is_number() const;
  /// Of an array or an object: without elements. Null is empty too.
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const;

  /// The member of that name, added as null where it is missing; null becomes an object.
  Json& operator[](std::string_view name);
  /// The member of that name; null where there is none.
  const Json& operator[](std::string_view name) const;
  /// nullptr where there is no such member.
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  Json& operator[](std::size_t index) { return std::get<Array>(value_).at(index); }
  const Json& operator[](std::size_t index) const { return std::get<Array>(value_).at(index); }
  /// The last of an array.
  Json& back() { return std::get<Array>(value_).back(); }
  /// Null becomes an array.
  void push_back(Json value);
  /// Members of an object, each in the place of one of its name; null becomes an object.
  void update(const Json& other);
  void erase(std::string_view name);

  [[nodiscard]] const Array& elements() const { return std::get<Array>(value_); }
  [[nodiscard]] const Object& members() const { return std::get<Object>(value_); }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value_); }
  [[nodiscard]] bool truth() const { return std::get<bool>(value_); }
  [[nodiscard]] std::int64_t integer() const { return std::get<std::int64_t>(value_); }
  /// Whole or not.
  [[nodiscard]] double number() const;

  /// In one line, or with so many blanks for each level; bytes that are no UTF-8 become U+FFFD.
  [[nodiscard]] std::string dump(int indent = -1) const;

  friend bool operator==(const Json&, const Json&) = default;

 private:
  friend class JsonText;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_ = nullptr;
};

}  // namespace smplan
