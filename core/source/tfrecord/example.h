// tf.train.Example by its wire format, in place and without a description of the message:
//
//   Example.features = 1: Features.feature = 1, a map: entries of key = 1 (text), value = 2 (Feature)
//   Feature: one of bytes_list = 1, float_list = 2, int64_list = 3; each list: value = 1
//
// Floats are four bytes, ints varints, each packed or one by one. As in protobuf's own readers, fields that are unknown or of
// another wire type are skipped, and of a list that is given in pieces all are read. Refused: groups, which no such message
// has, and a map entry with two values. Source: protobuf.dev, "Encoding"; tensorflow/core/example/{example,feature}.proto.
//
// Threads: externally synchronized. Lifetime: what is returned points into the message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"

namespace dataline {

// Why bytes are not a message, and where. `what` is null where nothing is wrong.
struct WireFault {
  const char* what = nullptr;
  const std::byte* at = nullptr;
};

struct WireField {
  static constexpr int kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  uint32_t number = 0;
  int type = 0;
  uint64_t varint = 0;  // of kVarint
  Bytes bytes;          // of the others
  bool is(uint32_t n, int t) const { return number == n && type == t; }
};

// The fields of a message, in their order.
class WireReader {
 public:
  explicit WireReader(Bytes message) : at_(message.data()), end_(at_ + message.size()) {}

  // False at the end, and at a fault.
  bool next(WireField& field);
  bool read_varint(uint64_t& value);
  const WireFault& fault() const { return fault_; }
  const std::byte* at() const { return at_; }
  bool at_end() const { return at_ == end_; }

 private:
  bool fail(const char* what, const std::byte* at) {
    fault_ = {what, at};
    at_ = end_;
    return false;
  }

  const std::byte* at_;
  const std::byte* end_;
  WireFault fault_;
};

enum class FeatureKind : uint8_t {
  kNone,
  kBytes,
  kFloats,
  kInts
};                                             // kNone: the feature has no list, or is not there
std::string_view list_name(FeatureKind kind);  // "int64_list"

struct Feature {
  FeatureKind kind;
  const std::byte*
      data;  // of the Feature message, from its first list of that kind on; null: the feature is not there
  int64_t bytes;
};

// The features of an Example, as often as they are there: the last of a name is valid.
class ExampleReader {
 public:
  explicit ExampleReader(Bytes example) : example_(example), features_({}) {}

  // False at the end, and at a fault.
  bool next(std::string_view& name, Feature& feature);
  const WireFault& fault() const { return fault_; }
  // After the end: whether it is a SequenceExample, which has feature lists beside its features.
  bool is_sequence() const { return sequence_; }
  // After the end: whether all of it is what an Example's writer writes, nothing skipped, each feature with a name and a
  // list. Other messages rarely are.
  bool is_plain() const { return plain_; }

 private:
  bool read_entry(Bytes entry, std::string_view& name, Feature& feature);
  bool read_feature(Bytes message, Feature& feature);

  WireReader example_, features_;
  WireFault fault_;
  bool sequence_ = false, plain_ = true;
};

// The values of a feature of the kind that the function is named by. `fault` says why the count is -1.
struct BytesValues {
  int64_t count = 0;
  Bytes first;
};
BytesValues read_bytes_values(const Feature& feature, WireFault& fault);

struct FloatValues {
  int64_t count = 0;
  const std::byte* packed = nullptr;  // all of them, little-endian, unaligned; null: they lie apart
};
FloatValues find_float_values(const Feature& feature, WireFault& fault);
void copy_float_values(const Feature& feature, std::byte* out);  // all; find_float_values() had no fault

// Writes at most `room` values, counts all.
int64_t read_int_values(const Feature& feature, std::byte* out, int64_t room, WireFault& fault);

}  // namespace dataline
