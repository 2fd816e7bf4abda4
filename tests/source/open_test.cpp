// From a URI to a dataset: directories, several paths, keys, axes, cancelling and progress.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/source/format.h"
#include "core/source/uri.h"
#include "tests/source/source_support.h"
#include "tests/support/peak_growth.h"
#include "tests/support/uri_escape.h"

namespace dataline::open_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A .npy file of one u1 row a letter.
std::string letters_npy(const std::string& letters, std::string shape = "") {
  if (shape.empty()) shape = concat("(", letters.size(), ",)");
  return npy_file("|u1", shape, letters);
}

class OpenTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri) {
    Result<SourceRef> source = open_source(uri, context_);
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  // All rows of a field, one after another.
  std::string rows(const std::string& uri, size_t field = 0) {
    SourceRef source = open(uri);
    std::string out;
    if (source == nullptr) return out;
    Fetched fetched = fetch_all(*source);
    for (const std::string& row : fetched.bytes[field]) out += row;
    return out;
  }

  TempDir dir_;
  OpenContext context_ = test_context();
};

TEST_F(OpenTest, ADirectoryIsItsFilesInNaturalOrder) {
  dir_.write("d/part-10.npy", letters_npy("x"));
  dir_.write("d/part-2.npy", letters_npy("cd"));
  dir_.write("d/part-1.npy", letters_npy("ab"));
  dir_.write("d/.hidden.npy", letters_npy("!!"));
  dir_.write("d/index.json", "{}");
  dir_.write("d/inner.npy/part-3.npy", letters_npy("!!"));
  SourceRef source = open("npy:" + dir_.path("d"));
  EXPECT_THAT(
      source->info().notes,
      testing::ElementsAre(dir_.path("d") + ": left out: 1 file of another kind (index.json), 1 hidden name "
                                            "(.hidden.npy), 1 subdirectory (inner.npy)"));
  EXPECT_EQ(source->info().format, "npy");
  EXPECT_EQ(source->info().uri, "npy:" + dir_.path("d"));
  EXPECT_EQ(rows("npy:" + dir_.path("d")), "abcdx");
  EXPECT_EQ(rows("npy:" + dir_.path("d/")), "abcdx");
  EXPECT_EQ(rows(dir_.path("d")), "abcdx");
}

TEST_F(OpenTest, SeveralPathsAreConcatenatedInTheOrderGiven) {
  dir_.write("b.npy", letters_npy("b"));
  dir_.write("a.npy", letters_npy("aa"));
  dir_.write("d/1.npy", letters_npy("1"));
  dir_.write("d/2.npy", letters_npy("2"));
  std::string uri = "npy:" + dir_.path("b.npy") + "," + dir_.path("d") + "," + dir_.path("a.npy");
  EXPECT_EQ(rows(uri), "b12aa");
  EXPECT_EQ(open(uri)->info().format, "npy");
}

TEST_F(OpenTest, NamedPathsAreZippedAndMayBeDirectories) {
  dir_.write("d/1.npy", letters_npy("ab"));
  dir_.write("d/2.npy", letters_npy("c"));
  dir_.write("label.npy", letters_npy("xyz"));
  std::string uri = "npy:image=" + dir_.path("d") + ",meta/label=" + dir_.path("label.npy");
  SourceRef source = open(uri);
  EXPECT_EQ(source->schema().fields[0].name, "image");
  EXPECT_EQ(source->schema().fields[1].name, "meta/label");
  EXPECT_EQ(source->info().format, "npy");
  EXPECT_EQ(rows(uri, 0), "abc");
  EXPECT_EQ(rows(uri, 1), "xyz");
}

TEST_F(OpenTest, NamedPathsOfSeveralFieldsPrefixThem) {
  dir_.write("a.bin", "1a2b");
  dir_.write("b.bin", "3c4d");
  SourceRef source =
      open("raw:l=" + dir_.path("a.bin") + ",r=" + dir_.path("b.bin") + "?fields=id:u8,text:u8[1]");
  std::string names;
  for (const Field& field : source->schema().fields) names += field.name + " ";
  EXPECT_EQ(names, "l/id l/text r/id r/text ");
}

