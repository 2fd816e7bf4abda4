// Threads that cannot be started: create says so and leaves nothing behind. pthread_create is replaced for this
// program.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

#include "tests/support/job.h"

namespace {
std::atomic<int> creations_left{-1};  // negative: all work
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (creations_left.load() == 0) return EAGAIN;
  if (creations_left.load() > 0) creations_left.fetch_sub(1);
  return real(thread, attributes, body, argument);
}

namespace dataline::tests::thread_test {
namespace {

TEST(ThreadFaults, AWorkerThatCannotStartFailsCreateByNameAndTheNextTryWorks) {
  Dataset dataset = counting_dataset(100);
  for (int started = 0; started < 4; ++started) {
    creations_left.store(started);
    auto [status, message] = create_error(dataset, {{"num_workers", "4"}});
    creations_left.store(-1);
    EXPECT_EQ(status, DL_ERR_THREAD);
    EXPECT_NE(message.find("worker " + std::to_string(started + 1) + " of 4"), std::string::npos) << message;
    EXPECT_NE(message.find("Resource temporarily unavailable"), std::string::npos) << message;
    EXPECT_NE(message.find("lower num_workers (0 needs no thread)"), std::string::npos) << message;
  }
  EXPECT_EQ(epoch_samples(make_loader(dataset, {{"num_workers", "4"}})).size(), 100u);
}

TEST(ThreadFaults, AnOpeningWhoseThreadCannotStartIsRefusedByName) {
  Error error;
  dl_opening* opening = nullptr;
  creations_left.store(0);
  const dl_status status = dl_dataset_open_async("npy:a.npy", nullptr, &opening, &error);
  creations_left.store(-1);
  EXPECT_EQ(status, DL_ERR_THREAD);
  EXPECT_EQ(opening, nullptr);
  EXPECT_NE(std::string(error.message).find("npy:a.npy: the thread that opens it"), std::string::npos)
      << error.message;
}

}  // namespace
}  // namespace dataline::tests::thread_test
