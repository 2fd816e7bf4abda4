// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host.h"

#include <optional>
#include <set>
#include <span>

#include "core/base/checked.h"

namespace dataline {
namespace {

template <typename... Parts>
Status refuse(const Field& field, std::string_view what, const Parts&... parts) {
  return error(Code::kInvalidArgument, what, ": field '", field.name, "': ", parts...);
}

Status check_shape(const Field& field, std::string_view what) {
  std::span<const int64_t> dims = field.shape;
  if (static_cast<int64_t>(dims.size()) > kMaxRank) {
    return refuse(field, what, dims.size(), " dims, at most ", kMaxRank);
  }
  if (field.kind == FieldKind::kRagged) {
    if (dims.empty() || dims[0] != -1)
      return refuse(field, what, "ragged: the first dim varies and must be -1");
    dims = dims.subspan(1);
  }
  for (int64_t dim : dims) {
    if (dim < 0) return refuse(field, what, "a dim is ", dim);
  }
  std::optional<int64_t> items = checked_product(dims);
  if (!items || *items > kMaxHostFieldBytes / dtype_bytes(field.dtype)) {
    return error(Code::kTooLarge, what, ": field '", field.name, "': more than 2^48 bytes per sample");
  }
  if (field.kind == FieldKind::kRagged && *items == 0)
    return refuse(field, what, "ragged: an item has no bytes");
  return Status::ok();
}

Status check_field(const Field& field, std::string_view what) {
  if (field.name.empty()) return error(Code::kInvalidArgument, what, ": a field has no name");
  if (field.dtype < DType::kBool || field.dtype > DType::kC128) {
    return refuse(field, what, "unknown dtype ", static_cast<int32_t>(field.dtype));
  }
  if (field.kind != FieldKind::kDense && field.kind != FieldKind::kRagged) {
    return refuse(field, what, "unknown kind ", static_cast<int32_t>(field.kind));
  }
  DL_RETURN_IF_ERROR(check_shape(field, what));
  if (field.axes.empty() || field.axes.size() == field.shape.size()) return Status::ok();
  return refuse(field, what, "axes '", field.axes, "' for ", field.shape.size(), " dims");
}

}  // namespace

Status check_host_fields(const std::vector<Field>& fields, std::string_view what) {
  if (fields.empty()) return error(Code::kInvalidArgument, what, ": no fields");
  if (fields.size() > kMaxHostFields) {
    return error(Code::kInvalidArgument, what, ": ", fields.size(), " fields, at most ", kMaxHostFields);
  }
  std::set<std::string_view> names;
  for (const Field& field : fields) {
    DL_RETURN_IF_ERROR(check_field(field, what));
    if (names.insert(field.name).second) continue;
    return error(Code::kInvalidArgument, what, ": two fields are called '", field.name, "'");
  }
  return Status::ok();
}

}  // namespace dataline
