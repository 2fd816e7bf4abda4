// How much of its stack a worker needs: decoders of every kind of file, then every operator. Workers run on threads of the
// test's, whose stacks were painted before; what is not paint any more has been used.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/thread.h"
#include "tests/support/job.h"
#include "tests/support/places.h"

namespace dataline::tests::stack_test {
namespace {

constexpr char kPaint = '\x5a';

// One thread, with a painted stack of kLeastStackBytes.
struct Painted {
  char* stack = nullptr;
  pthread_t thread{};
  bool runs = false;
  void (*main)(void*) = nullptr;
  void* argument = nullptr;

  Painted() {
    void* made = mmap(nullptr, kLeastStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(made, MAP_FAILED);
    stack = static_cast<char*>(made);
    std::fill_n(stack, kLeastStackBytes, kPaint);
  }
  ~Painted() { munmap(stack, kLeastStackBytes); }
  Painted(const Painted&) = delete;

  static int32_t run(void* context, int32_t, const char*, void (*main)(void*), void* argument) {
    auto& self = *static_cast<Painted*>(context);
    self.main = main, self.argument = argument;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, self.stack, kLeastStackBytes);
    const auto begin = [](void* given) -> void* {
      auto& thread = *static_cast<Painted*>(given);
      thread.main(thread.argument);
      return nullptr;
    };
    const int failure = pthread_create(&self.thread, &attributes, begin, &self);
    pthread_attr_destroy(&attributes);
    self.runs = failure == 0;
    return failure;
  }
  // Its thread-local memory, which lies on top, included.
  size_t used_bytes() {
    if (runs) pthread_join(thread, nullptr);
    runs = false;
    return kLeastStackBytes -
           static_cast<size_t>(
               std::find_if(stack, stack + kLeastStackBytes, [](char c) { return c != kPaint; }) - stack);
  }
};

// The files of golden_images.txt whose name begins so: JPEG of every kind, PNG, WebP. With labels, all 0.
Dataset golden_files(const std::string& prefix) {
  std::ifstream lines(tests::in_repository("tests/transform/decode/golden_images.txt"));
  std::string name, digest, hex, data;
  std::vector<int64_t> offsets = {0};
  while (lines >> name >> digest >> digest >> digest >> digest >> hex) {
    if (name.rfind(prefix, 0) != 0) continue;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      data += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    offsets.push_back(static_cast<int64_t>(data.size()));
  }
  EXPECT_GE(offsets.size(), 10u) << prefix;
  const std::vector<int64_t> shape = {offsets.back()},
                             label_shape = {static_cast<int64_t>(offsets.size()) - 1};
  const std::vector<int64_t> labels(offsets.size() - 1);
  const dl_array arrays[] = {ragged_array_of("image", DL_DTYPE_U8, shape, data.data(), offsets),
                             array_of("label", DL_DTYPE_I64, label_shape, labels.data())};
  Error error;
  dl_dataset* made = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &made, &error), DL_OK)
      << error.message;
  return Dataset(made);
}

// What one epoch takes of the worker's stack; the consumer leaves decoding to it.
size_t stack_of(const Dataset& dataset, const std::string& transform) {
  Painted painted;
  dl_threads threads = {};
  threads.struct_size = sizeof threads;
  threads.context = &painted;
  threads.run = Painted::run;
  dl_extensions* extensions = nullptr;
  EXPECT_EQ(dl_extensions_create(&extensions, nullptr), DL_OK);
  EXPECT_EQ(dl_extensions_set_threads(extensions, &threads, nullptr), DL_OK);
  const Options options =
      make_options({{"transform", transform}, {"num_workers", "1"}, {"batch_size", "4"}, {"epochs", "1"}});
  EXPECT_EQ(dl_options_set_extensions(options.get(), extensions, nullptr), DL_OK);
  dl_extensions_destroy(extensions);
  Error error;
  dl_loader* made = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), DL_OK)
      << transform << ": " << error.message;
  Loader loader(made);
  while (loader != nullptr) {
    const Delivered got = next(loader);
    if (got.status == DL_END_OF_EPOCH || got.status == DL_END) break;
    EXPECT_EQ(got.status, DL_OK) << transform << ": " << got.message;
    if (got.status != DL_OK) break;
  }
  loader.reset();
  const size_t used = painted.used_bytes();
  EXPECT_GT(used, 2048u) << "the worker did not run there";
  return used;
}

constexpr size_t kMost = size_t{64} << 10;  // as thread.h and dl_threads say, for 128 KiB

TEST(WorkerStack, DecodersNeedLessThan64KiB) {
  for (const char* kind : {"jpeg", "png", "webp"}) {
    const Dataset files = golden_files(kind);
    for (const char* mode : {"rgb", "gray", "rgba"}) {
      const std::string decode = std::string("decode(mode=") + mode + "), ";
      EXPECT_LT(stack_of(files, decode + "resize([40, 50])"), kMost) << kind;
      EXPECT_LT(stack_of(files, decode + "random_resized_crop(32), hflip, chw"), kMost) << kind;
    }
  }
}

TEST(WorkerStack, OperatorsNeedLessThan64KiB) {
  constexpr const char* kLong =
      "color_jitter(0.4, 0.4, 0.4, 0.1), rotate(30), rand_augment, gaussian_blur(9, sigma=1), "
      "perspective(0.5, p=1), random_resized_crop(48), hflip, random_erasing(1), normalize(imagenet), "
      "cast(bf16), "
      "chw";
  const Dataset files = golden_files("jpeg");
  const std::string decode = "decode, resize([64, 96]), ";
  for (const char* text :
       {"random_crop(32), normalize(imagenet), cast(f16), chw",
        "vflip(0.5), center_crop(48), scale(0.5), flatten",
        "color_jitter(0.4, 0.4, 0.4, 0.1), grayscale(0.5)", "gaussian_blur(23, sigma=[1, 3])",
        "solarize(128), posterize(2, p=1), equalize(1)", "autocontrast(1), invert(1), sharpness(4, p=1)",
        "pad(12, mode=reflect), random_erasing(1)", "rand_augment", "trivial_augment", "rotate(30)",
        "affine(15, translate=[0.1, 0.1], scale=[0.8, 1.1], shear=10)", "perspective(0.5, p=1)",
        "cast(f32), mixup(2); label: one_hot(2)", "cutmix(2); label: one_hot(2)", kLong}) {
    EXPECT_LT(stack_of(files, decode + text), kMost) << text;
  }
}

}  // namespace
}  // namespace dataline::tests::stack_test
