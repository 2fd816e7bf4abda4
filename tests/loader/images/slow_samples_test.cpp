// One file in ten is fifty times slower: the others keep flowing, in order. Time is virtual here, so that the result
// does not depend on the machine: a reading ends when no other worker, busy or still to come, could end one before it.
// A loader that leaves a worker without work while the window has some would wait for ever; that is the failure.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/random.h"
#include "core/loader/loader.h"
#include "core/loader/options.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::slow_samples_test {
namespace {

struct Window {
  int64_t workers, batch_size, depth, samples;
};

// Samples are read in file order, so sample i is row i % batch_size of batch i / batch_size.
class VirtualTime {
 public:
  explicit VirtualTime(const Window& window) : window_(window), left_(batches(), window.batch_size) {}

  static int64_t cost(int64_t sample) {
    return random_bits(17, static_cast<uint64_t>(sample)) % 10 == 0 ? 50 : 1;
  }
  int64_t ideal() const {
    int64_t total = 0;
    for (int64_t i = 0; i < window_.samples; ++i) total += cost(i);
    return total / window_.workers;
  }
  int64_t now() const { return now_; }
  bool stuck() const { return stuck_; }

  void read(int64_t sample) {
    std::unique_lock lock(mutex_);
    // The worker was free since its last reading ended, or since the window moved on: since now, that is.
    const Reading mine{now_ + cost(sample), sample};
    readings_[std::this_thread::get_id()] = mine;
    ++begun_;
    changed_.notify_all();
    const bool ended =
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return stuck_ || is_next(mine); });
    stuck_ = stuck_ || !ended;
    now_ = std::max(now_, mine.end);
    readings_.erase(std::this_thread::get_id());
    --left_[static_cast<size_t>(sample / window_.batch_size)];
    while (head_ < left_.size() && left_[head_] == 0) ++head_;
    changed_.notify_all();
  }

 private:
  struct Reading {
    int64_t end = 0, sample = 0;
    bool operator<(const Reading& other) const {
      return end != other.end ? end < other.end : sample < other.sample;
    }
  };

  size_t batches() const { return static_cast<size_t>(window_.samples / window_.batch_size); }
  // What the consumer, who takes each batch at once, allows to be begun.
  int64_t open() const {
    return std::min(window_.samples, (static_cast<int64_t>(head_) + window_.depth) * window_.batch_size);
  }
  bool is_next(const Reading& mine) const {
    const bool others_have_work = begun_ < open() && static_cast<int64_t>(readings_.size()) < window_.workers;
    if (others_have_work) return false;
    return std::all_of(readings_.begin(), readings_.end(),
                       [&](const auto& other) { return !(other.second < mine); });
  }

  const Window window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::thread::id, Reading> readings_;
  std::vector<int64_t> left_;  // samples of each batch that are not read
  size_t head_ = 0;
  int64_t begun_ = 0, now_ = 0;
  bool stuck_ = false;
};

// Small JPEG files that are slow to come.
class SlowFiles : public LeafSource {
 public:
  SlowFiles(const Window& window, VirtualTime& time) : count_(window.samples), time_(time) {
    JpegKind kind;
    kind.width = kind.height = 16;
    file_ = make_jpeg(kind);
    Field image;
    image.name = "image";
    image.kind = FieldKind::kRagged;
    image.shape = {-1};
    schema_.fields = {image};
    schema_.places = {{}};
    schema_.columns = {{.row_bytes = -1}};
  }
  int64_t count() const override { return count_; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {.format = "slow", .uri = {}, .notes = {}}; }
  void locate(Run& run) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      time_.read(run.indices[i]);
      run.columns[0].data[i] = reinterpret_cast<const std::byte*>(file_.data());
      run.columns[0].bytes[i] = static_cast<int64_t>(file_.size());
    }
    run.columns[0].contiguous = false;
  }
  Place place_of(int64_t index, size_t) const override { return {"", concat("slow file ", index)}; }
  void identify(IdentityBuilder& identity) const override { identity.add_schema(*this); }

 private:
  int64_t count_;
  VirtualTime& time_;
  std::string file_;
  Schema schema_;
};

Options options_of(const Window& window) {
  Options options;
  const auto set = [&](std::string_view key, const std::string& value) {
    EXPECT_TRUE(options.set(key, value).is_ok()) << key;
  };
  set("transform", "decode, resize([8, 8])");
  set("num_workers", std::to_string(window.workers));
  set("batch_size", std::to_string(window.batch_size));
  set("prefetch_depth", std::to_string(window.depth));
  set("max_decoded_bytes", "4MiB");
  set("epochs", "1");
  return options;
}

class SlowSamples : public ::testing::TestWithParam<Window> {};

TEST_P(SlowSamples, HoldUpNobodyAndKeepTheOrder) {
  const Window window = GetParam();
  VirtualTime time(window);
  Result<std::shared_ptr<Loader>> made =
      Loader::create(std::make_shared<SlowFiles>(window, time), options_of(window));
  ASSERT_TRUE(made.is_ok()) << made.status().message();
  const std::shared_ptr<Loader> loader = made.take();
  int64_t seen = 0;
  for (;;) {
    Batch* batch = nullptr;
    const Status status = loader->next(-1, &batch);
    if (!status.is_ok()) {
      EXPECT_EQ(status.code(), Code::kEndOfEpoch) << status.message();
      break;
    }
    for (int64_t row = 0; row < batch->samples; ++row) EXPECT_EQ(batch->sample_indices[row], seen++);
    batch->release();
  }
  loader->stop();
  EXPECT_EQ(seen, window.samples);
  EXPECT_FALSE(time.stuck()) << "a worker found nothing to do while the window had work";
  const double share = static_cast<double>(time.ideal()) / static_cast<double>(time.now());
  RecordProperty("percent_of_ideal", static_cast<int>(share * 100));
  EXPECT_GE(share, 0.9) << "of the ideal throughput of " << window.workers << " workers";
}

// The default window is 4 batches of 32; smaller ones show how little is needed.
INSTANTIATE_TEST_SUITE_P(Windows, SlowSamples,
                         ::testing::Values(Window{2, 32, 4, 3200}, Window{2, 8, 4, 3200},
                                           Window{2, 32, 2, 3200}, Window{4, 32, 4, 3200},
                                           Window{3, 16, 4, 3200}, Window{1, 32, 1, 640}),
                         [](const auto& tested) {
                           const Window& s = tested.param;
                           return std::to_string(s.workers) + "workers_" + std::to_string(s.depth) + "x" +
                                  std::to_string(s.batch_size);
                         });

}  // namespace
}  // namespace dataline::slow_samples_test
