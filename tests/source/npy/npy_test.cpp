// What .npy files may look like and still be read.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/support/data_digest.h"

namespace dataline::npy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file of any version around a header text, written as it stands.
std::string npy_bytes(int major, const std::string& text, const std::string& data) {
  std::string out = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  auto length = static_cast<uint32_t>(text.size());
  out += major == 1 ? raw_bytes(static_cast<uint16_t>(length)) : raw_bytes(length);
  return out + text + data;
}

Result<SourceRef> try_open(const std::string& path, IoMode io = IoMode::kAuto) {
  return open_source("npy:" + path, context_for(io));
}

SourceRef open(const std::string& path, IoMode io = IoMode::kAuto) {
  Result<SourceRef> source = try_open(path, io);
  EXPECT_TRUE(source.is_ok()) << source.status().message();
  return source.is_ok() ? source.take() : nullptr;
}

TEST(Npy, SamplesAreTheFirstAxis) {
  TempDir dir;
  std::string data = pattern_bytes(5 * 2 * 3 * 4);
  SourceRef source = open(dir.write("a.npy", npy_file("<f4", "(5, 2, 3)", data)));
  EXPECT_EQ(source->count(), 5);
  const Field& field = source->schema().fields.at(0);
  EXPECT_EQ(field.name, "data");
  EXPECT_EQ(field.dtype, DType::kF32);
  EXPECT_THAT(field.shape, ElementsAre(2, 3));
  EXPECT_EQ(field.axes, "");
  EXPECT_EQ(source->info().format, "npy");
  EXPECT_THAT(source->info().notes, IsEmpty());
  EXPECT_EQ(all_samples(*source), data);
}

TEST(Npy, OneDimGivesScalarsAndNoneGivesAnEmptySet) {
  TempDir dir;
  SourceRef source = open(dir.write("a.npy", npy_file("<i2", "(3,)", "abcdef")));
  EXPECT_EQ(source->count(), 3);
  EXPECT_THAT(source->schema().fields[0].shape, IsEmpty());
  EXPECT_EQ(all_samples(*source), "abcdef");
  source = open(dir.write("a.npy", npy_file("<i2", "(0, 7)", "")));
  EXPECT_EQ(source->count(), 0);
  EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(7));
}

TEST(Npy, EveryWayToWriteTheDictIsUnderstood) {
  TempDir dir;
  const char* texts[] = {
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}",
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<i2'}   \n",
      "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(2,3,),}",
      "  {\t'descr' :\n '<i2' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) }\r\n",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }\n",
  };
  for (int major : {1, 2, 3}) {
    for (const char* text : texts) {
      SourceRef source = open(dir.write("a.npy", npy_bytes(major, text, "abcdefghijkl")));
      ASSERT_NE(source, nullptr) << text;
      EXPECT_EQ(source->count(), 2) << text;
      EXPECT_EQ(all_samples(*source), "abcdefghijkl") << text;
    }
  }
}

TEST(Npy, EveryTypeHasItsDtype) {
  TempDir dir;
  struct {
    const char* descr;
    DType dtype;
    int64_t bytes;
  } cases[] = {{"|b1", DType::kBool, 1}, {"?", DType::kBool, 1},  {"|u1", DType::kU8, 1},
               {"<u2", DType::kU16, 2},  {"<u4", DType::kU32, 4}, {"<u8", DType::kU64, 8},
               {"|i1", DType::kI8, 1},   {"<i2", DType::kI16, 2}, {"<i4", DType::kI32, 4},
               {"<i8", DType::kI64, 8},  {"<f2", DType::kF16, 2}, {"<f4", DType::kF32, 4},
               {"<f8", DType::kF64, 8},  {"<c8", DType::kC64, 8}, {"<c16", DType::kC128, 16},
               {"=i4", DType::kI32, 4},  {"|i4", DType::kI32, 4}, {"i4", DType::kI32, 4},
               {">u1", DType::kU8, 1},   {"<b1", DType::kBool, 1}};
  for (const auto& one : cases) {
    std::string data = pattern_bytes(3 * one.bytes);
    SourceRef source = open(dir.write("a.npy", npy_file(one.descr, "(3,)", data)));
    ASSERT_NE(source, nullptr) << one.descr;
    EXPECT_EQ(source->schema().fields[0].dtype, one.dtype) << one.descr;
    EXPECT_EQ(all_samples(*source), data) << one.descr;
  }
}

TEST(Npy, BigEndianIsDeliveredNativeAndNoted) {
  TempDir dir;
  SourceRef source = open(dir.write("a.npy", npy_file(">u4", "(2, 1)", "abcdefgh")));
  EXPECT_EQ(all_samples(*source), "dcbahgfe");
  EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr(">u4")));
}

TEST(Npy, BoolBytesPassThroughAsInNumPy) {
  TempDir dir;
  SourceRef source = open(dir.write("a.npy", npy_file("|b1", "(4,)", std::string("\x00\x01\x02\xff", 4))));
  EXPECT_EQ(all_samples(*source), std::string("\x00\x01\x02\xff", 4));
}

TEST(Npy, FortranOrderIsGatheredAndNoted) {
  TempDir dir;
  // The 2 x 3 array ((a, b, c), (d, e, f)) column by column.
  std::string path =
      dir.write("a.npy", npy_bytes(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf"));
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io);
    EXPECT_EQ(all_samples(*source), "abcdef");
    EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr("Fortran order")));
    EXPECT_TRUE(source->cached(1));
    EXPECT_EQ(source->scratch_bytes(0), 64);
  }
}

