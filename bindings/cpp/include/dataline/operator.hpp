// Operators that the host adds, for transforms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/dtype.hpp>
#include <dataline/extensions.hpp>
#include <dataline/span.hpp>
#include <dataline/view.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// One output row, valid during the call.
class OperatorRow {
 public:
  explicit OperatorRow(dl_operator_row& raw) noexcept : raw_(raw) {}
  // The input row, at any alignment: as std::byte, or read with `item`.
  Span<const std::byte> input() const noexcept {
    return detail::span_of(static_cast<const std::byte*>(raw_.input), raw_.input_bytes);
  }
  // Element `index` of the input.
  template <typename T>
  T item(int64_t index) const noexcept {
    T value;
    std::memcpy(&value, static_cast<const char*>(raw_.input) + index * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
    return value;
  }
  template <typename T>
  int64_t items() const noexcept {
    return raw_.input_bytes / static_cast<int64_t>(sizeof(T));
  }
  // Space for the output row. Ragged: for the largest row.
  template <typename T>
  Span<T> output() const noexcept {
    return detail::span_of(static_cast<T*>(raw_.output), raw_.capacity / static_cast<int64_t>(sizeof(T)));
  }
  // Ragged: sets the bytes written, in whole items. If they exceed the space, the sample is too large.
  void set_bytes(int64_t bytes) noexcept { raw_.bytes = bytes; }
  // Draw `number` (0, 1, ...) of this operator for this row. It depends only on seed, epoch, slot, position in the
  // transform and number. An operator that draws must set OperatorUse::draws.
  uint64_t random(int64_t number) const noexcept { return dl_operator_random(&raw_, number); }
  // A random number in [0, 1), from the upper 53 bits of a draw.
  double uniform(int64_t number) const noexcept {
    return static_cast<double>(random(number) >> 11) * 0x1p-53;
  }
  int64_t slot() const noexcept { return raw_.slot; }
  int64_t epoch() const noexcept { return raw_.epoch; }
  uint64_t seed() const noexcept { return raw_.seed; }
  // Marks this sample as bad and returns immediately. The row's bytes are ignored.
  void fail(const Error& why) noexcept { failure_ = why; }
  void fail(std::string_view why) noexcept { failure_ = Error(DL_ERR_READER, why); }
  const Error& failure() const noexcept { return failure_; }

 private:
  dl_operator_row& raw_;
  Error failure_;
};

using RowFunction = std::function<void(OperatorRow& row)>;

// One use of an operator in a transform: its arguments, the input field and the output field.
class OperatorUse {
 public:
  explicit OperatorUse(dl_operator_use& raw) noexcept : raw_(raw) {}
  // An argument, in the order of Operator::arguments.
  const dl_argument_value& argument(int32_t index) const noexcept {
    const auto* first = reinterpret_cast<const char*>(raw_.arguments);
    return *reinterpret_cast<const dl_argument_value*>(first + static_cast<size_t>(index) *
                                                                   raw_.arguments->struct_size);
  }
  // The argument's numbers; empty if it is absent or a word.
  Span<const double> numbers(int32_t index) const noexcept {
    return detail::span_of(argument(index).numbers, argument(index).number_count);
  }
  // The argument as written; "" if it is absent.
  std::string_view text(int32_t index) const noexcept {
    const char* text = argument(index).text;
    return text == nullptr ? std::string_view() : text;
  }
  // The input field, for one sample.
  View input() const noexcept { return View(raw_.input); }

  // Sets the output field. Unset properties are those of the input. A ragged shape starts with -1.
  OperatorUse& dense(int32_t dtype, const std::vector<int64_t>& shape) noexcept {
    return shaped(DL_KIND_DENSE, dtype, shape);
  }
  template <typename T>
  OperatorUse& dtype() noexcept {
    raw_.dtype = dtype_of<T>();
    return *this;
  }
  OperatorUse& ragged(int32_t dtype, const std::vector<int64_t>& shape, int64_t max_bytes = -1) noexcept {
    raw_.max_bytes = max_bytes;
    return shaped(DL_KIND_RAGGED, dtype, shape);
  }
  OperatorUse& axes(std::string_view letters) noexcept {
    const size_t count = letters.copy(raw_.axes, sizeof raw_.axes - 1);
    raw_.axes[count] = '\0';
    return *this;
  }
  // Set if rows depend on slot, epoch and seed too, not on the input alone.
  OperatorUse& draws(bool value = true) noexcept { return raw_.draws = value ? 1 : 0, *this; }
  // Set if a row takes 100 us or more.
  OperatorUse& heavy(bool value = true) noexcept { return raw_.heavy = value ? 1 : 0, *this; }

