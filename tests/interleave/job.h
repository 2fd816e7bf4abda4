// A small job and what has to come of it: the source, the loader's options by a seed, and the batches that are due.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/loader/loader.h"
#include "core/loader/options.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"
#include "tests/interleave/scheduler.h"

namespace dataline::interleave {

constexpr int64_t kSeedOfOrder = 5;

struct Config {
  int64_t workers = 1, consumers = 1, depth = 2, leases = 2, batch = 2, samples = 6, epochs = 0;
  std::string overflow = "copy", last = "keep", on_error = "raise", shuffle = "none", device = "cpu",
              sync = "stream";
  bool bad = false, loses = false, host_reader = false, indices = false, waits_fail = false,
       device_dies = false, tune = false;
  int32_t cpus = 2;
};

// For who replays a failure.
inline std::string config_text(const Config& config) {
  return concat(config.workers, " workers, ", config.consumers, " consumers, depth ", config.depth, ", ",
                config.leases, " leases, ", config.samples, " samples in batches of ", config.batch, ", ",
                config.epochs, " epochs, overflow ", config.overflow, ", last ", config.last, ", on_error ",
                config.on_error, ", shuffle ", config.shuffle, ", device ", config.device, " ", config.sync,
                config.bad ? ", bad samples" : "", config.loses ? ", lost memory" : "",
                config.host_reader ? ", a host's reader" : "", config.indices ? ", indices" : "",
                config.waits_fail ? ", waits fail" : "", config.device_dies ? ", a lost device" : "",
                config.tune ? ", tuned" : "", ", ", config.cpus, " cpus");
}

// Sample i is the number 7 i + 1.
class TestSource final : public dataline::LeafSource {
 public:
  explicit TestSource(const Config& config) : config_(config) {
    if (config.host_reader) facts_.host_calls = HostCalls::kMayBlock;
    Field field;
    field.name = "data";
    field.dtype = DType::kU64;
    schema_.fields.push_back(field);
    schema_.places.push_back({});
    schema_.columns.push_back({.row_bytes = 8});
    for (int64_t i = 0; i < config.samples; ++i) values_.push_back(value(i));
  }
  static uint64_t value(int64_t index) { return static_cast<uint64_t>(7 * index + 1); }
  static bool is_bad(const Config& config, int64_t index) { return config.bad && index % 5 == 1; }

  int64_t count() const override { return config_.samples; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {.format = "test", .uri = "", .notes = {}}; }
  void locate(Run& run) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      point();
      wrote(&run.indices[i]);
      if (config_.loses && draw(24) == 0) throw std::bad_alloc();
      run.columns[0].data[i] =
          reinterpret_cast<const std::byte*>(&values_[static_cast<size_t>(run.indices[i])]);
      if (is_bad(config_, run.indices[i])) run.fail(i, 1, error(Code::kCorrupt, "the test says no"));
    }
    run.columns[0].contiguous = false;
  }
  dataline::Place place_of(int64_t, size_t) const override { return {}; }
  void identify(IdentityBuilder& identity) const override { identity.add_schema(*this); }
  const SourceFacts& facts() const override { return facts_; }

 private:
  Config config_;
  Schema schema_;
  SourceFacts facts_;
  std::vector<uint64_t> values_;
};

using Place = std::pair<int64_t, int64_t>;  // epoch, step

class Job {
 public:
  explicit Job(const Config& config) : config_(config) {}
  const Config& config() const { return config_; }
  // What next() may say of the machine: it is called again.
  bool may_fail(Code code) const {
    return (code == Code::kNoMemory && config_.loses) || (code == Code::kIo && config_.waits_fail);
  }
  int64_t steps() const {
    return config_.last == "drop" ? config_.samples / config_.batch
                                  : (config_.samples + config_.batch - 1) / config_.batch;
  }

  // Before the schedule: what depends on nothing but the options.
  void prepare() {
    if (config_.shuffle == "none") return;
    Known& known = known_orders()[{config_.samples, config_.batch, config_.last}];
    if (known.empty()) {
      Config plain = config_;
      plain.workers = 0, plain.epochs = 40, plain.bad = plain.loses = plain.indices = false,
      plain.device = "cpu";
      std::shared_ptr<Loader> loader = make(plain);
      Batch* batch = nullptr;
      for (Code code = Code::kOk; code != Code::kEnd;) {
        code = loader->next(-1, &batch).code();
        if (code != Code::kOk) continue;
        known[{batch->epoch, batch->step}].assign(batch->sample_indices,
                                                  batch->sample_indices + batch->samples);
        batch->release();
      }
      loader->stop();
    }
    order_ = &known;
  }

