// The format of a bare path, from its content, then its name.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/source/tokens/token_files.h"

namespace dataline::detect_test {
namespace {

namespace fs = std::filesystem;

class DetectTest : public testing::Test {
 protected:
  std::string format(const std::string& name) {
    Result<const Format*> found = detect_format(dir_.path(name), context_);
    return found.is_ok() ? std::string(found.value()->name)
                         : concat(code_name(found.status().code()), " ", found.status().message());
  }
  std::string format_of(const std::string& name, const std::string& bytes) {
    dir_.write(name, bytes);
    return format(name);
  }

  TempDir dir_;
  OpenContext context_ = test_context();
};

const std::string kIdx = big_u32(0x803) + big_u32(2) + big_u32(1) + big_u32(2) + "abcd";

TEST_F(DetectTest, ContentGoesBeforeTheName) {
  std::string npy = npy_file("|u1", "(2,)", "ab");
  EXPECT_EQ(format_of("a.npy", npy), "npy");
  EXPECT_EQ(format_of("a.bin", npy), "npy");
  EXPECT_EQ(format_of("a", kIdx), "idx");
  EXPECT_EQ(format_of("idx.bin", kIdx), "idx");
  EXPECT_EQ(format_of("llmc", llmc_u16(9)), "tokens");
  EXPECT_EQ(format_of("llmc.npy", llmc_u32(9)), "tokens");
  EXPECT_EQ(format_of("eval", llmc_header(20240522, 1, 0)), "tokens");
  EXPECT_EQ(format_of("t10k-labels-idx1-ubyte", mnist_labels("abc")), "idx");
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(format_of("x.bin", tar), "tar");
}

// Wherever a file starts like one of another format, the surer of the two wins.
TEST_F(DetectTest, TheMagicOfTarGoesBeforeShorterOnes) {
  const auto with_tar_magic = [](std::string bytes) {
    bytes.resize(2048);
    return bytes.replace(257, 5, "ustar");
  };
  EXPECT_EQ(format_of("idx", with_tar_magic(big_u32(0x801) + big_u32(2040))), "tar");
  EXPECT_EQ(format_of("llmc", with_tar_magic(llmc_u16(512))), "tar");
  EXPECT_EQ(format_of("gzip", with_tar_magic("\x1f\x8b")), "tar");
}

TEST_F(DetectTest, TheNameDecidesWhereContentSaysNothing) {
  EXPECT_EQ(format_of("train.bin", raw_bytes(counting_tokens<uint16_t>(50))), "tokens");
  EXPECT_EQ(format_of("empty.bin", ""), "tokens");
  EXPECT_EQ(format_of("broken.npy", "nothing"), "npy");
  EXPECT_EQ(format_of("broken-ubyte", "nothing"), "idx");
  EXPECT_EQ(format_of("x.tar", "nothing"), "tar");
}

// By content or by name, as a file, in a directory or below it.
TEST_F(DetectTest, FilesOfAPluginThatIsNotLoadedNameIt) {
  fs::create_directories(dir_.path("hive/year=2024/month=1"));
  fs::create_directories(dir_.path("flat"));
  for (const char* name : {"a.parquet", "b.PQ", "c", "flat/part-0.parq", "hive/year=2024/month=1/x.parquet"})
    dir_.write(name, "PAR1....PAR1");
  dir_.write("d.parquet", "");
  for (const char* path : {"a.parquet", "b.PQ", "c", "d.parquet", "flat", "hive", "hive/year=2024"}) {
    EXPECT_THAT(format(path),
                testing::HasSubstr("a Parquet file: the plug-in libdataline-parquet.so reads it, but is not "
                                   "loaded: use --plugin in the shell, Extensions.load() or"))
        << path;
  }
}

TEST_F(DetectTest, TwoZeroTokensAreNoIdxHeader) {
  // As IDX: type u8, one dim of 0x00010002. As tokens: 0, 0x0108, 0x0100, 0x0200.
  std::string bytes = big_u32(0x801) + big_u32(0x00010002) + "more";
  EXPECT_EQ(format_of("train.bin", bytes), "tokens");
  EXPECT_EQ(format_of("train", bytes), "idx");
  EXPECT_EQ(format_of("exact.bin", mnist_labels("abc")), "idx");
}

TEST_F(DetectTest, GzipIsTakenForIdxUnlessItsNameSaysOtherwise) {
  EXPECT_EQ(format_of("train-images-idx3-ubyte.gz", gzip_stored(kIdx)), "idx");
  EXPECT_EQ(format_of("anything", gzip_stored(kIdx)), "idx");
  EXPECT_THAT(format_of("a.npy.gz", gzip_stored("x")), testing::HasSubstr("DL_ERR_UNSUPPORTED"));
  EXPECT_THAT(format_of("a.tar.gz", gzip_stored("x")),
              testing::HasSubstr("gzip data, which is not supported"));
}

TEST_F(DetectTest, KnownStrangersAreNamed) {
  struct Case {
    const char* bytes;
    const char* expected;
  };
  for (const Case& c :
       {Case{"PAR1", "DL_ERR_UNSUPPORTED"}, Case{"PK\x03\x04", "zip archive"}, Case{"\x89HDF", "HDF5"},
        Case{"FEA1", "Feather 1"}, Case{"\xff\xd8\xff", "JPEG"}, Case{"\x89PNG", "PNG"},
        Case{"<!DOCTYPE html>", "DL_ERR_CORRUPT"}, Case{"<html>", "HTML page"},
        Case{"version https://git-lfs.github.com/spec/v1", "git-LFS pointer"}}) {
    for (const char* name : {"x.npy", "x.bin", "x"}) {
      EXPECT_THAT(format_of(name, c.bytes), testing::HasSubstr(c.expected)) << name;
    }
  }
}

TEST_F(DetectTest, WhatIsNotRecognisedSaysHowToNameAFormat) {
  for (const char* bytes : {"", "x", "plain text"}) {
    std::string said = format_of("notes.txt", bytes);
    EXPECT_THAT(said, testing::HasSubstr("DL_ERR_BAD_URI"));
    EXPECT_THAT(said, testing::HasSubstr("raw:" + dir_.path("notes.txt") + "?dtype=u8&shape=28x28"));
  }
}

TEST_F(DetectTest, FilesThatCannotBeOpenedSayWhy) {
  EXPECT_THAT(format("nothing"), testing::HasSubstr("DL_ERR_NOT_FOUND"));
  ASSERT_EQ(::mkfifo(dir_.path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(format("fifo"), testing::HasSubstr("DL_ERR_NOT_A_FILE"));
  fs::create_symlink(dir_.path("loop"), dir_.path("loop"));
  EXPECT_THAT(format("loop"), testing::StartsWith("DL_ERR_"));
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything: unreadable files are not tried";
  dir_.write("secret.npy", "x");
  fs::permissions(dir_.path("secret.npy"), fs::perms::none);
  EXPECT_THAT(format("secret.npy"), testing::HasSubstr("DL_ERR_PERMISSION"));
}

TEST_F(DetectTest, DirectoriesOfKnownSetsAreKnown) {
  write_mnist(dir_);
  write_cifar10(dir_);
  write_cifar100(dir_);
  EXPECT_EQ(format("m"), "mnist");
  EXPECT_EQ(format("c"), "cifar10");
  EXPECT_EQ(format("h"), "cifar100");
  dir_.write("packed/train-images-idx3-ubyte.gz", "x");
  EXPECT_EQ(format("packed"), "mnist");
  write_mnist(dir_, "root/MNIST/raw");
  EXPECT_EQ(format("root"), "mnist");
  write_cifar10(dir_, "cifar/cifar-10-batches-bin");
  EXPECT_EQ(format("cifar"), "cifar10");
  fs::remove(dir_.path("h/fine_label_names.txt"));
  EXPECT_EQ(format("h"), "cifar100") << "by the size of its records";
}

TEST_F(DetectTest, ADirectoryOfTokensIsNoCifar) {
  dir_.write("t/train.bin", raw_bytes(counting_tokens<uint16_t>(500)));
  dir_.write("t/test.bin", raw_bytes(counting_tokens<uint16_t>(100)));
  EXPECT_EQ(format("t"), "tokens");
  dir_.write("u/train.bin", llmc_header(20240520, 1, 1025) + std::string(2050, 'x'));
  dir_.write("u/test.bin", llmc_header(20240520, 1, 1025) + std::string(2050, 'x'));
  ASSERT_EQ(fs::file_size(dir_.path("u/test.bin")), 3074u);
  EXPECT_EQ(format("u"), "tokens");
}

TEST_F(DetectTest, OtherDirectoriesHaveTheFormatOfTheirFirstKnownFile) {
  dir_.write("d/LICENSE", "text");
  dir_.write("d/b.npy", npy_file("|u1", "(2,)", "ab"));
  EXPECT_EQ(format("d"), "npy");
  dir_.write("images/cat.jpg", "\xff\xd8\xff");
  EXPECT_EQ(format("images"), "folder");
  expect_error(open_source(dir_.path("images"), context_), Code::kEmpty,
               {"no class folders in it", "?labels=none"});
  dir_.write("notes/a.txt", "text");
  EXPECT_THAT(format("notes"), testing::HasSubstr("no known format among its files"));
}

TEST_F(DetectTest, ADirectoryOfClassFoldersIsAFolder) {
  dir_.write("c/readme.txt", "text");
  dir_.write("c/ant/notes.txt", "text");
  dir_.write("c/bee/7.JPEG", "\xff\xd8\xff");
  EXPECT_EQ(format("c"), "folder");
  EXPECT_EQ(open_source(dir_.path("c") + "/bee", context_).status().code(), Code::kEmpty);
  dir_.write("c/labels.npy", npy_file("|u1", "(2,)", "ab"));
  EXPECT_EQ(format("c"), "npy") << "a file of a known format comes first";
  dir_.write("t/ant/notes.txt", "text");
  EXPECT_THAT(format("t"), testing::HasSubstr("no files in this directory; it has 1 subdirectory (ant)"));
}

TEST_F(DetectTest, AListBesideClassFoldersDoesNotHideThem) {
  for (const char* list : {"labels.csv", "metadata.jsonl"}) {
    const std::string set = concat("c-", list);
    dir_.write(set + "/ant/1.jpg", "\xff\xd8\xff");
    dir_.write(set + "/" + list, "{\"path\": \"ant/1.jpg\", \"label\": 0}\n");
    EXPECT_EQ(format(set), "folder");
    dir_.write(concat("alone-", list, "/", list), "{\"a\": 1}\n");
    EXPECT_EQ(format(concat("alone-", list)), list[0] == 'l' ? "csv" : "jsonl");
  }
}

TEST_F(DetectTest, BarePathsOpenWithTheFormatFound) {
  write_mnist(dir_);
  for (auto [name, expected] : std::vector<std::pair<std::string, std::string>>{{"m", "mnist"}}) {
    SourceRef source = open_source(dir_.path(name), context_).take();
    EXPECT_EQ(source->info().format, expected);
    EXPECT_EQ(source->info().uri, dir_.path(name));
  }
}

}  // namespace
}  // namespace dataline::detect_test
