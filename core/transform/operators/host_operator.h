// Operators of the host's (extensions): one field in, one field out, row by row.
//
// Threads: prepare() in the thread that creates a loader, apply() on several workers at once.
// Failure: prepare() refuses a transform, apply() fails its row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/transform/operators/operator.h"

namespace dataline {

struct HostArgument {
  bool given = false;               // else the default
  std::optional<std::string> text;  // as written; a text without its quotes; nothing when absent
  std::vector<double> numbers;      // of a number, a shape or a list of numbers
};

// What one use of an operator does.
struct HostUse {
  Field output;  // in: the field before
  bool draws = false, heavy = false;
  std::shared_ptr<void> state;  // handed to apply()
};

struct HostRow {
  const std::byte* input;
  int64_t input_bytes;
  std::byte* output;
  int64_t capacity;
  int64_t bytes;  // in: dense: the sample's bytes, else 0; out: bytes written
  int64_t slot, epoch;
  uint64_t seed;
  std::array<uint64_t, 3> draw;  // for host_draw()
};

// What Draws::bits() gives an operator of the library in that place.
uint64_t host_draw(const std::array<uint64_t, 3>& draw, int64_t number);

class HostOperator : public std::enable_shared_from_this<HostOperator> {
 public:
  virtual ~HostOperator() = default;
  const Operator& table_row() const { return row_; }

  // `wrong`: with an error, the index of the argument that is wrong, or -1.
  virtual Status prepare(std::span<const HostArgument> arguments, HostUse& use, int32_t& wrong) const = 0;
  virtual Status apply(void* state, HostRow& row) const = 0;

 protected:
  Operator row_{.info = {}, .add = nullptr, .host = this};  // `info` is filled in by whoever made it
};

Status add_host_operator(const HostOperator& host, const Arguments& arguments, Plan& plan);

}  // namespace dataline
