// Files as a host meets them: read in every way, cold, cut while in use; and values of every dtype. Case numbers are
// those of the black-box cases that other loaders are measured by.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/conformance/files.h"

namespace dataline::tests::files_test {
namespace {

constexpr int64_t kRecordBytes = 4096;
constexpr int64_t kRecords = 128;

std::string raw_uri(const std::string& path) {
  return "raw:" + path + "?dtype=u8&shape=" + std::to_string(kRecordBytes);
}

// Rows in the order of their sample index, whatever order they came in.
std::string epoch_by_index(const Loader& loader, int64_t row, int64_t count) {
  std::string all(static_cast<size_t>(count * row), '?');
  for (;;) {
    Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return all;
    }
    const std::string bytes = row_bytes(got.batch.get(), 0);
    for (size_t i = 0; i < got.indices.size(); ++i) {
      all.replace(static_cast<size_t>(got.indices[i] * row), static_cast<size_t>(row), bytes,
                  i * static_cast<size_t>(row), static_cast<size_t>(row));
    }
  }
}

class IoModes : public ::testing::TestWithParam<const char*> {
 protected:
  Settings io(Settings settings = {}) const {
    settings.emplace_back("io", GetParam());
    return settings;
  }
  Dataset open(const std::string& uri) const {
    Opened opened = open_dataset(uri, io());
    EXPECT_EQ(opened.status, DL_OK) << opened.error.message;
    return std::move(opened.dataset);
  }
  TempDir files_;
};

TEST_P(IoModes, DeliverTheBytesOfEachFormat) {
  const std::string data = pattern_bytes(60 * 24);
  const std::vector<std::string> uris = {
      "npy:" + files_.write("a.npy", npy_file("<i2", "(60, 3, 4)", data)),
      "idx:" + files_.write("b-idx3-ubyte", idx_file({60, 4, 6}, data)),
      "raw:" + files_.write("c.raw", "head" + data) + "?header=4&dtype=f32&shape=2x3",
      "safetensors:" + files_.write("d.safetensors", safetensors_file("I16", "60,3,4", data)),
  };
  for (const std::string& uri : uris) {
    Dataset dataset = open(uri);
    ASSERT_NE(dataset, nullptr) << uri;
    EXPECT_EQ(dl_dataset_count(dataset.get()), 60) << uri;
    for (const char* workers : {"0", "2"}) {
      EXPECT_EQ(epoch_bytes(make_loader(dataset, {{"batch_size", "7"}, {"num_workers", workers}})), data)
          << uri;
      EXPECT_EQ(
          epoch_by_index(
              make_loader(dataset, {{"batch_size", "7"}, {"num_workers", workers}, {"shuffle", "full"}}), 24,
              60),
          data)
          << uri;
    }
  }
}

TEST_P(IoModes, OtherByteOrdersComeOutNative) {
  const std::string path =
      files_.write("big.npy", npy_file(">u4", "(2,)", std::string("\0\0\1\2\3\4\5\6", 8)));
  EXPECT_EQ(epoch_bytes(make_loader(open(path))), bytes_of(std::vector<uint32_t>{0x0102, 0x03040506}));
}

// Share of the file's pages that the page cache holds.
double resident_share(const std::string& path, int64_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY);
  void* map = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  std::vector<unsigned char> pages(static_cast<size_t>((bytes + 4095) / 4096));
  EXPECT_EQ(::mincore(map, static_cast<size_t>(bytes), pages.data()), 0);
  ::munmap(map, static_cast<size_t>(bytes));
  return static_cast<double>(
             std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; })) /
         static_cast<double>(pages.size());
}

