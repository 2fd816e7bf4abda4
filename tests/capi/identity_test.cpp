// dl_dataset_identity, and the files that a reader of the host's states.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "tests/capi/host_data.h"
#include "tests/memory/temp_files.h"

namespace dataline::tests::identity_test {
namespace {

namespace fs = std::filesystem;

struct Identity {
  dl_status status = DL_OK;
  std::string text;
  Error error;
};

Identity identity_of(const Dataset& dataset) {
  Identity out;
  size_t bytes = 0;
  out.status = dl_dataset_identity(dataset.get(), nullptr, &bytes, &out.error);
  if (out.status != DL_OK) return out;
  out.text.resize(bytes);
  EXPECT_EQ(dl_dataset_identity(dataset.get(), out.text.data(), &bytes, &out.error), DL_OK)
      << out.error.message;
  EXPECT_EQ(bytes, out.text.size());
  EXPECT_EQ(out.text.back(), '\0');
  out.text.pop_back();
  EXPECT_EQ(out.text.find('\0'), std::string::npos);
  return out;
}

// Another file of the same size and time of modification at the same path.
void exchange(const TempDir& dir, const std::string& path, const std::string& bytes) {
  const std::string other = dir.write("other", bytes);
  fs::last_write_time(other, fs::last_write_time(path));
  fs::rename(other, path);
}

Dataset rows_of(const std::string& path) {
  Opened opened = open_dataset("raw:" + path + "?dtype=u8&shape=4");
  EXPECT_EQ(opened.status, DL_OK) << opened.error.message;
  return std::move(opened.dataset);
}

TEST(Identity, TheTextFollowsTheProtocolOfStates) {
  const TempDir dir;
  const Dataset dataset = rows_of(dir.write("rows.bin", "aaaabbbb"));
  const Identity identity = identity_of(dataset);
  ASSERT_EQ(identity.status, DL_OK) << identity.error.message;
  EXPECT_EQ(identity.text.rfind("structure: ", 0), 0U);
  EXPECT_NE(identity.text.find("\nfile 0: rows.bin, 8 bytes, "), std::string::npos) << identity.text;
  EXPECT_EQ(identity.text.back(), '\n');
  char little[4] = "...";
  size_t bytes = sizeof little;
  Error error;
  EXPECT_EQ(dl_dataset_identity(dataset.get(), little, &bytes, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(bytes, identity.text.size() + 1);
  EXPECT_STREQ(little, "...") << "nothing is written";
}

TEST(Identity, IsEqualForTheSameFileAndAnotherOneForAFileInItsPlace) {
  const TempDir dir;
  const std::string path = dir.write("rows.bin", "aaaabbbb");
  const std::string first = identity_of(rows_of(path)).text;
  EXPECT_EQ(identity_of(rows_of(path)).text, first);
  exchange(dir, path, "ccccdddd");
  EXPECT_NE(identity_of(rows_of(path)).text, first);
}

TEST(Identity, OfDataInMemoryIsUnsupported) {
  const uint8_t data[2] = {};
  const std::vector<int64_t> shape = {2};
  const Made made = from_arrays({array_of("x", DL_DTYPE_U8, shape, data)});
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  const Identity identity = identity_of(made.dataset);
  EXPECT_EQ(identity.status, DL_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(identity.error.message).find("data in memory"), std::string::npos);
}

// A reader whose record i is the four bytes from 4 * i on of all its files, two records a file.
struct Filed {
  std::vector<std::string> files;

  static int32_t read(void* context, dl_reader_request* request) {
    const auto& self = *static_cast<const Filed*>(context);
    for (int32_t r = 0; r < request->record_count; ++r) {
      const int64_t index = request->indices[r];
      std::ifstream stream(self.files[static_cast<size_t>(index / 2)], std::ios::binary);
      char* const to = static_cast<char*>(dl_reader_cell_at(request, r, 0)->data);
      stream.seekg(index % 2 * 4).read(to, 4);
    }
    return 0;
  }

  Made open(const std::vector<int64_t>& ends = {}, const char* fingerprint = nullptr, bool state = true) {
    const std::vector<int64_t> shape = {4};
    const dl_view field = field_of("x", DL_DTYPE_U8, shape);
    std::vector<const char*> paths;
    for (const std::string& file : files) paths.push_back(file.c_str());
    dl_reader reader = {};
    reader.struct_size = sizeof reader;
    reader.field_count = 1;
    reader.fields = &field;
    reader.record_count = 2 * static_cast<int64_t>(files.size());
    reader.context = this;
    reader.read = &Filed::read;
    reader.fingerprint = fingerprint;
    if (state) reader.file_count = static_cast<int64_t>(paths.size()), reader.files = paths.data();
    if (!ends.empty()) reader.file_ends = ends.data();
    Made made;
    dl_dataset* dataset = nullptr;
    made.status = dl_dataset_from_reader(&reader, nullptr, &dataset, &made.error);
    made.dataset.reset(dataset);
    return made;
  }
};

struct Job {
  std::string state;
  int64_t kept = 0;
  std::string bytes;
};

Job run(const Dataset& dataset, const Settings& settings) {
  Job job;
  const Loader loader = make_loader(dataset, settings);
  job.state = save_state(loader);
  job.bytes = epoch_bytes(loader);
  job.kept = stats_of(loader).cache_read;
  return job;
}

std::string load_error(const Loader& loader, const std::string& state) {
  Error error;
  return dl_loader_state_load(loader.get(), state.c_str(), &error) == DL_ERR_STATE_REFUSED ? error.message
                                                                                           : "";
}

TEST(Identity, AFileThatAReaderStatesIsNoticedByCachesAndStates) {
  for (const std::vector<int64_t>& ends : {std::vector<int64_t>{}, std::vector<int64_t>{2, 4}}) {
    const TempDir dir;
    Filed reader{{dir.write("a", "aaaabbbb"), dir.write("b", "ccccdddd")}};
    const Settings job = {{"epochs", "1"}, {"num_workers", "1"}, {"cache", dir.path("cache")}};
    const Job first = run(reader.open(ends).dataset, job);
    EXPECT_EQ(first.bytes, "aaaabbbbccccdddd");
    EXPECT_EQ(run(reader.open(ends).dataset, job).kept, 4);
    const std::string identity = identity_of(reader.open(ends).dataset).text;
    exchange(dir, reader.files[1], "eeeeffff");
    EXPECT_NE(identity_of(reader.open(ends).dataset).text, identity);
    const Job then = run(reader.open(ends).dataset, job);
    EXPECT_EQ(then.bytes, "aaaabbbbeeeeffff");
    EXPECT_EQ(then.kept, ends.empty() ? 0 : 2) << "with file_ends the rows of the other file stay";
    const Loader loader = make_loader(reader.open(ends).dataset, job);
    EXPECT_NE(load_error(loader, first.state).find("contents"), std::string::npos);
    EXPECT_EQ(load_error(loader, then.state), "");
  }
}

TEST(Identity, AReaderWithoutFilesIsKnownByItsFingerprint) {
  const TempDir dir;
  Filed reader{{dir.write("a", "aaaabbbb")}};
  const auto open = [&](const char* fingerprint) {
    return std::move(reader.open({}, fingerprint, false).dataset);
  };
  EXPECT_EQ(identity_of(open(nullptr)).status, DL_ERR_UNSUPPORTED);
  EXPECT_EQ(identity_of(open("v1")).text, identity_of(open("v1")).text);
  EXPECT_NE(identity_of(open("v1")).text, identity_of(open("v2")).text);
  const std::string state = save_state(make_loader(open("v1")));
  EXPECT_EQ(load_error(make_loader(open("v1")), state), "");
  EXPECT_NE(load_error(make_loader(open("v2")), state), "");
}

TEST(Identity, AFileOfAReaderThatDoesNotExistIsAnErrorWithItsPath) {
  const TempDir dir;
  Filed reader{{dir.write("a", "aaaabbbb"), dir.path("b")}};
  const Made made = reader.open();
  EXPECT_EQ(made.status, DL_ERR_NOT_FOUND);
  EXPECT_NE(std::string(made.error.message).find(reader.files[1]), std::string::npos) << made.error.message;
}

// A reader that keeps its file open delivers the old records, whatever is at the path now.
TEST(Identity, WhatAReaderReadOfAFileIsNeverKeptAsThatOfAFileInItsPlace) {
  const TempDir dir;
  Filed reader{{dir.write("a", "aaaabbbb")}};
  const Settings job = {{"epochs", "1"}, {"num_workers", "1"}, {"cache", dir.path("cache")}};
  const Made before = reader.open();
  const std::string identity = identity_of(before.dataset).text;
  fs::copy_file(reader.files[0], dir.path("open"));
  exchange(dir, reader.files[0], "eeeeffff");
  EXPECT_EQ(identity_of(before.dataset).text, identity) << "of the files that it was made with";
  const Made after = reader.open();
  reader.files[0] = dir.path("open");  // as the descriptor of the old file
  EXPECT_EQ(run(before.dataset, job).bytes, "aaaabbbb");
  reader.files[0] = dir.path("a");
  EXPECT_EQ(run(after.dataset, job).bytes, "eeeeffff");
}

// A link to it changes its time of status change, but no byte.
TEST(Identity, AStateOfAReaderHoldsAfterALinkToItsFileWasMade) {
  const TempDir dir;
  Filed reader{{dir.write("a", "aaaabbbb")}};
  const Made before = reader.open();
  fs::create_hard_link(reader.files[0], dir.path("link"));
  const std::string state = save_state(make_loader(before.dataset));
  EXPECT_EQ(load_error(make_loader(reader.open().dataset), state), "");
}

TEST(Identity, FileEndsThatDoNotRiseToTheRecordsAreRefused) {
  const TempDir dir;
  Filed reader{{dir.write("a", ""), dir.write("b", "")}};
  for (const auto& [ends, says] : std::vector<std::pair<std::vector<int64_t>, std::string>>{
           {{3, 2}, "file_ends[1] is 2, expected 3 to 4"},
           {{-1, 4}, "file_ends[0] is -1, expected 0 to 4"},
           {{2, 5}, "file_ends[1] is 5, expected 2 to 4"},
           {{2, 3}, "the 2 file_ends end at 3, record_count is 4"}}) {
    const Made made = reader.open(ends);
    EXPECT_EQ(made.status, DL_ERR_INVALID_ARGUMENT) << says;
    EXPECT_NE(std::string(made.error.message).find(says), std::string::npos) << made.error.message;
  }
  EXPECT_EQ(reader.open({0, 4}).status, DL_OK) << "a file may have no records";
}

TEST(Identity, FilesThatAreNullAreRefused) {
  const dl_view field = field_of("x", DL_DTYPE_U8);
  dl_reader reader = {};
  reader.struct_size = sizeof reader;
  reader.field_count = 1;
  reader.fields = &field;
  reader.record_count = 2;
  reader.read = [](void*, dl_reader_request*) { return 0; };
  const char* const files[] = {"/dev/null", nullptr};
  const std::pair<int64_t, const char* const*> lists[] = {{1, nullptr}, {2, files}, {-1, files}};
  for (const auto& [count, list] : lists) {
    reader.file_count = count, reader.files = list;
    dl_dataset* made = nullptr;
    Error error;
    EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &made, &error), DL_ERR_INVALID_ARGUMENT) << count;
    EXPECT_NE(std::string(error.message).find("dl_reader.files"), std::string::npos) << error.message;
    EXPECT_EQ(made, nullptr);
  }
}

}  // namespace
}  // namespace dataline::tests::identity_test
