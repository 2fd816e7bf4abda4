// What a loader says when there is no driver, device or memory; page-locking as far as it goes, and what is told of it.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <tuple>

#include "tests/device/loader_support.h"
#include "tests/memory/temp_files.h"
#include "tests/support/places.h"

namespace dataline::tests::loader_create_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class DeviceCreate : public DeviceLoaders {
 protected:
  std::pair<dl_status, std::string> refusal(const Settings& settings) {
    const Dataset dataset = counting_dataset(64);
    return create_error(dataset, Settings{{"batch_size", "8"}} + settings);
  }
  // A loader that logs into warnings_.
  Loader logged(const Dataset& dataset, const Settings& settings) {
    dl_log log = {};
    log.struct_size = sizeof log;
    log.context = &warnings_;
    log.write = [](void* context, int32_t level, const char* message, size_t length) {
      if (level >= DL_LOG_WARNING)
        static_cast<std::vector<std::string>*>(context)->emplace_back(message, length);
    };
    const Options options = make_options(settings);
    Error error;
    EXPECT_EQ(dl_options_set_log(options.get(), &log, &error), DL_OK);
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
    return Loader(loader);
  }
  static bool has_kernels() { return std::string(dl_build_info()).find("cuda-kernels") != std::string::npos; }
  std::vector<std::string> warnings_;
};

TEST_F(DeviceCreate, AFileCutBeforeItIsHeldIsNamedByTheEndOfItsPath) {
  if (std::string(dl_build_info()).find("cuda-kernels") == std::string::npos)
    GTEST_SKIP() << "skipped: this build has no kernels";
  const TempDir dir;
  const std::string file = dir.write(std::string(200, 'd') + "/rows.bin", std::string(3200, 'r'));
  for (const char* io : {"device", "pread"}) {
    std::filesystem::resize_file(file, 3200);
    Error error;
    dl_dataset* raw = nullptr;
    ASSERT_EQ(dl_dataset_open(("raw:" + file + "?dtype=u8&shape=32").c_str(),
                              make_options({{"io", io}}).get(), &raw, &error),
              DL_OK)
        << error.message;
    const Dataset dataset(raw);
    std::filesystem::resize_file(file, 1000);
    const auto [status, message] = create_error(dataset, on_device({{"io", "device"}}));
    EXPECT_EQ(status, DL_ERR_TRUNCATED) << message;
    EXPECT_THAT(message, AllOf(HasSubstr("sample 31"), HasSubstr("..."), HasSubstr("ddd/rows.bin")));
    EXPECT_THAT(message, Not(HasSubstr(std::string(200, 'd'))));
  }
}

TEST_F(DeviceCreate, WithoutADriverOrDeviceNamesWhatIsMissing) {
  const auto with_library = [](const std::string& library) {
    return Settings{{"device", "cuda:0"}, {"cuda_library", library}};
  };
  auto [status, message] = refusal(with_library("/nowhere/libcuda.so.1"));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE);
  EXPECT_THAT(message, HasSubstr("/nowhere/libcuda.so.1"));
  std::tie(status, message) = refusal(with_library("libc.so.6"));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE);
  EXPECT_THAT(message, AllOf(HasSubstr("libc.so.6"), HasSubstr("not a CUDA driver")));
  std::tie(status, message) = refusal(with_library(tests::in_build("lib/libfake_old_cuda.so")));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE);
  EXPECT_THAT(message, HasSubstr("12.0"));
  std::tie(status, message) = refusal(on_device({}, "cuda:3"));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE);
  EXPECT_THAT(message, AllOf(HasSubstr("3"), HasSubstr("1")));
  fake_cuda_devices(0, 0);
  std::tie(status, message) = refusal(on_device({}, "cuda"));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE) << message;
}

TEST_F(DeviceCreate, NamesOfDevicesAreChecked) {
  for (const char* name : {"cuda:", "cuda:-1", "cuda:x", "cuda0", "cuda:1:2", "gpu", "CUDA:0"}) {
    const auto [status, message] = refusal(on_device({}, name));
    EXPECT_EQ(status, DL_ERR_BAD_OPTION) << name;
    EXPECT_THAT(message, HasSubstr("'" + std::string(name) + "'"));
  }
}