TEST_P(IoModes, AFileOutsideThePageCacheDeliversTheSameBytes) {
  const std::string data = pattern_bytes(kRecords * kRecordBytes);
  const std::string path = files_.write("cold.raw", data);
  for (const char* workers : {"0", "2"}) {
    for (const char* shuffle : {"none", "full"}) {
      Dataset dataset = open(raw_uri(path));
      const int file = ::open(path.c_str(), O_RDONLY);
      ASSERT_EQ(::fsync(file), 0);
      EXPECT_EQ(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
      ::close(file);
      RecordProperty("resident_before", std::to_string(resident_share(path, kRecords * kRecordBytes)));
      Loader loader =
          make_loader(dataset, {{"batch_size", "48"}, {"num_workers", workers}, {"shuffle", shuffle}});
      EXPECT_TRUE(epoch_by_index(loader, kRecordBytes, kRecords) == data) << workers << " " << shuffle;
    }
  }
}

TEST_P(IoModes, Case22ARemovedFileIsStillRead) {
  const std::string data = pattern_bytes(kRecords * kRecordBytes);
  const std::string path = files_.write("gone.raw", data);
  Dataset dataset = open(raw_uri(path));
  ASSERT_TRUE(std::filesystem::remove(path));
  EXPECT_TRUE(epoch_bytes(make_loader(dataset)) == data) << "the open file keeps it";
}

// The file is cut while batches are loaded ahead and no worker is reading: what is left comes out whole, what is gone
// is told with the file's name, and the loader goes on.
TEST_P(IoModes, Case22AFileCutWhileInUseIsAnErrorNamingItAndTheLoaderLivesOn) {
  const bool in_memory = std::string(GetParam()) == "memory";
  const std::string data = pattern_bytes(kRecords * kRecordBytes);
  for (const char* workers : {"0", "2"}) {
    const std::string path = files_.write("cut.raw", data);
    Dataset dataset = open(raw_uri(path));
    Loader loader = make_loader(dataset, {{"batch_size", "16"}, {"num_workers", workers}, {"epochs", "2"}});
    while (*workers != '0' && stats_of(loader).ready_batches < 4) std::this_thread::yield();
    std::filesystem::resize_file(path, static_cast<uintmax_t>(kRecords / 2 * kRecordBytes));

    int64_t good = 0, errors = 0;
    for (Delivered got; got.status != DL_END;) {
      got = next(loader);
      if (got.status == DL_OK) {
        for (size_t i = 0; i < got.indices.size(); ++i) {
          const std::string row = row_bytes(got.batch.get(), 0).substr(i * kRecordBytes, kRecordBytes);
          ASSERT_TRUE(data.compare(static_cast<size_t>(got.indices[i]) * kRecordBytes, kRecordBytes, row) ==
                      0);
        }
        good += static_cast<int64_t>(got.indices.size());
      } else if (got.status < 0) {
        ASSERT_EQ(got.status, DL_ERR_BAD_SAMPLE) << got.message;
        EXPECT_NE(got.message.find(path), std::string::npos) << got.message;
        ++errors;
      }
    }
    EXPECT_EQ(errors, in_memory ? 0 : 2 * kRecords / 2 / 16) << GetParam() << ", once a step";
    EXPECT_EQ(good, in_memory ? 2 * kRecords : kRecords) << GetParam();
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), in_memory ? 0 : kRecords / 2);
    if (in_memory) continue;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, nullptr), DL_OK);
    EXPECT_EQ(bad.code, DL_ERR_TRUNCATED) << bad.message;
    EXPECT_EQ(bad.index, kRecords / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, IoModes, ::testing::Values("mmap", "pread", "memory"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Conformance, Case22AFileThatIsGoneOrBrokenBeforeOpenIsAnErrorNamingIt) {
  TempDir files;
  const std::string short_file = files.write("short.npy", npy_file("<f8", "(1000, 10)", "few bytes"));
  const std::string no_file = files.path("none.npy");
  const std::string garbage = files.write("garbage.npy", pattern_bytes(500));
  for (const std::string& path : {short_file, no_file, garbage}) {
    Opened opened = open_dataset("npy:" + path);
    EXPECT_LT(opened.status, 0);
    EXPECT_EQ(opened.dataset, nullptr);
    EXPECT_NE(std::string(opened.error.message).find(path), std::string::npos) << opened.error.message;
  }
}

TEST(Conformance, Case30EveryDtypeEqualsItsSamplesReadOneByOne) {
  constexpr int64_t kRows = 37, kItems = 3;
  const std::string data = pattern_bytes(kRows * kItems * 16);
  for (int32_t dtype = DL_DTYPE_BOOL; dtype <= DL_DTYPE_C128; ++dtype) {
    Dataset dataset = array_dataset(array_of("data", dtype, {kRows, kItems}, data.data()));
    const int64_t row = kItems * dl_dtype_bytes(dtype);
    std::string expected = data.substr(0, static_cast<size_t>(kRows * row));
    if (dtype == DL_DTYPE_BOOL) {
      for (char& byte : expected) byte = byte != 0 ? 1 : 0;  // whatever byte stands for true
    }
    EXPECT_EQ(epoch_bytes(make_loader(dataset, {{"batch_size", "1"}})), expected) << dl_dtype_name(dtype);
    EXPECT_EQ(epoch_bytes(make_loader(dataset, {{"batch_size", "10"}})), expected) << dl_dtype_name(dtype);
    EXPECT_EQ(epoch_by_index(make_loader(dataset, {{"batch_size", "10"}, {"shuffle", "full"}}), row, kRows),
              expected)
        << dl_dtype_name(dtype);
  }
}

}  // namespace
}  // namespace dataline::tests::files_test
