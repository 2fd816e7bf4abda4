// Which samples and fields the arrays of a file are, alike for safetensors and npz.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/source/arrays/arrays.h"
#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/source/npz/zip_files.h"
#include "tests/source/safetensors/safetensors_files.h"
#include "tests/support/data_digest.h"

namespace dataline::array_files_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Array {
  std::string name;
  std::vector<int64_t> shape;
  std::string data;  // of u8
};

std::string tuple_of(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (const int64_t dim : shape) out += concat(dim, ", ");
  return out + ")";
}

class ArrayFilesTest : public testing::TestWithParam<const char*> {
 protected:
  std::string format() const { return GetParam(); }
  std::string write(const std::string& name, const std::vector<Array>& arrays) const {
    if (format() == "npz") {
      std::vector<ZipInput> members;
      for (const Array& array : arrays)
        members.push_back({array.name + ".npy", npy_file("|u1", tuple_of(array.shape), array.data)});
      return dir_.write(name + ".npz", make_zip(members, ZipKind::kNumPy).bytes);
    }
    std::vector<MadeTensor> tensors;
    for (const Array& array : arrays) tensors.push_back({array.name, "U8", array.shape, array.data});
    return dir_.write(name + ".safetensors", safetensors_file(tensors));
  }
  Result<SourceRef> try_open(const std::string& path, IoMode io = IoMode::kAuto) const {
    return open_source(concat(format(), ":", path), context_for(io));
  }
  SourceRef open(const std::string& path, IoMode io = IoMode::kAuto) const {
    Result<SourceRef> source = try_open(path, io);
    EXPECT_TRUE(source.is_ok()) << source.status().message();
    return source.is_ok() ? source.take() : nullptr;
  }
  Status refused(const std::string& path) const {
    Result<SourceRef> source = try_open(path);
    EXPECT_FALSE(source.is_ok());
    return source.is_ok() ? Status::ok() : source.take_status();
  }

  TempDir dir_;
};

std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> names;
  for (const Field& field : source.schema().fields) names.push_back(field.name);
  return names;
}

TEST_P(ArrayFilesTest, TheKeyFieldsChoosesAndOrders) {
  const std::string path = write("a", {{"x", {2, 2}, "abcd"}, {"deep/y", {2}, "ef"}, {"z", {2, 1}, "gh"}});
  EXPECT_THAT(names_of(*open(path)), ElementsAre("x", "deep/y", "z"));
  const SourceRef source = open(path + "?fields=z,deep/y");
  ASSERT_THAT(names_of(*source), ElementsAre("z", "deep/y"));
  EXPECT_EQ(all_samples(*source, 0), "gh");
  EXPECT_EQ(all_samples(*source, 1), "ef");
}

TEST_P(ArrayFilesTest, ANameThatIsNotThereIsAnErrorWithTheNearestAndTheOthers) {
  const std::string path = write("a", {{"images", {2}, "ab"}, {"labels", {2}, "ef"}});
  const Status near = refused(path + "?fields=images,label");
  EXPECT_EQ(near.code(), Code::kNoSuchField);
  EXPECT_THAT(near.message(),
              HasSubstr(path + ": no array 'label', did you mean 'labels'? it has images, labels"));
  EXPECT_THAT(refused(path + "?fields=something").message(), HasSubstr("'something'; it has images, labels"));
  EXPECT_THAT(refused(path + "?fields=images,images").message(), HasSubstr("'images' is named twice"));
  EXPECT_THAT(refused(path + "?fields=images,").message(), HasSubstr("expected names"));
}

TEST_P(ArrayFilesTest, ArraysOfDifferentLengthsAreNamedWithTheCure) {
  const std::string path = write("a", {{"x", {2, 2}, "abcd"}, {"y", {2}, "ef"}, {"z", {3}, "ghi"}});
  const Status status = refused(path);
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(path + ": array 'z' 3 u8 and array 'x' 2x2 u8 differ in their first dim"),
                    HasSubstr("fields=NAME,NAME"), HasSubstr("rows=false")));
  EXPECT_EQ(open(path + "?fields=x,y")->count(), 2);
  EXPECT_EQ(open(path + "?rows=false")->count(), 1);
}

