// Calls of a loader's functions from inside the host's code that fills a batch of it: what would wait for itself is refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>
#include <numeric>

#include "tests/support/job.h"

namespace dataline::tests::own_batch_test {
namespace {

// A reader that makes one call of the library when it reads the sample `at`.
struct CallingReader {
  TestReader reader;
  std::promise<void> loader_is_made;
  std::shared_future<void> made = loader_is_made.get_future().share();
  std::atomic<bool> called{false};

  CallingReader(uint64_t at, std::function<void()> call) {
    reader.before = [this, at, call = std::move(call)](const int64_t* indices, int64_t count) {
      const auto wanted = static_cast<int64_t>(at);
      if (std::find(indices, indices + count, wanted) == indices + count || called.exchange(true)) return;
      made.wait();
      call();
    };
  }
};

std::vector<uint64_t> epoch_of(const Loader& loader) {
  std::vector<uint64_t> all;
  for (Delivered got = next(loader); got.status != DL_END_OF_EPOCH; got = next(loader)) {
    EXPECT_EQ(got.status, DL_OK) << got.message;
    if (got.status < 0) break;
    all.insert(all.end(), got.values.begin(), got.values.end());
  }
  return all;
}

std::vector<uint64_t> counted(uint64_t n) {
  std::vector<uint64_t> all(n);
  std::iota(all.begin(), all.end(), uint64_t{0});
  return all;
}

struct Refused {
  dl_status status = DL_OK;
  std::string message;
};

// The calls that may wait for a batch. None has one ready: the first batch of the epoch is what the caller fills.
const std::pair<const char*, std::function<Refused(const Loader&)>> kCalls[] = {
    {"next",
     [](const Loader& loader) {
       Delivered got = next(loader);
       return Refused{got.status, got.message};
     }},
    {"next with a time-out",
     [](const Loader& loader) {
       Delivered got = next(loader, 60'000'000'000);
       return Refused{got.status, got.message};
     }},
    {"next of an epoch",
     [](const Loader& loader) {
       Delivered got = next(make_epoch(loader));
       return Refused{got.status, got.message};
     }},
};

TEST(OwnBatch, AReaderThatWouldWaitForABatchOfItsOwnLoaderIsRefused) {
  for (const char* workers : {"0", "1", "2"}) {
    for (const auto& [name, call] : kCalls) {
      SCOPED_TRACE(std::string(name) + ", " + workers + " workers");
      Loader loader;
      Refused refused;
      CallingReader calling(0, [&refused, &loader, ask = call] { refused = ask(loader); });
      const Dataset dataset = calling.reader.dataset(40);
      loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}});
      calling.loader_is_made.set_value();
      EXPECT_EQ(epoch_of(loader), counted(40)) << "nothing is lost";
      EXPECT_EQ(refused.status, DL_ERR_WRONG_STATE);
      EXPECT_NE(refused.message.find("this thread is filling a batch of this loader"), std::string::npos)
          << refused.message;
      loader.reset();  // its workers load the next epoch, by the reader
    }
  }
}

TEST(OwnBatch, WithoutWorkersToWorkOrToLookIsRefusedToo) {
  for (const bool works : {false, true}) {
    Loader loader;
    Error error;
    dl_status status = DL_OK;
    CallingReader calling(0, [&] {
      dl_batch* batch = nullptr;
      status = works ? dl_loader_work(loader.get(), 1'000'000, &error)
                     : dl_loader_next(loader.get(), 0, &batch, &error);
    });
    const Dataset dataset = calling.reader.dataset(20);
    loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "0"}});
    calling.loader_is_made.set_value();
    EXPECT_EQ(epoch_of(loader), counted(20));
    EXPECT_EQ(status, DL_ERR_WRONG_STATE) << error.message;
    loader.reset();
  }
}

TEST(OwnBatch, WithWorkersAReaderMayLookForOneThatIsReady) {
  Loader loader;
  dl_status status = DL_OK;
  CallingReader calling(0, [&] { status = next(loader, 0).status; });
  const Dataset dataset = calling.reader.dataset(20);
  loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  calling.loader_is_made.set_value();
  EXPECT_EQ(epoch_of(loader), counted(20));
  EXPECT_EQ(status, DL_TIMEOUT);
  loader.reset();
}

// A reader may use another loader; what that one's reader asks of the first is refused.
TEST(OwnBatch, OfAnotherLoaderIsGivenUnlessThatOneNeedsTheFirst) {
  for (const char* workers : {"0", "1"}) {
    Loader outer, inner;
    Refused refused;
    CallingReader asks_back(10, [&] { refused = kCalls[0].second(outer); });
    const Dataset inner_dataset = asks_back.reader.dataset(20);
    inner = make_loader(inner_dataset, {{"batch_size", "10"},
                                        {"num_workers", "0"}});  // its reader runs in the thread that fills
    asks_back.loader_is_made.set_value();
    std::vector<uint64_t> of_inner;
    CallingReader calling(0, [&] { of_inner = epoch_of(inner); });
    const Dataset dataset = calling.reader.dataset(20);
    outer = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}});
    calling.loader_is_made.set_value();
    EXPECT_EQ(epoch_of(outer), counted(20));
    EXPECT_EQ(of_inner, counted(20));
    EXPECT_EQ(refused.status, DL_ERR_WRONG_STATE) << refused.message;
    outer.reset();
    inner.reset();
  }
}

}  // namespace
}  // namespace dataline::tests::own_batch_test
