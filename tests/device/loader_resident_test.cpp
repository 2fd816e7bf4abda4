// io=device: the set is sent once and gathered on the device; what is delivered is what a loader on the cpu delivers.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/files.h"
#include "tests/device/loader_support.h"

namespace dataline::tests::loader_resident_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kSamples = 101;

// `image` u8[6x5x3] HWC, `label` i64, `pair` f32[3]; copied, so that the dataset stands alone.
class ImageSet {
 public:
  explicit ImageSet(int64_t samples = kSamples) : images(static_cast<size_t>(samples) * 90) {
    for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint8_t>(i * 37 + (i >> 7) * 11);
    for (int64_t i = 0; i < samples; ++i) labels.push_back(i % 10);
    for (int64_t i = 0; i < 3 * samples; ++i) pairs.push_back(static_cast<float>(i) * 0.3f);
  }
  Dataset dataset() const {
    const auto samples = static_cast<int64_t>(labels.size());
    const int64_t image_shape[] = {samples, 6, 5, 3}, label_shape[] = {samples}, pair_shape[] = {samples, 3};
    dl_array arrays[3] = {};
    for (dl_array& array : arrays) array.struct_size = sizeof array;
    arrays[0].name = "image", arrays[0].dtype = DL_DTYPE_U8, arrays[0].rank = 4,
    arrays[0].shape = image_shape;
    arrays[0].data = images.data(), arrays[0].axes = "HWC";
    arrays[1].name = "label", arrays[1].dtype = DL_DTYPE_I64, arrays[1].rank = 1,
    arrays[1].shape = label_shape;
    arrays[1].data = labels.data();
    arrays[2].name = "pair", arrays[2].dtype = DL_DTYPE_F32, arrays[2].rank = 2, arrays[2].shape = pair_shape;
    arrays[2].data = pairs.data();
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_from_arrays(arrays, 3, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
        << error.message;
    return Dataset(dataset);
  }
  std::vector<uint8_t> images;
  std::vector<int64_t> labels;
  std::vector<float> pairs;
};

Settings resident(const Settings& more = {}) { return on_device(Settings{{"io", "device"}} + more); }

class LoaderResident : public DeviceLoaders {
 protected:
  void SetUp() override {
    if (std::string(dl_build_info()).find("cuda-kernels") == std::string::npos)
      GTEST_SKIP() << "skipped: this build has no kernels";
  }
  void expect_equal(const Dataset& dataset, const Settings& settings, uint64_t seed) {
    fresh_driver(seed);
    {
      Consumer consumer;
      const std::vector<Content> device = whole_job(make_loader(dataset, resident(settings)), &consumer);
      const std::vector<Content> cpu = whole_job(make_loader(dataset, settings), nullptr);
      ASSERT_EQ(device, cpu);
      ASSERT_GT(cpu.size(), 2u);
    }
    expect_clean();
  }
};

TEST_F(LoaderResident, DeliversWhatTheCpuDelivers) {
  const Dataset dataset = ImageSet().dataset();
  uint64_t seed = 1;
  for (const char* transform : {"", "image: normalize(imagenet), chw",
                                "image: random_crop(6x5, padding=1), hflip, normalize(imagenet), cast(f16)",
                                "image: chw; label: one_hot(10), cast(bf16)",
                                "image: scale(0.5), random_crop(4, padding=2, fill=1), chw",
                                "image: cast(f64); label: cast(i32); pair: cast(f16)",
                                "image: flatten, cast(i64); pair: scale(2), cast(bf16)"}) {
    for (const char* workers : {"0", "2"}) {
      for (const char* last : {"keep", "drop", "pad"}) {
        SCOPED_TRACE(::testing::Message() << transform << ", " << workers << " workers, " << last);
        expect_equal(dataset,
                     {{"batch_size", "8"},
                      {"epochs", "2"},
                      {"num_workers", workers},
                      {"last_batch", last},
                      {"shuffle", "full"},
                      {"seed", "4"},
                      {"transform", transform}},
                     ++seed);
      }
    }
  }
}

TEST_F(LoaderResident, OfRanksAndShortRingsDeliversWhatTheCpuDelivers) {
  const Dataset dataset = ImageSet().dataset();
  for (const char* rank : {"0", "2"}) {
    expect_equal(dataset,
                 {{"global_batch_size", "10"},
                  {"world_size", "3"},
                  {"rank", rank},
                  {"epochs", "2"},
                  {"prefetch_depth", "1"},
                  {"max_leases", "1"},
                  {"transform", "image: hflip, chw, scale(0.1)"}},
                 9);
  }
}

TEST_F(LoaderResident, OfTokenWindowsHoldsTheColumnOnce) {
  const TempDir files;
  std::vector<uint16_t> tokens(1500);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<uint16_t>(i * 31);
  const std::string path = files.write("tokens.bin", bytes_of(tokens));
  const Opened opened = open_dataset("tokens:" + path + "?dtype=u16&length=16", {{"io", "device"}});
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  for (const char* transform : {"", "x, y: cast(i64)", "y: cast(f32)"}) {
    SCOPED_TRACE(transform);
    expect_equal(opened.dataset,
                 {{"batch_size", "10"}, {"epochs", "2"}, {"shuffle", "full"}, {"transform", transform}}, 30);
  }
  const Loader loader =
      make_loader(opened.dataset, resident({{"transform", "x, y: cast(i64)"}, {"num_workers", "0"}}));
  const int64_t windows = (1500 - 1) / 16;
  EXPECT_EQ(stats_of(loader).copied_bytes, windows * 17 * 2);
}

TEST_F(LoaderResident, OfChosenAndWeightedSamplesDeliversWhatTheCpuDelivers) {
  const Dataset dataset = ImageSet().dataset();
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < 40; ++i) chosen.push_back(i * 7 % kSamples);
  std::vector<double> weights(static_cast<size_t>(kSamples), 1.0);
  weights[5] = 50;
  for (bool weighted : {false, true}) {
    fresh_driver(7);
    std::vector<std::vector<Content>> jobs;
    for (bool on_cpu : {false, true}) {
      Settings settings = {
          {"batch_size", "8"}, {"epochs", "2"}, {"transform", "image: hflip, normalize(imagenet)"}};
      const Options options = make_options(on_cpu ? settings : resident(settings));
      Error error;
      const dl_status set =
          weighted ? dl_options_set_weights(options.get(), weights.data(), kSamples, nullptr, nullptr, &error)
                   : dl_options_set_indices(options.get(), chosen.data(), 40, nullptr, nullptr, &error);
      ASSERT_EQ(set, DL_OK) << error.message;
      dl_loader* loader = nullptr;
      ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
      const Loader owned(loader);
      Consumer consumer;
      jobs.push_back(whole_job(owned, on_cpu ? nullptr : &consumer));
    }
    EXPECT_EQ(jobs[0], jobs[1]);
  }
  expect_clean();
}

