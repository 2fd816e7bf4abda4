// The arguments of one operator call, matched with the operator's table row and read with types.
//
// Lifetime: borrows the syntax tree and the table.
// Failure: every reader names the operator and argument, what was expected and what the text says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/status.h"
#include "core/transform/grammar.h"
#include "core/transform/transform.h"

namespace dataline {

class Arguments {
 public:
  // Unknown names, a positional value for an operator without arguments, and missing values are errors.
  static Result<Arguments> bind(const CallSyntax& call, const OperatorInfo& info);

  // `index` is the argument's place in the table row. All but given() want a value that is there.
  bool given(size_t index) const { return values_[index] != nullptr; }
  Result<DType> dtype(size_t index) const;
  Result<double> number(size_t index) const;
  Result<int64_t> integer(size_t index, int64_t least,
                          int64_t most = std::numeric_limits<int64_t>::max()) const;
  Result<std::string_view> word(size_t index) const;
  Result<size_t> choice(size_t index, std::span<const std::string_view> words) const;  // which of the words
  Result<bool> boolean(size_t index) const;
  Result<std::vector<double>> numbers(size_t index) const;  // a number or a list of one or more
  // Whole numbers: one, a list or a shape.
  Result<std::vector<int64_t>> integers(size_t index, int64_t least,
                                        int64_t most = std::numeric_limits<int64_t>::max()) const;
  // One value of the dtype, as stored bytes; zero when not given. Integers must fit, floats are rounded.
  Result<std::vector<std::byte>> element(size_t index, DType dtype) const;
  // The same for each channel: one value for all, or a list of `channels`.
  Result<std::vector<std::byte>> elements(size_t index, DType dtype, int64_t channels) const;

  // kBadTransform at the operator's name, or at an argument's value: "transform: column 3: random_crop: ...".
  template <typename... Parts>
  Status fault(const Parts&... parts) const {
    return transform_error(call_->column, call_->name, ": ", parts...);
  }
  template <typename... Parts>
  Status fault_at(size_t index, const Parts&... parts) const {
    return transform_error(column_of(index), call_->name, ": ", info_->arguments[index].name, ": ", parts...);
  }
  std::string text_of(size_t index) const { return quote(values_[index]->text); }
  int64_t column() const { return call_->column; }
  int64_t column_of(size_t index) const { return given(index) ? values_[index]->column : call_->column; }

 private:
  Arguments(const CallSyntax& call, const OperatorInfo& info)
      : call_(&call), info_(&info), values_(info.arguments.size(), nullptr) {}
  Status expected(size_t index, std::string_view what) const;
  Result<std::vector<std::byte>> stored(size_t index, const Value& value, DType dtype) const;

  const CallSyntax* call_;
  const OperatorInfo* info_;
  std::vector<const Value*> values_;  // one an argument of the table row; null: not given
};

}  // namespace dataline
