// dataline_torch.hpp on the fake driver: CUDA tensors over the batch's device memory, the stream that waits and is waited
// for. LibTorch for the CPU makes such tensors, but cannot compute with them: their bytes are read through the driver.
// SPDX-License-Identifier: Apache-2.0
#include <dataline_torch.hpp>
#include <optional>

#include "tests/cpp/fake_driver.h"
#include "tests/cpp/support.h"

namespace dataline::cpp_tests::torch_device_test {
namespace {

Dataset pairs(int64_t n) {
  std::vector<int64_t> labels(static_cast<size_t>(n));
  std::iota(labels.begin(), labels.end(), 0);
  return Dataset::copy_arrays(
      {Array("x", std::vector<float>(static_cast<size_t>(n) * 4, 0.5f), {n, 4}), Array("label", labels)});
}

class CppTorchDevice : public OnFakeCuda {
 protected:
  CppTorchDevice() {
    c10::cuda::current_streams = {make_stream(0), make_stream(1)};
    c10::cuda::current_ordinal = 0;
  }
  static Options job(const std::string& device) {
    Options options = on(device);
    options.set("batch_size", 8).set("epochs", 1);
    return options;
  }
};

TEST_F(CppTorchDevice, TheOptionIsTheDeviceOfLibTorch) {
  EXPECT_EQ(device_option(at::Device("cpu")), "cpu");
  EXPECT_EQ(device_option(at::Device("cuda:1")), "cuda:1");
  c10::cuda::current_ordinal = 1;
  EXPECT_EQ(device_option(at::kCUDA), "cuda:1") << "the current one";
  const Result<std::string> meta = try_device_option(at::Device("meta"));
  EXPECT_EQ(meta.status(), DL_ERR_UNSUPPORTED);
  EXPECT_TRUE(says(meta.error(), {"meta", "cpu or cuda"}));
}

TEST_F(CppTorchDevice, ATensorIsOnItsDeviceOverTheBatchsOwnMemory) {
  for (const char* name : {"cuda:0", "cuda:1"}) {
    Loader loader(pairs(20), job(name));
    const Batch batch = loader.next().value();
    const auto [x, label] = to_tensors(batch, "x", "label");
    EXPECT_EQ(x.device(), at::Device(name));
    EXPECT_EQ(label.device(), at::Device(name));
    EXPECT_EQ(x.data_ptr(), batch["x"].data());
    EXPECT_EQ(x.sizes(), at::IntArrayRef({8, 4}));
    EXPECT_TRUE(indices_tensor(batch).device().is_cpu());
  }
}

TEST_F(CppTorchDevice, TheCurrentStreamWaitedWhenTheTensorIsMade) {
  const auto stream = static_cast<CUstream>(c10::cuda::current_streams[0]);
  Loader loader(pairs(20), job("cuda:0"));
  int64_t next = 0;
  for (Batch& batch : loader) {
    const at::Tensor label = to_tensor(batch, "label");
    const std::vector<std::byte> bytes = read(batch["label"], stream);
    for (int64_t i = 0; i < label.size(0); ++i) {
      int64_t value = -1;
      std::memcpy(&value, bytes.data() + i * 8, sizeof value);
      EXPECT_EQ(value, next++);
    }
  }
  EXPECT_EQ(next, 20);
}

TEST_F(CppTorchDevice, TheLastAliasGivesTheLeaseBackPastTheBatchAndTheLoader) {
  std::optional<Loader> loader(std::in_place, pairs(20), job("cuda:0"));
  at::Tensor kept = to_tensor(loader->next().value(), "x"), alias = kept;
  EXPECT_EQ(loader->stats().leases_held, 1);
  at::Tensor other = to_tensor(loader->next().value(), "x");
  kept.reset();
  EXPECT_EQ(loader->stats().leases_held, 2);
  alias.reset();
  EXPECT_EQ(loader->stats().leases_held, 1);
  loader.reset();
  other.reset();
}

TEST_F(CppTorchDevice, AnotherStreamIsToldOnce) {
  Loader loader(pairs(20), job("cuda:0"));
  const Batch batch = loader.next().value();
  const at::Tensor x = to_tensor(batch, "x");
  const CUstream second = make_stream();
  also_on(batch, c10::cuda::CUDAStream(second));
  std::vector<std::byte> half(4);
  const float wanted = 0.5f;
  std::memcpy(half.data(), &wanted, sizeof wanted);
  const std::vector<std::byte> bytes = read(batch["x"], second);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), bytes.begin()));
}

}  // namespace
}  // namespace dataline::cpp_tests::torch_device_test