TEST_F(LoaderResident, OnlyIndicesAndGeometryCrossForABatch) {
  const Dataset dataset = ImageSet().dataset();
  const int64_t set_bytes = kSamples * (90 + 8 + 12);
  struct Case {
    const char* transform;
    int64_t bytes;  // the most that a sample sends
  };
  for (const Case& c :
       {Case{"image: normalize(imagenet)", 8}, Case{"image: hflip, normalize(imagenet)", 8 + 32}}) {
    const Loader loader = make_loader(
        dataset, resident({{"batch_size", "32"}, {"num_workers", "0"}, {"transform", c.transform}}));
    const dl_stats before = stats_of(loader);
    EXPECT_EQ(before.copied_bytes, set_bytes);
    EXPECT_GE(before.device_bytes, set_bytes);
    Consumer consumer;
    for (int i = 0; i < 3; ++i) {
      dl_status status = DL_OK;
      Error error;
      const Batch batch = next_batch(loader, status, error);
      ASSERT_EQ(status, DL_OK) << error.message;
      consumer.queue(batch.get());
    }
    consumer.finish();
    const int64_t sent = stats_of(loader).copied_bytes - set_bytes;
    EXPECT_GE(sent, 3 * 32 * c.bytes);
    EXPECT_LE(sent, 3 * (32 * c.bytes + 1024)) << "gaps up to the next tensor's place go along";
    EXPECT_EQ(stats_of(loader).device_bytes, before.device_bytes);
  }
}