TEST_F(DeviceCreate, WithoutRoomOnTheDeviceSaysHowMuchIsNeededAndFree) {
  fake_cuda_devices(1, 1'000);
  const auto [status, message] = refusal(on_device({{"batch_size", "4000"}}));
  EXPECT_EQ(status, DL_ERR_NO_MEMORY) << message;
  EXPECT_THAT(message, AllOf(HasSubstr("cuda:0"), HasSubstr("free")));
  EXPECT_THAT(left_alive(), IsEmpty());
}

// Drivers load a function at its first launch: memory that the consumer took in the meantime must not be missing then.
TEST_F(DeviceCreate, MemoryThatRunsOutAfterCreateDoesNotStopTheKernels) {
  if (!has_kernels()) GTEST_SKIP() << "skipped: this build has no kernels";
  fake_cuda_devices(1, 1 << 20);
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  const Settings job = {
      {"batch_size", "8"}, {"epochs", "1"}, {"transform", "pixels: normalize(mean=1, std=2)"}};
  Consumer consumer;
  const Loader loader = make_loader(dataset, on_device(job));
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  size_t free = 0, total = 0;
  CUdeviceptr rest = 0;
  ASSERT_EQ(cuMemGetInfo(&free, &total), 0);
  ASSERT_EQ(cuMemAlloc(&rest, free), 0);
  EXPECT_EQ(whole_job(loader, &consumer), whole_job(make_loader(dataset, job), nullptr));
  EXPECT_EQ(cuMemFree(rest), 0);
  EXPECT_EQ(cuCtxPopCurrent(&context), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), 0);
}

TEST_F(DeviceCreate, WithoutRoomForTheKernelsCreateSaysSo) {
  if (!has_kernels()) GTEST_SKIP() << "skipped: this build has no kernels";
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  std::set<std::string> why;
  for (int64_t bytes = 4 << 10; bytes <= 64 << 10; bytes += 1 << 10) {
    fake_cuda_reset();
    fake_cuda_devices(1, bytes);
    dl_loader* loader = nullptr;
    Error error;
    const Options options = make_options(
        on_device(Settings{{"batch_size", "8"}, {"transform", "pixels: normalize(mean=1, std=2)"}}));
    const dl_status status = dl_loader_create(dataset.get(), options.get(), &loader, &error);
    if (status == DL_OK)
      dl_loader_destroy(loader);
    else
      EXPECT_EQ(status, DL_ERR_NO_MEMORY) << error.message;
    why.insert(status == DL_OK ? "" : error.message);
    EXPECT_THAT(left_alive(), IsEmpty());
  }
  EXPECT_THAT(why, ::testing::Contains(HasSubstr("no device memory is left for the kernels")));
  EXPECT_THAT(why, ::testing::Contains(""));
}

TEST_F(DeviceCreate, WorkThatLacksKernelsIsWarnedOfOnce) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  const Settings plain = {{"batch_size", "8"}};
  const Settings job = plain + Settings{{"transform", "pixels: normalize(mean=1, std=2)"}};
  fake_cuda_capability(50);
  logged(dataset, on_device(plain));
  logged(dataset, job);
  EXPECT_THAT(warnings_, IsEmpty());
  logged(dataset, on_device(job));
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("transforms run on the CPU, not on cuda:0: "));
  EXPECT_THAT(warnings_[0], HasSubstr(has_kernels() ? "this device is sm_50" : "this build has no kernels"));
}

TEST_F(DeviceCreate, PageLockingGoesAsFarAsTheDriverAndTheTruthIsTold) {
  fake_cuda_require_pinned(0);
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  for (const auto& [limit, least, most] :
       {std::tuple<int64_t, int64_t, int64_t>{-1, 8, 8}, {3 * 4096, 1, 7}, {0, 0, 0}}) {
    warnings_.clear();
    Consumer consumer;
    const int64_t consumers = fake_cuda_pinned_bytes();
    fake_cuda_limit_pinned(limit < 0 ? -1 : consumers + limit);
    const Settings job = {{"batch_size", "8"}, {"epochs", "2"}};
    {
      const Loader loader = logged(dataset, on_device(job));
      const dl_stats stats = stats_of(loader);
      const int64_t slot_bytes = 4096;  // 8 rows, rounded to pages
      EXPECT_EQ(stats.pinned_bytes % slot_bytes, 0);
      EXPECT_GE(stats.pinned_bytes, least * slot_bytes);
      EXPECT_LE(stats.pinned_bytes, most * slot_bytes);
      EXPECT_EQ(stats.pinned_bytes, fake_cuda_pinned_bytes() - consumers);
      EXPECT_THAT(warnings_, SizeIs(limit < 0 ? 0 : 1));
      EXPECT_EQ(whole_job(loader, &consumer), whole_job(make_loader(dataset, job), nullptr));
    }
    EXPECT_EQ(fake_cuda_pinned_bytes(), consumers);
    fake_cuda_limit_pinned(-1);
  }
}

