// IDX files, plain and gzipped, and the MNIST digits themselves.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/idx/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/source/open.h"
#include "tests/source/gzip_files.h"
#include "tests/source/located.h"
#include "tests/support/data_digest.h"
#include "tests/support/places.h"

namespace dataline::idx_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string idx_file(uint8_t type, const std::vector<uint32_t>& dims, const std::string& data) {
  std::string out = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (uint32_t dim : dims) out += big_u32(dim);
  return out + data;
}

std::string reversed_elements(std::string data, size_t unit) {
  for (size_t at = 0; at < data.size(); at += unit) {
    std::reverse(data.begin() + static_cast<ptrdiff_t>(at), data.begin() + static_cast<ptrdiff_t>(at + unit));
  }
  return data;
}

bool has_libdeflate() {
  TempDir dir;
  return open_idx(dir.write("a", gzip_stored(idx_file(8, {0}, ""))), context_for(IoMode::kAuto)).is_ok();
}

TEST(Idx, EveryTypeIsDeliveredNative) {
  TempDir dir;
  struct {
    uint8_t type;
    DType dtype;
  } cases[] = {{8, DType::kU8},   {9, DType::kI8},   {11, DType::kI16},
               {12, DType::kI32}, {13, DType::kF32}, {14, DType::kF64}};
  for (auto [type, dtype] : cases) {
    auto unit = static_cast<size_t>(dtype_bytes(dtype));
    std::string data = pattern_bytes(static_cast<int64_t>(70 * 3 * unit));
    std::string path = dir.write("a", idx_file(type, {70, 3}, data));
    for (IoMode io : kIoModes) {
      SourceRef source = open_idx(path, context_for(io)).take();
      EXPECT_EQ(source->count(), 70);
      EXPECT_EQ(source->schema().fields[0].name, "data");
      EXPECT_EQ(source->schema().fields[0].dtype, dtype);
      EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(3));
      EXPECT_TRUE(all_samples(*source) == reversed_elements(data, unit));
      EXPECT_EQ(source->info().format, "idx");
      EXPECT_THAT(source->info().notes, IsEmpty());
    }
  }
}

TEST(Idx, OneDimGivesScalarsAndNoSamplesAnEmptySet) {
  TempDir dir;
  SourceRef source = open_idx(dir.write("a", idx_file(8, {4}, "abcd")), context_for(IoMode::kAuto)).take();
  EXPECT_EQ(source->count(), 4);
  EXPECT_THAT(source->schema().fields[0].shape, IsEmpty());
  source = open_idx(dir.write("a", idx_file(8, {0, 28, 28}, "")), context_for(IoMode::kAuto)).take();
  EXPECT_EQ(source->count(), 0);
  EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(28, 28));
}

TEST(Idx, AxesNameTheDimsOfASample) {
  TempDir dir;
  std::string path = dir.write("a", idx_file(8, {1, 2, 2}, "abcd"));
  const OpenContext context = context_for(IoMode::kAuto);
  EXPECT_EQ(open_source("idx:" + path + "?axes=HW", context).value()->schema().fields[0].axes, "HW");
  Result<SourceRef> refused = open_source("idx:" + path + "?axes=NHW", context);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kBadUri);
}

TEST(Idx, GzipIsFoundByContentAndInflatedIntoCountedMemory) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  TempDir dir;
  std::string plain = idx_file(11, {100, 5}, pattern_bytes(1000));
  std::string path =
      dir.write("no-suffix", gzip_stored(plain.substr(0, 333)) + gzip_stored(plain.substr(333)));
  for (IoMode io : kIoModes) {
    OpenContext context = context_for(io);
    SourceRef source = open_idx(path, context).take();
    EXPECT_EQ(all_samples(*source), reversed_elements(plain.substr(12), 2));
    EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr("gzip: decompressed into 1012 bytes")));
    EXPECT_EQ(context.memory->in_use_bytes(), 1012) << "the compressed bytes are not kept";
    source.reset();
    EXPECT_EQ(context.memory->in_use_bytes(), 0);
  }
}