TEST_F(LoaderResident, GoesOnFromASavedState) {
  const Dataset dataset = ImageSet().dataset();
  const Settings settings = {
      {"batch_size", "8"}, {"epochs", "2"}, {"shuffle", "full"}, {"transform", "image: hflip"}};
  std::string state;
  {
    const Loader loader = make_loader(dataset, settings);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(next(loader).status, DL_OK);
    state = save_state(loader);
  }
  std::vector<std::vector<Content>> jobs;
  for (bool on_cpu : {false, true}) {
    const Loader loader = make_loader(dataset, on_cpu ? settings : resident(settings));
    Error error;
    ASSERT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_OK) << error.message;
    Consumer consumer;
    jobs.push_back(whole_job(loader, on_cpu ? nullptr : &consumer));
  }
  EXPECT_EQ(jobs[0], jobs[1]);
}

TEST_F(LoaderResident, ASetLargerThanTheDeviceIsRefusedWithBothSizes) {
  const Dataset dataset = ImageSet(20'000).dataset();
  constexpr int64_t kDeviceBytes = 1'000'000;
  fake_cuda_devices(1, kDeviceBytes);
  const auto [status, message] = create_error(dataset, resident());
  EXPECT_EQ(status, DL_ERR_NO_MEMORY);
  const int64_t images = (20'000 * 90 + 255) / 256 * 256, labels = (20'000 * 8 + 255) / 256 * 256;
  const int64_t pairs = (20'000 * 12 + 255) / 256 * 256, whole = (images + labels + pairs + 511) / 512 * 512;
  EXPECT_THAT(message, AllOf(HasSubstr(std::to_string(whole)), HasSubstr(std::to_string(kDeviceBytes))));
}

TEST_F(LoaderResident, WhatCannotBeHeldIsRefusedByName) {
  const Dataset dataset = ImageSet().dataset();
  const auto refused = [&](const Dataset& set, const std::string& transform) {
    const auto [status, message] = create_error(set, resident({{"transform", transform}}));
    EXPECT_EQ(status, DL_ERR_UNSUPPORTED) << message;
    return message;
  };
  EXPECT_THAT(refused(dataset, "image: random_crop(4), cast(f64)"),
              AllOf(HasSubstr("image"), HasSubstr("random_crop(4), cast(f64)"), HasSubstr("random")));
  EXPECT_THAT(refused(dataset, "image: random_crop(6x5, padding=1), scale(2), random_crop(6x5, padding=1)"),
              AllOf(HasSubstr("image"), HasSubstr("'random_crop(6x5, padding=1), scale(2)' is random")));
  MixedReader reader;
  EXPECT_THAT(refused(reader.dataset(10), ""), HasSubstr("reader"));

  const uint8_t letters[] = {1, 2, 3, 4, 5};
  const int64_t offsets[] = {0, 2, 5}, shape[] = {5};
  dl_array text = {};
  text.struct_size = sizeof text;
  text.name = "text", text.dtype = DL_DTYPE_U8, text.rank = 1, text.shape = shape;
  text.data = letters, text.offsets = offsets, text.sample_count = 2, text.kind = DL_KIND_RAGGED;
  Error error;
  dl_dataset* ragged = nullptr;
  ASSERT_EQ(dl_dataset_from_arrays(&text, 1, nullptr, nullptr, nullptr, &ragged, &error), DL_OK)
      << error.message;
  const Dataset owned(ragged);
  EXPECT_THAT(refused(owned, ""), AllOf(HasSubstr("'text'"), HasSubstr("vary in length")));
}

TEST_F(LoaderResident, ABadSampleEndsTheUploadAndIsNamed) {
  ImageSet set;
  set.labels[77] = 12;
  const Dataset dataset = set.dataset();
  for (const char* policy : {"raise", "replace"}) {
    Error error;
    dl_loader* loader = nullptr;
    const Options options =
        make_options(resident({{"transform", "label: one_hot(10)"}, {"on_error", policy}}));
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_ERR_OUT_OF_RANGE);
    EXPECT_EQ(error.sample_index, 77);
    EXPECT_THAT(error.message, AllOf(HasSubstr("sample 77"), HasSubstr("label")));
  }
}

TEST_F(LoaderResident, ALossWhileTheSetIsSentIsToldAndLeavesNothingRunning) {
  constexpr int32_t kLaunchFailed = 719;
  leaks_ = true;
  const Dataset dataset = ImageSet().dataset();
  fake_cuda_fail_name("cuMemcpyHtoDAsync", 1, kLaunchFailed, -1);
  EXPECT_EQ(create_error(dataset, resident()).first, DL_ERR_DEVICE_LOST);
}

// Whatever call the driver refuses: a code, or a loader that works all the same; and nothing is left alive.
TEST_F(LoaderResident, ARefusalAtAnyCallOfCreateIsTold) {
  constexpr int32_t kOutOfMemory = 2;
  const Dataset dataset = ImageSet().dataset();
  const Settings settings = resident({{"num_workers", "0"}, {"transform", "image: hflip, chw"}});
  fresh_driver(0);
  int64_t calls = 0, refused = 0;
  {
    const Loader loader = make_loader(dataset, settings);
    calls = fake_cuda_calls(nullptr);
  }
  for (int64_t index = 0; index < calls; ++index) {
    SCOPED_TRACE(index);
    fresh_driver(0);
    fake_cuda_require_pinned(0);  // where page-locking is what was refused
    fake_cuda_fail_call(index, kOutOfMemory, 1);
    Error error;
    dl_loader* loader = nullptr;
    const Options options = make_options(settings);
    const dl_status status = dl_loader_create(dataset.get(), options.get(), &loader, &error);
    EXPECT_EQ(status == DL_OK, loader != nullptr);
    EXPECT_TRUE(status == DL_OK || error.message[0] != '\0');
    dl_loader_destroy(loader);
    refused += status == DL_OK ? 0 : 1;
    leaks_ = status == DL_ERR_DEVICE_LOST;  // a wait that fails leaves nobody who knows when a copy is done
    expect_clean();
  }
  EXPECT_GT(refused, 10);
}

TEST_F(LoaderResident, ThePlanSaysWhatIsDoneOnceAndWhatABatchSends) {
  const Dataset dataset = ImageSet().dataset();
  const Loader loader = make_loader(
      dataset, resident({{"num_workers", "0"}, {"transform", "image: hflip, chw; label: one_hot(10)"}}));
  std::string plan;
  for (int32_t i = 0; i < dl_loader_plan_count(loader.get()); ++i) {
    dl_plan_stage stage = {};
    stage.struct_size = sizeof stage;
    Error error;
    ASSERT_EQ(dl_loader_plan_at(loader.get(), i, &stage, &error), DL_OK);
    plan += std::string(stage.device_type == DL_DEVICE_CPU ? "cpu " : "device ") + stage.field + ": " +
            stage.text + " " + std::to_string(stage.bytes_in) + ">" + std::to_string(stage.bytes_out) + "\n";
  }
  EXPECT_EQ(plan,
            "cpu image: gather, once 90>90\n"
            "device image: copy 40>40\n"
            "device image: hflip, chw 90>90\n"
            "cpu label: one_hot(10), once 8>40\n"
            "device label: gather 40>40\n"
            "cpu pair: gather, once 12>12\n"
            "device pair: gather 12>12\n");
}

}  // namespace
}  // namespace dataline::tests::loader_resident_test
