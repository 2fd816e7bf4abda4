// Traces: what they hold, where they end, and what does not disturb the job.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/loader/metrics/metrics.h"
#include "core/loader/metrics/trace.h"
#include "tests/loader/measured.h"
#include "tests/support/read_whole.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::trace_test {
namespace {

int64_t count_of(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Every object of an array on a line of its own, brackets and quotes in balance.
void expect_json(const std::string& text) {
  ASSERT_TRUE(text.starts_with("{\"displayTimeUnit\"")) << text.substr(0, 40);
  ASSERT_TRUE(text.ends_with("\n]}\n")) << text.substr(text.size() - std::min<size_t>(text.size(), 40));
  int64_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      ASSERT_GE(depth, 0);
    } else {
      ASSERT_GE(static_cast<unsigned char>(c), 0x20) << "a control character";
    }
  }
  ASSERT_EQ(depth, 0);
  ASSERT_FALSE(quoted);
}

struct TempFolder {
  std::string at = make_temp_folder("dataline-trace");
  TempFolder() = default;
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(at); }
  std::string path(const std::string& name) const { return at + "/" + name; }
};

const Settings kJob = {{"batch_size", "10"}, {"epochs", "1"}, {"num_workers", "2"}};

// What a sink of the test's was given.
struct Taken {
  std::mutex mutex;
  std::string text;
  int32_t refuse_after = -1;  // pieces
  int32_t pieces = 0;
  dl_trace_sink table() {
    dl_trace_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.context = this;
    sink.write = [](void* context, const char* piece, size_t bytes) -> int32_t {
      auto* self = static_cast<Taken*>(context);
      std::lock_guard lock(self->mutex);
      if (self->refuse_after >= 0 && self->pieces >= self->refuse_after) return ENOSPC;
      ++self->pieces;
      self->text.append(piece, bytes);
      return 0;
    };
    return sink;
  }
};

TEST(Trace, HoldsEachBatchFromClaimToRelease) {
  const TempFolder folder;
  const std::string path = folder.path("trace.json");
  Loader loader = make_loader(counting_dataset(100), with(kJob, {{"trace", path}}));
  ASSERT_EQ(epoch_samples(loader).size(), 100u);
  loader.reset();
  const std::string text = read_whole(path);
  expect_json(text);
  for (int step = 0; step < 10; ++step) {
    const std::string id = "\"id\":\"0." + std::to_string(step) + "\"}";
    EXPECT_EQ(count_of(text, id), 4) << "claimed, packed, delivered, released: step " << step;
  }
  EXPECT_EQ(count_of(text, "\"name\":\"next\""), 10);
  EXPECT_EQ(count_of(text, "\"name\":\"step\""), 9);
  EXPECT_GE(count_of(text, "\"name\":\"data: copy\",\"ph\":\"X\""), 10);
  EXPECT_EQ(count_of(text, "\"name\":\"thread_name\""), 3) << "two workers and the consumer";
}

TEST(Trace, ASinkTakesTheSameTextAndTheTableIsMeasuredFromThenOn) {
  Taken taken;
  const dl_trace_sink sink = taken.table();
  const Loader loader = make_loader(counting_dataset(100), kJob);
  const Metrics metrics = metrics_of(loader);
  const int64_t rows = dl_metrics_count(metrics.get());
  Error error;
  ASSERT_EQ(next(loader).status, DL_OK);
  ASSERT_EQ(dl_loader_trace_start(loader.get(), nullptr, &sink, &error), DL_OK) << error.message;
  EXPECT_GT(dl_metrics_count(metrics.get()), rows);
  for (int step = 1; step < 5; ++step) ASSERT_EQ(next(loader).status, DL_OK);
  ASSERT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_OK) << error.message;
  const std::string text = taken.text;
  expect_json(text);
  EXPECT_EQ(count_of(text, "\"name\":\"next\""), 4);
  ASSERT_EQ(next(loader).status, DL_OK);
  EXPECT_EQ(taken.text, text) << "nothing comes after the stop";
  ASSERT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_OK) << "without a trace it does nothing";
  // And again, into another.
  Taken again;
  const dl_trace_sink second = again.table();
  ASSERT_EQ(dl_loader_trace_start(loader.get(), nullptr, &second, &error), DL_OK) << error.message;
  ASSERT_EQ(next(loader).status, DL_OK);
  ASSERT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_OK) << error.message;
  expect_json(again.text);
  EXPECT_EQ(count_of(again.text, "\"name\":\"next\""), 1);
}

