// One tensor of a batch as the host sees it. BatchView has the layout of dl_view in capi/dataline.h (capi asserts it), so
// that views are handed out without conversion.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/field.h"

namespace dataline {

struct BatchView {
  uint32_t struct_size = sizeof(BatchView);
  int32_t kind = 0;
  uint64_t flags = 0;
  const char* name = "";
  int32_t dtype = 0;
  int32_t rank = 0;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // in elements
  const char* axes = "";
  int32_t device_type = 1;  // DLPack's CPU
  int32_t device_index = 0;
  void* data = nullptr;
  uint64_t byte_offset = 0;
  const int64_t* offsets = nullptr;
  int64_t bytes = 0;
  uint64_t reserved[4] = {};
};

constexpr uint64_t kViewReadOnly = 1;
constexpr uint64_t kViewOverlapping = 2;
constexpr uint64_t kViewPinned = 4;

// A field as the loader delivers it, and the location of its bytes in a slot.
struct OutputField {
  Field field;                   // one sample
  int32_t storage = 0;           // index in Layout::storages
  int32_t region = -1;           // index in Layout::regions if the device computes the field, else -1
  int64_t storage_offset = 0;    // of the field in a row of the storage or region
  int64_t row_stride_bytes = 0;  // dense: from one sample to the next; 0: packed rows of varying size
  uint64_t flags = 0;
};

// The views of one slot (or of a schema), built once; only sizes change from batch to batch.
// Lifetime: borrows the outputs.
class ViewSet {
 public:
  // with_batch: a leading dim for the samples.
  ViewSet(const std::vector<OutputField>& outputs, bool with_batch);

  const std::vector<BatchView>& views() const { return views_; }
  // Where a field's rows lie: the memory of its storage or region, and a ragged field's offsets.
  void set_data(size_t field, std::byte* rows, const int64_t* offsets);
  // The device of all data, in DLPack's numbering; initially the cpu. `flags` are added to those of each view.
  void set_device(int32_t type, int32_t index, uint64_t flags);
  // The image size of this batch, for a varying field; before set_samples().
  void set_extent(size_t field, int64_t height, int64_t width);
  // The shape of this batch's rows, of a field that is by_part; before set_samples().
  void set_shape(size_t field, const std::vector<int64_t>& shape);
  // The edge of this batch's bucket, for a field padded to it; before set_samples().
  void set_length(size_t field, int64_t length);
  void set_extents_of(const ViewSet& other);  // which has the same outputs
  // Dense fields get `samples` rows, ragged ones offsets[samples] items.
  void set_samples(int64_t samples);
  // The leading dim of a schema: -1 where batches may differ in size.
  void set_schema_rows(int64_t rows);

 private:
  void set_strides(size_t field);

  const std::vector<OutputField>* outputs_;
  bool with_batch_;
  std::vector<std::string> axes_;
  std::vector<std::vector<int64_t>> shapes_, strides_;
  std::vector<BatchView> views_;
};

}  // namespace dataline
