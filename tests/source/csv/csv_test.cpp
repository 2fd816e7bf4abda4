// CSV: the cells of each record by the names of their columns, as declared or as the first records have them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/source/csv/csv_columns.h"
#include "core/source/csv/csv_lines.h"
#include "tests/source/gzip_files.h"
#include "tests/source/text_records_support.h"

namespace dataline::csv_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class CsvTest : public TextRecordsTest {
 protected:
  CsvTest() : TextRecordsTest("csv") {}
};

TEST_F(CsvTest, TypesAreInferredFromTheFirstRecords) {
  const std::string text =
      "id,score,name,ok,mixed,zip,big,quoted,none\n"
      "1,2,a,true,1,00501,1,\"7\",\n"
      "-2,0.5,b c,FALSE,x,10115,99999999999999999999,\"8\",\n";
  const SourceRef source = open(text);
  EXPECT_THAT(types(*source),
              ElementsAre("id: i64", "score: f64", "name: u8[-1]", "ok: bool", "mixed: u8[-1]", "zip: u8[-1]",
                          "big: u8[-1]", "quoted: i64", "none: u8[-1]"));
  EXPECT_THAT(
      source->info().notes,
      ElementsAre("fields inferred from the first 2 records: fields=id:i64,score:f64,name:text,ok:bool,"
                  "mixed:text,zip:text,big:text,quoted:i64,none:text"));
  const Fetched rows = fetch_all(*source);
  EXPECT_THAT(values_of<int64_t>(rows.bytes[0][1]), ElementsAre(-2));
  EXPECT_THAT(values_of<double>(rows.bytes[1][1]), ElementsAre(0.5));
  EXPECT_EQ(rows.bytes[2][1], "b c");
  EXPECT_EQ(rows.bytes[3][0] + rows.bytes[3][1], std::string("\1\0", 2));
  EXPECT_EQ(rows.bytes[5][0], "00501");
  EXPECT_THAT(values_of<int64_t>(rows.bytes[7][1]), ElementsAre(8));
  EXPECT_EQ(rows.bytes[8][0], "");
}

TEST_F(CsvTest, ACellWithoutAValueDoesNotChangeATypeThatOthersGive) {
  EXPECT_THAT(types(*open("a,b\n,1\n2,\n")), ElementsAre("a: i64", "b: i64"));
}

TEST_F(CsvTest, RecordsBehindTheFirstThousandInferNothing) {
  std::string text = "a\n";
  for (int i = 0; i < 1000; ++i) text += "1\n";
  const Fetched rows = fetch_all(*open(text + "x\n"));
  EXPECT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors.at(1000).message(), HasSubstr("column 'a': 'x', expected an integer (i64)"));
}

TEST_F(CsvTest, DeclaredFieldsComeInTheirOrderAndOfTheirType) {
  const std::string text = "a,b,c\nx,1,9\nyz,255,8\n";
  const std::string keys = "?fields=b:u8,a:text";
  EXPECT_THAT(types(*open(text, keys)), ElementsAre("b: u8", "a: u8[-1]"));
  EXPECT_THAT(open(text, keys)->info().notes, IsEmpty());
  EXPECT_THAT(values(text, keys, 0), ElementsAre("\1", "\xff"));
  EXPECT_THAT(values(text, keys, 1), ElementsAre("x", "yz"));
}