TEST_P(ArrayFilesTest, WithoutRowsAFileIsOneSampleAndArraysAreWhole) {
  const std::string path = write("a", {{"x", {2, 2}, "abcd"}, {"step", {}, "7"}, {"z", {3}, "ghi"}});
  for (IoMode io : kIoModes) {
    const SourceRef source = open(path + "?rows=false", io);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->count(), 1);
    EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(2, 2));
    EXPECT_THAT(source->schema().fields[1].shape, ElementsAre());
    EXPECT_EQ(all_samples(*source, 0), "abcd");
    EXPECT_EQ(all_samples(*source, 1), "7");
    EXPECT_EQ(all_samples(*source, 2), "ghi");
  }
}

TEST_P(ArrayFilesTest, ADirectoryOfFilesIsOneSampleAFile) {
  for (int i = 0; i < 12; ++i) {
    const char letter = static_cast<char>('a' + i);
    write(concat("cached/part-", i),
          {{"latent", {2, 2}, std::string(4, letter)}, {"text", {3}, std::string(3, letter)}});
  }
  const SourceRef source = open(dir_.path("cached") + "?rows=false");
  ASSERT_EQ(source->count(), 12);
  EXPECT_EQ(all_samples(*source, 1).substr(0, 9), "aaabbbccc");
  EXPECT_EQ(all_samples(*source, 0).substr(40), "kkkkllll") << "part-10 after part-9";
  const SourceRef rows = open(dir_.path("cached") + "?fields=latent");
  EXPECT_EQ(rows->count(), 24);
}

TEST_P(ArrayFilesTest, ArraysWithoutRowsOrBytesAreRefusedByNameUnlessLeftOut) {
  const std::string none = write("none", {{"x", {2, 2}, "abcd"}, {"step", {}, "7"}});
  EXPECT_EQ(refused(none).code(), Code::kUnsupported);
  EXPECT_THAT(refused(none).message(),
              AllOf(HasSubstr("array 'step' without dims u8: has no first axis"),
                    HasSubstr("rows=false delivers it"), HasSubstr("(fields=x leaves it out)")));
  EXPECT_EQ(open(none + "?fields=x")->count(), 2);
  const std::string empty = write("empty", {{"x", {2, 2}, "abcd"}, {"pad", {2, 0}, ""}});
  EXPECT_THAT(refused(empty).message(),
              HasSubstr("array 'pad' 2x0 u8: its samples hold no bytes (fields=x leaves"));
  EXPECT_THAT(refused(empty + "?rows=false").message(), HasSubstr("array 'pad' 2x0 u8: it holds no bytes"));
  EXPECT_EQ(open(empty + "?rows=false&fields=x")->count(), 1);
  const std::string no_rows = write("rows", {{"x", {0, 2}, ""}, {"y", {0}, ""}});
  EXPECT_EQ(open(no_rows)->count(), 0);
  EXPECT_THAT(refused(no_rows + "?rows=false").message(), HasSubstr("array 'x' 0x2 u8: it holds no bytes"));
}

TEST_P(ArrayFilesTest, AxesNameTheDimsOfTheImage) {
  const std::string path = write("a", {{"image", {2, 1, 2, 3}, "abcdefghijkl"}, {"y", {2}, "ef"}});
  EXPECT_EQ(open(path + "?axes=HWC")->schema().fields[0].axes, "HWC");
  EXPECT_EQ(open(path + "?axes=HWC&fields=image")->schema().fields[0].axes, "HWC");
  EXPECT_EQ(refused(path + "?axes=HW").code(), Code::kBadUri);
}

