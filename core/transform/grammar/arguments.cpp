// SPDX-License-Identifier: Apache-2.0
#include "core/transform/grammar/arguments.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/text.h"
#include "core/transform/elements/convert.h"

namespace dataline {
namespace {

std::vector<std::string_view> argument_names(const OperatorInfo& info) {
  std::vector<std::string_view> names;
  for (const OperatorArgument& argument : info.arguments) names.push_back(argument.name);
  return names;
}

std::string range_text(std::string_view what, int64_t min, int64_t max) {
  if (max == std::numeric_limits<int64_t>::max()) return concat(what, " of at least ", min);
  return concat(what, " from ", min, " to ", max);
}

std::optional<int64_t> whole(const Value& value) {
  return value.kind == ValueKind::kNumber ? parse_i64(value.text) : std::nullopt;
}

bool names_type(const OperatorArgument& argument, std::string_view type) {
  return argument.type.find(type) != std::string_view::npos;
}

// As the grammar reads it: Python's tuples in brackets, texts in quotes.
std::string value_text(const Value& value) {
  if (value.kind == ValueKind::kText) return concat('"', value.text, '"');
  if (!value.tuple) return std::string(value.text);
  std::string_view items = trim(value.text.substr(1, value.text.size() - 2));
  if (items.ends_with(',')) items = trim(items.substr(0, items.size() - 1));
  return concat('[', items, ']');
}

// The most items that a list of this argument can have.
size_t max_items(const OperatorArgument& argument) {
  constexpr std::string_view kOfSidesOrChannels[] = {"padding", "fill", "value", "mean", "std"};
  if (names_type(argument, "shape")) return kMaxRank;
  const bool four = std::find(std::begin(kOfSidesOrChannels), std::end(kOfSidesOrChannels), argument.name) !=
                    std::end(kOfSidesOrChannels);
  return four ? 4 : 2;
}

size_t by_place_count(const OperatorInfo& info) {
  const auto first = std::find_if(info.arguments.begin(), info.arguments.end(),
                                  [](const OperatorArgument& row) { return row.by_name; });
  return static_cast<size_t>(first - info.arguments.begin());
}

// The whole call in a form that can be bound: the numbers from `begin` to `end` as one list, and by name what cannot be given
// by its place. Empty: there is none.
std::string rewritten(const CallSyntax& call, const OperatorInfo& info, size_t begin, size_t end) {
  const size_t by_place = by_place_count(info);
  size_t place = 0, next_name = by_place;
  std::string out;
  for (size_t at = 0; at < call.arguments.size(); ++at) {
    const ArgumentSyntax& argument = call.arguments[at];
    const bool within = at > begin && at < end;
    if (within) {
      out += concat(", ", value_text(argument.value), at + 1 == end ? "]" : "");
      continue;
    }
    out += at == 0 ? "" : ", ";
    if (!argument.name.empty()) {
      out += concat(argument.name, "=");
    } else {
      const bool word = argument.value.kind == ValueKind::kWord || argument.value.kind == ValueKind::kText;
      const bool fits = place < by_place && (word || info.arguments[place].type != "word");
      if (!fits && next_name == info.arguments.size()) return "";
      if (!fits) out += concat(info.arguments[next_name++].name, "=");
      if (!fits) place = by_place;
      ++place;
    }
    out += concat(at == begin && end > begin ? "[" : "", value_text(argument.value));
  }
  return concat(call.name, "(", out, ")");
}

Status explain_tuples(const CallSyntax& call, const OperatorInfo& info) {
  const auto tuple = std::find_if(call.arguments.begin(), call.arguments.end(),
                                  [](const ArgumentSyntax& argument) { return argument.value.tuple; });
  if (tuple == call.arguments.end()) return Status::ok();
  const std::string form = rewritten(call, info, 0, 0);
  return transform_error(tuple->value.column, "expected a list in [ ], got ", quote(tuple->value.text),
                         form.empty() ? "" : ": write ", form);
}

// Numbers side by side where one argument expects a list, as in `resize(224, 224)`: the error shows the list form. `place`
// is the first argument that is neither named nor fits as a number; ok where no list would help.
Status explain_loose_numbers(const CallSyntax& call, size_t place, const OperatorInfo& info) {
  const auto is_number = [&](size_t at) {
    return at < call.arguments.size() && call.arguments[at].name.empty() &&
           call.arguments[at].value.kind == ValueKind::kNumber;
  };
  const auto type_of = [&](size_t at, std::string_view type) {
    return at < info.arguments.size() && !info.arguments[at].by_name && names_type(info.arguments[at], type);
  };
  const auto takes_list = [&](size_t at) { return type_of(at, "list") || type_of(at, "shape"); };
  if (!is_number(place) || type_of(place, "integer") || type_of(place, "number")) return Status::ok();
  if (place < info.arguments.size() && info.arguments[place].by_name) return Status::ok();
  size_t end = place + 1;
  while (is_number(end)) ++end;
  size_t first = place;
  std::string forms;
  for (size_t begin = place + 1; begin-- > 0 && is_number(begin);) {
    const size_t count = end - begin;
    if (!takes_list(begin) || count < 2 || count > max_items(info.arguments[begin])) continue;
    const std::string form = rewritten(call, info, begin, end);
    if (form.empty()) continue;
    first = begin;
    forms = concat(form, forms.empty() ? "" : " or ", forms);
  }
  if (forms.empty()) return Status::ok();
  return transform_error(call.arguments[place].column, call.name, ": ", info.arguments[first].name,
                         ": expected a list, got ", end - first, " numbers: write ", forms);
}

// ": write normalize(mean=[0.5], std=[1])" where the values by their place only lack their names. A word is the preset, which
// leaves nothing to name.
std::string name_advice(const CallSyntax& call, const OperatorInfo& info) {
  const bool preset = info.arguments[0].type == "word" && call.arguments[0].value.kind == ValueKind::kWord;
  const std::string form = preset ? "" : rewritten(call, info, 0, 0);
  return concat(form.empty() ? "" : ": write ", form);
}

}  // namespace

Result<size_t> Arguments::index_of(const CallSyntax& call, size_t place, const OperatorInfo& info) {
  const ArgumentSyntax& argument = call.arguments[place];
  const std::vector<std::string_view> names = argument_names(info);
  if (names.empty())
    return transform_error(argument.column, call.name, ": expected no arguments, got ",
                           quote(argument.name.empty() ? argument.value.text : argument.name));
  if (argument.name.empty()) {
    const size_t by_place = by_place_count(info);
    if (place < by_place) return place;
    const auto rest = std::span(names).subspan(by_place);
    return transform_error(argument.column, call.name, ": expected ",
                           rest.empty() ? concat("no more arguments than ", joined(names))
                                        : concat("a name here (", joined(rest), ")"),
                           ", got ", quote(argument.value.text), rest.empty() ? "" : name_advice(call, info));
  }
  for (size_t index = 0; index < names.size(); ++index) {
    if (names[index] == argument.name || info.arguments[index].short_name == argument.name) return index;
  }
  return transform_error(argument.column, call.name, ": expected one of ", joined(names), ", got ",
                         quote(argument.name), did_you_mean(argument.name, names));
}

Result<Arguments> Arguments::bind(const CallSyntax& call, const OperatorInfo& info) {
  Arguments out(call, info);
  const std::vector<std::string_view> names = argument_names(info);
  std::vector<bool> seen(names.size());
  DL_RETURN_IF_ERROR(explain_tuples(call, info));
  for (size_t place = 0; place < call.arguments.size(); ++place) {
    const ArgumentSyntax& argument = call.arguments[place];
    DL_RETURN_IF_ERROR(explain_loose_numbers(call, place, info));
    DL_ASSIGN_OR_RETURN(const size_t index, index_of(call, place, info));
    if (seen[index])  // by its place or short name, and by its name
      return transform_error(argument.column, "expected each argument of ", call.name, " once, got '",
                             names[index], "' twice");
    seen[index] = true;
    const bool none = argument.value.kind == ValueKind::kWord && argument.value.text == "none";
    if (!none || info.arguments[index].default_value != "none") out.values_[index] = {argument.value, true};
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (out.given(i)) continue;
    const std::string_view text = info.arguments[i].default_value;
    if (text.empty()) return out.fault("expected a value for ", names[i], ", got none");
    Result<Value> value = parse_value(text);
    if (text != "none" && value.is_ok()) out.values_[i].value = std::move(value.value());
  }
  return out;
}

Result<DType> Arguments::dtype(size_t index) const {
  const Value& name = value(index);
  if (name.kind == ValueKind::kWord) {
    if (std::optional<DType> dtype = dtype_from_name(name.text)) return *dtype;
  }
  std::vector<std::string_view> names;
  for (int32_t i = static_cast<int32_t>(DType::kBool); i <= static_cast<int32_t>(DType::kC128); ++i)
    names.push_back(dtype_name(static_cast<DType>(i)));
  return expected(index, "a dtype (", joined(names), ")");
}

Result<double> Arguments::number(size_t index) const {
  if (value(index).kind != ValueKind::kNumber) return expected(index, "a number");
  return value(index).number;
}

Result<int64_t> Arguments::integer(size_t index, int64_t min, int64_t max) const {
  const std::optional<int64_t> number = whole(value(index));
  if (number && *number >= min && *number <= max) return *number;
  return expected(index, range_text("a whole number", min, max));
}

Result<std::string_view> Arguments::word(size_t index) const {
  const ValueKind kind = value(index).kind;
  if (kind != ValueKind::kWord && kind != ValueKind::kText) return expected(index, "a word");
  return value(index).text;
}

Result<size_t> Arguments::word_of(size_t index, std::span<const std::string_view> words) const {
  const Result<std::string_view> given = word(index);
  if (!given.is_ok()) return expected(index, "one of ", joined(words));
  const auto found = std::find(words.begin(), words.end(), given.value());
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  return fault_at(index, "expected one of ", joined(words), ", got ", text_of(index),
                  did_you_mean(given.value(), words));
}

Result<bool> Arguments::boolean(size_t index) const {
  return choice<bool>(index, {{"false", false}, {"true", true}});
}

Result<std::vector<double>> Arguments::numbers(size_t index) const {
  const Value& list = value(index);
  std::vector<double> out;
  if (list.kind == ValueKind::kNumber) out.push_back(list.number);
  for (const Value& item : list.items) {
    if (item.kind != ValueKind::kNumber) return expected(index, "numbers");
    out.push_back(item.number);
  }
  if (out.empty()) return expected(index, "a number or a list of numbers");
  return out;
}

Result<std::vector<int64_t>> Arguments::integers(size_t index, int64_t min, int64_t max) const {
  const Value& list = value(index);
  std::vector<int64_t> out = list.shape;
  if (std::optional<int64_t> number = whole(list)) out.push_back(*number);
  for (const Value& item : list.items) {
    std::optional<int64_t> number = whole(item);
    if (!number) return expected(index, "whole numbers");
    out.push_back(*number);
  }
  if (out.empty()) return expected(index, "one or more whole numbers");
  for (int64_t number : out) {
    if (number < min || number > max) return expected(index, range_text("whole numbers", min, max));
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
  if (!out) return expected(index, "a value that ", dtype_name(dtype), " holds");
  return *std::move(out);
}

Result<std::vector<std::byte>> Arguments::element(size_t index, DType dtype) const {
  return stored(index, value(index), dtype);
}

Result<std::vector<std::byte>> Arguments::elements(size_t index, DType dtype, int64_t channels) const {
  const size_t count = static_cast<size_t>(channels);
  const Value& all = value(index);
  const std::span<const Value> items =
      all.kind == ValueKind::kList ? std::span<const Value>(all.items) : std::span<const Value>(&all, 1);
  if (items.size() != 1 && items.size() != count)
    return expected(index, "one value, or one for each of ", channels, " channels");
  std::vector<std::byte> out;
  for (size_t c = 0; c < count; ++c) {
    DL_ASSIGN_OR_RETURN(std::vector<std::byte> one, stored(index, items[items.size() == 1 ? 0 : c], dtype));
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

}  // namespace dataline
