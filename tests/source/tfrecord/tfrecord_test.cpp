// TFRecord files as datasets: records as bytes, Examples as declared and as inferred fields, in every way of reading.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/gzip_files.h"
#include "tests/source/located.h"
#include "tests/source/tfrecord/tfrecord_files.h"
#include "tests/support/data_digest.h"

namespace dataline::tfrecord_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::string>;

std::vector<std::string> fields_of(const Source& source) {
  std::vector<std::string> out;
  for (const Field& field : source.schema().fields) out.push_back(field.name + " " + field_type_text(field));
  return out;
}

std::string ints(const std::vector<int64_t>& values) { return raw_bytes(values); }
std::string floats(const std::vector<float>& values) { return raw_bytes(values); }

class TfRecordTest : public ::testing::Test {
 protected:
  Result<SourceRef> open(const std::string& bytes, const std::string& keys = "", IoMode io = IoMode::kMmap) {
    return open_source("tfrecord:" + dir_.write("a.tfrecord", bytes) + keys, test_context(io));
  }
  SourceRef must_open(const std::string& bytes, const std::string& keys = "", IoMode io = IoMode::kMmap) {
    Result<SourceRef> source = open(bytes, keys, io);
    if (!source.is_ok()) throw std::runtime_error(source.status().message());
    return source.take();
  }
  // The only error of reading all records.
  std::string bad_row(const std::string& bytes, const std::string& keys = "", IoMode io = IoMode::kMmap) {
    const SourceRef source = must_open(bytes, keys, io);
    const Fetched rows = fetch_all(*source);
    EXPECT_EQ(rows.errors.size(), 1u);
    if (rows.errors.empty()) return "";
    const Status& status = rows.errors.begin()->second;
    return std::string(code_name(status.code())) + " " + status.message();
  }
  uint64_t digest(const std::string& bytes, const std::string& keys) {
    return data_digest(*must_open(bytes, keys));
  }

  TempDir dir_;
};

std::string photo(const std::string& pixels, int64_t label, const std::vector<float>& box) {
  return example_record({{"label", int_feature({label})},
                         {"image/encoded", bytes_feature({pixels})},
                         {"box", float_feature(box)}});
}
const std::string kPhotos = photo("JPEG", 7, {1, 2, 3, 4}) + photo(std::string(3000, 'x'), -1, {5, 6, 7, 8}) +
                            photo("", 0, {0, 0, 0, 0});

TEST_F(TfRecordTest, FieldsAreInferredFromTheFirstRecordSortedByName) {
  for (IoMode io : kIoModes) {
    const SourceRef source = must_open(kPhotos, "", io);
    EXPECT_EQ(source->count(), 3);
    EXPECT_THAT(fields_of(*source), ElementsAre("box f32[4]", "image/encoded u8[-1]", "label i64"));
    EXPECT_THAT(
        source->info().notes,
        ElementsAre("fields inferred from the first record: box:f32[4], image/encoded:bytes, label:i64"));
    for (bool cold : {false, true}) {
      const Fetched rows = fetch_all(*source, {.cold = cold});
      EXPECT_TRUE(rows.errors.empty());
      EXPECT_EQ(rows.bytes[0], (Rows{floats({1, 2, 3, 4}), floats({5, 6, 7, 8}), floats({0, 0, 0, 0})}));
      EXPECT_EQ(rows.bytes[1], (Rows{"JPEG", std::string(3000, 'x'), ""}));
      EXPECT_EQ(rows.bytes[2], (Rows{ints({7}), ints({-1}), ints({0})}));
    }
    EXPECT_EQ(fetch(*source, {2, 0}).bytes[1], (Rows{"", "JPEG"}));
  }
}

