// Texts that are no state of this job: each is refused by code, with the line or key, what was expected and what came;
// and the loader stays where it was.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/digest.h"
#include "tests/support/job.h"
#include "tests/support/peak_growth.h"

namespace dataline::tests::bad_states_test {
namespace {

const Settings kJob = {{"batch_size", "7"}, {"shuffle", "full"}, {"seed", "3"}, {"epochs", "3"}};

struct BadState {
  std::string name;
  std::string text;
  dl_status code;
  std::vector<std::string> parts;  // of the message
};

// Closes a text as a saved state is closed, so that only its lines are wrong.
std::string closed(const std::string& lines) {
  Digest digest;
  digest.add(std::string_view(lines));
  return lines + "checksum: " + digest.hex() + "\n";
}

class BadStates : public ::testing::Test {
 protected:
  BadStates() {
    next(loader_);
    good_ = save_state(loader_);
    lines_ = good_.substr(0, good_.find("checksum: "));
  }

  // The good lines with the line of `key` replaced by `line` ("" takes it out), closed again.
  std::string with(const std::string& key, const std::string& line) const {
    std::string lines = lines_;
    const size_t begin = lines.find("\n" + key + ": ") + 1;
    EXPECT_NE(begin, 0u) << key;
    const size_t end = lines.find('\n', begin) + 1;
    return closed(lines.replace(begin, end - begin, line.empty() ? "" : line + "\n"));
  }
  std::string plus(const std::string& line) const { return closed(lines_ + line + "\n"); }
  std::string first_line(const std::string& line) const {
    return closed(line + lines_.substr(lines_.find('\n')));
  }
  std::string with_line_ends(std::string_view end) const {
    std::string text;
    for (const char c : good_) text += c == '\n' ? std::string(end) : std::string(1, c);
    return text;
  }
  static BadState bad(std::string name, std::string text, std::vector<std::string> parts) {
    return {std::move(name), std::move(text), DL_ERR_BAD_STATE, std::move(parts)};
  }
  // A value of another job: both values are named.
  BadState other(const std::string& key, const std::string& value) const {
    const size_t begin = lines_.find("\n" + key + ": ") + key.size() + 3;
    const std::string mine = lines_.substr(begin, lines_.find('\n', begin) - begin);
    return {key + " " + value,
            with(key, key + ": " + value),
            DL_ERR_STATE_REFUSED,
            {"state of another job: " + key, " is '" + value + "' in the state, '" + mine + "' here"}};
  }

  // 40 samples are 6 steps; the first was delivered.
  Dataset dataset_ = counting_dataset(40);
  Loader loader_ = make_loader(dataset_, kJob);
  std::string good_, lines_;

