// Samples of tar archives: keys, fields, labels, headers of every kind, bytes in every way of reading.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar.h"

#include <gmock/gmock.h>

#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/source/tar/tar_files.h"
#include "tests/support/data_digest.h"

namespace dataline::tar_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::string>;

std::string i64(int64_t value) { return raw_bytes(value); }

class TarTest : public ::testing::Test {
 protected:
  Result<SourceRef> open(const std::string& bytes, const TarOptions& options = {},
                         IoMode io = IoMode::kMmap) {
    return open_tar(dir_.write("a.tar", bytes), options, test_context(io));
  }
  SourceRef must_open(const std::string& bytes, const TarOptions& options = {}, IoMode io = IoMode::kMmap) {
    Result<SourceRef> source = open(bytes, options, io);
    if (!source.is_ok()) throw std::runtime_error(source.status().message());
    return source.take();
  }
  TempDir dir_;
};

std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> out;
  for (const Field& field : source.schema().fields) out.push_back(field.name + " " + field_type_text(field));
  return out;
}

std::string two_samples() {
  return tar_member("a/0.cls", "7\n") + tar_member("a/0.jpg", "JPEG") + tar_member("a/0.json", "{}") +
         tar_member("a/1.cls", " -12 ") + tar_member("a/1.JPEG", std::string(700, 'x')) +
         tar_member("a/1.json", "") + tar_end();
}

TEST_F(TarTest, SamplesAreRunsOfMembersOfOneKey) {
  for (IoMode io : kIoModes) {
    SourceRef source = must_open(two_samples(), {}, io);
    EXPECT_EQ(source->count(), 2);
    EXPECT_THAT(names_of(*source), ElementsAre("image u8[-1]", "label i64", "json u8[-1]", "key u8[-1]"));
    EXPECT_EQ(source->schema().fields[0].max_bytes, 700);
    EXPECT_EQ(source->schema().fields[3].max_bytes, 3);
    for (bool cold : {false, true}) {
      Fetched rows = fetch_all(*source, {.cold = cold});
      EXPECT_TRUE(rows.errors.empty());
      EXPECT_EQ(rows.bytes[0], (Rows{"JPEG", std::string(700, 'x')}));
      EXPECT_EQ(rows.bytes[1], (Rows{i64(7), i64(-12)}));
      EXPECT_EQ(rows.bytes[2], (Rows{"{}", ""}));
      EXPECT_EQ(rows.bytes[3], (Rows{"a/0", "a/1"}));
      EXPECT_EQ(fetch(*source, {1, 0, 1}).bytes[0],
                (Rows{std::string(700, 'x'), "JPEG", std::string(700, 'x')}));
    }
  }
}

TEST_F(TarTest, MappedMembersAreHandedOutInPlace) {
  const std::string archive = two_samples();
  EXPECT_EQ(must_open(archive)->scratch_bytes(1 << 20), 64) << "the label only";
  EXPECT_EQ(must_open(archive, {.fields = {"image", "key"}})->scratch_bytes(1 << 20), 0);
  EXPECT_EQ(must_open(archive, {}, IoMode::kPread)->scratch_bytes(1 << 20), 64 + 704 + 64);
  EXPECT_EQ(must_open(archive, {}, IoMode::kPread)->scratch_bytes(100), 64 + 128 + 64);
}

TEST_F(TarTest, KeyEndsAtTheFirstDotOfTheLastPart) {
  struct Case {
    std::string name, key, extension;
  };
  const Case cases[] = {
      {"a.jpg", "a", "jpg"},
      {"d.x/a.jpg", "d.x/a", "jpg"},
      {"a.seg.png", "a", "seg.png"},
      {"./a.jpg", "./a", "jpg"},
      {"a b/c d.e f", "a b/c d", "e f"},
      {"/abs/a.x", "/abs/a", "x"},
      {"../../up.x", "../../up", "x"},
      {"a", "", ""},
      {"d.x/a", "", ""},
      {".hidden", "", ""},
      {"d/.hidden.x", "", ""},
      {".d/a.jpg", "", ""},
      {"d/.e/a.jpg", "", ""},
      {"__MACOSX/a.jpg", "", ""},
      {"d/__MACOSX/a.jpg", "", ""},
      {"d/__macosx/a.jpg", "d/__macosx/a", "jpg"},
      {"a.", "", ""},
      {"__meta__", "", ""},
      {"__m__/a.jpg", "", ""},
      {"d/__m__.x", "d/__m__", "x"},
      {"__a.jpg", "__a", "jpg"},
      {"___.jpg", "___", "jpg"},
      {"a..x", "a", ".x"},
  };
  for (const Case& c : cases) {
    const TarName name = split_tar_name(c.name);
    EXPECT_EQ(name.key, c.key) << c.name;
    EXPECT_EQ(name.extension, c.extension) << c.name;
  }
}

