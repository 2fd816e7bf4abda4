// SPDX-License-Identifier: Apache-2.0
#include "capi/host_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "capi/host_struct.h"

namespace dataline::capi {
namespace {

// The host's description of a field; `skip_dims` leading dims are not part of a sample.
Result<Field> read_field(const char* name, int32_t kind, int32_t dtype, int32_t rank, const int64_t* shape,
                         const char* axes, int32_t skip_dims) {
  if (name == nullptr) return error(Code::kInvalidArgument, "a field has no name");
  Field field;
  field.name = name;
  if (kind != DL_KIND_DENSE && kind != DL_KIND_RAGGED) {
    return error(Code::kInvalidArgument, "field '", name, "': kind is ", kind);
  }
  if (dl_dtype_bytes(dtype) == 0)
    return error(Code::kInvalidArgument, "field '", name, "': dtype is ", dtype);
  if (rank < skip_dims || rank > DL_MAX_RANK || (rank > 0 && shape == nullptr)) {
    return error(Code::kInvalidArgument, "field '", name, "': rank is ", rank, ", expected ", skip_dims,
                 " to ", DL_MAX_RANK, " with a shape");
  }
  field.kind = static_cast<FieldKind>(kind);
  field.dtype = static_cast<DType>(dtype);
  field.shape.assign(shape + (rank > 0 ? skip_dims : 0), shape + rank);
  if (axes != nullptr) field.axes = axes;
  return field;
}

Result<ArrayField> read_array(const dl_array& array, int64_t& sample_count) {
  const bool strided = array.kind == DL_KIND_STRIDED;
  ArrayField out;
  DL_ASSIGN_OR_RETURN(out.field, read_field(array.name, strided ? DL_KIND_DENSE : array.kind, array.dtype,
                                            array.rank, array.shape, array.axes, 1));
  if (!strided && array.row_stride_bytes != 0) {
    return error(Code::kInvalidArgument, "field '", array.name, "': row_stride_bytes is ",
                 array.row_stride_bytes, ", expected 0, or the kind DL_KIND_STRIDED");
  }
  const bool ragged = array.kind == DL_KIND_RAGGED;
  if (ragged) {
    out.field.shape.insert(out.field.shape.begin(), -1);
    out.item_count = array.shape[0];
    out.offsets = array.offsets;
    sample_count = array.sample_count;
  } else {
    sample_count = array.shape[0];
    if (array.sample_count != 0 && array.sample_count != sample_count) {
      return error(Code::kInvalidArgument, "field '", array.name, "': sample_count is ", array.sample_count,
                   ", shape[0] is ", sample_count);
    }
  }
  out.data = static_cast<const std::byte*>(array.data);
  if (strided) out.row_stride = array.row_stride_bytes;
  return out;
}

}  // namespace

Result<std::vector<Field>> read_fields(const dl_view* fields, int32_t count) {
  std::vector<Field> out;
  for (int32_t i = 0; i < count; ++i) {
    DL_ASSIGN_OR_RETURN(const dl_view view, read_element(fields, i));
    DL_RETURN_IF_ERROR(
        check_reserved<dl_view>("reserved", std::all_of(std::begin(view.reserved), std::end(view.reserved),
                                                        [](uint64_t word) { return word == 0; })));
    DL_ASSIGN_OR_RETURN(Field field,
                        read_field(view.name, view.kind, view.dtype, view.rank, view.shape, view.axes, 0));
    if (view.kind == DL_KIND_RAGGED && view.bytes > 0) field.max_bytes = view.bytes;
    out.push_back(std::move(field));
  }
  return out;
}

Result<std::vector<ArrayField>> read_arrays(const dl_array* arrays, int32_t count, int64_t& samples) {
  if (count < 1) return error(Code::kInvalidArgument, "arrays: expected at least one, got ", count);
  std::vector<ArrayField> out;
  for (int32_t i = 0; i < count; ++i) {
    int64_t here = 0;
    DL_ASSIGN_OR_RETURN(const dl_array array, read_element(arrays, i));
    DL_ASSIGN_OR_RETURN(ArrayField field, read_array(array, here));
    if (i > 0 && here != samples) {
      return error(Code::kMismatch, "field '", field.field.name, "' has ", here, " samples, field '",
                   out.front().field.name, "' has ", samples);
    }
    samples = here;
    out.push_back(std::move(field));
  }
  return out;
}

}  // namespace dataline::capi
