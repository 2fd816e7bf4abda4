// Storages that are slow: what ends their reads, and what becomes of the samples.
// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <thread>

#include "tests/extensions/extensions_support.h"

namespace dataline::tests::storages_test {
namespace {

// While `blocks` is set, reads wait to be told that nobody wants the bytes; else they give zeros at once.
struct Remote {
  std::atomic<bool> blocks{false};
  std::atomic<int> waiting{0}, told{0};
};

bool wanted(const dl_storage_read& request) {
  return __atomic_load_n(request.cancelled, __ATOMIC_RELAXED) == 0;
}

dl_status read_slowly(void* context, dl_storage_read* request, dl_error* error) {
  auto& remote = *static_cast<Remote*>(context);
  std::fill_n(static_cast<char*>(request->out), request->bytes, '\0');
  ++remote.waiting;
  while (remote.blocks && wanted(*request)) std::this_thread::yield();
  --remote.waiting;
  if (wanted(*request)) return DL_OK;
  ++remote.told;
  return dl_error_set(error, DL_CANCELLED, "nobody wants the bytes");
}

class Storages : public Extensions {
 protected:
  Storages() {
    storage_.context = &remote_;
    storage_.destroy = nullptr;
    storage_.read = read_slowly;
    add_storage();
    use();
  }
  dl_loader* load(dl_dataset* dataset, const char* workers) {
    EXPECT_EQ(dl_options_set(options_, "num_workers", workers, &error_), DL_OK);
    EXPECT_EQ(dl_options_set(options_, "batch_size", "8", &error_), DL_OK);
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset, options_, &loader, &error_), DL_OK) << error_.message;
    return loader;
  }
  // A read that blocks has begun.
  void wait_for_a_read() const {
    while (remote_.waiting == 0) std::this_thread::yield();
  }

  Remote remote_;
};

constexpr const char* kUri = "raw:mem://x?dtype=u8&shape=4";

TEST_F(Storages, AreToldWhenTheirLoaderIsDestroyed) {
  dl_dataset* dataset = open(kUri);
  remote_.blocks = true;
  dl_loader* loader = load(dataset, "2");
  wait_for_a_read();
  dl_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(dl_loader_stats(loader, &stats, &error_), DL_OK);
  dl_loader_destroy(loader);
  EXPECT_EQ(remote_.waiting, 0) << "no thread is left behind in the read";
  EXPECT_GE(remote_.told, 1);
  EXPECT_EQ(stats.bad, 0);
  dl_dataset_destroy(dataset);
}

TEST_F(Storages, AreToldOfACancelAndTheSamplesComeAfterASeek) {
  for (const char* workers : {"0", "2"}) {
    remote_.blocks = false;
    dl_dataset* dataset = open(kUri);
    remote_.blocks = true;
    dl_loader* loader = load(dataset, workers);
    dl_batch* batch = nullptr;
    std::future<dl_status> next =
        std::async(std::launch::async, [&] { return dl_loader_next(loader, -1, &batch, nullptr); });
    wait_for_a_read();
    dl_loader_cancel(loader);
    EXPECT_EQ(next.get(), DL_CANCELLED) << workers << " workers";
    remote_.blocks = false;
    ASSERT_EQ(dl_loader_seek(loader, 0, 0, &error_), DL_OK) << error_.message;
    ASSERT_EQ(dl_loader_next(loader, -1, &batch, &error_), DL_OK) << error_.message;
    EXPECT_EQ(dl_loader_bad_sample_count(loader), 0) << "what was not wanted is not bad";
    dl_batch_release(batch);
    dl_loader_destroy(loader);
    dl_dataset_destroy(dataset);
  }
}

TEST_F(Storages, ReadOutsideOfALoaderLookAtTheTokenOfTheOpen) {
  dl_cancel_token* token = nullptr;
  ASSERT_EQ(dl_cancel_token_create(&token, &error_), DL_OK);
  ASSERT_EQ(dl_options_set_cancel_token(options_, token, &error_), DL_OK);
  dl_file* file = nullptr;
  ASSERT_EQ(dl_file_open("mem://x", options_, &file, &error_), DL_OK) << error_.message;
  remote_.blocks = true;
  char bytes[4];
  std::future<dl_status> read =
      std::async(std::launch::async, [&] { return dl_file_read(file, 0, 4, bytes, nullptr, nullptr); });
  wait_for_a_read();
  dl_cancel_token_cancel(token);
  EXPECT_EQ(read.get(), DL_CANCELLED);
  dl_file_destroy(file);
  dl_cancel_token_destroy(token);
}

}  // namespace
}  // namespace dataline::tests::storages_test