TEST(Idx, GzipIsRefusedWhenItDoesNotFitTheBudget) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  TempDir dir;
  std::string path = dir.write("a.gz", gzip_stored(idx_file(8, {100000}, std::string(100000, 'x'))));
  OpenContext context = context_for(IoMode::kAuto);
  context.memory = HostMemory::create({}, 150000);
  Result<SourceRef> source = open_idx(path, context);
  ASSERT_FALSE(source.is_ok());
  EXPECT_EQ(source.status().code(), Code::kOverBudget);
  EXPECT_THAT(source.status().message(), HasSubstr(path));
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
}

TEST(Idx, GzipThatIsCancelledLeavesNothing) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  TempDir dir;
  OpenContext context = context_for(IoMode::kAuto);
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  Result<SourceRef> source = open_idx(dir.write("a.gz", gzip_stored(idx_file(8, {3}, "abc"))), context);
  ASSERT_FALSE(source.is_ok());
  EXPECT_EQ(source.status().code(), Code::kCancelled);
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
}

TEST(Idx, AFileThatIsInflatedStaysWhenTheFileGoes) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  TempDir dir;
  std::string path = dir.write("a.gz", gzip_stored(idx_file(8, {3}, "abc")));
  SourceRef source = open_idx(path, context_for(IoMode::kAuto)).take();
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  Located run(*source, {0, 1, 2}, {.cold = true, .opened_ns = monotonic_ns()});
  EXPECT_TRUE(run.errors().empty());
  EXPECT_EQ(run.field(0, 2), "c");
}

TEST(Idx, TheIdentityHasTheCompressedFilesSize) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  TempDir dir;
  auto identity = [&](const std::string& bytes) {
    return data_digest(*open_idx(dir.write("a", bytes), context_for(IoMode::kAuto)).take());
  };
  std::string plain = idx_file(8, {3}, "abc");
  EXPECT_EQ(identity(gzip_stored(plain)), identity(gzip_stored(plain)));
  EXPECT_NE(identity(gzip_stored(plain)), identity(plain));
}

// Python's own gzip, and its SHA-256, are the oracle.
class Mnist : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is not there: MNIST is not read";
    if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  }
  const std::string kFolder = tests::in_shared_data("mnist");
  TempDir dir_;
};

TEST_F(Mnist, ImagesAreTheBytesOfTheKnownDigest) {
  SourceRef source = open_idx(kFolder + "/train-images-idx3-ubyte.gz", context_for(IoMode::kAuto)).take();
  EXPECT_EQ(source->count(), 60000);
  EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(28, 28));
  std::string images = all_samples(*source);
  ASSERT_EQ(images.size(), 47040000u);
  std::string path = dir_.write("images", images);
  std::string command = "/usr/bin/python3 -c \"import hashlib,sys; sys.stdout.write(hashlib.sha256(open('" +
                        path + "','rb').read()).hexdigest())\" > " + dir_.path("digest");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string digest;
  std::ifstream(dir_.path("digest")) >> digest;
  EXPECT_EQ(digest, "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757");
}

TEST_F(Mnist, AllFourFilesAreWhatPythonsGzipGives) {
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                           "t10k-labels-idx1-ubyte"}) {
    std::string compressed = kFolder + "/" + name + ".gz", plain = dir_.path(name);
    std::string command = "/usr/bin/python3 -c \"import gzip; open('" + plain + "','wb').write(gzip.open('" +
                          compressed + "').read())\"";
    ASSERT_EQ(std::system(command.c_str()), 0);
    SourceRef inflated = open_idx(compressed, context_for(IoMode::kAuto)).take();
    SourceRef mapped = open_idx(plain, context_for(IoMode::kMmap)).take();
    EXPECT_TRUE(all_samples(*inflated) == all_samples(*mapped)) << name;
    EXPECT_EQ(inflated->schema().fields[0].shape, mapped->schema().fields[0].shape);
  }
}

}  // namespace
}  // namespace dataline::idx_test