TEST_F(TfRecordTest, DeclaredFieldsComeInTheirOrderAndOthersAreSkipped) {
  for (IoMode io : kIoModes) {
    const SourceRef source = must_open(kPhotos, "?fields=label:i64[],box:f32[2x2]", io);
    EXPECT_THAT(fields_of(*source), ElementsAre("label i64[-1]", "box f32[2x2]"));
    EXPECT_THAT(source->info().notes, testing::IsEmpty());
    const Fetched rows = fetch_all(*source);
    EXPECT_EQ(rows.bytes[0], (Rows{ints({7}), ints({-1}), ints({0})}));
    EXPECT_EQ(rows.bytes[1][1], floats({5, 6, 7, 8}));
  }
}

TEST_F(TfRecordTest, AFieldWithoutATypeIsInferredAlone) {
  const SourceRef source = must_open(kPhotos, "?fields=label,image/encoded:bytes");
  EXPECT_THAT(fields_of(*source), ElementsAre("label i64", "image/encoded u8[-1]"));
  expect_error(open(kPhotos, "?fields=lable"), Code::kNoSuchField,
               {"record 0: no feature 'lable', did you mean 'label'?",
                "it has box, image/encoded, label; and no type is declared"});
}

TEST_F(TfRecordTest, RaggedFieldsTakeAnyNumberOfValues) {
  const std::string file = example_record({{"ids", int_feature({1, 2, 3})}, {"w", float_feature({})}}) +
                           example_record({{"ids", int_feature({})}, {"w", float_feature({1.5})}});
  for (IoMode io : kIoModes) {
    const Fetched rows = fetch_all(*must_open(file, "?fields=ids:i64[],w:f32[]", io));
    EXPECT_TRUE(rows.errors.empty());
    EXPECT_EQ(rows.bytes[0], (Rows{ints({1, 2, 3}), ""}));
    EXPECT_EQ(rows.bytes[1], (Rows{"", floats({1.5})}));
  }
}

TEST_F(TfRecordTest, BytesOfADeclaredShapeAreDense) {
  const std::string file = example_record({{"image", bytes_feature({"abcdef"})}}) +
                           example_record({{"image", bytes_feature({"abcde"})}});
  const SourceRef source = must_open(file, "?fields=image:u8[2x3]&axes=HW");
  EXPECT_THAT(fields_of(*source), ElementsAre("image u8[2x3]"));
  EXPECT_EQ(fetch_all(*source).bytes[0][0], "abcdef");
  EXPECT_THAT(bad_row(file, "?fields=image:u8[2x3]"),
              HasSubstr("record 1: feature 'image' has 5 bytes, expected 6 (u8[2x3]; declared as bytes"));
}

TEST_F(TfRecordTest, FloatsOneByOneAreReadAsPackedOnesAre) {
  std::string apart;
  for (const float value : {1.0f, 2.0f}) apart += wire_tag(1, 5) + raw_bytes(value);
  const std::string file =
      example_record({{"f", float_feature({8, 9})}}) + example_record({{"f", wire_bytes(2, apart)}});
  for (const std::string keys : {"", "?fields=f:f32[]"})
    EXPECT_EQ(fetch_all(*must_open(file, keys)).bytes[0], (Rows{floats({8, 9}), floats({1, 2})}));
}

TEST_F(TfRecordTest, OtherRecordsAreBytes) {
  const std::string file = record("hello") + record("") + record(std::string(300, 'z'));
  for (IoMode io : kIoModes) {
    const SourceRef source = must_open(file, "", io);
    EXPECT_THAT(fields_of(*source), ElementsAre("data u8[-1]"));
    EXPECT_EQ(source->schema().fields[0].max_bytes, 300);
    EXPECT_THAT(source->info().notes, Contains(HasSubstr("not a tf.train.Example")));
    EXPECT_EQ(fetch_all(*source).bytes[0], (Rows{"hello", "", std::string(300, 'z')}));
    EXPECT_EQ(source->record_items(2), 300);
    EXPECT_EQ(source->place_of(1, 0).within, "record 1, offset 21");
  }
  const SourceRef whole = must_open(kPhotos, "?records=bytes");
  EXPECT_THAT(fields_of(*whole), ElementsAre("data u8[-1]"));
  EXPECT_THAT(whole->info().notes, testing::IsEmpty());
  EXPECT_EQ(fetch_all(*whole).bytes[0][2], example({{"label", int_feature({0})},
                                                    {"image/encoded", bytes_feature({""})},
                                                    {"box", float_feature({0, 0, 0, 0})}}));
}

