// SPDX-License-Identifier: Apache-2.0
#include "core/transform/arguments.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/text.h"
#include "core/transform/convert.h"

namespace dataline {
namespace {

std::vector<std::string_view> argument_names(const OperatorInfo& info) {
  std::vector<std::string_view> names;
  for (const OperatorArgument& argument : info.arguments) names.push_back(argument.name);
  return names;
}

// Other spellings of arguments.
struct ShortName {
  std::string_view of, name, short_name;
};
constexpr ShortName kShortNames[] = {{"color_jitter", "brightness", "b"},
                                     {"color_jitter", "contrast", "c"},
                                     {"color_jitter", "saturation", "s"},
                                     {"color_jitter", "hue", "h"}};

std::string_view full_name(std::string_view of, std::string_view name) {
  for (const ShortName& entry : kShortNames) {
    if (entry.of == of && entry.short_name == name) return entry.name;
  }
  return name;
}

std::string joined(std::span<const std::string_view> names) {
  std::string out;
  for (std::string_view name : names) out += concat(out.empty() ? "" : ", ", name);
  return out;
}

std::string range_text(std::string_view what, int64_t least, int64_t most) {
  if (most == std::numeric_limits<int64_t>::max()) return concat(what, " of at least ", least);
  return concat(what, " from ", least, " to ", most);
}

std::optional<int64_t> whole(const Value& value) {
  return value.kind == ValueKind::kNumber ? parse_i64(value.text) : std::nullopt;
}

}  // namespace

Result<Arguments> Arguments::bind(const CallSyntax& call, const OperatorInfo& info) {
  Arguments out(call, info);
  const std::vector<std::string_view> names = argument_names(info);
  for (const ArgumentSyntax& argument : call.arguments) {
    if (names.empty())
      return transform_error(argument.column, call.name, ": expected no arguments, got ",
                             quote(argument.name.empty() ? argument.value.text : argument.name));
    size_t index = 0;
    const std::string_view name = full_name(info.name, argument.name);
    while (!name.empty() && index < names.size() && names[index] != name) ++index;
    if (index == names.size())
      return transform_error(argument.column, call.name, ": expected one of ", joined(names), ", got ",
                             quote(argument.name), did_you_mean(argument.name, names));
    if (out.given(index))  // the main argument, with and without its name
      return transform_error(argument.column, "expected each argument of ", call.name, " once, got '",
                             names[index], "' twice");
    out.values_[index] = &argument.value;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!out.given(i) && info.arguments[i].default_value.empty())
      return out.fault("expected a value for ", names[i], ", got none");
  }
  return out;
}

Status Arguments::expected(size_t index, std::string_view what) const {
  return fault_at(index, "expected ", what, ", got ", text_of(index));
}

Result<DType> Arguments::dtype(size_t index) const {
  const Value& value = *values_[index];
  if (value.kind == ValueKind::kWord) {
    if (std::optional<DType> dtype = dtype_from_name(value.text)) return *dtype;
  }
  std::vector<std::string_view> names;
  for (int32_t i = static_cast<int32_t>(DType::kBool); i <= static_cast<int32_t>(DType::kC128); ++i)
    names.push_back(dtype_name(static_cast<DType>(i)));
  return expected(index, concat("a dtype (", joined(names), ")"));
}

Result<double> Arguments::number(size_t index) const {
  const Value& value = *values_[index];
  if (value.kind != ValueKind::kNumber) return expected(index, "a number");
  return value.number;
}

Result<int64_t> Arguments::integer(size_t index, int64_t least, int64_t most) const {
  std::optional<int64_t> value = whole(*values_[index]);
  if (value && *value >= least && *value <= most) return *value;
  return expected(index, range_text("a whole number", least, most));
}

Result<std::string_view> Arguments::word(size_t index) const {
  const Value& value = *values_[index];
  if (value.kind != ValueKind::kWord && value.kind != ValueKind::kText) return expected(index, "a word");
  return value.text;
}

