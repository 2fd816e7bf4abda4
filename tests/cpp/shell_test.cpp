// The same job here and in the shell: the same bytes, and a state saved in one goes on in the other.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"
#include "tests/support/places.h"

namespace dataline::cpp_tests::shell_test {
namespace {

constexpr int64_t kSamples = 101;

class CppShell : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string rows;
    for (int64_t i = 0; i < kSamples * 12; ++i) rows += static_cast<char>(i * 7 + i / 256);
    uri_ = "raw:" + dir_.write("rows", rows) + "?dtype=u8&shape=3x4";
  }

  // Standard output of `dataline cat` for this job.
  std::string cat(const std::string& words) const {
    const std::string command =
        tests::in_build("bin/dataline") + " cat '" + uri_ +
        "' --shuffle full --seed 5 --batch_size 8 --epochs 2 --transform 'scale(0.5)' " + words;
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "no pipe";
    char buffer[4096];
    for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << command;
    return output;
  }
  Loader loader() const {
    return Loader(Dataset(uri_), {{"shuffle", "full"},
                                  {"seed", 5},
                                  {"batch_size", 8},
                                  {"epochs", 2},
                                  {"transform", "scale(0.5)"},
                                  {"num_workers", 2}});
  }
  static std::string bytes_of(const Batch& batch) {
    const Span<const std::byte> bytes = batch[0].as<std::byte>();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // All that is left of the job.
  static std::string rest(Loader& loader) {
    std::string all;
    while (loader.position().epoch < 2) {
      for (const Batch& batch : loader) all += bytes_of(batch);
    }
    return all;
  }

  const TempDir dir_;
  std::string uri_;
};

TEST_F(CppShell, TheSameSeedGivesTheSameBytes) {
  Loader here = loader();
  const std::string bytes = rest(here);
  EXPECT_EQ(bytes.size(), size_t{2 * kSamples * 12 * sizeof(float)});
  EXPECT_TRUE(bytes == cat(""));
}

TEST_F(CppShell, AStateSavedHereGoesOnInTheShellAndBack) {
  const std::string whole = cat("");
  Loader here = loader();
  std::string joined;
  for (int step = 0; step < 5; ++step) joined += bytes_of(here.next().value());
  const std::string state = dir_.write("state", here.save_state());
  joined += cat("--load-state '" + state + "' --batches 11 --save-state '" + state + "'");
  Loader again = loader();
  again.load_state(read_whole(state));
  joined += rest(again);
  EXPECT_EQ(joined.size(), whole.size());
  EXPECT_TRUE(joined == whole);
}

}  // namespace
}  // namespace dataline::cpp_tests::shell_test
