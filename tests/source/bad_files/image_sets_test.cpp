// MNIST and CIFAR directories with a file missing, damaged, or of another kind.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/image_sets/image_set_files.h"

namespace dataline::image_sets_test {
namespace {

namespace fs = std::filesystem;

const std::string kImages = "m/train-images-idx3-ubyte";
const std::string kLabels = "m/train-labels-idx1-ubyte";
const std::string kBatch = "c/data_batch_4.bin";
const std::string kLfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
const std::string kPage = "<!DOCTYPE html>\n<html><body>503</body></html>\n";

struct BadSet {
  std::string name;
  std::string uri;  // without the directory
  std::function<void(const TempDir&)> damage;
  Code code;
  std::vector<std::string> parts;
};

// Damages that replace or take away one file.
std::function<void(const TempDir&)> with(std::string file, std::string bytes) {
  return [file = std::move(file), bytes = std::move(bytes)](const TempDir& dir) { dir.write(file, bytes); };
}
std::function<void(const TempDir&)> without(std::string file) {
  return [file = std::move(file)](const TempDir& dir) { fs::remove_all(dir.path(file)); };
}
// Takes a file away and makes something else in its place.
std::function<void(const TempDir&)> instead(std::string file, std::function<void(const std::string&)> make) {
  return [file = std::move(file), make = std::move(make)](const TempDir& dir) {
    fs::remove_all(dir.path(file));
    make(dir.path(file));
  };
}
void make_fifo(const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }
void make_folder(const std::string& path) { fs::create_directory(path); }
void make_loop(const std::string& path) { fs::create_symlink(path, path); }
void make_dangling(const std::string& path) { fs::create_symlink("/nowhere/at/all", path); }

void check_bad_sets(const std::vector<BadSet>& table) {
  EXPECT_GE(table.size(), 40u);
  PeakGrowth growth;
  const bool gzip = gzip_is_read();
  for (const BadSet& bad : table) {
    SCOPED_TRACE(bad.name);
    if (!gzip && bad.name.starts_with("gzip")) continue;  // refused as a whole: gzip_test.cpp
    TempDir dir;
    if (bad.uri.starts_with("mnist")) write_mnist(dir);
    if (bad.uri.starts_with("cifar10:")) write_cifar10(dir);
    if (bad.uri.starts_with("cifar100:")) write_cifar100(dir);
    std::string uri = bad.uri;
    uri.insert(uri.find(':') + 1, dir.path() + "/");
    ASSERT_TRUE(open_source(uri, test_context()).is_ok()) << "before the damage";
    bad.damage(dir);
    OpenContext context = test_context();
    Result<SourceRef> source = open_source(uri, context);
    expect_error(source, bad.code, bad.parts);
    EXPECT_EQ(context.memory->in_use_bytes(), 0);
    EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

// A gzip file whose trailer claims another size.
std::string with_trailer(std::string packed, uint32_t bytes) {
  return packed.substr(0, packed.size() - 4) + raw_bytes(bytes);
}

TEST(MnistBadFiles, EveryOneIsNamed) {
  const std::string images = mnist_images(3), labels = mnist_labels({7, 0, 9});
  check_bad_sets({
      {"no images",
       "mnist:m",
       without(kImages),
       Code::kNotFound,
       {"no train-images-idx3-ubyte in it, plain or .gz"}},
      {"no labels", "mnist:m", without(kLabels), Code::kNotFound, {"train-labels-idx1-ubyte: no such file"}},
      {"no test images",
       "mnist:m?split=test",
       without("m/t10k-images-idx3-ubyte"),
       Code::kNotFound,
       {"t10k-images"}},
      {"no test labels",
       "mnist:m?split=test",
       without("m/t10k-labels-idx1-ubyte"),
       Code::kNotFound,
       {"t10k-labels"}},
      {"no directory", "mnist:m", without("m"), Code::kNotFound, {"/m: no such file"}},
      {"a file",
       "mnist:m",
       instead("m", [](const std::string& p) { std::ofstream(p) << "x"; }),
       Code::kNotFound,
       {"is a file, expected the directory that holds train-images"}},
      {"a FIFO as directory",
       "mnist:m",
       instead("m", make_fifo),
       Code::kNotFound,
       {"is a file, expected the directory"}},
      {"images are a FIFO", "mnist:m", instead(kImages, make_fifo), Code::kNotAFile, {"train-images"}},
      {"labels are a FIFO", "mnist:m", instead(kLabels, make_fifo), Code::kNotAFile, {"train-labels"}},
      {"images are a directory", "mnist:m", instead(kImages, make_folder), Code::kNotAFile, {"train-images"}},
      {"labels are a directory", "mnist:m", instead(kLabels, make_folder), Code::kNotAFile, {"train-labels"}},
      {"images dangle", "mnist:m", instead(kImages, make_dangling), Code::kNotFound, {"train-images"}},
      {"labels loop", "mnist:m", instead(kLabels, make_loop), Code::kNotFound, {"train-labels"}},
      {"empty images", "mnist:m", with(kImages, ""), Code::kTruncated, {kImages, "offset 0"}},
      {"empty labels", "mnist:m", with(kLabels, ""), Code::kTruncated, {kLabels, "offset 0"}},
      {"one byte of images", "mnist:m", with(kImages, images.substr(0, 1)), Code::kTruncated, {kImages}},
      {"images' header only",
       "mnist:m",
       with(kImages, images.substr(0, 16)),
       Code::kTruncated,
       {"offset 16", "needs 2352 bytes, the file has 0"}},
      {"images' header cut", "mnist:m", with(kImages, images.substr(0, 15)), Code::kTruncated, {kImages}},
      {"images less a byte",
       "mnist:m",
       with(kImages, images.substr(0, images.size() - 1)),
       Code::kTruncated,
       {"needs 2352 bytes, the file has 2351"}},
      {"images and a byte", "mnist:m", with(kImages, images + "x"), Code::kCorrupt, {"1 bytes after"}},
      {"labels less a byte",
       "mnist:m",
       with(kLabels, labels.substr(0, labels.size() - 1)),
       Code::kTruncated,
       {"needs 3 bytes, the file has 2"}},
      {"labels and a byte", "mnist:m", with(kLabels, labels + "x"), Code::kCorrupt, {"1 bytes after"}},
      {"labels less a record",
       "mnist:m",
       with(kLabels, mnist_labels({7, 0})),
       Code::kMismatch,
       {"train-labels-idx1-ubyte has 2 samples", "train-images-idx3-ubyte has 3"}},
      {"labels of the test set",
       "mnist:m",
       with(kLabels, mnist_labels({1, 2})),
       Code::kMismatch,
       {"has 2 samples"}},
      {"images and no labels",
       "mnist:m",
       with(kLabels, mnist_labels("")),
       Code::kMismatch,
       {"has 0 samples", "has 3"}},
      {"image count + 1",
       "mnist:m",
       with(kImages, mnist_images(3, 4)),
       Code::kTruncated,
       {"needs 3136 bytes"}},
      {"image count - 1", "mnist:m", with(kImages, mnist_images(3, 2)), Code::kCorrupt, {"784 bytes after"}},
      {"image count 2^31",
       "mnist:m",
       with(kImages, mnist_images(3, int64_t{1} << 31)),
       Code::kTruncated,
       {"file has 2352"}},
      {"image count 2^32 - 1",
       "mnist:m",
       with(kImages, mnist_images(3, 0xffffffff)),
       Code::kTruncated,
       {"file has 2352"}},
      {"label count 2^32 - 1",
       "mnist:m",
       with(kLabels, mnist_labels({7, 0, 9}, 0xffffffff)),
       Code::kTruncated,
       {"offset 8", "needs 4294967295 bytes, the file has 3"}},
      {"images of 32x32",
       "mnist:m",
       with(kImages, big_u32(0x803) + big_u32(1) + big_u32(32) + big_u32(32) + std::string(1024, 'x')),
       Code::kMismatch,
       {"samples of u8[32x32], mnist has u8[28x28]"}},
      {"images flattened",
       "mnist:m",
       with(kImages, big_u32(0x802) + big_u32(1) + big_u32(784) + std::string(784, 'x')),
       Code::kMismatch,
       {"samples of u8[784]"}},
      {"images as i8",
       "mnist:m",
       with(kImages, big_u32(0x903) + images.substr(4)),
       Code::kMismatch,
       {"samples of i8[28x28]"}},
      {"labels as i32",
       "mnist:m",
       with(kLabels, big_u32(0xc01) + big_u32(3) + std::string(12, '\0')),
       Code::kMismatch,
       {"samples of i32[]"}},
      {"labels two-dimensional",
       "mnist:m",
       with(kLabels, big_u32(0x802) + big_u32(3) + big_u32(1) + "abc"),
       Code::kMismatch,
       {"samples of u8[1]"}},
      {"images for labels",
       "mnist:m",
       with(kLabels, images),
       Code::kMismatch,
       {"samples of u8[28x28], mnist has u8[] here"}},
      {"labels for images", "mnist:m", with(kImages, labels), Code::kMismatch, {"samples of u8[]"}},
      {"wrong magic", "mnist:m", with(kImages, "\x01" + images.substr(1)), Code::kCorrupt, {"offset 0"}},
      {"type 0", "mnist:m", with(kImages, big_u32(0x003) + images.substr(4)), Code::kCorrupt, {"offset 2"}},
      {"little-endian counts",
       "mnist:m",
       with(kImages, big_u32(0x803) + std::string("\x03\0\0\0\x1c\0\0\0\x1c\0\0\0", 12) + images.substr(16)),
       Code::kCorrupt,
       {"more than 2^63 bytes"}},
      {"git-LFS pointer", "mnist:m", with(kImages, kLfs), Code::kCorrupt, {"git-LFS pointer"}},
      {"HTML page", "mnist:m", with(kLabels, kPage), Code::kCorrupt, {"HTML page"}},
      {"npy",
       "mnist:m",
       with(kImages, npy_file("|u1", "(3, 28, 28)", images.substr(16))),
       Code::kCorrupt,
       {"npy"}},
      {"gzip cut",
       "mnist:m",
       with(kImages, gzip_stored(images).substr(0, 30)),
       Code::kCorrupt,
       {"gzip data is damaged or truncated"}},
      {"gzip of something else", "mnist:m", with(kImages, gzip_stored(kPage)), Code::kCorrupt, {"HTML page"}},
  });
}

TEST(CifarBadFiles, EveryOneIsNamed) {
  const std::string record = cifar10_record(3, 3), coarse = cifar100_record(3, 4, 3);
  const std::string packed = gzip_stored(record + record);
  auto swap_in = [](const std::string& packed_bytes) {
    return [packed_bytes](const TempDir& dir) {
      fs::remove(dir.path(kBatch));
      dir.write(kBatch + ".gz", packed_bytes);
    };
  };
  auto python_version = [](const TempDir& dir) {
    fs::remove_all(dir.path("c"));
    dir.write("c/cifar-10-batches-py/data_batch_1", "\x80\x02}q\x01");
  };
  auto python_100 = [](const TempDir& dir) {
    fs::remove_all(dir.path("h"));
    dir.write("h/train", "\x80\x02}q\x01");
  };
  std::vector<BadSet> table = {
      {"no directory", "cifar10:c", without("c"), Code::kNotFound, {"/c: no such file"}},
      {"no test file",
       "cifar10:c?split=test",
       without("c/test_batch.bin"),
       Code::kNotFound,
       {"no test_batch.bin in it"}},
      {"a file",
       "cifar10:c",
       instead("c", [](const std::string& p) { std::ofstream(p) << "x"; }),
       Code::kNotFound,
       {"is a file, expected the directory that holds data_batch_1.bin"}},
      {"the Python version",
       "cifar10:c",
       python_version,
       Code::kUnsafeType,
       {"data_batch_1: is the Python version", "pickle"}},
      {"the Python version of 100",
       "cifar100:h",
       python_100,
       Code::kUnsafeType,
       {"/train: is the Python version of cifar100"}},
      {"no train file", "cifar100:h", without("h/train.bin"), Code::kNotFound, {"no train.bin in it"}},
      {"no test file of 100",
       "cifar100:h?split=test",
       without("h/test.bin"),
       Code::kNotFound,
       {"no test.bin in it"}},
      {"FIFO", "cifar10:c", instead(kBatch, make_fifo), Code::kNotAFile, {kBatch}},
      {"directory", "cifar10:c", instead(kBatch, make_folder), Code::kNotAFile, {kBatch}},
      {"dangling link", "cifar10:c", instead(kBatch, make_dangling), Code::kNotFound, {kBatch}},
      {"link loop", "cifar10:c", instead(kBatch, make_loop), Code::kNotFound, {kBatch}},
      {"empty",
       "cifar10:c",
       with(kBatch, ""),
       Code::kTruncated,
       {"offset 0: a cifar10 record needs 3073 bytes, the file has 0"}},
      {"empty train file",
       "cifar100:h",
       with("h/train.bin", ""),
       Code::kTruncated,
       {"needs 3074 bytes, the file has 0"}},
      {"one byte", "cifar10:c", with(kBatch, "x"), Code::kTruncated, {"offset 0", "file has 1"}},
      {"a byte less",
       "cifar10:c",
       with(kBatch, record.substr(1)),
       Code::kTruncated,
       {"offset 0", "file has 3072"}},
      {"a byte more",
       "cifar10:c",
       with(kBatch, record + "x"),
       Code::kTruncated,
       {"offset 3073", "file has 1"}},
      {"second record cut",
       "cifar10:c",
       with(kBatch, record + record.substr(1)),
       Code::kTruncated,
       {"offset 3073", "3072"}},
      {"records of 100",
       "cifar10:c",
       with(kBatch, coarse + coarse),
       Code::kTruncated,
       {"offset 6146", "file has 2"}},
      {"records of 10",
       "cifar100:h",
       with("h/train.bin", record + record),
       Code::kTruncated,
       {"offset 3074", "file has 3072"}},
      {"git-LFS pointer",
       "cifar10:c",
       with(kBatch, kLfs),
       Code::kCorrupt,
       {"cifar10 records, got a git-LFS pointer"}},
      {"HTML page", "cifar10:c", with(kBatch, kPage), Code::kCorrupt, {"got an HTML page"}},
      {"HTML page for 100", "cifar100:h", with("h/train.bin", kPage), Code::kCorrupt, {"got an HTML page"}},
      {"zip", "cifar10:c", with(kBatch, "PK\x03\x04" + kPage), Code::kCorrupt, {"zip"}},
      {"npy", "cifar10:c", with(kBatch, npy_file("|u1", "(1, 3073)", record)), Code::kCorrupt, {"npy"}},
      {"gzip cut", "cifar10:c", swap_in(packed.substr(0, packed.size() - 9)), Code::kCorrupt, {".gz"}},
      {"gzip of 17 bytes",
       "cifar10:c",
       swap_in(packed.substr(0, 17)),
       Code::kTruncated,
       {"needs at least 18 bytes, the file has 17"}},
      {"gzip of 2 bytes", "cifar10:c", swap_in(packed.substr(0, 2)), Code::kTruncated, {"file has 2"}},
      {"gzip of a cut record",
       "cifar10:c",
       swap_in(gzip_stored(record + "x")),
       Code::kTruncated,
       {"offset 3073"}},
      {"gzip of nothing", "cifar10:c", swap_in(gzip_stored("")), Code::kTruncated, {"file has 0"}},
      {"gzip of a page", "cifar10:c", swap_in(gzip_stored(kPage)), Code::kCorrupt, {"HTML page"}},
      {"gzip trailer claims 4 GiB",
       "cifar10:c",
       swap_in(with_trailer(packed, 0xffffffff)),
       Code::kCorrupt,
       {"gzip length: expected 4294967295, got 6146"}},
      {"gzip trailer claims a byte more",
       "cifar10:c",
       swap_in(with_trailer(packed, 6147)),
       Code::kCorrupt,
       {"expected 6147, got 6146"}},
      {"gzip trailer claims a byte less",
       "cifar10:c",
       swap_in(with_trailer(packed, 6145)),
       Code::kCorrupt,
       {"gzip length: expected 6145, got 6146"}},
      {"gzip trailer claims nothing",
       "cifar10:c",
       swap_in(with_trailer(packed, 0)),
       Code::kCorrupt,
       {"gzip length: expected 0, got 6146"}},
      {"gzip and garbage",
       "cifar10:c",
       swap_in(packed + "garbage, and more of it"),
       Code::kCorrupt,
       {"expected a gzip member, got 23 other bytes"}},
      {"gzip damaged",
       "cifar10:c",
       swap_in(packed.substr(0, 14) + "!!!!" + packed.substr(18)),
       Code::kCorrupt,
       {"offset 10: gzip data is damaged"}},
  };
  for (int batch = 1; batch <= 5; ++batch) {
    std::string file = concat("data_batch_", batch, ".bin");
    table.push_back({concat("no ", file), "cifar10:c", without("c/" + file), Code::kNotFound, {file}});
  }
  check_bad_sets(table);
}

}  // namespace
}  // namespace dataline::image_sets_test