TEST_F(TfRecordTest, PartsOfBytesAreReadAndChecked) {
  const std::string data = pattern_bytes(20'000);
  for (IoMode io : kIoModes) {
    for (const bool good : {true, false}) {
      std::string file = record("x") + record(data);
      if (!good) file[file.size() - 1] = static_cast<char>(file.back() ^ 1);
      const SourceRef source = must_open(file, "?records=bytes", io);
      dataline::Run run;
      std::byte room[100];
      const Result<const std::byte*> part = source->locate_items(run, {1, 500, 100}, room);
      ASSERT_EQ(part.is_ok(), good);
      if (!good) continue;
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(part.value()), 100), data.substr(500, 100));
    }
  }
}

TEST_F(TfRecordTest, AWrongChecksumSpoilsItsRecordAlone) {
  std::string file = kPhotos;
  file[file.find("JPEG")] = 'K';
  for (IoMode io : kIoModes) {
    const std::string bad = bad_row(file, "?fields=label:i64", io);
    EXPECT_THAT(bad, HasSubstr("DL_ERR_CORRUPT"));
    EXPECT_THAT(bad, HasSubstr("a.tfrecord: offset 0: record 0: the checksum of its data is 0x"));
    EXPECT_THAT(bad, HasSubstr("crc=ignore"));
    const Fetched rows = fetch_all(*must_open(file, "?crc=ignore", io));
    EXPECT_TRUE(rows.errors.empty());
    EXPECT_EQ(rows.bytes[1][0], "KPEG");
  }
  expect_error(open(file), Code::kCorrupt, {"offset 0: record 0: the checksum of its data", "inferred"});
}

TEST_F(TfRecordTest, ARecordThatDiffersIsABadSampleThatSaysWhatWouldReadIt) {
  const std::string good = example_record({{"a", int_feature({1, 2})}, {"b", bytes_feature({"x"})}});
  const auto with = [&](const Features& features) { return good + example_record(features); };
  const std::string b = bytes_feature({"y"}), at = "offset " + std::to_string(good.size()) + ": record 1: ";
  const auto expect = [&](const Features& features, const std::string& text) {
    const std::string bad = bad_row(with(features));
    EXPECT_THAT(bad, HasSubstr("DL_ERR_CORRUPT"));
    EXPECT_THAT(bad, HasSubstr(at + text));
  };
  expect({{"b", b}}, "no feature 'a', expected i64[2] (nulls=fill(0) makes it 0)");
  expect({{"a", int_feature({1, 2})}},
         "no feature 'b', expected bytes (nulls=fill(0) makes it an empty row)");
  expect({{"a", ""}, {"b", b}}, "no value in feature 'a', expected i64[2] (nulls=fill(0) makes it 0)");
  expect({{"a", float_feature({1, 2})}, {"b", b}},
         "feature 'a' is of float_list, expected int64_list (i64[2])");
  expect({{"a", int_feature({1})}, {"b", b}},
         "feature 'a' has 1 value, expected 2 (i64[2]; declared as i64[], any number is read)");
  expect({{"a", int_feature({1, 2, 3})}, {"b", b}}, "feature 'a' has 3 values, expected 2");
  expect({{"a", int_feature({1, 2})}, {"b", bytes_feature({"x", "y"})}},
         "feature 'b' has 2 byte strings, expected 1");
  expect({{"a", int_feature({1, 2})}, {"b", bytes_feature({})}},
         "no value in feature 'b', expected bytes (nulls=fill(0) makes it an empty row)");
}

