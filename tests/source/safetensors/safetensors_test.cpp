// What .safetensors files may look like and still be read. Where rows, fields and files are chosen: ../arrays/array_files_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "tests/source/safetensors/safetensors_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/source/open.h"
#include "core/source/safetensors/safetensors_header.h"
#include "tests/source/located.h"

namespace dataline::safetensors_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<SourceRef> try_open(const std::string& path, IoMode io = IoMode::kAuto) {
  return open_source("safetensors:" + path, context_for(io));
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

TEST(Safetensors, TensorsAreFieldsAndRowsAreSamples) {
  TempDir dir;
  const std::string latent = pattern_bytes(5 * 2 * 3 * 4), label = pattern_bytes(5 * 8);
  const std::string path =
      dir.write("a.safetensors",
                safetensors_file({{"latent", "F32", {5, 2, 3}, latent}, {"label", "I64", {5}, label}}));
  for (IoMode io : kIoModes) {
    const SourceRef source = open(path, io);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->count(), 5);
    EXPECT_EQ(source->info().format, "safetensors");
    EXPECT_THAT(source->info().notes, IsEmpty());
    ASSERT_THAT(names_of(*source), ElementsAre("latent", "label"));
    EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(2, 3));
    EXPECT_EQ(source->schema().fields[0].dtype, DType::kF32);
    EXPECT_THAT(source->schema().fields[1].shape, IsEmpty());
    EXPECT_EQ(all_samples(*source, 0), latent);
    EXPECT_EQ(all_samples(*source, 1), label);
  }
}

TEST(Safetensors, MappedTensorsAreNotCopied) {
  TempDir dir;
  const SourceRef source = open(
      dir.write("a.safetensors", safetensors_file({{"x", "U8", {2, 3}, "abcdef"}, {"y", "U8", {2}, "gh"}})),
      IoMode::kMmap);
  EXPECT_EQ(source->scratch_bytes(0), 0);
  Located run(*source, {0, 1}, {.contiguous = true});
  EXPECT_TRUE(run.contiguous(0));
  EXPECT_EQ(run.data(1, 0), run.data(0, 0) + 6) << "side by side, as in the file";
}

TEST(Safetensors, EveryTypeHasItsDtype) {
  TempDir dir;
  const struct {
    const char* name;
    DType dtype;
    int64_t bytes;
  } cases[] = {{"BOOL", DType::kBool, 1}, {"U8", DType::kU8, 1},   {"I8", DType::kI8, 1},
               {"U16", DType::kU16, 2},   {"I16", DType::kI16, 2}, {"F16", DType::kF16, 2},
               {"BF16", DType::kBf16, 2}, {"U32", DType::kU32, 4}, {"I32", DType::kI32, 4},
               {"F32", DType::kF32, 4},   {"U64", DType::kU64, 8}, {"I64", DType::kI64, 8},
               {"F64", DType::kF64, 8},   {"C64", DType::kC64, 8}};
  for (const auto& one : cases) {
    const std::string data = pattern_bytes(3 * one.bytes);
    const SourceRef source = open(dir.write("a.safetensors", safetensors_file({{"x", one.name, {3}, data}})));
    ASSERT_NE(source, nullptr) << one.name;
    EXPECT_EQ(source->schema().fields[0].dtype, one.dtype) << one.name;
    EXPECT_EQ(all_samples(*source), data) << one.name;
  }
}

TEST(Safetensors, DataMayLieAtAnyAlignment) {
  TempDir dir;
  for (size_t padding : {size_t{7}, size_t{11}, size_t{13}}) {
    const std::string data = pattern_bytes(4 * 3 * 8);
    const SourceRef source = open(
        dir.write("a.safetensors",
                  safetensors_file({{"b", "U8", {4}, "abcd"}, {"x", "F64", {4, 3}, data}}, "", padding)));
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(all_samples(*source, 1), data);
  }
}

TEST(Safetensors, FieldsHaveTheOrderOfTheData) {
  TempDir dir;
  const std::string header = "{" + tensor_entry("last", "U8", "2", 4, 6) + "," +
                             tensor_entry("first", "U8", "2", 0, 2) + "," +
                             tensor_entry("middle", "U8", "2", 2, 4) + "}";
  const SourceRef source = open(dir.write("a.safetensors", safetensors_bytes(header, "abcdef")));
  ASSERT_THAT(names_of(*source), ElementsAre("first", "middle", "last"));
  EXPECT_EQ(all_samples(*source, 0), "ab");
  EXPECT_EQ(all_samples(*source, 2), "ef");
}

