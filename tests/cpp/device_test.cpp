// Batches in device memory, on the fake driver: host accessors refuse them, a stream that waited reads the bytes that the
// cpu delivers, the plan says what crosses the bus.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/base/arrow_c_data.h"
#include "tests/cpp/fake_driver.h"
#include "tests/cpp/support.h"

namespace dataline::cpp_tests::device_test {
namespace {

// 100 u8 images of 2 x 3 x 3 (HWC) and their i64 labels.
Dataset images() {
  std::vector<uint8_t> pixels(100 * 18);
  std::vector<int64_t> labels(100);
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  std::iota(labels.begin(), labels.end(), int64_t{0});
  return Dataset::copy_arrays({Array("image", pixels, {100, 2, 3, 3}).axes("HWC"), Array("label", labels)});
}

Options job(Options settings = {}) {
  settings.set("batch_size", 16).set("shuffle", "full").set("epochs", 1);
  settings.set("transform", "image: normalize(mean=0.5, std=0.25), chw");
  return settings;
}

// Without them what has to be computed is computed before the bus.
bool has_kernels() { return std::string(dl_build_info()).find("cuda-kernels") != std::string::npos; }

std::vector<std::byte> host_bytes(const View& view) {
  const Span<const std::byte> bytes = view.as<std::byte>();
  return {bytes.begin(), bytes.end()};
}

class CppDevice : public OnFakeCuda {};

TEST_F(CppDevice, AViewNamesItsDeviceAndRefusesTheHost) {
  Loader loader(images(), job(on()));
  EXPECT_EQ(loader.fields()["image"].device(), (Device{DL_DEVICE_CUDA, 0}));
  const Batch batch = loader.next().value();
  const View image = batch["image"];
  EXPECT_EQ(image.device().name(), "cuda:0");
  EXPECT_NE(image.data(), nullptr);
  const Error error = thrown_by([&] { image.as<float>(); });
  EXPECT_EQ(error.code(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(says(error, {"'image'", "cuda:0", "Batch::wait(stream)", "device=cpu"}));
  EXPECT_EQ(image.try_as<std::byte>().status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(image.try_writable<float>().status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(image.try_rows<float>().status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(image.try_as<uint8_t>().status(), DL_ERR_MISMATCH) << "the type is looked at first";
  EXPECT_EQ(batch.sample_indices().size(), 16u) << "stay on the host";
}

TEST_F(CppDevice, ArrowRefusesABatchInDeviceMemory) {
  Loader loader(images(), job(on()));
  const Batch batch = loader.next().value();
  ArrowSchema schema = {};
  ArrowArray array = {};
  const Error error = thrown_by([&] { batch.arrow(&schema, &array); });
  EXPECT_EQ(error.code(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(says(error, {"device memory", "dl_batch_dlpack"}));
  EXPECT_EQ(schema.release == nullptr && array.release == nullptr, true);
}

TEST_F(CppDevice, AStreamThatWaitedReadsWhatTheCpuDelivers) {
  Loader device(images(), job(on())), host(images(), job());
  const CUstream stream = make_stream();
  for (Batch batch : device) {
    const Batch same = host.next().value();
    batch.wait(stream);
    for (const char* field : {"image", "label"}) {
      EXPECT_EQ(read(batch[field], stream), host_bytes(same[field])) << field << ' ' << batch.step();
    }
    batch.release_on(stream);
    EXPECT_FALSE(batch);
  }
  const dl_stats stats = device.stats();
  EXPECT_EQ(stats.batches, 7);
  EXPECT_EQ(stats.leases_held, 0);
  EXPECT_GT(stats.device_bytes, 0);
  EXPECT_GE(stats.copied_bytes, 100 * device.plan().bus_bytes());  // and what lies between fields
}

TEST_F(CppDevice, ABatchIsGivenUpEvenWhereTheReleaseFails) {
  Batch batch;
  EXPECT_EQ(batch.try_release_on(nullptr).status(), DL_ERR_INVALID_ARGUMENT);
  Loader loader(images(), job(on()));
  batch = loader.next().value();
  const Batch second = batch;
  static_cast<void>(batch.try_release_on(nullptr));
  EXPECT_FALSE(batch);
  EXPECT_EQ(loader.stats().leases_held, 1) << "the other reference";
}

TEST_F(CppDevice, ThePlanSaysWhatCrossesTheBus) {
  EXPECT_EQ(Loader(images(), job()).plan().bus_bytes(), 0);
  const Loader loader(images(), job(on()));
  const Plan plan = loader.plan();
  EXPECT_EQ(plan.bus_bytes(), (has_kernels() ? 18 : 72) + 8);
  std::string on_device;
  for (const dl_plan_stage& stage : plan.stages) {
    if (stage.device_type == DL_DEVICE_CUDA && std::strcmp(stage.field, "image") == 0)
      on_device += std::string(stage.text) + "; ";
  }
  EXPECT_EQ(on_device, has_kernels() ? "copy; normalize(mean=0.5, std=0.25), chw; " : "copy; ");
}

TEST_F(CppDevice, NoDriverIsAnErrorThatNamesTheLibrary) {
  const Result<Loader> loader =
      Loader::try_create(images(), {{"device", "cuda:0"}, {"cuda_library", "/nowhere/libcuda.so"}});
  EXPECT_EQ(loader.status(), DL_ERR_NO_DEVICE);
  EXPECT_TRUE(says(loader.error(), {"/nowhere/libcuda.so"}));
}

}  // namespace
}  // namespace dataline::cpp_tests::device_test