TEST_F(CsvTest, AShapeTakesTheColumnAndThoseAfterIt) {
  const std::string text = "label,p0,p1,p2,p3,p4,p5,end\n7,1,2,3,4,5,6,z\n8,0,0,0,0,0,255,z\n";
  const std::string keys = "?fields=p0:u8[2x3],label:i64";
  EXPECT_THAT(types(*open(text, keys)), ElementsAre("p0: u8[2x3]", "label: i64"));
  const auto pixels = values(text, keys, 0);
  EXPECT_THAT(values_of<uint8_t>(pixels[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_of<uint8_t>(pixels[1]), ElementsAre(0, 0, 0, 0, 0, 255));
  EXPECT_THAT(values_of<float>(values(text, "?fields=p1:f32[2]")[0]), ElementsAre(2.0f, 3.0f));
  expect_error(try_open(text, "?fields=p0:u8[9]"), Code::kMismatch,
               {"a.csv: field 'p0' takes 9 columns from number 2, but there are 8"});
  expect_error(try_open(text, "?fields=p0:u8[3],p2:u8"), Code::kBadUri,
               {"column 'p2' is in the fields 'p0' and 'p2'"});
}

TEST_F(CsvTest, QuotedCellsHoldDelimitersLineEndsAndQuotes) {
  const std::string text =
      "t,n\n\"a,b\",1\n\"c\nd\r\n\ne\",2\n\"say \"\"hi\"\"\",3\n\"\"\"\",4\n\"\",5\nplain,6\n";
  EXPECT_THAT(values(text), ElementsAre("a,b", "c\nd\r\n\ne", "say \"hi\"", "\"", "", "plain"));
  EXPECT_THAT(values_of<int64_t>(values(text, "", 1)[5]), ElementsAre(6));
}

TEST_F(CsvTest, AQuoteThatDoesNotBeginACellIsText) {
  EXPECT_THAT(values("t,n\n5\" pipe,1\n a \"b\",2\n"), ElementsAre("5\" pipe", " a \"b\""));
}

TEST_F(CsvTest, LinesOfSpacesAndTabsAreBlank) {
  const std::string text = "  \na,t\n \t\n1,x\n   \r\n\t\n2,y\n \r\n ";
  EXPECT_THAT(values(text, "?fields=t:text"), ElementsAre("x", "y"));
  EXPECT_THAT(values(text, "", 1), ElementsAre("x", "y"));
  EXPECT_THAT(values("1,x\n \n2,y\n", "?header=false", 1), ElementsAre("x", "y"));
  EXPECT_THAT(values("a\tt\n1\tx\n\t\n \n2\ty\n", "?delimiter=tab&fields=t:text"), ElementsAre("x", "", "y"));
  // Blanks of a record, and in quotes, are its text.
  EXPECT_THAT(values("t,a\n  ,1\n x,2\n\" \n \n\",3\n", "?fields=t:text"), ElementsAre("  ", " x", " \n \n"));
}

TEST_F(CsvTest, ALineIsBlankWhereverItsPiecesEnd) {
  const std::string text = "a\n \t\r\n\" \n \"\n  b\n\n ";
  for (size_t at = 0; at <= text.size(); ++at) {
    CsvLines lines(',');
    std::vector<std::pair<int64_t, bool>> found;
    const auto add = [&](int64_t end, bool blank) { found.emplace_back(end, blank); };
    lines.take(std::string_view(text).substr(0, at), add);
    lines.take(std::string_view(text).substr(at), add);
    EXPECT_THAT(found,
                ElementsAre(Pair(2, false), Pair(6, true), Pair(12, false), Pair(16, false), Pair(17, true)))
        << at;
    EXPECT_TRUE(lines.blank()) << at;
  }
}

TEST_F(CsvTest, LineEndsOfAllKindsBlankLinesAndAMark) {
  for (const std::string text : {"a,t\n1,x\n2,y\n", "a,t\r\n1,x\r\n2,y\r\n", "a,t\n1,x\n2,y",
                                 "a,t\n1,x\r\n2,y\r", "\n\na,t\n\n1,x\n\r\n\n2,y\n\n\r\n",
                                 "\xef\xbb\xbf"
                                 "a,t\n1,x\n2,y\n"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(values(text, "?fields=a:u8,t:text", 0), ElementsAre("\1", "\2"));
    EXPECT_THAT(values(text, "?fields=a:u8,t:text", 1), ElementsAre("x", "y"));
  }
}

TEST_F(CsvTest, WithoutAHeaderColumnsAreNumbered) {
  EXPECT_THAT(types(*open("1,a\n2,b\n", "?header=false")), ElementsAre("column0: i64", "column1: u8[-1]"));
  EXPECT_THAT(values("1,a\n2,b\n", "?header=false&fields=column1:text"), ElementsAre("a", "b"));
  EXPECT_EQ(open("1,2,3\n", "?header=false&fields=column0:u8[3]")->count(), 1);
}

TEST_F(CsvTest, DelimitersAreNamedOrGivenByTheFilesName) {
  EXPECT_THAT(values("a;b\n1,5;x\n", "?delimiter=semicolon&fields=b:text"), ElementsAre("x"));
  EXPECT_THAT(values("a|b\n1|x\n", "?delimiter=pipe&fields=b:text"), ElementsAre("x"));
  EXPECT_THAT(values("a\tb\n1\tx,y\n", "?delimiter=tab&fields=b:text"), ElementsAre("x,y"));
  const std::string path = dir_.write("b.tsv", "a\tb\n1\tx,y\n");
  EXPECT_EQ(fetch_all(*open_source(path, test_context()).take()).bytes[1][0], "x,y");
  const std::string commas = dir_.write("c.tsv", "a,b\n1,y\n");
  EXPECT_EQ(fetch_all(*open_source("csv:" + commas + "?delimiter=comma", test_context()).take()).bytes[1][0],
            "y");
}

TEST_F(CsvTest, NumbersAreReadAsProgramsWriteThem) {
  const std::string text = "a\n +7 \n007\n1e3\n-.5\n\"2\"\nNaN\n-inf\n1e-400\n";
  const auto rows = values(text, "?fields=a:f64");
  std::vector<double> got;
  for (const std::string& row : rows) got.push_back(values_of<double>(row)[0]);
  EXPECT_THAT(std::vector<double>(got.begin(), got.begin() + 5), ElementsAre(7, 7, 1000, -0.5, 2));
  EXPECT_TRUE(std::isnan(got[5]));
  EXPECT_EQ(got[6], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(got[7], 0);
  EXPECT_TRUE(std::isnan(values_of<float>(values("a\nnan\n", "?fields=a:f32")[0])[0]));
  EXPECT_THAT(values_of<uint64_t>(values("a\n18446744073709551615\n", "?fields=a:u64")[0]),
              ElementsAre(UINT64_MAX));
  EXPECT_THAT(values_of<int64_t>(values("a\n-9223372036854775808\n", "?fields=a:i64")[0]),
              ElementsAre(INT64_MIN));
  EXPECT_THAT(values("a\ntrue\nFalse\n1\n0\n", "?fields=a:bool"),
              ElementsAre("\1", std::string(1, '\0'), "\1", std::string(1, '\0')));
}

TEST_F(CsvTest, EmptyCellsAreBadSamplesOrFilledAndEmptyText) {
  const std::string text = "a,t,v0,v1\n1,x,1,2\n,,3,\n";
  const std::string fields = "?fields=a:i64,t:text,v0:f32[2]";
  const Fetched rows = fetch_all(*open(text, fields));
  EXPECT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors.at(1).message(),
              HasSubstr("a.csv: record 1, offset 18: column 'a': empty (nulls=fill(0)"));
  EXPECT_EQ(rows.errors.at(1).code(), Code::kCorrupt);
  EXPECT_THAT(values_of<int64_t>(values(text, fields + "&nulls=fill(-3)", 0)[1]), ElementsAre(-3));
  EXPECT_EQ(values(text, fields + "&nulls=fill(-3)", 1)[1], "");
  EXPECT_THAT(values_of<float>(values(text, fields + "&nulls=fill(-3)", 2)[1]), ElementsAre(3, -3));
}

TEST_F(CsvTest, ARecordOfAnotherLengthIsABadSampleAndTheOthersAreRead) {
  const Fetched rows = fetch_all(*open("a,b\n1,2\n3\n4,5,6\n7,8\n"));
  EXPECT_EQ(rows.errors.size(), 2u);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("a.csv: record 1, offset 8: 1 cell, expected 2"));
  EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("record 2, offset 10: 3 cells, expected 2"));
  EXPECT_THAT(values_of<int64_t>(rows.bytes[1][3]), ElementsAre(8));
}

TEST_F(CsvTest, AnIndexColumnWithoutANameIsLeftOut) {
  const SourceRef source = open(",a\n0,x\n1,y\n");
  EXPECT_THAT(types(*source), ElementsAre("a: u8[-1]"));
  EXPECT_THAT(source->info().notes, Contains("not read: column 1, whose name cannot name a field"));
}

TEST_F(CsvTest, TextWithoutDoubledQuotesIsNotCopied) {
  EXPECT_FALSE(is_copied("t\n\"where it lies\"\n"));
  EXPECT_TRUE(is_copied("t\n\"a \"\"quote\"\"\"\n"));
}

// Pieces of a mebibyte: quotes, line ends and pairs of quotes fall on every place of their border.
TEST_F(CsvTest, RecordsAreFoundAcrossThePiecesThatAFileIsReadIn) {
  for (int before = -4; before <= 4; ++before) {
    const std::string long_cell((1 << 20) - 2 + before, 'x');
    const std::string text = "t,n\n" + long_cell.substr(4) + ",1\n\"a\"\"b\n,\"\"\",\"2\"\r\n\r\nc,3\n";
    const Fetched rows = fetch_all(*open(text, "?fields=t:text,n:u8"), {.max_bytes_per_sample = 2 << 20});
    EXPECT_THAT(rows.bytes[1], ElementsAre("\1", "\2", "\3")) << before;
    EXPECT_EQ(rows.bytes[0][1], "a\"b\n,\"") << before;
    EXPECT_EQ(rows.bytes[0][2], "c") << before;
  }
}

TEST_F(CsvTest, FilesOfADirectoryAreOneSet) { expect_one_set_of_a_directory("a\n1\n2\n", "a\n3\n"); }

TEST_F(CsvTest, WhereTypesOfFilesDifferTheErrorSaysToDeclareThem) {
  expect_advice_where_types_differ("a\n1\n", "a\n2.5\n");
}

TEST_F(CsvTest, AGzippedFileIsKnownByItsName) {
  const std::string path = dir_.write("a.csv.gz", gzip_stored("a\n7\n"));
  const SourceRef source = open_source(path, test_context()).take();
  EXPECT_EQ(source->info().format, "csv");
  EXPECT_THAT(source->info().notes, Contains("gzip: decompressed into 4 bytes of memory"));
  EXPECT_THAT(values_of<int64_t>(fetch_all(*source).bytes[0][0]), ElementsAre(7));
}

TEST_F(CsvTest, AsManyColumnsAsAreReadAndNotOneMore) {
  const std::string names(kMaxCsvColumns - 1, ',');
  EXPECT_EQ(open("a" + names + "\n1" + names + "\n", "?fields=a:u8")->count(), 1);
  const std::string more = names + ",";
  expect_error(try_open("a" + more + "\n1" + more + "\n"), Code::kUnsupported,
               {"header: 262145 columns, at most 262144"});
  expect_error(try_open("a" + more + "\n", "?header=false"), Code::kUnsupported,
               {"record 0: 262145 columns, at most 262144"});
}

TEST_F(CsvTest, AListBesideOtherFilesDoesNotMakeADirectoryOfRecords) {
  dir_.write("set/labels.csv", "path,label\na.png,1\n");
  dir_.write("set/z.npy", npy_file("<i8", "(1,)", raw_bytes(int64_t{5})));
  Result<SourceRef> source = open_source(dir_.path("set"), test_context());
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_EQ(source.value()->info().format, "npy");
}

TEST_F(CsvTest, AFileOfAHeaderAloneIsASetOfNoSamplesWhereFieldsAreDeclared) {
  EXPECT_EQ(open("a,b\n", "?fields=a:i64")->count(), 0);
}

TEST_F(CsvTest, ARecordThatTheFileLostMeanwhileIsTruncatedAndNotCorrupt) {
  const SourceRef source = open("a,b\n1,2\n3,4\n", "", IoMode::kMmap);
  std::filesystem::resize_file(dir_.path("a.csv"), 9);
  const Fetched rows = fetch_all(*source, {.opened_ns = monotonic_ns()});
  EXPECT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kTruncated) << rows.errors.at(1).message();
}

