// One pass over a row. Most programs have one, which reads the record and writes the slot; if operators cannot be fused, a
// program is a list of passes and the row goes from one to the next through scratch.
//
// Threads: immutable; a RowContext belongs to one worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/field.h"
#include "core/base/simd.h"
#include "core/transform/passes/program.h"

namespace dataline {

struct RowContext {
  const FieldRows* rows = nullptr;
  std::string_view field;  // its name, for messages
  int64_t row = 0;
  uint64_t key = 0;               // of (seed, epoch, augment)
  std::byte* scratch = nullptr;   // Pass::scratch_bytes()
  ProgramState* state = nullptr;  // of Pass::make_state()

  // Fails the row; returns the return value of a failed run().
  int64_t fail(Status status) const {
    rows->errors->fail(row, std::move(status).in(concat("field '", field, "'")));
    return -1;
  }
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual int64_t scratch_bytes() const = 0;
  // The output has the size of the input and may overwrite it: `from` is `to` after another pass.
  virtual bool in_place() const { return false; }
  // As those of Program.
  virtual bool heavy() const { return false; }
  virtual int64_t state_bytes() const { return 0; }
  virtual Result<std::unique_ptr<ProgramState>> make_state(HostMemory& memory) const {
    static_cast<void>(memory);
    return std::unique_ptr<ProgramState>();
  }
  // Returns the bytes written, at most `room`; -1 if the row failed.
  virtual int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                      int64_t room) const = 0;
};

using PassRef = std::shared_ptr<const Pass>;

}  // namespace dataline