  // Rejects this use, because of the input field or an argument: `return use.refuse(...)`.
  RowFunction refuse(std::string_view why) noexcept {
    return failure_ = Error(DL_ERR_BAD_TRANSFORM, why), nullptr;
  }
  RowFunction refuse_argument(int32_t index, std::string_view why) noexcept {
    raw_.wrong_argument = index;
    return refuse(why);
  }
  const Error& failure() const noexcept { return failure_; }
  dl_operator_use& raw() noexcept { return raw_; }

 private:
  OperatorUse& shaped(int32_t kind, int32_t dtype, const std::vector<int64_t>& shape) noexcept {
    raw_.kind = kind;
    raw_.dtype = dtype;
    raw_.rank = static_cast<int32_t>(shape.size());
    for (size_t i = 0; i < shape.size() && i < DL_MAX_RANK; ++i) raw_.shape[i] = shape[i];
    raw_.axes[0] = '\0';
    return *this;
  }

  dl_operator_use& raw_;
  Error failure_;
};

struct OperatorArgument {
  std::string name;
  std::string type;           // "number", "word", ...: for the help
  std::string default_value;  // "": required; "none": absent
};

// One field in, one field out, row by row.
struct Operator {
  std::string name;  // the same rules as for a format's name
  std::string doc;
  std::string source;                       // the reference definition it follows, or ""
  std::vector<OperatorArgument> arguments;  // passed by position in this order, or by name
  // Called when a loader is created. Checks the arguments and the input, sets the output field, and returns the
  // function that makes a row. Several threads call that function concurrently.
  std::function<RowFunction(OperatorUse& use)> prepare;
};

namespace detail {

inline dl_status prepare_for(void* context, dl_operator_use* raw, dl_error* error) noexcept {
  return guarded(error, [&]() -> dl_status {
    OperatorUse use(*raw);
    RowFunction made = static_cast<const Operator*>(context)->prepare(use);
    if (use.failure().code() != DL_OK) {
      return dl_error_set(error, use.failure().code(), use.failure().message());
    }
    if (!made) return dl_error_set(error, DL_ERR_READER, "prepare returned no function");
    raw->state = new RowFunction(std::move(made));
    return DL_OK;
  });
}

inline dl_status apply_for(void*, dl_operator_row* raw, dl_error* error) noexcept {
  return guarded(error, [&]() -> dl_status {
    OperatorRow row(*raw);
    (*static_cast<const RowFunction*>(raw->state))(row);
    const dl_status status = row.failure().code();
    return status == DL_OK ? DL_OK : dl_error_set(error, status, row.failure().message());
  });
}

inline void forget_for(void*, void* state) noexcept { delete static_cast<RowFunction*>(state); }

}  // namespace detail

inline Result<void> Extensions::try_add_operator(Operator given) {
  auto context = std::make_unique<Operator>(std::move(given));
  std::vector<dl_argument_info> arguments;
  for (const OperatorArgument& argument : context->arguments) {
    arguments.push_back({sizeof(dl_argument_info), 0, argument.name.c_str(), argument.type.c_str(),
                         argument.default_value.c_str()});
  }
  dl_operator table = {};
  table.struct_size = sizeof table;
  table.argument_count = static_cast<int32_t>(arguments.size());
  table.name = context->name.c_str();
  table.doc = context->doc.c_str();
  table.source = context->source.empty() ? nullptr : context->source.c_str();
  table.arguments = arguments.data();
  table.context = context.get();
  table.prepare = context->prepare ? &detail::prepare_for : nullptr;
  table.apply = &detail::apply_for;
  table.forget = &detail::forget_for;
  table.destroy = &detail::delete_context<Operator>;
  return detail::give(std::move(context), [&](dl_error* error) {
    return dl_extensions_add_operator(extensions_.get(), &table, error);
  });
}
inline Extensions& Extensions::add_operator(Operator given) {
  return try_add_operator(std::move(given)).value(), *this;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
