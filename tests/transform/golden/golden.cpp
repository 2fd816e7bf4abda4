// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/golden/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <tuple>

#include "core/base/text.h"
#include "tests/support/places.h"
#include "tests/transform/support/runner.h"

namespace dataline {
namespace {

std::string folder() {
  const char* other = std::getenv("DATALINE_GOLDEN");
  return other != nullptr ? other : tests::in_repository("tests/transform/golden");
}

Picture take_picture(const std::string& shape, std::istream& pixels) {
  const std::vector<int64_t> sides = *parse_shape(shape);
  Picture picture{sides[0], sides[1], sides[2], {}};
  picture.bytes.resize(static_cast<size_t>(sides[0] * sides[1] * sides[2]));
  pixels.read(reinterpret_cast<char*>(picture.bytes.data()),
              static_cast<std::streamsize>(picture.bytes.size()));
  EXPECT_TRUE(pixels) << shape;
  return picture;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view part : split(text, ',')) out.emplace_back(part);
  return out;
}

}  // namespace

double GoldenCase::number(size_t index) const { return *parse_f64(arguments.at(index)); }
int64_t GoldenCase::whole(size_t index) const { return *parse_i64(arguments.at(index)); }

Golden read_golden(const char* name) {
  Golden golden;
  const std::string path = concat(folder(), "/", name);
  std::ifstream text(path + ".txt"), pixels(path + ".bin", std::ios::binary);
  EXPECT_TRUE(text && pixels) << path;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string op, arguments, input, shape, values;
    words >> op >> arguments >> input >> shape >> values;
    if (shape != "0x0x0" && input == "-") {
      golden.inputs[op] = take_picture(shape, pixels);
      continue;
    }
    GoldenCase one;
    one.line = line.substr(0, 60);
    one.op = op;
    one.arguments = parts_of(arguments);
    if (shape == "0x0x0") {
      for (const std::string& value : parts_of(values))
        one.magnitudes.push_back(std::strtof(value.c_str(), nullptr));
    } else {
      one.input = &golden.inputs.at(input);
      one.expected = take_picture(shape, pixels);
    }
    golden.cases.push_back(std::move(one));
  }
  EXPECT_GT(golden.cases.size(), 100u);
  return golden;
}

Canvas::Canvas(const Picture& picture) {
  constexpr size_t kTimes = 8, kMore = size_t{1} << 16;
  const size_t room = picture.bytes.size() * kTimes + kMore;
  memory_.resize(room + FrameScratch::kAlignment);
  void* start = memory_.data();
  size_t space = memory_.size();
  start = std::align(FrameScratch::kAlignment, room, start, space);
  scratch = FrameScratch(static_cast<std::byte*>(start), static_cast<int64_t>(room));
  frame = Frame{scratch.take(static_cast<int64_t>(picture.bytes.size())), picture.height, picture.width,
                picture.channels, 1};
  if (!picture.bytes.empty()) std::memcpy(frame.pixels, picture.bytes.data(), picture.bytes.size());
}

Picture Canvas::picture() const {
  Picture out{frame.height, frame.width, frame.channels, {}};
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(frame.pixels);
  out.bytes.assign(bytes, bytes + frame.bytes());
  return out;
}

namespace {

struct Row {
  GoldenRule rule;
  int64_t cases = 0, values = 0, differ = 0, most = 0;
};

void compare_one(const GoldenCase& one, const GoldenRule& rule, const Picture& got, const std::string& where,
                 Row& row) {
  ASSERT_EQ(std::tie(got.height, got.width, got.channels),
            std::tie(one.expected.height, one.expected.width, one.expected.channels))
      << where;
  int64_t most = 0;
  for (size_t i = 0; i < got.bytes.size(); ++i) {
    const int64_t difference = std::abs(got.bytes[i] - one.expected.bytes[i]);
    most = std::max(most, difference);
    row.differ += difference != 0 ? 1 : 0;
  }
  EXPECT_LE(most, rule.most) << where;
  row.rule = rule;
  row.most = std::max(row.most, most);
  row.values += static_cast<int64_t>(got.bytes.size());
  ++row.cases;
}

}  // namespace

size_t compare_golden(const char* name, const std::function<GoldenRule(const GoldenCase&)>& rule_of,
                      const GoldenRun& run) {
  const Golden golden = read_golden(name);
  std::map<std::string, Row> table;
  for (const GoldenCase& one : golden.cases) {
    const GoldenRule rule = one.input == nullptr ? GoldenRule() : rule_of(one);
    if (rule.row.empty()) continue;
    for (const SimdTarget target : tests::simd_targets()) {
      Canvas canvas(*one.input);
      const Status status = run(one, target, canvas);
      EXPECT_TRUE(status.is_ok()) << one.line << ": " << status.message();
      compare_one(one, rule, canvas.picture(), one.line + " on " + simd_target_name(target), table[rule.row]);
    }
  }
  for (const auto& [title, row] : table) {
    const double share = static_cast<double>(row.differ) / static_cast<double>(row.values);
    std::printf("%-20s cases %4ld  largest difference %3ld  values that differ %.6f\n", title.c_str(),
                static_cast<long>(row.cases), static_cast<long>(row.most), share);
    EXPECT_LE(share, row.rule.share) << title;
  }
  return table.size();
}

}  // namespace dataline