TEST(Trace, WrongCallsSayWhatIsWrong) {
  const TempFolder folder;
  const std::string path = folder.path("trace.json");
  const Loader loader = make_loader(counting_dataset(100), kJob);
  Taken taken;
  dl_trace_sink sink = taken.table();
  Error error;
  const auto start = [&](const char* to, const dl_trace_sink* into) {
    return dl_loader_trace_start(loader.get(), to, into, &error);
  };
  EXPECT_EQ(start(nullptr, nullptr), DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "trace: expected a path or a sink, got neither");
  EXPECT_EQ(start(path.c_str(), &sink), DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "trace: expected a path or a sink, got both");
  EXPECT_EQ(start("", nullptr), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(start((folder.path("none") + "/trace.json").c_str(), nullptr), DL_ERR_NOT_FOUND);
  EXPECT_NE(std::string(error.message).find("none/trace.json"), std::string::npos) << error.message;
  sink.write = nullptr;
  EXPECT_EQ(start(nullptr, &sink), DL_ERR_INVALID_ARGUMENT);
  ASSERT_EQ(start(path.c_str(), nullptr), DL_OK) << error.message;
  EXPECT_EQ(start(path.c_str(), nullptr), DL_ERR_WRONG_STATE);
  EXPECT_STREQ(error.message, "a trace is already being written; stop it first");
  const auto [status, message] =
      create_error(counting_dataset(10), {{"trace", folder.path("none") + "/trace.json"}});
  EXPECT_EQ(status, DL_ERR_NOT_FOUND) << message;
}

TEST(Trace, GoesIntoARegularFileAlone) {
  const TempFolder folder;
  const std::string fifo = folder.path("fifo"), directory = folder.path("directory"),
                    socket = folder.path("socket"), link = folder.path("link");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  std::filesystem::create_directory(directory);
  std::filesystem::create_symlink(fifo, link);
  const Loader loader = make_loader(counting_dataset(10), kJob);
  for (const std::string& path :
       {fifo, directory, socket, link, std::string("/dev/full"), std::string("/dev/null")}) {
    Error error;
    EXPECT_EQ(dl_loader_trace_start(loader.get(), path.c_str(), nullptr, &error), DL_ERR_NOT_A_FILE) << path;
    EXPECT_NE(std::string(error.message).find("trace " + path), std::string::npos) << error.message;
    EXPECT_EQ(create_error(counting_dataset(10), {{"trace", path}}).first, DL_ERR_NOT_A_FILE) << path;
  }
}

// Whatever name or link leads to it; an older trace and an empty file are written over.
TEST(Trace, NeverWritesOverOtherData) {
  const TempFolder folder;
  const std::string rows(160, 'r'), data = folder.path("rows.bin"), symbolic = folder.path("symbolic"),
                                    hard = folder.path("hard"), trace = folder.path("trace.json");
  std::ofstream(data, std::ios::binary) << rows;
  std::filesystem::create_symlink(data, symbolic);
  std::filesystem::create_hard_link(data, hard);
  dl_dataset* opened = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_open(("raw:" + data + "?dtype=u8&shape=16").c_str(), nullptr, &opened, &error), DL_OK);
  const Dataset dataset(opened);
  for (const std::string& path : {data, symbolic, hard}) {
    const auto [status, message] = create_error(dataset, {{"trace", path}});
    EXPECT_EQ(status, DL_ERR_WRONG_STATE) << message;
    EXPECT_NE(message.find("trace " + path + ": exists, and is not a file"), std::string::npos) << message;
    EXPECT_EQ(read_whole(data), rows);
  }
  std::ofstream(trace).close();
  for (int time = 0; time < 2; ++time) {
    Loader loader = make_loader(counting_dataset(100), with(kJob, {{"trace", trace}}));
    ASSERT_EQ(epoch_samples(loader).size(), 100u);
    loader.reset();
    expect_json(read_whole(trace));
  }
}

TEST(Trace, AFullDiskEndsTheTraceAndNotTheJob) {
  const Loader loader = make_loader(counting_dataset(20'000), kJob);
  Error error;
  Taken taken;
  taken.refuse_after = 2;
  const dl_trace_sink sink = taken.table();
  ASSERT_EQ(dl_loader_trace_start(loader.get(), nullptr, &sink, &error), DL_OK) << error.message;
  ASSERT_EQ(epoch_samples(loader).size(), 20'000u);
  EXPECT_EQ(taken.pieces, 2);
  EXPECT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_ERR_IO) << "what could not be written is told";
  EXPECT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_OK) << "once";
  Taken whole;
  const dl_trace_sink after = whole.table();
  ASSERT_EQ(dl_loader_trace_start(loader.get(), nullptr, &after, &error), DL_OK) << error.message;
  ASSERT_EQ(dl_loader_trace_stop(loader.get(), &error), DL_OK) << error.message;
  expect_json(whole.text);
}

TEST(Trace, AtItsLimitItEndsWholeWithALineInTheLog) {
  std::vector<std::string> said;
  const Log log{.context = &said, .write = [](void* context, int32_t, const char* text, size_t length) {
                  static_cast<std::vector<std::string>*>(context)->emplace_back(text, length);
                }};
  Taken taken;
  const dl_trace_sink sink = taken.table();
  constexpr int64_t kLimit = 200'000;
  std::vector<std::string> stages(stage::kFirstPass, "stage");
  stages.emplace_back("a \"field\"\n<script>: \\ copy");
  dataline::Trace trace(stages, 1, false, log, kLimit);
  ASSERT_TRUE(trace.start({.path = {}, .context = sink.context, .write = sink.write}).is_ok());
  for (int64_t i = 0; i < 1'000'000; ++i)
    trace.add_span(static_cast<int32_t>(i % 2) - 1, stage::kFirstPass, i * 10, i * 10 + 5, {0, i, true});
  ASSERT_TRUE(trace.stop().is_ok());
  expect_json(taken.text);
  EXPECT_LE(static_cast<int64_t>(taken.text.size()), kLimit + 1024);
  EXPECT_GT(static_cast<int64_t>(taken.text.size()), kLimit / 2);
  EXPECT_EQ(count_of(taken.text, R"("name":"a \"field\"\u000a<script>: \\ copy")") > 100, true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], "trace: stopped at its limit of 200000 bytes; the job continues");
}

TEST(Trace, TheBytesDeliveredAreTheSameWithAndWithout) {
  const TempFolder folder;
  const Settings job = with(kJob, {{"shuffle", "full"}, {"seed", "7"}});
  const Dataset dataset = counting_dataset(1'000);
  const auto plain = epoch_batches(make_loader(dataset, job));
  EXPECT_EQ(
      epoch_batches(make_loader(dataset, with(job, {{"stats", "full"}, {"trace", folder.path("t.json")}}))),
      plain);
}

}  // namespace
}  // namespace dataline::tests::trace_test