TEST_F(TarTest, NamesAreOpaqueAndNothingIsExtracted) {
  SourceRef source = must_open(tar_member("../../../../tmp/dataline-escape.txt", "x") + tar_end());
  EXPECT_EQ(fetch_all(*source).bytes[1], (Rows{"../../../../tmp/dataline-escape"}));
  EXPECT_FALSE(std::filesystem::exists("/tmp/dataline-escape.txt"));
}

TEST_F(TarTest, OrderOfMembersDoesNotChangeTheFields) {
  SourceRef a =
      must_open(tar_member("0.txt", "t") + tar_member("0.jpg", "j") + tar_member("0.cls", "1") + tar_end());
  SourceRef b =
      must_open(tar_member("0.cls", "1") + tar_member("0.txt", "t") + tar_member("0.png", "j") + tar_end());
  EXPECT_EQ(names_of(*a), names_of(*b));
}

TEST_F(TarTest, WhatIsNoMemberOfASampleIsPassedOverAndToldOnce) {
  SourceRef source =
      must_open(tar_member("__info__", "x") + tar_member("README", "x") + tar_member("d/", "", '5') +
                tar_member(".hidden", "x") + tar_member("0.txt", "t") + tar_end());
  EXPECT_EQ(source->count(), 1);
  EXPECT_THAT(source->info().notes,
              ElementsAre(HasSubstr("left out: 1 hidden name (.hidden)"),
                          HasSubstr("1 members without an extension are skipped, the first 'README'")));
}

TEST_F(TarTest, FieldsOfHalfOfTheSamplesOrFewerArePassedOver) {
  const std::string archive = tar_member("README.md", "x") + tar_member("0.txt", "a") +
                              tar_member("1.txt", "b") + tar_member("1.json", "{}") +
                              tar_member("2.txt", "c") + tar_end();
  SourceRef source = must_open(archive);
  EXPECT_THAT(names_of(*source), ElementsAre("txt u8[-1]", "key u8[-1]"));
  EXPECT_THAT(source->info().notes, testing::Contains(HasSubstr("only 1 of 4 samples have a field 'md'")));
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(rows.bytes[0], (Rows{"", "a", "b", "c"}));
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(0).code(), Code::kCorrupt);
  EXPECT_THAT(rows.errors.at(0).message(),
              HasSubstr("the sample 'README' has no member for the field 'txt'"));
  EXPECT_EQ(rows.errors.at(0).sample_index(), 0);
}

TEST_F(TarTest, MembersOfASampleThatAreNotAdjacentAreSaidToBeSo) {
  const std::string apart = tar_member("a.txt", "A") + tar_member("b.txt", "B") + tar_member("a.cls", "1") +
                            tar_member("b.cls", "2") + tar_end();
  expect_error(open(apart), Code::kMismatch,
               {"a.tar: the members of the sample 'a' are not adjacent", "tar --sort=name"});
  EXPECT_THAT(open(apart).status().message(), testing::Not(HasSubstr("fields=")));
  SourceRef source = must_open(apart, {.fields = {"txt"}});
  EXPECT_THAT(
      fetch_all(*source).errors.at(2).message(),
      HasSubstr("no member for the field 'txt'; if the archive has one elsewhere: a sample's members must "
                "be adjacent (tar --sort=name)"));
  expect_error(open(tar_member("a.x", "") + tar_member("b.y", "") + tar_end()), Code::kMismatch,
               {"more than half of its 2 samples", "fields=x reads one of them", "bad samples (on_error)"});
}