TEST_F(OpenTest, UnequalLengthsAreNamedWithBothPaths) {
  dir_.write("a.npy", letters_npy("ab"));
  dir_.write("b.npy", letters_npy("abc"));
  expect_error(open_source("npy:x=" + dir_.path("a.npy") + ",y=" + dir_.path("b.npy"), context_),
               Code::kMismatch, {"b.npy has 3 samples", "a.npy has 2"});
}

TEST_F(OpenTest, ShardsThatDifferAreNamed) {
  dir_.write("d/1.npy", letters_npy("abcd", "(2, 2)"));
  dir_.write("d/2.npy", letters_npy("abcd", "(4, 1)"));
  expect_error(open_source("npy:" + dir_.path("d"), context_), Code::kMismatch,
               {"d/2.npy: field 'data' is u8[1], in", "d/1.npy it is u8[2]"});
}

TEST_F(OpenTest, PathsWithSpecialCharactersAreEscapedInUrisOnly) {
  std::string name = "a%,?&=: b.npy";
  dir_.write(name, letters_npy("ab"));
  EXPECT_EQ(rows("npy:" + uri_escape(dir_.path(name))), "ab");
  EXPECT_EQ(rows(dir_.path(name)), "ab");
}

TEST_F(OpenTest, APatternThatIsNotThereSaysWhatToWriteInstead) {
  const std::string range = dir_.path("s-{0..1}.tar"), pattern = dir_.path("s-*.tar");
  expect_error(open_source(range, context_), Code::kNotFound,
               {range + ": no such file or directory; a range of files needs its scheme: tar:" + range});
  for (const std::string& uri : {pattern, "tar:" + pattern})
    expect_error(open_source(uri, context_), Code::kNotFound,
                 {"no such file or directory; patterns are not expanded: name the directory"});
  const Result<SourceRef> plain = open_source(dir_.path("{0}.jpg"), context_);
  EXPECT_TRUE(plain.status().message().ends_with("no such file or directory")) << plain.status().message();
}

TEST_F(OpenTest, AxesGoToTheOnlyFieldOrToImage) {
  dir_.write("a.npy", letters_npy("abcdefgh", "(2, 2, 2)"));
  dir_.write("l.npy", letters_npy("xy"));
  EXPECT_EQ(open("npy:" + dir_.path("a.npy") + "?axes=HW")->schema().fields[0].axes, "HW");
  SourceRef zip = open("npy:label=" + dir_.path("l.npy") + ",image=" + dir_.path("a.npy") + "?axes=WH");
  EXPECT_EQ(zip->schema().fields[0].axes, "");
  EXPECT_EQ(zip->schema().fields[1].axes, "WH");
  SourceRef raw = open("raw:" + dir_.write("r.bin", "abcdef") + "?fields=image:u8[2x1],id:u8&axes=HW");
  EXPECT_EQ(raw->schema().fields[0].axes, "HW");
  EXPECT_EQ(raw->schema().fields[1].axes, "");
  EXPECT_EQ(rows("raw:" + dir_.path("r.bin") + "?fields=image:u8[2x1],id:u8&axes=HW"), "abde");
}

struct BadOpen {
  std::string uri;  // %d: the directory
  int64_t column;   // counted in the text as written here; 0: none
  Code code;
  std::string part;
};