TEST(Safetensors, EveryWayToWriteTheHeaderIsUnderstood) {
  TempDir dir;
  for (const char* header : {
           R"({"x":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}})",
           R"({"x":{"data_offsets":[0,6],"shape":[2,3],"dtype":"U8"}}   )",
           "{ \"x\" :\t{ \"dtype\" : \"U8\" ,\n \"shape\" : [ 2 , 3 ] , \"data_offsets\" : [ 0 , 6 ] } }\n",
           R"({"\u0078":{"dt\u0079pe":"\u00558","shape":[2,3],"data_offsets":[0,6]}})",
           R"({"__metadata__":{},"x":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}})",
           R"({"x":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]},"__metadata__":{"a":"b","c":"d"}})",
       }) {
    const SourceRef source = open(dir.write("a.safetensors", safetensors_bytes(header, "abcdef")));
    ASSERT_NE(source, nullptr) << header;
    EXPECT_THAT(names_of(*source), ElementsAre("x")) << header;
    EXPECT_EQ(all_samples(*source), "abcdef") << header;
  }
}

TEST(Safetensors, TheFormatOfTheMetadataIsANote) {
  TempDir dir;
  const std::string file = safetensors_file({{"x", "U8", {2}, "ab"}}, R"({"format":"pt","step":"7"})");
  EXPECT_THAT(open(dir.write("a.safetensors", file))->info().notes, ElementsAre("written for 'pt'"));
}

TEST(Safetensors, DtypesThatAreNotReadAreRefusedByNameUnlessLeftOut) {
  TempDir dir;
  const struct {
    const char* dtype;
    int64_t items, bytes;
  } cases[] = {{"F8_E5M2", 4, 4},     {"F8_E4M3", 4, 4},     {"F8_E8M0", 4, 4},
               {"F8_E4M3FNUZ", 4, 4}, {"F8_E5M2FNUZ", 4, 4}, {"F6_E2M3", 4, 3},
               {"F6_E3M2", 4, 3},     {"F4", 4, 2},          {"F2_FUTURE", 4, 9}};
  for (const auto& one : cases) {
    const std::string path = dir.write(
        "a.safetensors", safetensors_file({{"scale", one.dtype, {one.items}, pattern_bytes(one.bytes)},
                                           {"x", "U8", {2}, "ab"}}));
    const Result<SourceRef> refused = try_open(path);
    ASSERT_FALSE(refused.is_ok()) << one.dtype;
    EXPECT_EQ(refused.status().code(), Code::kUnsupported);
    EXPECT_THAT(refused.status().message(),
                AllOf(HasSubstr(concat("tensor 'scale' has dtype '", one.dtype, "'")),
                      HasSubstr("(fields=x leaves it out)")));
    EXPECT_EQ(all_samples(*open(path + "?fields=x")), "ab") << one.dtype;
    EXPECT_THAT(try_open(path + "?fields=scale").status().message(),
                AllOf(HasSubstr("which is not supported"), testing::Not(HasSubstr("leaves it out"))));
  }
}

TEST(Safetensors, FileAndArrayAndOffsetOfABadSampleAreNamed) {
  TempDir dir;
  const std::string path =
      dir.write("a.safetensors",
                safetensors_file({{"x", "U8", {4, 3}, "abcdefghijkl"}, {"y", "I16", {4}, "mnopqrst"}}));
  const SourceRef source = open(path);
  const auto data = static_cast<int64_t>(std::filesystem::file_size(path)) - 20;
  EXPECT_EQ(source->place_of(2, 0).path, path);
  EXPECT_EQ(source->place_of(2, 0).within, concat("array 'x', record 2, offset ", data + 6));
  EXPECT_EQ(source->place_of(2, 1).within, concat("array 'y', record 2, offset ", data + 12 + 4));
}

TEST(Safetensors, AFileIsKnownByItsContent) {
  TempDir dir;
  const std::string file = safetensors_file({{"x", "U8", {2}, "ab"}});
  const auto format = [&](const std::string& name, const std::string& bytes) {
    const Result<SourceRef> source = open_source(dir.write(name, bytes), context_for(IoMode::kAuto));
    return source.is_ok() ? source.value()->info().format : source.status().message();
  };
  EXPECT_EQ(format("x", file), "safetensors");
  EXPECT_EQ(format("x.bin", file), "safetensors");
  EXPECT_THAT(format("x.bin", file.substr(0, 20)), testing::Not(HasSubstr("safetensors")));
  EXPECT_THAT(format("x.safetensors", file.substr(0, 20)), HasSubstr("header needs"));
  EXPECT_THAT(format("x.safetensors", "version https://git-lfs.github.com/spec/v1"),
              HasSubstr("git lfs pull"));
}

TEST(Safetensors, ReadingAHeaderEndsWhenItIsCancelled) {
  TempDir dir;
  const std::string path = dir.write("a.safetensors", safetensors_file({{"x", "U8", {2}, "ab"}}));
  OpenContext context = context_for(IoMode::kAuto);
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  const MappedFile file = MappedFile::open_unloaded(path, context).take();
  EXPECT_EQ(read_safetensors_header(file, context).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace dataline::safetensors_test