TEST_F(TarTest, WantedFieldsAreNamedInOrder) {
  const std::string archive = two_samples();
  EXPECT_THAT(names_of(*must_open(archive, {.fields = {"key", "json", "label"}})),
              ElementsAre("key u8[-1]", "json u8[-1]", "label i64"));
  expect_error(
      open(archive, {.fields = {"jsn"}}), Code::kNoSuchField,
      {"a.tar: no sample has the field 'jsn', did you mean 'json'?", "(fields: label, image, json, key)"});
  EXPECT_EQ(fetch_all(*must_open(archive, {.fields = {"key"}})).bytes[0], (Rows{"a/0", "a/1"}));
}

TEST_F(TarTest, ASecondImageOfASampleSaysHowToChoose) {
  const std::string archive = tar_member("0.jpg", "photo") + tar_member("0.png", "mask") + tar_end();
  expect_error(open(archive), Code::kCorrupt,
               {"offset 1024: member '0.png' is a second member for the field 'image' of the sample '0'",
                "?image=png"});
  SourceRef source = must_open(archive, {.image = "jpg"});
  EXPECT_THAT(names_of(*source), ElementsAre("image u8[-1]", "png u8[-1]", "key u8[-1]"));
  EXPECT_EQ(fetch_all(*source).bytes[1], (Rows{"mask"}));
}

TEST_F(TarTest, BadLabelsFailAloneNamingMemberAndOffset) {
  std::string archive;
  const std::vector<std::string> labels = {"3",        "",   "x",   "1.5", "99999999999999999999",
                                           "256",      "-1", "1.0", "1 2", std::string(80, '1'),
                                           "\t255\r\n"};
  for (size_t i = 0; i < labels.size(); ++i) archive += tar_member(std::to_string(i) + ".cls", labels[i]);
  archive += tar_end();
  for (IoMode io : kIoModes) {
    SourceRef as_u8 = must_open(archive, {.label_u8 = true}, io);
    Fetched rows = fetch_all(*as_u8);
    EXPECT_EQ(rows.errors.size(), 9u);
    EXPECT_EQ(rows.bytes[0][0], "\x03");
    EXPECT_EQ(rows.bytes[0][10], "\xff");
    EXPECT_THAT(rows.errors.at(2).message(),
                HasSubstr("offset 2048: member '2.cls': label 'x', expected a whole number"));
    EXPECT_EQ(rows.errors.at(5).code(), Code::kOutOfRange);
    rows = fetch_all(*must_open(archive, {}, io));
    EXPECT_EQ(rows.errors.size(), 7u) << "i64 takes 256 and -1";
    EXPECT_EQ(rows.bytes[0][6], i64(-1));
  }
}

