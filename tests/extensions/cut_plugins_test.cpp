// Plug-in files that the dynamic linker must not map: cut ones would end the process by SIGBUS, a FIFO would block it.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/extensions/extensions_support.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::cut_plugins_test {
namespace {

namespace fs = std::filesystem;

class PluginFiles : public Extensions {
 protected:
  ~PluginFiles() override { fs::remove_all(folder_); }
  dl_status load(const std::string& path) { return dl_extensions_load(extensions_, path.c_str(), &error_); }

  const std::string folder_ = make_temp_folder("dataline-plugins");
  const std::string file_ = folder_ + "/libdataline-cut.so";
};

TEST_F(PluginFiles, CutAtAnyLengthAreRefusedByName) {
  const std::string whole = in_build(SAMPLES);
  const auto bytes = static_cast<int64_t>(fs::file_size(whole));
  std::vector<int64_t> lengths = {0, 1, 4, 16, 63, 64, 65, bytes - 1};
  for (int64_t length = 100; length < bytes; length += std::max<int64_t>(bytes / 64, 1))
    lengths.push_back(length);
  for (const int64_t length : lengths) {
    fs::copy_file(whole, file_, fs::copy_options::overwrite_existing);
    fs::resize_file(file_, static_cast<uintmax_t>(length));
    const dl_status status = load(file_);
    EXPECT_EQ(status, length < 64 ? DL_ERR_NOT_FOUND : DL_ERR_TRUNCATED) << length << ": " << error_.message;
    EXPECT_THAT(error_.message, HasSubstr(file_)) << length;
  }
  fs::copy_file(whole, file_, fs::copy_options::overwrite_existing);
  EXPECT_EQ(load(file_), DL_OK) << error_.message;
}

// Of full length, as what a copy leaves that reserved the file and was stopped.
TEST_F(PluginFiles, ThatEndInZerosAreRefusedByName) {
  const std::string whole = in_build(SAMPLES);
  const auto bytes = static_cast<int64_t>(fs::file_size(whole));
  for (int64_t written = 64; written < bytes / 64 * 48; written += bytes / 64) {
    fs::copy_file(whole, file_, fs::copy_options::overwrite_existing);
    fs::resize_file(file_, static_cast<uintmax_t>(written));
    fs::resize_file(file_, static_cast<uintmax_t>(bytes));
    EXPECT_EQ(load(file_), DL_ERR_CORRUPT) << written << ": " << error_.message;
    EXPECT_THAT(error_.message, HasSubstr(file_ + ": ends in zeros")) << written;
  }
}

// Numbers of the headers that point far behind the file, or overflow.
TEST_F(PluginFiles, WithDamagedHeadersAreRefused) {
  constexpr int64_t kSegmentsAt = 32, kSectionsAt = 40, kSegmentCountAt = 56;  // of an ELF header of 64 bits
  for (const int64_t at : {kSegmentsAt, kSectionsAt, kSegmentCountAt}) {
    for (const char value : {'\x7f', '\xff'}) {
      fs::copy_file(in_build(SAMPLES), file_, fs::copy_options::overwrite_existing);
      std::fstream stream(file_, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(at + (at == kSegmentCountAt ? 1 : 7));
      stream.put(value);
      stream.close();
      EXPECT_EQ(load(file_), DL_ERR_TRUNCATED) << at << ": " << error_.message;
    }
  }
}

TEST_F(PluginFiles, ThatAreNoFilesOrNoLibrariesAreRefused) {
  EXPECT_EQ(load(folder_), DL_ERR_NOT_A_FILE) << error_.message;
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(load(fifo), DL_ERR_NOT_A_FILE) << error_.message;
  EXPECT_THAT(error_.message, HasSubstr("FIFO"));
  EXPECT_EQ(load("/dev/null"), DL_ERR_NOT_A_FILE) << error_.message;
  std::ofstream(file_) << "#!/bin/sh\n" << std::string(1000, 'x');
  EXPECT_EQ(load(file_), DL_ERR_NOT_FOUND) << error_.message;
  EXPECT_THAT(error_.message, HasSubstr(file_));
}

TEST_F(PluginFiles, AsADriverOfTheDeviceAreRefusedToo) {
  fs::copy_file(in_build(SAMPLES), file_);
  fs::resize_file(file_, fs::file_size(file_) / 2);
  dl_dataset* dataset = nullptr;
  add_format();
  use();
  ASSERT_EQ(dl_dataset_open("mine:x", options_, &dataset, &error_), DL_OK) << error_.message;
  ASSERT_EQ(dl_options_set(options_, "device", "cuda:0", &error_), DL_OK);
  ASSERT_EQ(dl_options_set(options_, "cuda_library", file_.c_str(), &error_), DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset, options_, &loader, &error_), DL_ERR_NO_DEVICE) << error_.message;
  EXPECT_THAT(error_.message, HasSubstr("the library is truncated"));
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
}

}  // namespace
}  // namespace dataline::tests::cut_plugins_test
