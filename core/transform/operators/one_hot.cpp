// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/base/bytes.h"
#include "core/transform/elements/convert.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kOneHotArguments[] = {{"n", "integer", ""}, {"dtype", "dtype", "f32"}};

// Integers of one type to rows of `classes` elements: one where the label points, zero elsewhere.
class OneHotPass : public Pass {
 public:
  OneHotPass(DType labels, int64_t label_count, int64_t classes, DType output)
      : labels_(labels),
        label_count_(label_count),
        classes_(classes),
        element_bytes_(dtype_bytes(output)),
        one_(static_cast<size_t>(element_bytes_)) {
    with_storage(output, [this](auto storage) {
      const auto one = convert<decltype(storage)>(uint8_t{1});
      std::memcpy(one_.data(), &one, sizeof one);
    });
  }
  int64_t run(const RowContext& context, const std::byte* from, int64_t, std::byte* to,
              int64_t) const override {
    std::memset(to, 0, static_cast<size_t>(label_count_ * classes_ * element_bytes_));
    for (int64_t i = 0; i < label_count_; ++i) {
      const int64_t label = label_at(from, i);
      if (label < 0 || label >= classes_) {
        return context.fail(
            error(Code::kOutOfRange, "one_hot: expected a label from 0 to ", classes_ - 1, ", got ", label));
      }
      std::memcpy(to + (i * classes_ + label) * element_bytes_, one_.data(), one_.size());
    }
    return label_count_ * classes_ * element_bytes_;
  }

 private:
  // A u64 above the i64 range becomes the maximum i64, which is out of range as well.
  int64_t label_at(const std::byte* from, int64_t i) const {
    return with_storage(labels_, [&](auto storage) -> int64_t {
      using Label = decltype(storage);
      if constexpr (std::is_integral_v<Label>)
        return saturate_integer<int64_t>(load_native<Label>(from + i * static_cast<int64_t>(sizeof(Label))));
      else
        return -1;
    });
  }

  DType labels_;
  int64_t label_count_;
  int64_t classes_;
  int64_t element_bytes_;
  std::vector<std::byte> one_;  // of the output's type
};

Status add_one_hot(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kClasses, kDtype };
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  if (!dtype_is_integer(field.dtype))
    return arguments.fault("expected integer labels, got ", dtype_name(field.dtype));
  DL_ASSIGN_OR_RETURN(const int64_t classes, arguments.integer(kClasses, 1));
  DL_ASSIGN_OR_RETURN(const DType dtype, arguments.dtype(kDtype));
  Field out = field;
  out.dtype = dtype;
  out.shape.push_back(classes);
  out.axes = field.axes == "HW" ? "HWC" : "";
  DL_RETURN_IF_ERROR(want_countable(arguments, out.shape));
  if (static_cast<int64_t>(out.shape.size()) > kMaxRank)
    return arguments.fault("expected at most ", kMaxRank - 1, " dims, got ", field_type_text(field));
  const int64_t labels = field.bytes() / dtype_bytes(field.dtype);
  plan.replace(std::make_shared<OneHotPass>(field.dtype, labels, classes, dtype), std::move(out), {});
  return Status::ok();
}

}  // namespace

const Operator one_hot_operator = {
    {"one_hot", kOneHotArguments,
     "Turns a label into n elements, one of them 1. A label out of range is an error.",
     "torch.nn.functional.one_hot", "0.1"},
    add_one_hot};

}  // namespace dataline
