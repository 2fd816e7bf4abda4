// Which data a dataset holds: its identity, and the files and fingerprints that readers and storages of the host's state.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::identity_test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(char value) { return std::string(8, value); }

// Another file of the same size and time of modification at the same path.
void exchange(const TempDir& dir, const std::string& path, char value) {
  const std::string other = dir.write("other", bytes_of(value));
  fs::last_write_time(other, fs::last_write_time(path));
  fs::rename(other, path);
}

// Rows of four bytes of files, opened for each row; two rows a file.
class Rows : public Reader {
 public:
  explicit Rows(std::vector<std::string> files, std::vector<int64_t> ends = {})
      : files_(std::move(files)), ends_(std::move(ends)) {}
  std::vector<Field> fields() const override { return {Field::dense<uint8_t>("x", {4})}; }
  int64_t count() const override { return 2 * static_cast<int64_t>(files_.size()); }
  std::vector<std::string> files() const override { return files_; }
  std::vector<int64_t> file_ends() const override { return ends_; }
  void read(int64_t index, Record& record) override {
    std::ifstream stream(files_[static_cast<size_t>(index / 2)], std::ios::binary);
    stream.seekg(index % 2 * 4).read(reinterpret_cast<char*>(record.room<uint8_t>(0).data()), 4);
  }

 private:
  std::vector<std::string> files_;
  std::vector<int64_t> ends_;
};

std::string text_of(const Batch& batch) {
  const Span<const uint8_t> x = batch["x"].as<uint8_t>();
  return {x.begin(), x.end()};
}

struct Job {
  std::string text, state;
  int64_t kept = 0;
};

// One epoch of a dataset with a cache.
Job run(const Dataset& dataset, const Options& options) {
  Loader loader(dataset, options);
  Job job;
  job.state = loader.save_state();
  for (const Batch& batch : loader) job.text += text_of(batch);
  job.kept = loader.stats().cache_read;
  return job;
}

TEST(CppIdentity, IsEqualForTheSameFileAndAnotherOneForAFileInItsPlace) {
  const TempDir dir;
  const std::string path = dir.write("rows.bin", bytes_of('a')), uri = "raw:" + path + "?dtype=u8&shape=4";
  const std::string first = Dataset(uri).identity();
  EXPECT_EQ(Dataset(uri).identity(), first);
  exchange(dir, path, 'b');
  EXPECT_NE(Dataset(uri).identity(), first);
  EXPECT_EQ(first.find(path), std::string::npos) << "paths are digests";
}

TEST(CppIdentity, OfDataInMemoryIsUnsupported) {
  const Dataset dataset = counting(3);
  EXPECT_EQ(dataset.try_identity().status(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(says(thrown_by([&] { static_cast<void>(dataset.identity()); }), {"data in memory"}));
  const Dataset callable = Dataset::from_reader({Field::dense<uint8_t>("x")}, 2, [](int64_t, Record&) {});
  EXPECT_TRUE(says(callable.try_identity().error(), {"a reader without files or a fingerprint"}));
}

TEST(CppIdentity, AFileThatAReaderStatesIsNoticedByCachesAndStates) {
  for (const std::vector<int64_t>& ends : {std::vector<int64_t>{}, std::vector<int64_t>{2, 4}}) {
    const TempDir dir;
    const std::vector<std::string> files = {dir.write("a", bytes_of('a')), dir.write("b", bytes_of('b'))};
    const auto open = [&] { return Dataset::from_reader(std::make_unique<Rows>(files, ends)); };
    const Options options = {{"epochs", 1}, {"cache", dir.path("cache")}};
    const Job first = run(open(), options);
    EXPECT_EQ(first.text, bytes_of('a') + bytes_of('b'));
    EXPECT_EQ(run(open(), options).kept, 4);
    exchange(dir, files[1], 'c');
    const Job then = run(open(), options);
    EXPECT_EQ(then.text, bytes_of('a') + bytes_of('c'));
    EXPECT_EQ(then.kept, ends.empty() ? 0 : 2) << "with file_ends the rows of the other file stay";
    EXPECT_NE(then.state, first.state);
    Loader loader(open(), options);
    EXPECT_EQ(loader.try_load_state(first.state).status(), DL_ERR_STATE_REFUSED);
    EXPECT_EQ(loader.try_load_state(then.state).status(), DL_OK);
  }
}

TEST(CppIdentity, FileEndsThatFitNoFilesAreRefused) {
  const std::vector<std::string> files = {"a", "b"};
  const auto error = [&](std::vector<int64_t> ends) {
    return Dataset::try_from_reader(std::make_unique<Rows>(files, std::move(ends))).error();
  };
  EXPECT_EQ(error({4}).code(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_TRUE(says(error({4}), {"1 file_ends for 2 files"}));
  EXPECT_TRUE(says(error({3, 2}), {"file_ends[1] is 2, expected 3 to 4"}));
  EXPECT_TRUE(says(error({2, 3}), {"file_ends end at 3", "record_count is 4"}));
}

// An object that states a version, or none.
class Versioned : public StoredObject {
 public:
  Versioned(char value, std::string version) : value_(value), version_(std::move(version)) {}
  int64_t bytes() const override { return 8; }
  const char* fingerprint() const override { return version_.c_str(); }
  Result<void> read(int64_t, Span<std::byte> out, Cancelled) const override {
    for (std::byte& byte : out) byte = static_cast<std::byte>(value_);
    return {};
  }

 private:
  char value_;
  std::string version_;
};

TEST(CppIdentity, AnObjectIsTheSameByItsFingerprint) {
  const TempDir dir;
  char value = 'a';
  std::string version = "v1";
  Storage storage;
  storage.scheme = "mem";
  storage.open = [&](const StorageRequest&) -> Result<std::unique_ptr<StoredObject>> {
    return std::unique_ptr<StoredObject>(std::make_unique<Versioned>(value, version));
  };
  Extensions extensions;
  extensions.add_storage(storage);
  Options options = {{"epochs", 1}, {"cache", dir.path("cache")}};
  options.set_extensions(extensions);
  const auto open = [&] { return Dataset("raw:x=mem://x?dtype=u8&shape=4", options); };
  const std::string identity = open().identity();
  EXPECT_EQ(open().identity(), identity);
  EXPECT_EQ(run(open(), options).text, bytes_of('a'));
  EXPECT_EQ(run(open(), options).kept, 2);
  value = 'b', version = "v2";
  EXPECT_NE(open().identity(), identity);
  EXPECT_EQ(run(open(), options).text, bytes_of('b'));
  version = "";
  EXPECT_EQ(open().try_identity().status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(Loader::try_create(open(), options).status(), DL_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace dataline::cpp_tests::identity_test