  void check(const std::vector<BadState>& table) {
    PeakGrowth growth;
    for (const BadState& one : table) {
      SCOPED_TRACE(one.name);
      ASSERT_NE(one.text, good_);
      Error error;
      EXPECT_EQ(dl_loader_state_load(loader_.get(), one.text.c_str(), &error), one.code);
      const std::string message = error.message;
      EXPECT_NE(message.find("state"), std::string::npos) << message;
      EXPECT_EQ(message.find_first_of("\n\r\t"), std::string::npos) << message;
      for (const std::string& part : one.parts)
        EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
      EXPECT_EQ(save_state(loader_), good_) << "the loader stays where it was";
    }
    EXPECT_LT(growth.bytes(), kMostGrowthBytes);
    RecordProperty("cases", static_cast<int>(table.size()));
    Error error;
    EXPECT_EQ(dl_loader_state_load(loader_.get(), good_.c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(next(loader_).step, 1) << "the next good state is loaded";
  }
};

TEST_F(BadStates, TextsThatAreNoStateOrACutOrDamagedOne) {
  const std::string sum = good_.substr(lines_.size());
  std::string capitals = sum;
  std::transform(capitals.begin() + 10, capitals.end(), capitals.begin() + 10,
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string no_first = "expected a first line 'dataline state 2'";
  std::vector<BadState> table = {
      bad("nothing", "", {no_first}),
      bad("one byte", "d", {no_first}),
      bad("JSON", "{\"epoch\": 1, \"step\": 2}", {no_first}),
      bad("git-LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", {no_first}),
      bad("HTML page", "<!DOCTYPE html><title>404</title>", {no_first}),
      bad("zip archive, as torch.save writes", "PK\x03\x04", {no_first}),
      bad("gzip", "\x1f\x8b\x08", {no_first}),
      bad("capitals", first_line("DATALINE STATE 2"), {no_first}),
      bad("a byte order mark", "\xef\xbb\xbf" + good_, {no_first}),
      bad("a blank line first", "\n" + good_, {no_first}),
      bad("first line without its end", "dataline state 2", {"truncated after the first line"}),
      bad("first line only", "dataline state 2\n", {"truncated: no checksum"}),
      bad("no version", first_line("dataline state "),
          {"expected 'dataline state 2', got 'dataline state '"}),
      bad("version 0", first_line("dataline state 0"), {"got 'dataline state 0'"}),
      bad("version 3", first_line("dataline state 3"),
          {"expected 'dataline state 2', got 'dataline state 3'"}),
      bad("version 10", first_line("dataline state 20"), {"got 'dataline state 20'"}),
      bad("version 2^64", first_line("dataline state 28446744073709551616"),
          {"got 'dataline state 28446744073709551616'"}),
      bad("more behind the version", first_line("dataline state 2 "), {"got 'dataline state 2 '"}),
      bad("no checksum", lines_, {"truncated: no checksum"}),
      bad("half of the checksum", good_.substr(0, good_.size() - 9) + "\n", {"checksum"}),
      bad("checksum of zeros", lines_ + "checksum: 0000000000000000\n",
          {"checksum differs: expected " + sum.substr(10, 16) + ", got '0000000000000000'"}),
      bad("checksum of another state", with("step", "step: 2").substr(0, lines_.size()) + sum,
          {"checksum differs"}),
      bad("checksum in the middle", "dataline state 2\n" + sum + lines_.substr(17), {"checksum"}),
      bad("checksum twice", good_ + sum, {"checksum differs"}),
      bad("two states", good_ + good_, {"checksum differs"}),
      bad("bytes behind the checksum", good_ + "x",
          {"the checksum is right, but 1 more bytes follow its line;"}),
      bad("a line behind the checksum", good_ + "seed: 3\n",
          {"the checksum is right, but 8 more bytes follow"}),
      bad("a blank line more", good_ + "\n",
          {"the checksum is right, but 1 more bytes follow", "(blank lines or spaces)"}),
      bad("a space more", good_ + " ",
          {"the checksum is right, but 1 more bytes follow", "(blank lines or spaces)"}),
      bad("stripped", good_.substr(0, good_.size() - 1), {"truncated: the checksum line has no line end"}),
      bad("line ends of another system", with_line_ends("\r\n"), {"its line ends were changed (CR LF)"}),
      bad("a mebibyte of one letter", std::string(1 << 20, 'd'), {"first line"}),
      bad("16 MiB and a byte", plus("x: " + std::string((16 << 20) + 1 - plus("x: ").size(), 'y')),
          {"expected at most 16777216 bytes, got 16777217"}),
      bad("64 MiB that look right at first", good_ + std::string(64 << 20, '\n'), {"at most 16777216 bytes"}),
  };
  if (capitals != sum) table.push_back(bad("checksum in capitals", lines_ + capitals, {"checksum differs"}));
  check(table);
}

TEST_F(BadStates, LinesThatAreNotThoseOfAState) {
  const std::string one_each = "expected one epoch and one step";
  check({
      bad("a blank line", plus(""), {"not a 'key: value' line: ''"}),
      bad("a line of blanks", plus("   "), {"not a 'key: value' line: '   '"}),
      bad("a word", plus("hello"), {"not a 'key: value' line: 'hello'"}),
      bad("no blank behind the colon", with("seed", "seed:3"), {"not a 'key: value' line: 'seed:3'"}),
      bad("an equals sign", with("seed", "seed = 3"), {"not a 'key: value' line: 'seed = 3'"}),
      bad("a key of this release's future", plus("window: 4"),
          {"it has lines that this release does not know"}),
      bad("a key twice", plus("seed: 3"), {"'seed' appears twice"}),
      bad("a key in capitals", with("seed", "SEED: 3"), {"no line 'seed'"}),
      bad("no samples", with("samples", ""), {"no line 'samples'"}),
      bad("no seed", with("seed", ""), {"no line 'seed'"}),
      bad("no data", with("data", ""), {"no line 'data'"}),
      bad("nothing but a position", closed("dataline state 2\nepoch: 0\nstep: 1\n"), {"no line 'samples'"}),
      bad("no epoch", with("epoch", ""), {one_each}),
      bad("no step", with("step", ""), {one_each}),
      bad("epoch twice", plus("epoch: 0"), {"'epoch' appears twice"}),
      bad("epoch in place of step", with("step", "epoch: 1"), {"'epoch' appears twice"}),
      bad("step twice", plus("step: 1"), {"'step' appears twice"}),
      bad("epoch of nothing", with("epoch", "epoch: "), {"epoch: expected a whole number, got ''"}),
      bad("epoch -1", with("epoch", "epoch: -1"), {"epoch: expected a whole number, got '-1'"}),
      bad("epoch +1", with("epoch", "epoch: +1"), {"got '+1'"}),
      bad("epoch 1.5", with("epoch", "epoch: 1.5"), {"got '1.5'"}),
      bad("epoch 0x1", with("epoch", "epoch: 0x1"), {"got '0x1'"}),
      bad("epoch with a blank", with("epoch", "epoch:  1"), {"got ' 1'"}),
      bad("epoch 2^63", with("epoch", "epoch: 9223372036854775808"), {"got '9223372036854775808'"}),
      bad("epoch of a thousand digits", with("epoch", "epoch: " + std::string(1000, '9')),
          {"epoch: expected"}),
      bad("step -1", with("step", "step: -1"), {"step: expected a whole number, got '-1'"}),
      bad("step least", with("step", "step: -9223372036854775808"), {"got '-9223372036854775808'"}),
      bad("step one", with("step", "step: one"), {"got 'one'"}),
      bad("step 1,000", with("step", "step: 1,000"), {"got '1,000'"}),
  });
}

TEST_F(BadStates, StatesOfAnotherJobOrOutsideOfThisOne) {
  const std::string outside = "state does not match this job";
  auto at = [&](const std::string& epoch, const std::string& step) {
    std::string lines = lines_;
    lines.replace(lines.find("epoch: 0\nstep: 1"), 16, "epoch: " + epoch + "\nstep: " + step);
    return BadState{"at " + epoch + ", " + step, closed(lines), DL_ERR_STATE_REFUSED, {outside}};
  };
  check({other("samples", "41"),
         other("samples", "-1"),
         other("samples", ""),
         other("fields", "0000000000000000"),
         other("data", "ffffffffffffffff"),
         other("file_names", "1 file, a.npy, 0123456789abcdef"),
         other("file_sizes", "40 bytes, 0123456789abcdef"),
         other("contents", "0123456789abcdef"),
         other("seed", "4"),
         other("seed", "03"),
         other("shuffle", "none"),
         other("shuffle", "window"),
         other("sample_indices", "0123456789abcdef"),
         other("weights", "0123456789abcdef"),
         other("epoch_slots", "39"),
         other("global_batch_size", "0"),
         other("global_batch_size", "8"),
         other("last_batch", "drop"),
         other("on_error", "replace"),
         at("0", "7"),
         at("0", "9223372036854775807"),
         at("3", "1"),
         at("4", "0"),
         at("9223372036854775807", "0"),
         at("9223372036854775807", "9223372036854775807")});
}

// Release 0.2 compared the sizes of files alone: its states cannot show that they are of this data.
TEST_F(BadStates, StatesOfReleasesThatDidNotCompareContents) {
  std::string old = first_line("dataline state 1");
  check({{"release 0.2",
          old,
          DL_ERR_STATE_REFUSED,
          {"saved by a release before 0.3", "seek to its epoch and step instead"}}});
}

}  // namespace
}  // namespace dataline::tests::bad_states_test
