// A folder of class folders on Windows, through the C interface: the order, the labels, names in UTF-8, the saved index.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/conformance/files.h"

namespace dataline::tests::folder_test {
namespace {

std::vector<std::string> samples(const std::string& uri) {
  const Opened opened = open_dataset(uri);
  EXPECT_EQ(opened.status, DL_OK) << opened.error.message;
  if (opened.status != DL_OK) return {};
  std::vector<std::string> out;
  const Loader loader = make_loader(opened.dataset, {{"batch_size", "1"}, {"num_workers", "2"}});
  for (Delivered got = next(loader); got.status == DL_OK; got = next(loader)) {
    int64_t label = 0;
    const std::string bytes = row_bytes(got.batch.get(), 1);
    std::memcpy(&label, bytes.data(), sizeof label);
    out.push_back(row_bytes(got.batch.get(), 0) + " " + std::to_string(label));
  }
  return out;
}

TEST(WindowsFolder, SamplesAreInTheOrderOfTheirNamesWithTheirClasses) {
  const TempDir dir;
  const auto write = [&](const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(std::u8string(name.begin(), name.end()));
    const auto whole = std::filesystem::path(dir.path("set")) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
  };
  write("cat/2.bin", "two");
  write("cat/10.bin", "ten");
  write("cat/inner/\xc3\xa4.bin", "umlaut");
  write("b\xc3\xa4r/only.bin", "bear");
  write("b\xc3\xa4r/not.txt", "not read");
  const std::vector<std::string> expected = {"bear 0", "ten 1", "two 1", "umlaut 1"};
  const std::string uri = "folder:" + dir.path("set") + "?extensions=bin&labels=folder";
  EXPECT_EQ(samples(uri), expected);
  const std::string indexed = uri + "&index=" + dir.path("set.index");
  EXPECT_EQ(samples(indexed), expected);
  EXPECT_TRUE(std::filesystem::exists(dir.path("set.index")));
  EXPECT_EQ(samples(indexed), expected) << "from the saved index";
}

}  // namespace
}  // namespace dataline::tests::folder_test