TEST_F(OpenTest, WhatDoesNotFitIsRefusedWithTheColumn) {
  dir_.write("a.npy", letters_npy("abcd", "(2, 2)"));
  dir_.write("b.npy", letters_npy("ab"));
  dir_.write("t.bin", std::string(10, 't'));
  dir_.write("t.txt", std::string(10, 't'));
  std::vector<BadOpen> table = {
      {"npx:%d/a.npy", 1, Code::kBadUri, "unknown scheme 'npx', did you mean 'npy'?"},
      {"cifar1:%d", 1, Code::kBadUri, "did you mean 'cifar10'?"},
      {"token:%d/t.bin", 1, Code::kBadUri, "did you mean 'tokens'?"},
      {"nonsense:%d", 1, Code::kBadUri, "written ./nonsense:"},
      {"nonsense:%d", 1, Code::kBadUri,
       " the schemes are npy npz safetensors idx raw mnist cifar10 cifar100 tokens megatron jsonl csv mds "
       "litdata folder tar arrow tfrecord mix"},
      {"tra:%d", 1, Code::kBadUri, "did you mean 'tar'?"},
      {"s3://bucket%d", 1, Code::kBadUri, "only local files are read: download or mount them (aws s3 cp"},
      {"gs://bucket%d", 1, Code::kBadUri, "mount them (gcloud storage cp, gcsfuse), then open SCHEME:PATH"},
      {"https://host/a.npy", 1, Code::kBadUri, "(curl -O)"},
      {"hf://datasets/a", 1, Code::kBadUri, "(hf download)"},
      {"az://container/a", 1, Code::kBadUri, "az:// is remote storage"},
      {"other://host/a", 1, Code::kBadUri,
       "no storage reads other://; no plug-in or extension has added a storage; the schemes of local files "
       "are npy "},
      {"tra://host/a", 1, Code::kBadUri, "no storage reads tra://, did you mean 'tar'?"},
      {"npy:s3://bucket/a.npy", 5, Code::kBadUri, "s3:// is remote storage"},
      {"npy:%d/a.npy,s3://bucket/b.npy", 14, Code::kBadUri, "s3:// is remote storage"},
      {"file://%d/a.npy", 1, Code::kBadUri, "write the path: SCHEME:/"},
      {"parquet:%d/a.npy", 1, Code::kBadUri,
       "the plug-in libdataline-parquet.so reads it, but is not loaded: use --plugin"},
      {"NPY:%d/a.npy", 1, Code::kBadUri, "unknown scheme 'NPY'"},
      {"folder:%d?label=none", 11, Code::kBadUri, "folder has no key 'label', did you mean 'labels'?"},
      {"folder:%d?labels=all", 18, Code::kBadUri, "expected folder, none, or a .csv or .jsonl file"},
      {"folder:%d,%d?labels=a.csv", 21, Code::kBadUri, "supports only one folder, got 2"},
      {"folder:%d?labels=a.csv&index=i", 24, Code::kBadUri, "index is not supported with labels="},
      {"folder:%d?labels=a.csv&extensions=jpg", 24, Code::kBadUri,
       "extensions is not supported with labels="},
      {"folder:%d?labels=none&label_dtype=u8", 23, Code::kBadUri, "there are no labels"},
      {"folder:%d?label_dtype=i32", 23, Code::kBadUri, "expected i64 or u8"},
      {"folder:%d?allow_empty=1", 23, Code::kBadUri, "expected true or false"},
      {"folder:%d?extensions=jpg,,png", 22, Code::kBadUri, "expected a list such as jpg,png"},
      {"folder:%d?extensions=a/b", 22, Code::kBadUri, "expected a list such as jpg,png"},
      {"folder:%d,%d?index=i", 14, Code::kBadUri, "index supports only one folder, got 2"},
      {"folder:%d?index=", 17, Code::kBadUri, "index=: expected a file"},
      {"npy:%d/a.npy?trailin=ignore", 14, Code::kBadUri,
       "npy has no key 'trailin', did you mean 'trailing'?"},
      {"npy:%d/a.npy?length=4", 14, Code::kBadUri, "(keys: trailing, end, dtype, axes)"},
      {"npy:%d/a.npy?trailing=maybe", 23, Code::kBadUri, "expected error or ignore"},
      {"npy:%d/a.npy?dtype=u8", 20, Code::kBadUri, "only dtype=bf16"},
      {"npy:%d/a.npy?dtype=x8", 20, Code::kBadUri, "dtype='x8'"},
      {"npy:%d/a.npy?axes=HW", 19, Code::kBadUri, "axes=HW names 2 dims"},
      {"npy:%d/a.npy?axes=", 19, Code::kBadUri, "one letter per dim"},
      {"npy:%d/b.npy?axes=H", 19, Code::kBadUri, "axes=H"},
      {"npy:x=%d/a.npy,y=%d/a.npy?axes=C", 27, Code::kBadUri, "this dataset has 2 fields and no 'image'"},
      {"idx:%d?shape=3", 8, Code::kBadUri, "idx has no key 'shape'"},
      {"mnist:%d?axes=HW", 10, Code::kBadUri, "mnist has no key 'axes'"},
      {"mnist:%d?split=tests", 16, Code::kBadUri,
       "split='tests': expected train or test, did you mean 'test'?"},
      {"mnist:%d?split=valid", 16, Code::kBadUri, "expected train or test"},
      {"cifar10:%d?label_dtype=i32", 24, Code::kBadUri, "expected i64 or u8"},
      {"cifar100:%d?lable_dtype=u8", 13, Code::kBadUri, "did you mean 'label_dtype'?"},
      {"raw:%d/t.bin", 13, Code::kBadUri, "raw needs dtype="},
      {"raw:%d/t.bin?shape=3", 21, Code::kBadUri, "raw needs dtype="},
      {"raw:%d/t.bin?dtype=u8&partial=drop", 31, Code::kBadUri, "expected error or ignore"},
      {"raw:%d/t.bin?dtype=u8&header=-1", 30, Code::kBadUri, "header='-1'"},
      {"raw:%d/t.bin?dtype=u8&header=x", 30, Code::kBadUri, "header='x'"},
      {"raw:%d/t.bin?dtype=u8&shape=0", 29, Code::kBadUri, "no bytes"},
      {"raw:%d/t.bin?fields=a:u8[4611686018427387904x4]", 21, Code::kBadUri, "2^63"},
      {"raw:%d/t.bin?fields=label:u8&axes=H", 35, Code::kBadUri,
       "axes=H names 1 dims, a sample of 'label' is u8"},
      {"raw:%d/t.bin?fields=image:u8[2x2]&partial=ignore&axes=H", 55, Code::kBadUri,
       "axes=H names 1 dims, a sample of 'image' is u8[2x2]"},
      {"raw:%d/t.bin?fields=image:u8[2x2]&partial=ignore&axes=HWC", 55, Code::kBadUri,
       "axes=HWC names 3 dims"},
      {"raw:%d/t.bin?fields=image:u8[2x2]&partial=ignore&axes=HH", 55, Code::kBadUri,
       "expected different letters"},
      {"raw:%d/t.bin?fields=image:u8[2x2]&partial=ignore&axes=H1", 55, Code::kBadUri,
       "expected different letters"},
      {"raw:%d/t.bin?fields=label:u8,other:u8[2x2]&partial=ignore&axes=HW", 59, Code::kBadUri,
       "for the only field or for 'image'"},
      {"raw:%d/t.bin?fields=label:u8,image:u8[2x2]&partial=ignore&axes=HWC", 64, Code::kBadUri,
       "a sample of 'image' is u8[2x2]"},
      {"tokens:%d/t.bin?length=0", 24, Code::kBadUri, "length='0': expected a whole number, at least 1"},
      {"tokens:%d/t.bin?length=-5", 24, Code::kBadUri, "length='-5'"},
      {"tokens:%d/t.bin?length=1e3", 24, Code::kBadUri, "length='1e3'"},
      {"tokens:%d/t.bin?length=9223372036854775808", 24, Code::kBadUri, "length="},
      {"tokens:%d/t.bin?length=9223372036854775807", 24, Code::kBadUri, "length is at most"},
      {"tokens:%d/t.bin?stride=0", 24, Code::kBadUri, "stride='0'"},
      {"tokens:%d/t.bin?views=1", 23, Code::kBadUri, "true or false"},
      {"tokens:%d/t.bin?dtype=f16", 23, Code::kBadUri, "tokens are integers"},
      {"tokens:%d/t.txt", 16, Code::kBadUri, "dtype is needed"},
      {"tokens:%d/t.bin?axes=T", 17, Code::kBadUri, "tokens has no key 'axes'"},
      {"npy:%d/a.npy?trailing=ignore&trailing=ignore", 30, Code::kBadUri, "appears twice"},
      {"npy:%d/nothing.npy", 0, Code::kNotFound, "nothing.npy"},
      {"npy:%d/a.npy,%d/nothing.npy", 0, Code::kNotFound, "nothing.npy"},
      {"%d/nothing.npy?trailing=ignore", 0, Code::kNotFound, "does not accept keys"},
  };
  EXPECT_GE(table.size(), 40u);
  RecordProperty("cases", static_cast<int>(table.size()));
  PeakGrowth growth;
  for (const BadOpen& bad : table) {
    SCOPED_TRACE(bad.uri);
    std::string uri;
    int64_t column = bad.column;
    for (size_t i = 0; i < bad.uri.size(); ++i) {
      if (bad.uri.compare(i, 2, "%d") != 0) {
        uri += bad.uri[i];
        continue;
      }
      if (static_cast<int64_t>(i) < bad.column - 1) column += static_cast<int64_t>(dir_.path().size()) - 2;
      uri += dir_.path();
      ++i;
    }
    Result<SourceRef> source = open_source(uri, context_);
    expect_error(source, bad.code, {bad.part});
    EXPECT_EQ(source.status().column(), column) << source.status().message();
  }
  EXPECT_EQ(context_.memory->in_use_bytes(), 0);
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

TEST_F(OpenTest, ADirectoryWithoutFilesOfTheFormatSaysWhatItLookedFor) {
  dir_.write("d/readme.txt", "x");
  dir_.write("d/.a.npy", letters_npy("a"));
  expect_error(open_source("npy:" + dir_.path("d"), context_), Code::kEmpty,
               {"no npy files (*.npy) among the 1 in this directory; it has 1 file (readme.txt), "
                "1 hidden name (.a.npy)"});
  expect_error(open_source("tokens:" + dir_.path("d"), context_), Code::kEmpty,
               {"no tokens files (*.bin, *.npy)"});
  expect_error(open_source("idx:" + dir_.path("d"), context_), Code::kEmpty, {"no idx files"});
  fs::create_directory(dir_.path("empty"));
  expect_error(open_source("raw:" + dir_.path("empty") + "?dtype=u8", context_), Code::kEmpty,
               {"no raw files"});
  expect_error(open_source(dir_.path("empty"), context_), Code::kEmpty,
               {"no files in this directory; the directory is empty"});
}

TEST_F(OpenTest, AShardThatIsNoFileIsAnErrorNotALoss) {
  dir_.write("d/1.npy", letters_npy("a"));
  fs::create_symlink("/nowhere/at/all", dir_.path("d/2.npy"));
  expect_error(open_source("npy:" + dir_.path("d"), context_), Code::kNotFound, {"d/2.npy"});
  fs::remove(dir_.path("d/2.npy"));
  ASSERT_EQ(::mkfifo(dir_.path("d/2.npy").c_str(), 0600), 0);
  expect_error(open_source("npy:" + dir_.path("d"), context_), Code::kNotAFile, {"d/2.npy"});
}

TEST_F(OpenTest, RawRefusesWhatStandsInForData) {
  const std::string lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
  expect_error(open_source("raw:" + dir_.write("a.bin", lfs) + "?dtype=u8", context_), Code::kCorrupt,
               {"git-LFS pointer"});
  expect_error(open_source("raw:" + dir_.write("b.bin", "<!DOCTYPE html><html>") + "?dtype=u8", context_),
               Code::kCorrupt, {"HTML page"});
}

TEST_F(OpenTest, ACancelledOpeningLooksAtNoPath) {
  dir_.write("d/1.npy", letters_npy("a"));
  context_.cancel = std::make_shared<CancelToken>();
  EXPECT_EQ(open("npy:" + dir_.path("d"))->count(), 1);
  context_.cancel->cancel();
  for (const std::string path : {"d", "d/1.npy", "nowhere"}) {
    expect_error(open_source("npy:" + dir_.path(path), context_), Code::kCancelled, {"before it was opened"});
    expect_error(open_source(dir_.path(path), context_), Code::kCancelled, {"before it was opened"});
  }
  expect_error(open_source("npy:", context_), Code::kBadUri, {});
}

TEST_F(OpenTest, ProgressIsToldAndCancellingFromThereWorks) {
  for (int i = 0; i < 600; ++i) dir_.write(concat("d/", i, ".npy"), letters_npy("a"));
  struct Heard {
    std::vector<std::string> texts;
    CancelToken* cancel = nullptr;
  } heard;
  context_.log.context = &heard;
  context_.log.write = [](void* context, int32_t level, const char* message, size_t length) {
    auto* self = static_cast<Heard*>(context);
    EXPECT_EQ(level, static_cast<int32_t>(LogLevel::kProgress));
    self->texts.emplace_back(message, length);
    if (self->cancel != nullptr && self->texts.size() == 2) self->cancel->cancel();
  };
  EXPECT_EQ(open("npy:" + dir_.path("d"))->count(), 600);
  EXPECT_GE(heard.texts.size(), 2u);
  // Lines come also by the clock, so only what lies between two of them is sure.
  int64_t before = 0;
  for (const std::string& text : heard.texts) {
    const size_t at = text.rfind(": ") + 2;
    EXPECT_THAT(text, testing::EndsWith(" of 600 files"));
    const int64_t files = std::stoll(text.substr(at));
    EXPECT_TRUE(files >= before && files <= before + 256) << text;
    before = files;
  }
  EXPECT_GT(before, 600 - 256);
  heard.texts.clear();
  context_.cancel = std::make_shared<CancelToken>();
  heard.cancel = context_.cancel.get();
  expect_error(open_source("npy:" + dir_.path("d"), context_), Code::kCancelled, {" of 600 files"});
  heard.texts.clear();
  heard.cancel = nullptr;
  context_.cancel = nullptr;
  open("npy:" + dir_.path("d/1.npy"));
  EXPECT_TRUE(heard.texts.empty()) << "one file needs no progress";
}

// Opens with at most `files` descriptors.
Result<SourceRef> open_with_few_files(const std::string& uri, rlim_t files, IoMode io) {
  rlimit before{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = files;
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  Result<SourceRef> source = open_source(uri, test_context(io));
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  return source;
}

TEST_F(OpenTest, MoreShardsThanDescriptorsAreMappedAllTheSame) {
  for (int i = 0; i < 40; ++i) dir_.write(concat("d/", i, ".npy"), letters_npy("a"));
  Result<SourceRef> source = open_with_few_files("npy:" + dir_.path("d"), 24, IoMode::kMmap);
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  Fetched rows = fetch_all(*source.value());
  EXPECT_TRUE(rows.errors.empty());
  EXPECT_EQ(rows.bytes[0], std::vector<std::string>(40, "a"));
}

TEST_F(OpenTest, AFullTableOfFilesSaysHowManyWereOpen) {
  for (int i = 0; i < 40; ++i) dir_.write(concat("d/", i, ".npy"), letters_npy("a"));
  expect_error(open_with_few_files("npy:" + dir_.path("d"), 24, IoMode::kPread), Code::kTooManyFiles,
               {" of 40 files are open: ", ".npy"});
  EXPECT_EQ(open("npy:" + dir_.path("d"))->count(), 40);
}

TEST_F(OpenTest, AxesLettersMustMatchTheDims) {
  const std::string path = dir_.write("r.bin", "");
  const std::string uri = "raw:" + path + "?fields=image:u8[28x28]&axes=";
  EXPECT_EQ(open(uri + "HW")->schema().fields[0].axes, "HW");
  for (const char* axes : {"H", "HWC", "HH", "H1", "H ", "H\xc3"})
    EXPECT_EQ(open_source(uri + axes, test_context()).status().code(), Code::kBadUri) << axes;
  expect_error(open_source(uri + "HWC", test_context()), Code::kBadUri,
               {path + ": axes=HWC names 3 dims, a sample of 'image' is u8[28x28]"});
}

}  // namespace
}  // namespace dataline::open_test
