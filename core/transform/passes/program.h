// Record bytes -> sample bytes of one field: what a transform compiles to, and what workers run.
//
// Threads: a Program is immutable; run() may be called from several workers at once, each with its own scratch.
// Failure: a bad row (a label out of range, a sample too long) fails alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/part_clock.h"
#include "core/base/status.h"
#include "core/base/tail.h"
#include "core/memory/host_memory.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// What a program keeps from row to row for one worker: decoders, tables, memory for frames.
class ProgramState {
 public:
  virtual ~ProgramState() = default;
};

// Rows of one field on their way from record bytes to the slot.
struct FieldRows {
  int64_t count = 0;
  // [count]; null: another program's, or it failed before; nothing of it is written
  const std::byte* const* source = nullptr;
  int64_t source_offset = 0;              // added to each pointer
  const int64_t* source_bytes = nullptr;  // [count], ragged input only
  bool contiguous = false;                // source[i + 1] == source[i] + input row bytes, none null
  std::byte* target = nullptr;  // row i goes to target + i * target_stride; row 0 is 64-byte aligned
  int64_t target_stride =
      0;  // dense: the output's bytes(), or those of a row of its bucket; ragged: the share of a sample
  int64_t* target_bytes = nullptr;      // [count], ragged and varying output only: bytes written
  RowExtent* target_extents = nullptr;  // [count], varying output (Field::varies) only
  RowExtent bucket = {};                // of images in batches by aspect: the size of the batch's bucket
  int64_t first_slot = 0;               // position of row 0 in the epoch's order: input of random draws
  uint64_t seed = 0;
  int64_t epoch = 0;
  std::byte* scratch = nullptr;   // Program::scratch_bytes(), 64-byte aligned
  ProgramState* state = nullptr;  // from Program::make_state(), one per worker
  RowErrors* errors = nullptr;
  int64_t* warned = nullptr;  // counts images delivered despite decoder warnings (on_warning); may be null
  // To time the parts of a program (Program::parts) in a row now and then; null: nobody asks.
  PartClock* clock = nullptr;
  PartTimes* parts = nullptr;
};

// Delivered value = pixel * a + b, for viewing pixels again.
struct PixelScale {
  double a = 1;
  double b = 0;

  bool operator==(const PixelScale&) const = default;
};

// What programs, and the passes that they are made of, need of a worker.
class RowWork {
 public:
  virtual ~RowWork() = default;
  virtual int64_t scratch_bytes() const { return 0; }
  // A row takes hundreds of microseconds (it decodes): workers claim rows one at a time.
  virtual bool heavy() const { return false; }
  // Host memory that make_state() takes from `memory`, counted at create. A null state: the program keeps nothing.
  virtual int64_t state_bytes() const { return 0; }
  virtual Result<std::unique_ptr<ProgramState>> make_state(HostMemory& memory) const {
    static_cast<void>(memory);
    return std::unique_ptr<ProgramState>();
  }
};

class Program : public RowWork {
 public:
  virtual const Field& output() const = 0;
  virtual bool identity() const { return false; }  // output bytes are the input bytes
  // Rows depend on seed, epoch and slot, not on the record alone.
  virtual bool draws() const { return false; }
  // One value, or one per channel; empty when values no longer map to pixels.
  virtual std::vector<PixelScale> pixel_scales() const { return {}; }
  // What a row's time is divided into, as operators; empty: rows are timed whole.
  virtual std::vector<std::string> parts() const { return {}; }
  virtual void run(const FieldRows& rows) const = 0;
};

// A program in two parts: the host moves stored rows into the slot, a device does the rest.
struct DeviceSplit {
  std::unique_ptr<const Program> host;      // null: rows cross the bus as they are stored
  std::unique_ptr<const Program> geometry;  // writes one TailGeometry per row; null if all rows are alike
  Tail tail;
  std::string host_text, device_text;  // the operators of each part, as the user wrote them
};

}  // namespace dataline