TEST_P(ArrayFilesTest, ManyArraysNeedAChoice) {
  std::vector<Array> arrays;
  for (size_t i = 0; i <= kMaxArrayFields; ++i) arrays.push_back({concat("w", i), {1}, "x"});
  const std::string path = write("a", arrays);
  EXPECT_EQ(refused(path).code(), Code::kTooLarge);
  EXPECT_THAT(refused(path).message(),
              HasSubstr("1025 arrays, at most 1024 are delivered; choose some with fields= from w0, w1"));
  EXPECT_THAT(names_of(*open(path + "?fields=w1024,w7")), ElementsAre("w1024", "w7"));
}

TEST_P(ArrayFilesTest, RowsThatAreGoneFailOnceForAllFields) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    const std::string path = write("a", {{"x", {4, 2}, "abcdefgh"}, {"y", {4}, "ijkl"}});
    const SourceRef source = open(path, io);
    // safetensors ends with y; in npz y's data end before the directory.
    const std::string within = source->place_of(2, 1).within;
    const int64_t gone = std::stoll(within.substr(within.rfind(' ')));
    ASSERT_EQ(::truncate(path.c_str(), gone), 0);
    Located run(*source, {0, 1, 2, 3}, {.contiguous = true, .opened_ns = monotonic_ns()});
    ASSERT_EQ(run.errors().all().size(), 2u);
    EXPECT_EQ(run.errors().all()[0].row, 2);
    EXPECT_EQ(run.errors().all()[0].status.code(), Code::kTruncated);
    EXPECT_THAT(run.errors().all()[0].status.message(), HasSubstr(concat(path, ": offset ", gone)));
    EXPECT_EQ(run.field(1, 1), "j");
    EXPECT_EQ(run.field(0, 2), "(failed)") << "a sample has all of its fields or none";
  }
}

TEST_P(ArrayFilesTest, TheFileIsLookedAtOnceABatchForAllFields) {
  const std::string path = write("a", {{"x", {4, 2}, "abcdefgh"}, {"y", {4}, "ijkl"}});
  const SourceRef source = open(path, IoMode::kMmap);
  const int64_t opened_ns = monotonic_ns();
  EXPECT_TRUE(Located(*source, {0}, {.opened_ns = opened_ns}).errors().empty());
  const ReadSpan span{opened_ns, monotonic_ns()};
  EXPECT_TRUE(source->unchanged(span));
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_TRUE(source->unchanged(span)) << "known of the span, for each field";
  EXPECT_FALSE(source->unchanged({opened_ns, monotonic_ns()}));
}

TEST_P(ArrayFilesTest, TheIdentityDependsOnTheArraysNotOnDirectoryOrIo) {
  const std::vector<Array> arrays = {{"x", {2, 2}, "abcd"}, {"y", {2}, "ef"}};
  const std::string a = write("a", arrays), b = write("b", arrays);
  const uint64_t first = data_digest(*open(a, IoMode::kMmap));
  EXPECT_EQ(data_digest(*open(b, IoMode::kMemory)), first);
  EXPECT_NE(data_digest(*open(a + "?fields=y,x")), first);
  EXPECT_NE(data_digest(*open(a + "?rows=false")), first);
}

TEST_P(ArrayFilesTest, WithIoMemoryNothingIsLoadedBeforeItIsAccepted) {
  const std::string path = write("a", {{"x", {1 << 20}, std::string(1 << 20, 'x')}, {"y", {2}, "ef"}});
  const OpenContext context = context_for(IoMode::kMemory);
  EXPECT_FALSE(open_source(concat(format(), ":", path), context).is_ok());
  EXPECT_LT(context.memory->peak_bytes(), 1 << 16);
}

TEST_P(ArrayFilesTest, RowsIsTrueOrFalse) {
  EXPECT_THAT(refused(write("a", {{"x", {2}, "ab"}}) + "?rows=yes").message(),
              HasSubstr("expected true or false"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ArrayFilesTest, testing::Values("safetensors", "npz"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace dataline::array_files_test