TEST_F(TfRecordTest, MissingFeaturesAreFilled) {
  const std::string file =
      example_record({{"i", int_feature({1, 2})}, {"f", float_feature({3})}, {"b", bytes_feature({"x"})}}) +
      example_record({{"other", int_feature({1})}}) + record("");
  for (IoMode io : kIoModes) {
    const Fetched rows =
        fetch_all(*must_open(file, "?fields=i:i64[2],f:f32,b:bytes,r:i64[],p:u8[3]&nulls=fill(7)", io));
    EXPECT_TRUE(rows.errors.empty());
    EXPECT_EQ(rows.bytes[0], (Rows{ints({1, 2}), ints({7, 7}), ints({7, 7})}));
    EXPECT_EQ(rows.bytes[1], (Rows{floats({3}), floats({7}), floats({7})}));
    EXPECT_EQ(rows.bytes[2], (Rows{"x", "", ""}));
    EXPECT_EQ(rows.bytes[3], (Rows{"", "", ""}));
    EXPECT_EQ(rows.bytes[4], (Rows{"\7\7\7", "\7\7\7", "\7\7\7"}));
  }
  EXPECT_EQ(fetch_all(*must_open(file, "?fields=f:f32&nulls=fill(-0.5)")).bytes[0][1], floats({-0.5}));
  const Fetched masked = fetch_all(*must_open(file, "?fields=i:i64[2],b:bytes&nulls=mask"));
  ASSERT_EQ(masked.bytes.size(), 4u);
  const std::string is(1, '\1'), is_not(1, '\0');
  EXPECT_EQ(masked.bytes[2], (Rows{is, is_not, is_not}));
  EXPECT_EQ(masked.bytes[3], (Rows{is, is_not, is_not}));
}