TEST_F(TarTest, SizesAndNamesOfExtendedHeadersWin) {
  const std::string longer(3000, 'n');
  const std::string data(600, 'd');
  // The header after a pax size says 0: who believes it goes on inside the data (CVE-2025-62518).
  const std::string archive =
      pax_header(pax_record("comment", "all"), 'g') +
      pax_header(pax_record("mtime", "1700000000.25") + pax_record("path", longer + ".txt") +
                 pax_record("size", "600")) +
      tar_header("short.txt", 0) + tar_padded(data) + gnu_long("dir/" + longer + ".txt") +
      tar_member("dir/cut", "L") +
      tar_header_with(tar_header("base.txt", 0), 124, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x05", 12)) +
      tar_padded("12345") + tar_header_with(tar_header("tail.txt", 1), 345, "pre/fix") + tar_padded("p") +
      tar_end();
  for (IoMode io : kIoModes) {
    Fetched rows = fetch_all(*must_open(archive, {}, io));
    EXPECT_EQ(rows.bytes[0], (Rows{data, "L", "12345", "p"}));
    EXPECT_EQ(rows.bytes[1], (Rows{longer, "dir/" + longer, "base", "pre/fix/tail"}));
  }
}

TEST_F(TarTest, OldHeadersAndSignedSumsAreRead) {
  std::string v7 = tar_header_with(tar_header("old.txt", 2, '\0'), 257, std::string(8, '\0'));
  std::string gnu = tar_header_with(tar_header("gnu.txt", 2), 257, std::string("ustar  \0", 8));
  // Summed as signed bytes: each byte above 127 counts 256 less.
  std::string sum = tar_header("\xe9\xe9.txt", 2);
  const int64_t plain = std::stoll(sum.substr(148, 6), nullptr, 8);
  sum.replace(148, 6, tar_octal(plain - 512, 6));
  std::string contiguous = tar_header("c.txt", 2, '7');
  std::string archive;
  for (const std::string& header : {v7, gnu, sum, contiguous}) archive += header + tar_padded("ok");
  EXPECT_EQ(fetch_all(*must_open(archive + tar_end())).bytes[0], Rows(4, "ok"));
}

TEST_F(TarTest, TheEndMarkIsNeededUnlessToldOtherwise) {
  const std::string members = tar_member("0.txt", "a");
  expect_error(open(members), Code::kTruncated, {"offset 1024", "end mark", "end=optional"});
  EXPECT_EQ(must_open(members, {.end = TarEnd::kOptional})->count(), 1);
  EXPECT_EQ(must_open(members + tar_end(1))->count(), 1) << "one block, as GNU tar accepts it";
  EXPECT_EQ(must_open(members + tar_end(20))->count(), 1) << "a blocking factor of 20";
}

TEST_F(TarTest, WhatIsCutIsReadUpToTheLastWholeMember) {
  const std::string first = tar_member("0.txt", "a"), second = tar_member("1.txt", std::string(600, 'b'));
  const std::string all = first + second + tar_end();
  expect_error(open("\0", {.end = TarEnd::kCut}), Code::kTruncated, {"offset 0"});
  for (size_t bytes = first.size(); bytes < all.size(); bytes += 100) {
    const Result<SourceRef> source = open(all.substr(0, bytes), {.end = TarEnd::kCut});
    ASSERT_TRUE(source.is_ok()) << bytes << ": " << source.status().message();
    const int64_t whole = bytes < first.size() + second.size() ? 1 : 2;
    EXPECT_EQ(source.value()->count(), whole) << bytes;
    // A first block of zeros is an end.
    const size_t end = first.size() + (whole == 2 ? second.size() : 0);
    const bool cut = bytes > end && (whole == 1 || bytes < end + 512);
    EXPECT_THAT(source.value()->info().notes,
                cut ? Contains(HasSubstr(": cut: ")).Times(1) : Contains(HasSubstr(": cut: ")).Times(0));
  }
}

TEST_F(TarTest, UriKeysReachTheReader) {
  const std::string path = dir_.write("u.tar", tar_member("0.cls", "1") + tar_member("0.a.b", "x"));
  Result<SourceRef> source = open_source(
      "tar:" + path + "?label_dtype=u8&end=optional&image=a.b&fields=label,image", test_context());
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_THAT(names_of(*source.value()), ElementsAre("label u8", "image u8[-1]"));
  EXPECT_EQ(source.value()->info().format, "tar");
  expect_error(open_source("tar:" + path + "?fields=a,,b", test_context()), Code::kBadUri,
               {"expected names"});
  expect_error(open_source("tar:" + path + "?fields=a,a", test_context()), Code::kBadUri,
               {"'a' is named twice"});
  expect_error(open_source("tar:" + path + "?end=no", test_context()), Code::kBadUri,
               {"required or optional or cut"});
  expect_error(open_source("tar:" + path + "?labels=u8", test_context()), Code::kBadUri, {"no key 'labels'"});
}

TEST_F(TarTest, CancelIsSeenWhileIndexing) {
  OpenContext context = test_context();
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  expect_error(open_tar(dir_.write("a.tar", two_samples()), {}, context), Code::kCancelled,
               {"a.tar", "0 members"});
}

TEST_F(TarTest, TheIdentityDependsOnSizeAndFields) {
  auto print = [&](const std::string& bytes, const TarOptions& options) {
    return data_digest(*must_open(bytes, options));
  };
  const std::string archive = two_samples();
  EXPECT_EQ(print(archive, {}), print(archive, {}));
  EXPECT_NE(print(archive, {}), print(archive + tar_end(), {}));
  EXPECT_NE(print(archive, {}), print(archive, {.label_u8 = true}));
}

TEST_F(TarTest, AFileThatShrinksFailsItsRows) {
  const std::string archive = two_samples();
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    SourceRef source = must_open(archive, {}, io);
    std::filesystem::resize_file(dir_.path("a.tar"), 2100);
    Fetched rows = fetch_all(*source, {.opened_ns = monotonic_ns()});
    ASSERT_EQ(rows.errors.size(), 2u);
    EXPECT_EQ(rows.errors.at(1).code(), Code::kTruncated) << rows.errors.at(1).message();
    EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("a.tar: offset "));
  }
}

}  // namespace
}  // namespace dataline::tar_test
