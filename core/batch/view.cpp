// SPDX-License-Identifier: Apache-2.0
#include "core/batch/view.h"

#include <algorithm>

namespace dataline {

ViewSet::ViewSet(const std::vector<OutputField>& outputs, bool with_batch)
    : outputs_(&outputs),
      with_batch_(with_batch),
      axes_(outputs.size()),
      shapes_(outputs.size()),
      strides_(outputs.size()),
      views_(outputs.size()) {
  for (size_t f = 0; f < outputs.size(); ++f) {
    const OutputField& output = outputs[f];
    const Field& field = output.field;
    const bool ragged = field.kind == FieldKind::kRagged;
    std::vector<int64_t>& shape = shapes_[f];
    // Ragged: the variable dim and the batch dim are one packed dim.
    if (with_batch && !ragged) shape.push_back(-1);
    shape.insert(shape.end(), field.shape.begin(), field.shape.end());

    axes_[f] = with_batch && !field.axes.empty() ? "N" + field.axes : field.axes;
    strides_[f].assign(shape.size(), 1);
    set_strides(f);

    BatchView& view = views_[f];
    view.kind = static_cast<int32_t>(field.kind);
    view.flags = output.flags;
    view.name = field.name.c_str();
    view.dtype = static_cast<int32_t>(field.dtype);
    view.rank = static_cast<int32_t>(shape.size());
    view.shape = shape.data();
    view.strides = strides_[f].data();
    view.axes = axes_[f].c_str();
    view.bytes = field.bytes();
  }
}

void ViewSet::set_strides(size_t field) {
  const OutputField& output = (*outputs_)[field];
  const std::vector<int64_t>& shape = shapes_[field];
  std::vector<int64_t>& strides = strides_[field];
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * (shape[d] > 0 ? shape[d] : 1);
  const bool batched = with_batch_ && output.field.kind != FieldKind::kRagged && !output.field.varies();
  if (batched) strides[0] = output.row_stride_bytes / dtype_bytes(output.field.dtype);
}

// The axes say which dim is the width; without axes height comes first.
void ViewSet::set_extent(size_t field, int64_t height, int64_t width) {
  const Field& varying = (*outputs_)[field].field;
  bool height_is_set = false;
  for (size_t d = 0; d < varying.shape.size(); ++d) {
    if (varying.shape[d] >= 0) continue;
    const bool is_width = d < varying.axes.size() ? varying.axes[d] == 'W' : height_is_set;
    shapes_[field][d + (with_batch_ ? 1 : 0)] = is_width ? width : height;
    height_is_set = true;
  }
  set_strides(field);
}

void ViewSet::set_shape(size_t field, const std::vector<int64_t>& shape) {
  std::copy(shape.begin(), shape.end(), shapes_[field].begin() + (with_batch_ ? 1 : 0));
  set_strides(field);
}

void ViewSet::set_length(size_t field, int64_t length) {
  shapes_[field][with_batch_ ? 1 : 0] = length;
  set_strides(field);
}

void ViewSet::set_extents_of(const ViewSet& other) {
  for (size_t f = 0; f < views_.size(); ++f) {
    if (!(*outputs_)[f].field.varies()) continue;
    std::copy(other.shapes_[f].begin(), other.shapes_[f].end(), shapes_[f].begin());
    set_strides(f);
  }
}

void ViewSet::set_data(size_t field, std::byte* rows, const int64_t* offsets) {
  views_[field].data = rows;
  views_[field].byte_offset = static_cast<uint64_t>((*outputs_)[field].storage_offset);
  views_[field].offsets = offsets;
}

void ViewSet::set_device(int32_t type, int32_t index, uint64_t flags) {
  for (BatchView& view : views_) {
    view.device_type = type;
    view.device_index = index;
    view.flags |= flags;
  }
}

void ViewSet::set_samples(int64_t samples) {
  for (size_t f = 0; f < views_.size(); ++f) {
    const Field& field = (*outputs_)[f].field;
    if (field.kind == FieldKind::kRagged) {
      shapes_[f][0] = views_[f].offsets[samples];
      views_[f].bytes = shapes_[f][0] * field.item_bytes();
    } else {
      shapes_[f][0] = samples;
      views_[f].bytes =
          samples * (field.varies() ? strides_[f][0] * dtype_bytes(field.dtype) : field.bytes());
    }
  }
}

void ViewSet::set_schema_rows(int64_t rows) {
  for (size_t f = 0; f < views_.size(); ++f) {
    const Field& field = (*outputs_)[f].field;
    const bool ragged = field.kind == FieldKind::kRagged;
    if (with_batch_ && !ragged) shapes_[f][0] = rows;
    views_[f].bytes = field.bytes() < 0 || (with_batch_ && rows < 0) ? -1
                      : with_batch_                                  ? rows * field.bytes()
                                                                     : field.bytes();
  }
}

}  // namespace dataline
