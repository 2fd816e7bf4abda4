// The arguments of one operator call: matched with the operator's table row, completed with its defaults, and read with
// types.
//
// Lifetime: borrows the syntax tree and the table.
// Failure: every reader names the operator and argument, what was expected and what the text says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/status.h"
#include "core/transform/grammar/grammar.h"

namespace dataline {

constexpr bool kByName = true;

struct OperatorArgument {
  std::string_view name;
  std::string_view type;             // for people: "dtype", "number", "list", "number, by name", ...
  std::string_view default_value;    // as in a text; empty: required; "none": absent unless given
  std::string_view short_name = {};  // another spelling
  // Never given by its place: torchvision has another argument there, or none without a name. So are those that follow.
  bool by_name = false;
};

struct OperatorInfo {
  std::string_view name;
  std::span<const OperatorArgument> arguments;  // in torchvision's order, where it has them
  std::string_view doc;                         // one or two sentences
  std::string_view source;                      // what it follows: "torchvision.transforms.v2.RandomCrop"
  std::string_view since;                       // "0.1"
};

// The table of operators (operators/list.def), for bindings and the shell.
std::span<const OperatorInfo* const> operator_table();

class Arguments {
 public:
  // Values without a name are those of the first arguments. `none` is as good as nothing where it is the default. Unknown
  // names, more values than arguments, and missing values are errors.
  static Result<Arguments> bind(const CallSyntax& call, const OperatorInfo& info);

  // `index` is the argument's index in the table row. given(): by the user. The readers need a value: a given one or a
  // default.
  bool given(size_t index) const { return values_[index].given; }
  // As parsed; null if neither given nor defaulted.
  const Value* find(size_t index) const { return values_[index].value ? &*values_[index].value : nullptr; }
  Result<DType> dtype(size_t index) const;
  Result<double> number(size_t index) const;
  Result<int64_t> integer(size_t index, int64_t min, int64_t max = std::numeric_limits<int64_t>::max()) const;
  Result<std::string_view> word(size_t index) const;
  Result<bool> boolean(size_t index) const;
  Result<std::vector<double>> numbers(size_t index) const;  // a number or a list of one or more
  // Whole numbers: one, a list or a shape.
  Result<std::vector<int64_t>> integers(size_t index, int64_t min,
                                        int64_t max = std::numeric_limits<int64_t>::max()) const;
  // One value of the dtype, as stored bytes. Integers must fit, floats are rounded.
  Result<std::vector<std::byte>> element(size_t index, DType dtype) const;
  // The same for each channel: one value for all, or a list of `channels`.
  Result<std::vector<std::byte>> elements(size_t index, DType dtype, int64_t channels) const;

  // One of several words, mapped to its value.
  template <typename T>
  struct Choice {
    std::string_view word;
    T value;
  };
  template <typename T, size_t kCount>
  Result<T> choice(size_t index, const Choice<T> (&choices)[kCount]) const {
    std::array<std::string_view, kCount> words;
    for (size_t i = 0; i < kCount; ++i) words[i] = choices[i].word;
    DL_ASSIGN_OR_RETURN(const size_t which, word_of(index, words));
    return choices[which].value;
  }

  // kBadTransform at the operator's name, or at an argument's value: "transform: column 3: random_crop: ...".
  template <typename... Parts>
  Status fault(const Parts&... parts) const {
    return transform_error(call_->column, call_->name, ": ", parts...);
  }
  template <typename... Parts>
  Status fault_at(size_t index, const Parts&... parts) const {
    return transform_error(column_of(index), call_->name, ": ", info_->arguments[index].name, ": ", parts...);
  }
  // The same where a value is not what was expected: "expected PARTS, got 'text'".
  template <typename... Parts>
  Status expected(size_t index, const Parts&... parts) const {
    return fault_at(index, "expected ", parts..., ", got ", text_of(index));
  }
  std::string text_of(size_t index) const { return quote(value(index).text); }
  int64_t column() const { return call_->column; }
  int64_t column_of(size_t index) const { return given(index) ? value(index).column : call_->column; }

 private:
  // One per argument of the table row. `value` is empty if neither given nor defaulted.
  struct Bound {
    std::optional<Value> value;
    bool given = false;
  };

  // The table's index of an argument of the call, which is its `place`.
  static Result<size_t> index_of(const CallSyntax& call, size_t place, const OperatorInfo& info);

  Arguments(const CallSyntax& call, const OperatorInfo& info)
      : call_(&call), info_(&info), values_(info.arguments.size()) {}
  const Value& value(size_t index) const { return *values_[index].value; }
  Result<size_t> word_of(size_t index, std::span<const std::string_view> words) const;
  Result<std::vector<std::byte>> stored(size_t index, const Value& value, DType dtype) const;

  const CallSyntax* call_;
  const OperatorInfo* info_;
  std::vector<Bound> values_;
};

}  // namespace dataline
