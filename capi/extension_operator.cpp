// A dl_operator as core's HostOperator.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <deque>

#include "capi/extensions.h"
#include "capi/guard.h"
#include "capi/host_struct.h"
#include "core/loader/dataset.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

constexpr const char* kSince = "extension";

dl_argument_value to_value(const HostArgument& argument) {
  dl_argument_value value = {};
  value.struct_size = sizeof value;
  value.given = argument.given ? 1 : 0;
  value.text = argument.text ? argument.text->c_str() : nullptr;
  value.numbers = argument.numbers.empty() ? nullptr : argument.numbers.data();
  value.number_count = static_cast<int64_t>(argument.numbers.size());
  return value;
}

// The field before, as the host sees it, and room for the field after.
dl_operator_use to_use(const Field& field) {
  dl_operator_use use = {};
  use.struct_size = sizeof use;
  use.kind = static_cast<int32_t>(field.kind);
  use.dtype = static_cast<int32_t>(field.dtype);
  use.rank = static_cast<int32_t>(field.shape.size());
  std::copy(field.shape.begin(), field.shape.end(), use.shape);
  field.axes.copy(use.axes, sizeof use.axes - 1);
  use.max_bytes = field.max_bytes;
  use.wrong_argument = -1;
  return use;
}

Result<Field> field_after(const dl_operator_use& use, Field field) {
  const auto refuse = [](const char* member, int64_t got) {
    return error(Code::kReader, "dl_operator_use.", member, ": got ", got);
  };
  if (use.kind != DL_KIND_DENSE && use.kind != DL_KIND_RAGGED) return refuse("kind", use.kind);
  if (dl_dtype_bytes(use.dtype) == 0) return refuse("dtype", use.dtype);
  if (use.rank < 0 || use.rank > DL_MAX_RANK) return refuse("rank", use.rank);
  if (use.max_bytes < -1) return refuse("max_bytes", use.max_bytes);
  field.kind = static_cast<FieldKind>(use.kind);
  field.dtype = static_cast<DType>(use.dtype);
  field.shape.assign(use.shape, use.shape + use.rank);
  field.axes.assign(use.axes, strnlen(use.axes, sizeof use.axes));
  field.max_bytes = field.kind == FieldKind::kRagged ? use.max_bytes : -1;
  return field;
}

class CallbackOperator final : public HostOperator {
 public:
  explicit CallbackOperator(const dl_operator& table)
      : table_(table),
        context(table.context, table.destroy),
        name_(table.name),
        doc_(text_or_empty(table.doc)),
        source_(text_or_empty(table.source)) {
    row_.info = {.name = name_, .arguments = {}, .doc = doc_, .source = source_, .since = kSince};
  }

  Status add_argument(const dl_argument_info& argument) {
    DL_RETURN_IF_ERROR(check_reserved<dl_argument_info>("reserved", argument.reserved == 0));
    DL_RETURN_IF_ERROR(check_name("dl_argument_info.name", argument.name, 1));
    for (const OperatorArgument& known : arguments_) {
      if (known.name == argument.name)
        return error(Code::kInvalidArgument, "dl_operator '", name_, "': argument '", argument.name,
                     "' appears twice");
    }
    const std::string_view fallback = keep(argument.default_value);
    if (!fallback.empty() && fallback != "none") {
      Result<Value> value = parse_value(fallback);
      if (!value.is_ok())
        return value.take_status().in(concat("dl_operator '", name_, "': default of ", argument.name));
    }
    arguments_.push_back({keep(argument.name), keep(argument.type), fallback});
    row_.info.arguments = arguments_;
    return Status::ok();
  }

  Status prepare(std::span<const HostArgument> arguments, HostUse& out, int32_t& wrong) const override {
    std::vector<dl_argument_value> values;
    for (const HostArgument& argument : arguments) values.push_back(to_value(argument));
    std::vector<OutputField> fields(1);
    fields[0].field = out.output;
    ViewSet views(fields, /*with_batch=*/false);
    views.set_schema_rows(-1);
    dl_operator_use use = to_use(out.output);
    use.argument_count = static_cast<int32_t>(values.size());
    use.arguments = values.data();
    use.input = reinterpret_cast<const dl_view*>(views.views().data());
    CallbackError failure;
    const dl_status code = table_.prepare(context.get(), &use, failure.get());
    wrong = use.wrong_argument;
    if (code != DL_OK) return failure.status(code, concat("operator '", name_, "': prepare"));
    const auto forget = [this](void* state) {
      if (table_.forget != nullptr) table_.forget(context.get(), state);
    };
    out.state = std::shared_ptr<void>(use.state, forget);
    out.draws = use.draws != 0;
    out.heavy = use.heavy != 0;
    DL_ASSIGN_OR_RETURN(out.output, field_after(use, std::move(out.output)));
    return Status::ok();
  }

  Status apply(void* state, HostRow& row) const override {
    dl_operator_row given = {};
    given.struct_size = sizeof given;
    given.state = state;
    given.input = row.input;
    given.input_bytes = row.input_bytes;
    given.output = row.output;
    given.capacity = row.capacity;
    given.bytes = row.bytes;
    given.slot = row.slot;
    given.epoch = row.epoch;
    given.seed = row.seed;
    std::copy(row.draw.begin(), row.draw.end(), given.draw);
    CallbackError failure;
    const dl_status code = table_.apply(context.get(), &given, failure.get());
    row.bytes = given.bytes;
    if (code == DL_OK) return Status::ok();
    return failure.status(code, concat("operator '", name_, "': apply"));
  }

 private:
  std::string_view keep(const char* text) { return kept_.emplace_back(text_or_empty(text)); }

  const dl_operator table_;

 public:
  HostContext context;

 private:
  const std::string name_, doc_, source_;
  std::deque<std::string> kept_;
  std::vector<OperatorArgument> arguments_;
};

}  // namespace

namespace dataline::capi {

Result<Made<const HostOperator>> make_operator(const dl_operator& table) {
  DL_RETURN_IF_ERROR(check_name("dl_operator.name", table.name));
  if (table.prepare == nullptr) return null_argument("dl_operator.prepare");
  if (table.apply == nullptr) return null_argument("dl_operator.apply");
  DL_RETURN_IF_ERROR(check_array(table.arguments, table.argument_count, "dl_operator.arguments"));
  auto made = std::make_shared<CallbackOperator>(table);
  for (int32_t i = 0; i < table.argument_count; ++i) {
    DL_ASSIGN_OR_RETURN(const dl_argument_info argument, read_element(table.arguments, i));
    DL_RETURN_IF_ERROR(made->add_argument(argument));
  }
  return Made<const HostOperator>(std::move(made));
}

}  // namespace dataline::capi

uint64_t dl_operator_random(const dl_operator_row* row, int64_t number) {
  if (row == nullptr) return 0;
  return host_draw({row->draw[0], row->draw[1], row->draw[2]}, number);
}
