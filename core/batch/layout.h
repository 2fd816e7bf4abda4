// Where each storage lies in a slot. A storage is the rows of one field, or of one stored column that several
// overlapping fields look into.
//
//   | dense rows of fixed size | words of ragged and varying storages | sample indices | shares of ragged and varying rows |
//   0                                                                                   fixed_bytes                 slot_bytes
//
// Shares are address space: max_bytes_per_sample for each row, of which a row touches what it needs. In host memory that
// is not page-locked they lie apart from the fixed part (SlotPlace::shares).
//
// In device memory the same offsets hold, and what the device makes of a field lies in a region behind them:
//
//   | as on the host (storages are copied, the rest is not) | rows of region 0 | pad | rows of region 1 | ... |
//
// Limits: every storage starts at a multiple of kTensorAlignment (DLPack asks for 256).
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
  bool varies = false;         // dense, of images whose size is known only once they are made (Field::varies)
  int64_t row_bytes = 0;       // dense: a row; ragged and varying: the share of a sample
  int64_t item_bytes = 1;      // ragged: one step of the varying dim
  int64_t offset = 0;          // in the slot
  int64_t offsets_offset = 0;  // ragged: i64 offsets[rows + 1]
  int64_t row_bytes_offset = 0;  // ragged and varying: i64 bytes written of each row, before packing
  int64_t extents_offset = 0;    // varying: i64 height and width of each row
  int64_t touched_offset = 0;    // ragged and varying: i64 bytes of each row's share that are memory by now

  bool has_shares() const { return kind == FieldKind::kRagged || varies; }
};

// Rows that only the device writes and holds.
struct Region {
  int64_t row_bytes = 0;
  int64_t offset = 0;  // in the slot's device memory
};

struct Layout {
  std::vector<Storage> storages;
  std::vector<Region> regions;
  int64_t rows = 0;  // at most, in a batch
  int64_t indices_offset = 0;
  int64_t sources_offset = 0;
  int64_t fixed_bytes = 0;   // where shares begin, a multiple of kTensorAlignment
  int64_t slot_bytes = 0;    // a multiple of kTensorAlignment
  int64_t device_bytes = 0;  // slot_bytes and the regions
};

// Fills the offsets. kOverBudget when a slot would not fit in an address space.
Result<Layout> plan_layout(std::vector<Storage> storages, std::vector<Region> regions, int64_t rows);

}  // namespace dataline
