// What .npz archives may look like and still be read. Where rows, fields and files are chosen: ../arrays/array_files_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/source/gzip.h"
#include "core/source/npz/zip_directory.h"
#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/source/npz/zip_files.h"

namespace dataline::npz_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ZipKind kKinds[] = {ZipKind::kPlain, ZipKind::kNumPy, ZipKind::kZip64, ZipKind::kSizesFollow};

Result<SourceRef> try_open(const std::string& path, IoMode io = IoMode::kAuto) {
  return open_source("npz:" + path, context_for(io));
}

SourceRef open(const std::string& path, IoMode io = IoMode::kAuto) {
  Result<SourceRef> source = try_open(path, io);
  EXPECT_TRUE(source.is_ok()) << source.status().message();
  return source.is_ok() ? source.take() : nullptr;
}

std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> names;
  for (const Field& field : source.schema().fields) names.push_back(field.name);
  return names;
}

bool inflates() {
  return inflate_start("/x.gz", std::as_bytes(std::span(std::string_view(gzip_stored(""))))).is_ok();
}

// A version 1.0 file with any dict.
std::string npy_of(const std::string& text, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + raw_bytes(static_cast<uint16_t>(text.size())) + text + data;
}

TEST(Npz, MembersAreFieldsInEveryKindOfArchive) {
  TempDir dir;
  const std::string x = pattern_bytes(5 * 2 * 3 * 4), y = pattern_bytes(5 * 8);
  for (const ZipKind kind : kKinds) {
    const std::string path = dir.write("a.npz", make_zip({{"x.npy", npy_file("<f4", "(5, 2, 3)", x)},
                                                          {"some/y.npy", npy_file("<i8", "(5,)", y)}},
                                                         kind)
                                                    .bytes);
    for (IoMode io : kIoModes) {
      const SourceRef source = open(path, io);
      ASSERT_NE(source, nullptr);
      EXPECT_EQ(source->count(), 5);
      EXPECT_EQ(source->info().format, "npz");
      EXPECT_THAT(source->info().notes, IsEmpty());
      ASSERT_THAT(names_of(*source), ElementsAre("x", "some/y"));
      EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(2, 3));
      EXPECT_EQ(all_samples(*source, 0), x);
      EXPECT_EQ(all_samples(*source, 1), y);
    }
    EXPECT_EQ(open(path, IoMode::kMmap)->scratch_bytes(0), 0) << "mapped in place";
  }
}

TEST(Npz, DeflatedMembersAreInflatedIntoTheBudget) {
  if (!inflates()) GTEST_SKIP() << "built without libdeflate";
  TempDir dir;
  const std::string x = pattern_bytes(5 * 4), y = pattern_bytes(5 * 8);
  for (const ZipKind kind : kKinds) {
    const std::string path = dir.write(
        "a.npz",
        make_zip({{"x.npy", npy_file("<f4", "(5,)", x), 8}, {"y.npy", npy_file("<i8", "(5,)", y)}}, kind)
            .bytes);
    for (IoMode io : kIoModes) {
      const OpenContext context = context_for(io);
      const SourceRef source = open_source("npz:" + path, context).take();
      EXPECT_EQ(all_samples(*source, 0), x);
      EXPECT_EQ(all_samples(*source, 1), y);
      EXPECT_THAT(source->info().notes,
                  ElementsAre("1 of 2 arrays are compressed: decompressed into 148 bytes of memory"));
      const int64_t held =
          148 + (io == IoMode::kMemory ? static_cast<int64_t>(std::filesystem::file_size(path)) : 0);
      EXPECT_EQ(context.memory->in_use_bytes(), held);
      EXPECT_EQ(source->place_of(3, 0).within, "array 'x', record 3, offset 140 after decompression");
    }
    const OpenContext context = context_for(IoMode::kAuto);
    EXPECT_EQ(open_source("npz:" + path + "?fields=y", context).value()->count(), 5);
    EXPECT_EQ(context.memory->in_use_bytes(), 0) << "what is left out is not inflated";
  }
}

TEST(Npz, WhatTheBudgetDoesNotHoldIsRefusedByName) {
  if (!inflates()) GTEST_SKIP() << "built without libdeflate";
  TempDir dir;
  const std::string data(200'000, 'x');
  const std::string path =
      dir.write("a.npz", make_zip({{"x.npy", npy_file("|u1", "(200000,)", data), 8}}).bytes);
  OpenContext context = context_for(IoMode::kAuto);
  context.memory = HostMemory::create({}, 300'000);
  const Result<SourceRef> refused = open_source("npz:" + path, context);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOverBudget);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr(path), HasSubstr("zip member 'x.npy'")));
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
}

TEST(Npz, OtherByteAndMemoryOrdersAreDeliveredNativeAndNoted) {
  TempDir dir;
  const std::string big = npy_file(">u4", "(2,)", "abcdefgh");
  // The 2 x 3 array ((a, b, c), (d, e, f)) column by column.
  const std::string fortran = npy_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf");
  for (const uint16_t method : {uint16_t{0}, uint16_t{8}}) {
    if (method == 8 && !inflates()) continue;
    const std::string path =
        dir.write("a.npz", make_zip({{"big.npy", big, method}, {"f.npy", fortran, method}}).bytes);
    for (IoMode io : kIoModes) {
      const SourceRef source = open(path, io);
      EXPECT_EQ(all_samples(*source, 0), "dcbahgfe");
      EXPECT_EQ(all_samples(*source, 1), "abcdef");
      EXPECT_THAT(source->info().notes[0], HasSubstr("array 'big': bytes are swapped"));
      EXPECT_THAT(source->info().notes[1], HasSubstr("array 'f': Fortran order"));
      const SourceRef whole = open(path + "?rows=false", io);
      EXPECT_EQ(all_samples(*whole, 0), "dcbahgfe");
      EXPECT_EQ(all_samples(*whole, 1), "abcdef");
    }
  }
}