Result<size_t> Arguments::choice(size_t index, std::span<const std::string_view> words) const {
  const Value& value = *values_[index];
  if (value.kind == ValueKind::kWord || value.kind == ValueKind::kText) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (value.text == words[i]) return i;
    }
    return fault_at(index, "expected one of ", joined(words), ", got ", text_of(index),
                    did_you_mean(value.text, words));
  }
  return expected(index, concat("one of ", joined(words)));
}

Result<bool> Arguments::boolean(size_t index) const {
  constexpr std::array<std::string_view, 2> kWords = {"false", "true"};
  DL_ASSIGN_OR_RETURN(const size_t which, choice(index, kWords));
  return which == 1;
}

Result<std::vector<double>> Arguments::numbers(size_t index) const {
  const Value& value = *values_[index];
  std::vector<double> out;
  if (value.kind == ValueKind::kNumber) out.push_back(value.number);
  for (const Value& item : value.items) {
    if (item.kind != ValueKind::kNumber) return expected(index, "numbers");
    out.push_back(item.number);
  }
  if (out.empty()) return expected(index, "a number or a list of numbers");
  return out;
}

Result<std::vector<int64_t>> Arguments::integers(size_t index, int64_t least, int64_t most) const {
  const Value& value = *values_[index];
  std::vector<int64_t> out = value.shape;
  if (std::optional<int64_t> number = whole(value)) out.push_back(*number);
  for (const Value& item : value.items) {
    std::optional<int64_t> number = whole(item);
    if (!number) return expected(index, "whole numbers");
    out.push_back(*number);
  }
  if (out.empty()) return expected(index, "one or more whole numbers");
  for (int64_t number : out) {
    if (number < least || number > most) return expected(index, range_text("whole numbers", least, most));
  }
  return out;
}

Result<std::vector<std::byte>> Arguments::stored(size_t index, const Value& value, DType dtype) const {
  if (value.kind != ValueKind::kNumber) return expected(index, "a number");
  std::optional<std::vector<std::byte>> out = with_storage(dtype, [&](auto storage) {
    using T = decltype(storage);
    std::optional<std::vector<std::byte>> bytes;
    T element{};
    if constexpr (std::is_integral_v<T>) {
      const std::optional<int64_t> number = whole(value);
      if (!number || !std::in_range<T>(*number)) return bytes;
      element = static_cast<T>(*number);
    } else {
      if (dtype == DType::kBool && value.number != 0 && value.number != 1) return bytes;
      element = convert<T>(value.number);
    }
    bytes.emplace(sizeof element);
    std::memcpy(bytes->data(), &element, sizeof element);
    return bytes;
  });
  if (!out) return expected(index, concat("a value that ", dtype_name(dtype), " holds"));
  return *std::move(out);
}

Result<std::vector<std::byte>> Arguments::element(size_t index, DType dtype) const {
  if (!given(index)) return std::vector<std::byte>(static_cast<size_t>(dtype_bytes(dtype)));
  return stored(index, *values_[index], dtype);
}

Result<std::vector<std::byte>> Arguments::elements(size_t index, DType dtype, int64_t channels) const {
  const size_t bytes = static_cast<size_t>(dtype_bytes(dtype)), count = static_cast<size_t>(channels);
  if (!given(index)) return std::vector<std::byte>(count * bytes);
  const Value& value = *values_[index];
  const std::span<const Value> items = value.kind == ValueKind::kList ? std::span<const Value>(value.items)
                                                                      : std::span<const Value>(&value, 1);
  if (items.size() != 1 && items.size() != count)
    return expected(index, concat("one value, or one for each of ", channels, " channels"));
  std::vector<std::byte> out;
  for (size_t c = 0; c < count; ++c) {
    DL_ASSIGN_OR_RETURN(std::vector<std::byte> one, stored(index, items[items.size() == 1 ? 0 : c], dtype));
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

}  // namespace dataline