  void open() { loader_ = make(config_, token_); }
  void open_with_token() {
    token_ = std::make_shared<CancelToken>();
    open();
  }
  Loader& loader() { return *loader_; }
  std::shared_ptr<Loader> share() { return loader_; }
  // Some number of workers from now on, the others parked. Nothing where there are none.
  void park() {
    if (config_.workers == 0) return;
    const auto count = static_cast<int64_t>(draw(static_cast<uint64_t>(config_.workers))) + 1;
    doing("a number of workers");
    if (!loader_->set_workers(count).is_ok()) fail("set_workers");
  }
  // The state, as one that found one worker and a depth of one to be the best.
  static std::string with_least(const std::string& state) {
    const size_t line = state.find("\ntuned: ");
    if (line == std::string::npos) return state;
    std::string text = state.substr(0, line) + "\ntuned: 1 workers, depth 1\n";
    Digest digest;
    digest.add(text);
    return text + "checksum: " + digest.hex() + "\n";
  }
  CancelToken& token() { return *token_; }
  // Ends as a host ends it. Leases may be out.
  void close() {
    loader_->stop();
    ended_ = std::move(loader_);
  }
  // As a loop keeps it.
  const std::shared_ptr<Loader>& loader_that_was() const { return ended_; }

  // The samples of a step, the bad ones too. `rotation`: of the indices that hold there.
  std::vector<int64_t> due(Place at, int64_t rotation = 0) const {
    if (order_ != nullptr) return order_->at(at);
    std::vector<int64_t> indices;
    for (int64_t row = at.second * config_.batch; row < (at.second + 1) * config_.batch; ++row) {
      if (row < config_.samples) indices.push_back((row + rotation) % config_.samples);
    }
    return indices;
  }
  std::vector<int64_t> good(const std::vector<int64_t>& indices) const {
    std::vector<int64_t> good;
    for (int64_t index : indices) {
      if (!TestSource::is_bad(config_, index)) good.push_back(index);
    }
    return good;
  }

  // The bytes are those of the samples, and these are the ones that are due there.
  void check(Batch& batch, int64_t rotation, bool any_indices = false) const {
    const Place at = {batch.epoch, batch.step};
    if (batch.on_device && !batch.wait(nullptr).is_ok()) fail("a batch cannot be waited for");
    const auto* values = static_cast<const uint64_t*>(batch.views.views()[0].data);
    std::vector<int64_t> got(batch.sample_indices, batch.sample_indices + batch.samples);
    for (int64_t row = 0; row < batch.samples; ++row) {
      reads(&batch.sample_indices[row]);
      if (values[row] != TestSource::value(got[static_cast<size_t>(row)])) fail("wrong bytes in " + text(at));
      if (TestSource::is_bad(config_, got[static_cast<size_t>(row)])) fail("a bad sample in " + text(at));
    }
    if (any_indices) return;
    const std::vector<int64_t> all = due(at, rotation);
    const bool replaces = config_.bad && config_.on_error == "replace";
    if (replaces ? got.size() > all.size() : got != good(all)) fail("wrong samples in " + text(at));
  }
  static std::string text(Place at) {
    return "epoch " + std::to_string(at.first) + ", step " + std::to_string(at.second);
  }

 private:
  using Known = std::map<Place, std::vector<int64_t>>;
  static std::map<std::tuple<int64_t, int64_t, std::string>, Known>& known_orders() {
    static std::map<std::tuple<int64_t, int64_t, std::string>, Known> known;
    return known;
  }
  static std::shared_ptr<Loader> make(const Config& config, const CancelTokenRef& token = nullptr) {
    Options options;
    const auto set = [&](const char* key, const std::string& value) {
      if (Status status = options.set(key, value); !status.is_ok()) fail(status.message());
    };
    set("batch_size", std::to_string(config.batch));
    set("num_workers", std::to_string(config.workers));
    set("prefetch_depth", std::to_string(config.depth));
    set("max_leases", std::to_string(config.leases));
    set("lease_overflow", config.overflow);
    set("last_batch", config.last);
    set("on_error", config.on_error);
    set("shuffle", config.shuffle);
    set("seed", std::to_string(kSeedOfOrder));
    set("epochs", std::to_string(config.epochs));
    set("memory_budget", "64MiB");
    if (config.tune && config.workers > 0) set("tune", "on");
    if (config.device != "cpu") set("device", config.device), set("device_sync", config.sync);
    options.cancel = token;
    if (config.indices) {
      std::vector<int64_t> indices(static_cast<size_t>(config.samples));
      for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i);
      options.indices = hold_array(indices.data(), config.samples, HostOwner());
    }
    auto loader = Loader::create(std::make_shared<TestSource>(config), options);
    if (!loader.is_ok()) fail("create: " + loader.status().message());
    return loader.take();
  }

  Config config_;
  CancelTokenRef token_;
  std::shared_ptr<Loader> loader_, ended_;
  const Known* order_ = nullptr;
};

// Sleeps until the deadline; for 10 hours: until nobody else can go on.
inline void nap(int64_t ns) {
  Word word(0);
  const int64_t until = clock_ns() + ns;
  while (futex_wait(word, 0, until)) {
  }
}
constexpr int64_t kQuiet = 10 * kHourNs;

}  // namespace dataline::interleave
