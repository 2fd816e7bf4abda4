// Golden vectors that the scripts beside this file made with the libraries people trust: read, and compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> bytes;
};

struct GoldenCase {
  std::string line;  // as written, for messages
  std::string op;
  std::vector<std::string> arguments;
  const Picture* input = nullptr;
  Picture expected;
  std::vector<float> magnitudes;  // of magnitudes_* only

  double number(size_t index) const;
  int64_t whole(size_t index) const;
};

struct Golden {
  std::map<std::string, Picture> inputs;
  std::vector<GoldenCase> cases;
};

// NAME.txt and NAME.bin of the folder DATALINE_GOLDEN, or of the source tree. Fails the test when they cannot be read.
Golden read_golden(const char* name);

// A worker's memory and a frame in it, for stages run on their own.
class Canvas {
 public:
  explicit Canvas(const Picture& picture);
  Picture picture() const;  // the frame as it is now

  FrameScratch scratch;
  Frame frame;

 private:
  std::vector<std::byte> memory_;
};

// How one operator is compared. Cases of one `row` share a line of the table that compare_golden() prints.
struct GoldenRule {
  std::string row;   // "": not compared here
  int64_t most = 0;  // levels that a value may be away
  double share = 0;  // of values that may differ at all, over the row
};

// Runs the cases that have a rule on every vector target. The table: largest difference in levels, share of values that
// differ. Returns its rows.
using GoldenRun = std::function<Status(const GoldenCase&, SimdTarget, Canvas&)>;
size_t compare_golden(const char* name, const std::function<GoldenRule(const GoldenCase&)>& rule,
                      const GoldenRun& run);

}  // namespace dataline
