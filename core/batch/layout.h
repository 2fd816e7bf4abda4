// The layout of a slot. A storage holds the rows of one field, or of one stored column that several overlapping fields
// view.
//
//   | dense rows of fixed size | words of ragged and varying storages | sample indices | shares of ragged and varying rows |
//   0                                                                                   fixed_bytes                 slot_bytes
//
// A share is address space, max_bytes_per_sample for each row, of which a row touches what it needs. In host memory that
// is not page-locked, shares are allocated apart from the fixed part (SlotPlace::shares).
//
// Device memory uses the same offsets, followed by a region for each field that the device computes:
//
//   | as on the host (storages are copied, the rest is not) | rows of region 0 | pad | rows of region 1 | ... |
//
// Limits: every storage starts at a multiple of kTensorAlignment (DLPack requires 256).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"

namespace dataline {

constexpr int64_t kTensorAlignment = 256;

struct Storage {
  FieldKind kind = FieldKind::kDense;
  bool varies = false;         // dense rows of another size in each batch (Field::varies)
  bool to_bucket = false;      // dense rows of the size of their batch's bucket (Field::to_bucket)
  int64_t row_bytes = 0;       // dense: bytes of a row; ragged and varying: the share; to_bucket: 0
  int64_t item_bytes = 1;      // ragged: bytes per step of the variable dim; to_bucket: of a step or a pixel
  int64_t offset = 0;          // in the slot
  int64_t offsets_offset = 0;  // ragged: i64 offsets[rows + 1]
  int64_t row_bytes_offset = 0;  // ragged and varying: i64 bytes written per row, before packing
  int64_t extents_offset = 0;    // varying: i64 height and width per row; by part: i64 group and 0
  int64_t touched_offset = 0;    // ragged and varying: i64 bytes of each row's share touched so far

  bool has_shares() const { return kind == FieldKind::kRagged || varies; }
};

// Rows that exist only in device memory.
struct Region {
  int64_t row_bytes = 0;
  int64_t offset = 0;  // in the slot's device memory
};

// A bucket (order/buckets.h) as batches see it.
struct BucketShape {
  int64_t rows = 0;  // of its largest batch
  int64_t edge = 0;  // steps of the first dim that a row padded to the bucket has; of images height x width
  int64_t height = 0, width = 0;  // of images; 0: the bucket is of lengths
};

struct Layout {
  std::vector<Storage> storages;
  std::vector<Region> regions;
  std::vector<BucketShape> buckets;  // by group of slots; empty without buckets
  // Of the rows of a field that is by_part: by group of parts and field. Empty without such.
  std::vector<std::vector<std::vector<int64_t>>> part_shapes;
  int64_t rows = 0;            // of the largest batch
  int64_t records_offset = 0;  // of each row's record in the source
  int64_t indices_offset = 0;  // of its sample index: the same words, unless the source is a mix
  int64_t sources_offset = 0;
  int64_t fixed_bytes = 0;   // where the shares begin; a multiple of kTensorAlignment
  int64_t slot_bytes = 0;    // a multiple of kTensorAlignment
  int64_t device_bytes = 0;  // slot_bytes plus the regions
};

// Computes the offsets. Rows of the bucket's size get the bytes that the largest batch of a bucket needs. `mixed`: sample
// indices count in the parts of a mix. kOverBudget when a slot exceeds any address space.
Result<Layout> plan_layout(std::vector<Storage> storages, std::vector<Region> regions, int64_t rows,
                           std::vector<BucketShape> buckets = {}, bool mixed = false);

}  // namespace dataline
