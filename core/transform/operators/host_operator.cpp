// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/host_operator.h"

#include <utility>

#include "core/base/checked.h"
#include "core/transform/passes/pass.h"
#include "core/transform/pixels/draws.h"

namespace dataline {
namespace {

class HostPass final : public Pass {
 public:
  HostPass(std::shared_ptr<const HostOperator> host, HostUse use, int64_t place)
      : host_(std::move(host)), use_(std::move(use)), place_(place) {}

  bool heavy() const override { return use_.heavy; }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override {
    const FieldRows& rows = *context.rows;
    const int64_t slot = rows.first_slot + context.row;
    const bool ragged = use_.output.kind == FieldKind::kRagged;
    HostRow row{.input = from,
                .input_bytes = from_bytes,
                .output = to,
                .capacity = ragged ? room : use_.output.bytes(),
                .bytes = ragged ? 0 : use_.output.bytes(),
                .slot = slot,
                .epoch = rows.epoch,
                .seed = rows.seed,
                .draw = {context.key, static_cast<uint64_t>(slot), static_cast<uint64_t>(place_)}};
    Status status = host_->apply(use_.state.get(), row);
    if (status.is_ok()) status = check(row);
    return status.is_ok() ? row.bytes : context.fail(std::move(status).in(host_->table_row().info.name));
  }

 private:
  Status check(const HostRow& row) const {
    const Field& output = use_.output;
    if (output.kind == FieldKind::kDense && row.bytes != output.bytes())
      return error(Code::kReader, row.bytes, " bytes written, expected ", output.bytes());
    if (row.bytes < 0) return error(Code::kReader, row.bytes, " bytes written");
    if (row.bytes > row.capacity)
      return error(Code::kTooLarge, "sample needs ", row.bytes, " bytes, at most ", row.capacity,
                   " (max_bytes_per_sample, or the operator's own max_bytes)");
    if (output.kind == FieldKind::kRagged && row.bytes % output.item_bytes() != 0)
      return error(Code::kReader, row.bytes, " bytes written, expected a multiple of ", output.item_bytes());
    return Status::ok();
  }

  std::shared_ptr<const HostOperator> host_;
  HostUse use_;  // its state goes before the operator
  int64_t place_;
};

HostArgument host_argument(const Arguments& arguments, size_t index) {
  HostArgument out;
  out.given = arguments.given(index);
  const Value* const value = arguments.find(index);
  if (value == nullptr) return out;
  out.text = std::string(value->text);
  if (value->kind == ValueKind::kNumber) out.numbers = {value->number};
  for (int64_t side : value->shape) out.numbers.push_back(static_cast<double>(side));
  for (const Value& item : value->items) {
    if (item.kind == ValueKind::kNumber) out.numbers.push_back(item.number);
  }
  if (out.numbers.size() < value->items.size()) out.numbers.clear();
  return out;
}

Status check_output(const Arguments& arguments, const Field& output) {
  const auto refuse = [&](const auto&... parts) {
    return arguments.fault("the operator promised ", field_type_text(output), ": ", parts...);
  };
  const size_t first = output.kind == FieldKind::kRagged ? 1 : 0;
  if (output.shape.size() > static_cast<size_t>(kMaxRank)) return refuse("more than ", kMaxRank, " dims");
  if (output.shape.size() < first || (first == 1 && output.shape[0] != -1))
    return refuse("the first dim of a ragged field is -1");
  const std::vector<int64_t> fixed(output.shape.begin() + static_cast<std::ptrdiff_t>(first),
                                   output.shape.end());
  for (int64_t dim : fixed) {
    if (dim < 0 || (dim == 0 && first == 1)) return refuse("dim ", dim);
  }
  if (!output.axes.empty() && output.axes.size() != output.shape.size()) return refuse("axes ", output.axes);
  return want_countable(arguments, fixed);
}

}  // namespace

uint64_t host_draw(const std::array<uint64_t, 3>& draw, int64_t number) {
  return Draws(draw[0], draw[1], static_cast<int64_t>(draw[2])).bits(number);
}

Status add_host_operator(const HostOperator& host, const Arguments& arguments, Plan& plan) {
  if (plan.field().varies()) DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  std::vector<HostArgument> values;
  for (size_t i = 0; i < host.table_row().info.arguments.size(); ++i)
    values.push_back(host_argument(arguments, i));
  HostUse use;
  use.output = plan.field();
  int32_t wrong = -1;
  Status status = host.prepare(values, use, wrong);
  if (!status.is_ok()) {
    if (status.code() != Code::kReader && status.code() != Code::kBadTransform &&
        status.code() != Code::kInvalidArgument)
      return std::move(status).in(host.table_row().info.name);
    const bool known = wrong >= 0 && static_cast<size_t>(wrong) < values.size();
    return known ? arguments.fault_at(static_cast<size_t>(wrong), status.message())
                 : arguments.fault(status.message());
  }
  DL_RETURN_IF_ERROR(check_output(arguments, use.output));
  Field output = use.output;
  const bool draws = use.draws;
  plan.replace(std::make_shared<HostPass>(host.shared_from_this(), std::move(use), plan.place()),
               std::move(output), {.draws = draws, .pixels = true});
  return Status::ok();
}

}  // namespace dataline