TEST(Npy, FortranOrderThatIsCOrderComesStraightFromTheFile) {
  TempDir dir;
  for (const char* shape : {"(6,)", "(1, 6)", "(6, 1, 1)", "(1, 1, 6)"}) {
    std::string text = std::string("{'descr': '|u1', 'fortran_order': True, 'shape': ") + shape + "}";
    SourceRef source = open(dir.write("a.npy", npy_bytes(1, text, "abcdef")), IoMode::kMmap);
    EXPECT_EQ(all_samples(*source), "abcdef") << shape;
    EXPECT_THAT(source->info().notes, IsEmpty()) << shape;
    EXPECT_EQ(source->scratch_bytes(0), 0) << shape;
  }
}

TEST(Npy, FortranRowsThatAreGoneFailByName) {
  TempDir dir;
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    std::string path = dir.write(
        "a.npy", npy_bytes(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf"));
    SourceRef source = open(path, io);
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
    std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes - 1));
    Located run(*source, {0, 1}, {.contiguous = true, .opened_ns = monotonic_ns()});
    EXPECT_EQ(run.field(0, 0), "abc");
    EXPECT_EQ(run.field(0, 1), "(failed)");
    ASSERT_EQ(run.errors().all().size(), 1u);
    EXPECT_EQ(run.errors().all()[0].status.code(), Code::kTruncated);
    EXPECT_THAT(run.errors().all()[0].status.message(),
                HasSubstr(concat("offset ", bytes - 1, ": expected 1 bytes")));
  }
}

TEST(Npy, SamplesThatNoMachineCanHoldAreRefusedEvenWhenThereAreNone) {
  TempDir dir;
  for (const char* order : {"False", "True"}) {
    std::string text =
        std::string("{'descr': '|u1', 'fortran_order': ") + order + ", 'shape': (0, 2, 70368744177664)}";
    Result<SourceRef> source = try_open(dir.write("a.npy", npy_bytes(1, text, "")), IoMode::kPread);
    ASSERT_FALSE(source.is_ok());
    EXPECT_EQ(source.status().code(), Code::kTooLarge);
    EXPECT_THAT(source.status().message(), HasSubstr("140737488355328 bytes, at most 70368744177664"));
  }
}

TEST(Npy, Void2IsBf16OnRequestOnly) {
  TempDir dir;
  for (const char* descr : {"|V2", "<V2"}) {
    std::string path = dir.write("a.npy", npy_file(descr, "(2, 2)", "abcdefgh"));
    SourceRef source = open(path + "?dtype=bf16");
    EXPECT_EQ(source->schema().fields[0].dtype, DType::kBf16);
    EXPECT_EQ(all_samples(*source), "abcdefgh");
    Result<SourceRef> refused = try_open(path);
    ASSERT_FALSE(refused.is_ok());
    EXPECT_EQ(refused.status().code(), Code::kUnsupported);
    EXPECT_THAT(refused.status().message(), HasSubstr("dtype=bf16"));
  }
  Result<SourceRef> refused = try_open(dir.write("a.npy", npy_file("<f2", "(1,)", "ab")) + "?dtype=bf16");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kBadUri);
}

TEST(Npy, TrailingBytesAreIgnoredOnRequestOnly) {
  TempDir dir;
  std::string path = dir.write("a.npy", npy_file("|u1", "(2, 3)", "abcdef and more"));
  EXPECT_EQ(all_samples(*open(path + "?trailing=ignore")), "abcdef");
  Result<SourceRef> refused = try_open(path);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kCorrupt);
}

TEST(Npy, AxesNameTheDimsOfASample) {
  TempDir dir;
  std::string path = dir.write("a.npy", npy_file("|u1", "(1, 2, 2, 3)", "abcdefghijkl"));
  const OpenContext context = context_for(IoMode::kAuto);
  EXPECT_EQ(open_source("npy:" + path + "?axes=HWC", context).value()->schema().fields[0].axes, "HWC");
  Result<SourceRef> refused = open_source("npy:" + path + "?axes=HW", context);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kBadUri);
  EXPECT_THAT(refused.status().message(), HasSubstr("u8[2x2x3]"));
}

TEST(Npy, ThirtyTwoDimsAreRead) {
  TempDir dir;
  std::string shape = "(2";
  for (int d = 1; d < 32; ++d) shape += ", 1";
  SourceRef source = open(dir.write("a.npy", npy_file("|u1", shape + ")", "ab")));
  EXPECT_EQ(source->schema().fields[0].shape.size(), 31u);
  EXPECT_EQ(all_samples(*source), "ab");
}

TEST(Npy, HeaderOfTheLargestSizeIsRead) {
  TempDir dir;
  std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}";
  text.resize(65536, ' ');
  EXPECT_EQ(all_samples(*open(dir.write("a.npy", npy_bytes(2, text, "ab")))), "ab");
}

TEST(Npy, TheIdentityDependsOnShapeAndTypeNotOnDirectoryOrIo) {
  TempDir dir;
  auto identity = [&](const char* name, const char* descr, const char* shape, IoMode io) {
    return data_digest(*open(dir.write(name, npy_file(descr, shape, "abcdefghijkl")), io));
  };
  uint64_t first = identity("a.npy", "<i2", "(2, 3)", IoMode::kMmap);
  EXPECT_EQ(identity("b.npy", "<i2", "(2, 3)", IoMode::kPread), first);
  EXPECT_NE(identity("a.npy", "<i2", "(3, 2)", IoMode::kMmap), first);
  EXPECT_NE(identity("a.npy", "<u2", "(2, 3)", IoMode::kMmap), first);
}

}  // namespace
}  // namespace dataline::npy_test
