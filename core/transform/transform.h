// Record -> sample: a text grammar parsed once, compiled to one program per field, run by any worker.
//
//   [field, field:] op, op(1, name=2), ...; field: op
//
// Threads: a Program is immutable; run() may be called from several workers at once, each with its own scratch.
// Failure: compile errors carry the column; a bad row (a label out of range, a sample too long) fails alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/row_errors.h"
#include "core/base/status.h"
#include "core/base/tail.h"
#include "core/memory/host_memory.h"
#include "core/transform/decode/decoder.h"

namespace dataline {

// What a program keeps from row to row for one worker: decoders, tables, memory for frames.
class ProgramState {
 public:
  virtual ~ProgramState() = default;
};

// Of a row whose image's size is known only once it is made.
struct RowExtent {
  int64_t height = 0;
  int64_t width = 0;
};

// Rows of one field on their way from record bytes to the slot.
struct FieldRows {
  int64_t count = 0;
  const std::byte* const* source = nullptr;  // [count]; null: the row failed before, skip it
  int64_t source_offset = 0;                 // added to each pointer
  const int64_t* source_bytes = nullptr;     // [count], ragged input only
  bool contiguous = false;                   // source[i + 1] == source[i] + input row bytes, none null
  std::byte* target = nullptr;  // row i goes to target + i * target_stride; 64-byte aligned at row 0
  int64_t target_stride = 0;    // dense: the output's bytes(); ragged: the share of a sample
  int64_t* target_bytes =
      nullptr;  // [count], ragged and varying output only: bytes written (<= target_stride)
  RowExtent* target_extents = nullptr;  // [count], varying output (Field::varies) only
  int64_t first_slot =
      0;  // place of row 0 in the epoch's order, of row i i later: what random operators draw from
  uint64_t seed = 0;
  int64_t epoch = 0;
  std::byte* scratch = nullptr;   // Program::scratch_bytes(), 64-byte aligned
  ProgramState* state = nullptr;  // of Program::make_state(), this worker's own
  RowErrors* errors = nullptr;
  int64_t* warned = nullptr;  // counts images delivered though their decoder warned (on_warning); may be null
};

// Delivered value = pixel * a + b, for those who want to see the pixels again.
struct PixelScale {
  double a = 1;
  double b = 0;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const Field& output() const = 0;
  virtual bool identity() const = 0;          // output bytes are the input bytes
  virtual int64_t scratch_bytes() const = 0;  // per worker
  // Its rows depend on seed, epoch and slot, not on the record alone.
  virtual bool draws() const { return false; }
  // Its rows take hundreds of microseconds, not nanoseconds, each (it decodes): workers claim them one by one.
  virtual bool heavy() const { return false; }
  // Host memory that make_state() takes from `memory`, counted at create. Null: the program keeps nothing.
  virtual int64_t state_bytes() const { return 0; }
  virtual Result<std::unique_ptr<ProgramState>> make_state(HostMemory& memory) const {
    static_cast<void>(memory);
    return std::unique_ptr<ProgramState>();
  }
  // One value, or one a channel; empty where values are no longer those of pixels.
  virtual std::vector<PixelScale> pixel_scales() const { return {}; }
  virtual void run(const FieldRows& rows) const = 0;
};

// A program in two parts: the host moves stored rows into the slot, a device does the rest.
struct DeviceSplit {
  std::unique_ptr<const Program> host;      // null: rows cross the bus as they are stored
  std::unique_ptr<const Program> geometry;  // writes one TailGeometry a row; null where all rows are alike
  Tail tail;
  std::string host_text, device_text;  // the operators of each part, as the user wrote them
};

// What of the loader's options transforms obey.
struct TransformSettings {
  DecodeLimits limits;
  // The header of a field's first record, for decode(mode=unchanged), whose type depends on it; may be empty.
  std::function<Result<ImageHeader>(size_t field)> first_header;
};

// One program a field, in the order of `fields`; fields without operators get a plain copy (with row prefetch).
// `text` may be empty. Errors: kBadTransform with column; kNoSuchField with column, listing the fields.
Result<std::vector<std::unique_ptr<const Program>>> compile_transforms(
    std::string_view text, std::span<const Field> fields, const TransformSettings& settings = {});

// The same programs in two parts; nothing for a field whose last pass no device can run, or that has none.
Result<std::vector<std::optional<DeviceSplit>>> split_transforms(std::string_view text,
                                                                 std::span<const Field> fields,
                                                                 const TransformSettings& settings = {});

// The operators of each field as written, "" for none. For texts that compile.
Result<std::vector<std::string>> operator_texts(std::string_view text, std::span<const Field> fields);

// The table of operators, for bindings and the shell.
struct OperatorArgument {
  std::string_view name;
  std::string_view type;           // "dtype", "number", "list", "shape", "word", ...
  std::string_view default_value;  // empty: required
};
struct OperatorInfo {
  std::string_view name;
  std::span<const OperatorArgument> arguments;
  std::string_view doc;     // one or two sentences
  std::string_view source;  // what it follows: "torchvision.transforms.v2.RandomCrop"
  std::string_view since;   // "0.1"
};
std::span<const OperatorInfo> operator_table();

}  // namespace dataline
