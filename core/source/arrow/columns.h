// Which columns of an Arrow schema become fields, and where their values lie in a record batch.
//
// A record batch is a list of buffers in the order of the columns, depth first. What locate() needs of a batch is a row of
// numbers, its slots: offsets of buffers in the file, and how many items some of them have. An ArrowLayout says which buffer
// goes into which slot; an ArrowColumn says what the slots mean.
//
// Fields: integers, floats, bool; dates, times, timestamps and durations as their integers; fixed_size_binary as u8[n];
// fixed_size_list of these as further dims, arrow.fixed_shape_tensor with its shape; list and large_list of these as ragged
// fields; string, binary, their large forms and views as ragged u8; leaves of structs as `struct/leaf`; dictionaries of all these as
// their values.
// Threads: values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/source/arrow/schema.h"

namespace dataline {

// A unit is what one number finds: a row of a dense field, an item of a ragged one.
struct ArrowItemNulls {
  int32_t slot = -1;       // of a validity bitmap; the slot's value is -1 where no item is null
  int64_t per_unit = 1;    // bits of it per unit
  int64_t item_bytes = 0;  // of the bytes of a unit, as delivered
};

struct ArrowValues {
  std::vector<ArrowItemNulls> item_nulls;
  int32_t data = -1;         // slot
  bool bits = false;         // stored as bits, delivered as bytes
  int64_t unit_bytes = 0;    // as delivered
  int64_t unit_values = 1;   // of bits: how many
  int32_t offsets = -1;      // slot; none: dense
  int64_t offset_bytes = 4;  // of one of them
  int32_t limit = -1;        // slot: units that are there; of ragged fields
  // Slot of views, in place of offsets. Then `data` is the slot of the address of a table of buffers (ArrowViewBuffer), and
  // `limit` of how many there are.
  int32_t views = -1;

  bool ragged() const { return offsets >= 0 || views >= 0; }
};

struct ArrowColumn {
  Field field;
  std::vector<int32_t>
      row_nulls;  // slots of bitmaps with a bit per row: its own, and those of structs around it
  ArrowValues values;
  // If `dictionary` >= 0, `values` and `value_nulls` are slots of that dictionary's batches, and the column has:
  int32_t dictionary = -1;  // index in ArrowPlan::dictionaries
  int32_t value_nulls = -1;
  int32_t indices = -1;  // slot
  int32_t first = -1;  // slot, and the next one: the dictionary's rows that the batch uses, from and how many
  int64_t index_bytes = 0;
  bool index_signed = false;
};

// An array in a list of buffers.
struct ArrowNode {
  int32_t parent = -1;
  int64_t per_parent = -1;  // it has so many items at least for each of its parent's; -1: any number
  int32_t buffers = 0;
  bool variadic = false;  // has more buffers, counted in the batch
  bool used = false;
};

struct ArrowTake {
  enum class Kind : uint8_t { kValidity, kData, kOffsets, kBytes, kItems, kViewBuffers };
  Kind kind = Kind::kData;
  int32_t node = 0, buffer = 0;  // of the node's
  // kBytes, kViewBuffers: and the next one, how many there are; kItems: how many items the node has.
  int32_t slot = 0;
  int64_t item_bits = 0;
  int32_t column = 0;  // for messages

  bool operator==(const ArrowTake& other) const {
    return kind == other.kind && node == other.node && buffer == other.buffer && slot == other.slot &&
           item_bits == other.item_bits;
  }
};

// A buffer that views point into: its offset in the file, or its address.
struct ArrowViewBuffer {
  int64_t at = 0, bytes = 0;
};
constexpr int64_t kArrowViewBytes = 16;
constexpr int32_t kArrowInlineBytes = 12;  // values up to here stand in the view itself

constexpr int32_t kArrowBatchBytesSlot = 0;  // bytes of the buffers that are used

struct ArrowLayout {
  std::vector<ArrowNode> nodes;
  std::vector<ArrowTake> takes;
  int32_t slots = kArrowBatchBytesSlot + 1;
};

struct ArrowDictionaryPlan {
  int64_t id = 0;
  int32_t column = 0;
  ArrowLayout layout;
};

struct ArrowPlan {
  ArrowLayout batch;
  std::vector<ArrowColumn> columns;
  std::vector<ArrowDictionaryPlan> dictionaries;
  std::vector<std::string> notes;
};

// `wanted`: names of fields, in their order; a struct stands for all its leaves; empty: all columns. `old_unions`: unions have
// validity bitmaps. kNoSuchField, kUnsupported (a type that is not read, by name), kCorrupt (names that are no text or not
// unique, sizes below 0), kTooLarge, kBadUri (a field wanted twice). Messages begin with the path.
Result<ArrowPlan> plan_arrow_columns(const std::string& path, const std::vector<ArrowField>& fields,
                                     const std::vector<std::string>& wanted, bool old_unions);

}  // namespace dataline