TEST(Npz, AWholeFortranArrayOf32DimsIsGathered) {
  TempDir dir;
  std::string shape = "(2, 3";
  for (int d = 2; d < 32; ++d) shape += ", 1";
  const std::string npy =
      npy_of("{'descr': '|u1', 'fortran_order': True, 'shape': " + shape + ")}", "adbecf");
  const std::string path = dir.write("a.npz", make_zip({{"f.npy", npy}}).bytes);
  EXPECT_EQ(all_samples(*open(path + "?rows=false")), "abcdef");
  EXPECT_EQ(all_samples(*open(path)), "abcdef");
}

TEST(Npz, Void2IsBf16OnRequestBesideOtherTypes) {
  TempDir dir;
  const std::string path = dir.write("a.npz", make_zip({{"x.npy", npy_file("|V2", "(2, 2)", "abcdefgh")},
                                                        {"y.npy", npy_file("<f4", "(2,)", "ijklmnop")}})
                                                  .bytes);
  const SourceRef source = open(path + "?dtype=bf16");
  EXPECT_EQ(source->schema().fields[0].dtype, DType::kBf16);
  EXPECT_EQ(source->schema().fields[1].dtype, DType::kF32);
  EXPECT_EQ(all_samples(*source), "abcdefgh");
  const Result<SourceRef> refused = try_open(path);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kUnsupported);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("array 'x': offset"), HasSubstr("dtype=bf16"),
                                                HasSubstr("(fields=y leaves it out)")));
  EXPECT_EQ(try_open(path + "?dtype=f32").status().code(), Code::kBadUri);
}

TEST(Npz, MembersOfOtherKindsAreSkippedWithANote) {
  TempDir dir;
  const std::string path = dir.write(
      "a.npz",
      make_zip({{"readme.txt", "text"}, {"x.npy", npy_file("|u1", "(2,)", "ab")}, {"folder/", ""}}).bytes);
  const SourceRef source = open(path);
  EXPECT_THAT(names_of(*source), ElementsAre("x"));
  EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr("left out: 2 files of other kinds (readme.txt, ")));
}

TEST(Npz, ObjectsAreRefusedUnlessLeftOut) {
  TempDir dir;
  const std::string path = dir.write("a.npz", make_zip({{"x.npy", npy_file("|O", "(2,)", "pickled")},
                                                        {"y.npy", npy_file("|u1", "(2,)", "ab")}})
                                                  .bytes);
  const Result<SourceRef> refused = try_open(path);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kUnsafeType);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("array 'x'"), HasSubstr("pickled Python objects"),
                                                HasSubstr("(fields=y leaves it out)")));
  EXPECT_EQ(all_samples(*open(path + "?fields=y")), "ab");
}

TEST(Npz, ACommentAndTheLongestOneMayFollow) {
  TempDir dir;
  const std::vector<ZipInput> members = {{"x.npy", npy_file("|u1", "(2,)", "ab")}};
  for (const std::string& comment :
       {std::string("a comment"), std::string(65535, 'c'), std::string("PK\x05\x06")}) {
    for (const ZipKind kind : kKinds)
      EXPECT_EQ(all_samples(*open(dir.write("a.npz", make_zip(members, kind, comment).bytes))), "ab");
  }
}

TEST(Npz, AnArchiveIsKnownByItsContentOrItsName) {
  TempDir dir;
  const std::vector<ZipInput> arrays = {{"x.npy", npy_file("|u1", "(2,)", "ab")}};
  std::vector<ZipInput> later = arrays;
  later.insert(later.begin(), {"readme.txt", "text"});
  const auto format = [&](const std::string& name, const std::string& bytes) {
    const Result<SourceRef> source = open_source(dir.write(name, bytes), context_for(IoMode::kAuto));
    return source.is_ok() ? source.value()->info().format : source.status().message();
  };
  EXPECT_EQ(format("x", make_zip(arrays).bytes), "npz");
  EXPECT_EQ(format("x.bin", make_zip(arrays).bytes), "npz");
  EXPECT_EQ(format("x.npz", make_zip(later).bytes), "npz");
  EXPECT_THAT(format("x.npz", make_zip({}).bytes), HasSubstr("no arrays in this file"));
  EXPECT_THAT(format("x.zip", make_zip(later).bytes),
              HasSubstr("this is a zip archive (npz: reads those of .npy files), which is not supported"));
}

TEST(Npz, ReadingADirectoryEndsWhenItIsCancelled) {
  TempDir dir;
  const std::string path = dir.write("a.npz", make_zip({{"x.npy", npy_file("|u1", "(2,)", "ab")}}).bytes);
  OpenContext context = context_for(IoMode::kAuto);
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  const MappedFile file = MappedFile::open_unloaded(path, context).take();
  EXPECT_EQ(read_zip_directory(file, context).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace dataline::npz_test
