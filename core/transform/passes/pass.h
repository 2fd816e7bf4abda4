// One pass over a row, and the programs made of passes. Most programs have one, which reads the record and writes the slot;
// if operators cannot be fused, a program is a list of passes and the row goes from one to the next through scratch.
//
// Threads: immutable; a RowContext belongs to one worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/field.h"
#include "core/base/simd.h"
#include "core/transform/passes/program.h"

namespace dataline {

class FlatPass;

struct RowContext {
  const FieldRows* rows = nullptr;
  std::string_view field;  // its name, for messages
  int64_t row = 0;
  uint64_t key = 0;               // of (seed, epoch, augment)
  std::byte* scratch = nullptr;   // Pass::scratch_bytes()
  ProgramState* state = nullptr;  // of Pass::make_state()
  int32_t part = 0;               // the first of the pass (Program::parts)

  // Fails the row; returns the return value of a failed run().
  int64_t fail(Status status) const {
    rows->errors->fail(row, std::move(status).in(concat("field '", field, "'")));
    return -1;
  }
};

class Pass : public RowWork {
 public:
  // The output has the size of the input and may overwrite it: `from` is `to` after another pass.
  virtual bool in_place() const { return false; }
  // Parts of its own; empty: it is one.
  virtual std::vector<std::string> parts() const { return {}; }
  // Returns the bytes written, at most `room`; -1 if the row failed.
  virtual int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                      int64_t room) const = 0;
};

using PassRef = std::shared_ptr<const Pass>;

// What all programs report about their rows.
struct ProgramOutput {
  Field field;
  std::vector<PixelScale> scales;
  bool draws = false;
};

std::unique_ptr<const Program> make_copy_program(const Field& input, ProgramOutput output, SimdTarget target);

// A dense field whose rows are mapped element by element, without padding.
std::unique_ptr<const Program> make_flat_program(const Field& input, ProgramOutput output,
                                                 std::shared_ptr<const FlatPass> pass, SimdTarget target);

// `pass_bytes`: the maximum each pass writes; the last one is not used. `texts`: the operators of each pass.
std::unique_ptr<const Program> make_pass_program(const Field& input, ProgramOutput output,
                                                 std::vector<PassRef> passes,
                                                 const std::vector<int64_t>& pass_bytes,
                                                 const std::vector<std::string>& texts);

}  // namespace dataline