TEST_F(CsvTest, ValuesLongerThanTheLimitAreRefusedByName) {
  const std::string text = "t,a\n\"" + std::string(30, 'x') + "\"\"\",1\n";
  const Fetched cells = fetch_all(*open(text, "?fields=t:text"), {.max_bytes_per_sample = 16});
  EXPECT_EQ(cells.errors.at(0).code(), Code::kTooLarge);
  EXPECT_THAT(cells.errors.at(0).message(), HasSubstr("column 't': 31 bytes, max_bytes_per_sample is 16"));
  const std::string wide = "t,a\n" + std::string(200, 'x') + ",1\n";
  const Fetched records =
      fetch_all(*open(wide, "?fields=a:u8", IoMode::kPread), {.max_bytes_per_sample = 16});
  EXPECT_THAT(records.errors.at(0).message(), HasSubstr("record 0, offset 4: has 203 bytes"));
}

TEST_F(CsvTest, TheFingerprintIsOfRecordsFieldsAndTheirColumns) {
  const std::string text = "a,b,c\n1,2,3\n4,5,6\n";
  const uint64_t first = identity(text, "?fields=a:i64");
  EXPECT_EQ(identity(text, "?fields=a:i64"), first);
  EXPECT_NE(identity(text, ""), first);
  EXPECT_NE(identity("b,a,c\n1,2,3\n4,5,6\n", "?fields=a:i64"), first);
  EXPECT_NE(identity("a,b,c\n1,2,33\n4,5,\n", "?fields=a:i64"), first);
  EXPECT_NE(identity(text, "?fields=a:i64&nulls=fill(1)"), first);
}

}  // namespace
}  // namespace dataline::csv_test
