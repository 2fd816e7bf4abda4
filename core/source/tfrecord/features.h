// Which features of tf.train.Example become fields, and of what type: as the URI declares them, or as the first record has them.
//
//   bytes      one byte string, ragged u8            u8[AxB]    one byte string of so many bytes
//   i64, f32   one value of an int64_list, float_list
//   i64[AxB]   so many values                        i64[]      any number of values, ragged
//
// Threads: immutable. Names of features are names of fields, with '/' as they have it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/source/tfrecord/example.h"
#include "core/source/uri.h"

namespace dataline {

constexpr size_t kMaxFeatures = 1024;  // a record's features are found in an array of so many on the stack

struct FeatureField {
  std::string name;
  FeatureKind kind = FeatureKind::kNone;  // kNone: as the first record has it that has values of it
  bool ragged = false;
  std::vector<int64_t> shape;  // not of ragged ones
  int64_t values = 1;          // the product of the shape

  DType dtype() const {
    return kind == FeatureKind::kBytes    ? DType::kU8
           : kind == FeatureKind::kFloats ? DType::kF32
                                          : DType::kI64;
  }
  Field field() const {
    const std::vector<int64_t> dims = ragged ? std::vector<int64_t>{-1} : shape;
    return {name, ragged ? FieldKind::kRagged : FieldKind::kDense, dtype(), dims, "", -1};
  }
  std::string type_text() const;  // as in the URI
};

// `fields=image:bytes,label:i64,ids`: types may be left out. kBadUri with column.
Result<std::vector<FeatureField>> parse_feature_fields(const UriKey& key);

// The declared fields with the types that are missing, or else one field a feature, sorted by name. A feature without values is
// of any number of values (bytes, i64[], f32[]); without a list it has no type yet (kNone). `place` begins the messages: the
// file, offset and number of the record. kCorrupt, kUnsupported, kTooLarge, kNoSuchField, each with what to declare.
Result<std::vector<FeatureField>> infer_feature_fields(const std::string& place, Bytes record,
                                                       const std::vector<FeatureField>& declared);
// Gives the fields without a type the type that a later record has. Errors: kCorrupt, kUnsupported.
Status infer_from_later_record(const std::string& place, Bytes record, std::vector<FeatureField>& fields);

// Whether all types are declared.
bool all_declared(const std::vector<FeatureField>& fields);

// "image:bytes, label:i64"; a long list ends in "...".
std::string feature_list_text(const std::vector<FeatureField>& fields);

// The bytes are an Example, at least one feature of which has a list, and nothing that an Example's writer does not write.
bool is_plain_example(Bytes record);
// How many features an Example has, none of which has a list: other records decide what it is. Nothing: another record.
std::optional<int64_t> features_without_lists(Bytes record);
// A tf.train.SequenceExample: it has feature lists, of names and features.
bool is_sequence_example(Bytes record);
inline constexpr std::string_view kNoSequences =
    "a tf.train.SequenceExample, whose feature lists are not supported (records=bytes delivers the complete "
    "record)";

}  // namespace dataline