TEST_F(TfRecordTest, ValuesBeyondMaxBytesPerSampleAreTooLarge) {
  const std::string file = example_record({{"ids", int_feature(std::vector<int64_t>(600, 1))}}) +
                           example_record({{"ids", int_feature({2})}});
  for (IoMode io : kIoModes) {
    const Fetched rows = fetch_all(*must_open(file, "?fields=ids:i64[]", io));
    ASSERT_EQ(rows.errors.size(), 1u);
    EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
    EXPECT_THAT(rows.errors.at(0).message(),
                HasSubstr("record 0: feature 'ids': 4800 bytes, max_bytes_per_sample is 4096"));
    EXPECT_EQ(rows.bytes[0][1], ints({2}));
  }
  // Read by pread a record has to fit a worker's scratch, whatever is taken of it.
  const std::string large =
      example_record({{"b", bytes_feature({std::string(90'000, 'x')})}, {"n", int_feature({1})}});
  EXPECT_THAT(bad_row(large, "?fields=n:i64", IoMode::kPread),
              HasSubstr("with io=pread at most 65552 are read"));
  EXPECT_EQ(fetch_all(*must_open(large, "?fields=n:i64")).bytes[0][0], ints({1}));
}

TEST_F(TfRecordTest, AnIncompleteLastRecordIsLeftOutOnRequest) {
  const std::string whole = record("one") + record("two");
  for (const size_t cut : {1, 7, 12, 15, 18}) {
    const std::string file = whole + record("three").substr(0, cut);
    expect_error(open(file), Code::kTruncated, {"offset 38: record 2: expected its ", "partial=ignore"});
    const SourceRef source = must_open(file, "?partial=ignore");
    EXPECT_EQ(fetch_all(*source).bytes[0], (Rows{"one", "two"}));
    EXPECT_THAT(source->info().notes, Contains(HasSubstr("the last " + std::to_string(cut) + " bytes")));
  }
}

TEST_F(TfRecordTest, AFileWithoutRecordsNeedsADeclaration) {
  expect_error(open(""), Code::kEmpty, {"no records", "fields=", "records=bytes"});
  EXPECT_EQ(must_open("", "?records=bytes")->count(), 0);
  EXPECT_EQ(must_open("", "?fields=a:i64")->count(), 0);
}

TEST_F(TfRecordTest, BlocksAreCutByStoredBytes) {
  const SourceRef source =
      must_open(record("12345678") + record("1") + record(std::string(100, 'x')) + record(""));
  BlockEnds ends;
  source->append_blocks(50, ends);
  EXPECT_THAT(ends, ElementsAre(2, 3, 4));
  EXPECT_EQ(source->stored_bytes(), (24 + 17 + 116 + 16) / 4);
}

TEST_F(TfRecordTest, FieldsAndFillsArePartOfTheFingerprint) {
  const uint64_t inferred = digest(kPhotos, "");
  EXPECT_EQ(inferred, digest(kPhotos, "?fields=box:f32[4],image/encoded:bytes,label:i64"));
  EXPECT_NE(inferred, digest(kPhotos, "?fields=box:f32[2x2],image/encoded:bytes,label:i64"));
  EXPECT_NE(inferred, digest(kPhotos, "?fields=label:i64"));
  EXPECT_NE(inferred, digest(kPhotos, "?nulls=fill(0)"));
  EXPECT_NE(digest(kPhotos, "?nulls=fill(1)"), digest(kPhotos, "?nulls=fill(0)"));
  // Two numbers that are one as a double.
  EXPECT_NE(digest(kPhotos, "?nulls=fill(1152921504606846977)"),
            digest(kPhotos, "?nulls=fill(1152921504606846976)"));
  EXPECT_EQ(inferred, digest(kPhotos, "?crc=ignore"));
}

TEST_F(TfRecordTest, GzippedFilesAreInflatedIntoMemory) {
  const SourceRef source = must_open(gzip_stored(kPhotos));
  EXPECT_EQ(source->count(), 3);
  EXPECT_THAT(source->info().notes, Contains(HasSubstr("decompressed into memory")));
  EXPECT_EQ(fetch_all(*source).bytes[1][0], "JPEG");
}

TEST_F(TfRecordTest, FilesAreFoundByContentAndByName) {
  dir_.write("s/set-train.tfrecord-00010-of-00011", record("10"));
  dir_.write("s/set-train.tfrecord-00002-of-00011", record("2"));
  dir_.write("s/train-00000-of-01024", record("0"));
  dir_.write("s/features.json", "{}");
  for (const std::string& uri : {dir_.path("s"), "tfrecord:" + dir_.path("s")}) {
    Result<SourceRef> source = open_source(uri, test_context());
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_EQ(source.value()->info().format, "tfrecord");
    EXPECT_EQ(fetch_all(*source.value()).bytes[0], (Rows{"2", "10", "0"}));
  }
  const std::string range = "tfrecord:" + dir_.path("s/set-train.tfrecord-{00002..00002}-of-00011");
  EXPECT_EQ(open_source(range, test_context()).take()->count(), 1);
}

// Zeros in the place of what was cut off would fail the checksum, too: the true cause is told.
TEST_F(TfRecordTest, AFileThatIsCutAfterItWasLookedAtIsTruncatedNotCorrupt) {
  for (const std::string keys : {"", "?records=bytes", "?crc=ignore"}) {
    const SourceRef source = must_open(kPhotos, keys);
    FetchOptions looked;
    looked.opened_ns = monotonic_ns();
    EXPECT_TRUE(fetch_all(*source, looked).errors.empty());
    std::filesystem::resize_file(dir_.path("a.tfrecord"), 20);
    const Fetched rows = fetch_all(*source, looked);  // relies on the check before
    ASSERT_FALSE(rows.errors.empty());
    for (const auto& [row, status] : rows.errors) {
      EXPECT_EQ(status.code(), Code::kTruncated) << status.message();
      EXPECT_THAT(status.message(), HasSubstr("a.tfrecord: offset"));
    }
  }
}

TEST_F(TfRecordTest, OpeningIsCancelled) {
  OpenContext context = test_context();
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  const std::string path = dir_.write("a.tfrecord", kPhotos);
  expect_error(open_source("tfrecord:" + path, context), Code::kCancelled, {"cancelled"});
}

}  // namespace
}  // namespace dataline::tfrecord_test