std::set<bool> pinned_flags(const Loader& loader) {
  std::set<bool> seen;
  std::vector<Batch> held;
  for (int b = 0; b < 4; ++b) {
    dl_status status = DL_OK;
    Error error;
    held.push_back(next_batch(loader, status, error));
    int32_t count = 0;
    const dl_view* views = dl_batch_views(held.back().get(), &count);
    for (int32_t f = 0; f < count; ++f) {
      EXPECT_EQ(views[f].device_type, DL_DEVICE_CPU);
      seen.insert((views[f].flags & DL_VIEW_PINNED) != 0);
    }
  }
  return seen;
}

TEST_F(DeviceCreate, PinMemoryOnTheCpuSaysOfEachSlotWhetherItIsPageLocked) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  const Settings job = {{"batch_size", "8"},
                        {"max_bytes_per_sample", "128"},
                        {"pin_memory", "true"},
                        {"pin_memory_device", "cuda:0"},
                        {"cuda_library", FAKE_CUDA_LIBRARY}};
  {
    const Loader loader = logged(dataset, job);
    EXPECT_EQ(pinned_flags(loader), std::set<bool>({true}));
    EXPECT_EQ(stats_of(loader).pinned_bytes, fake_cuda_pinned_bytes());
    EXPECT_GT(stats_of(loader).pinned_bytes, 0);
    EXPECT_EQ(stats_of(loader).device_bytes, 0);
  }
  EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
  fake_cuda_limit_pinned(2 * 4096);
  {
    const Loader loader = logged(dataset, job + Settings{{"num_workers", "0"}, {"max_leases", "4"}});
    EXPECT_EQ(pinned_flags(loader), std::set<bool>({false, true}));
    EXPECT_THAT(warnings_, SizeIs(1));
  }
  warnings_.clear();
  {
    const Loader loader = logged(dataset, job + Settings{{"cuda_library", "/nowhere/libcuda.so.1"}});
    EXPECT_EQ(pinned_flags(loader), std::set<bool>({false}));
    EXPECT_EQ(stats_of(loader).pinned_bytes, 0);
    EXPECT_THAT(warnings_, ::testing::ElementsAre(HasSubstr("/nowhere/libcuda.so.1")));
  }
}

// In the child no function of the driver is called, whatever is done there.
// On a real driver the child ends where it asks the fake how many calls there were; what it was told is checked by then.
constexpr int kSkippedInChild = 77;

TEST_F(DeviceCreate, AForkedChildIsToldAndCallsNoDriver) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(400);
  for (const char* workers : {"0", "2"}) {
    Consumer consumer;
    Loader loader = make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}}));
    Loader gone = make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}}));
    dl_status status = DL_OK;
    Error error;
    Batch held = next_batch(loader, status, error), second = next_batch(loader, status, error);
    Batch orphan = next_batch(gone, status, error);
    ASSERT_EQ(dl_batch_wait(held.get(), consumer.stream(), &error), DL_OK);
    gone.reset();
    const int result = in_child([&] {
      dl_batch* batch = nullptr;
      if (dl_loader_next(loader.get(), -1, &batch, &error) != DL_ERR_FORKED) return 1;
      if (dl_batch_wait(held.get(), consumer.stream(), &error) != DL_ERR_FORKED) return 2;
      if (dl_batch_release_on(held.release(), consumer.stream(), &error) != DL_ERR_FORKED) return 3;
      if (dl_loader_plan_count(loader.get()) < 1) return 4;
      second.reset();
      orphan.reset();  // the last that is left of its loader
      loader.reset();
      return fake_cuda_calls_in_child() == 0 ? 0 : 5;
    });
    EXPECT_TRUE(result == 0 || result == kSkippedInChild) << result;
    consumer.queue(held.get());
    consumer.queue(orphan.get());
    EXPECT_EQ(consumer.finish().size(), 2u);
  }
}

}  // namespace
}  // namespace dataline::tests::loader_create_test
