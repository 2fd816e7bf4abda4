// Encoded images on a device: the host decodes, what is smaller crosses, and the batches are those of the cpu.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/loader_support.h"
#include "tests/loader/images/photographs.h"
#include "tests/loader/transformed_parts.h"
#include "tests/support/plan_stages.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::loader_images_test {
namespace {

using ::testing::HasSubstr;

// Room for the largest of Photographs, decoded.
Settings images(const Settings& more) { return Settings{{"max_bytes_per_sample", "32KiB"}} + more; }

class DeviceImages : public DeviceLoaders {
 protected:
  static bool has_kernels() { return std::string(dl_build_info()).find("cuda-kernels") != std::string::npos; }

  void expect_equal(const Dataset& dataset, const Settings& settings, uint64_t seed) {
    fresh_driver(seed);
    {
      Consumer consumer;
      const std::vector<Content> device =
          whole_job(make_loader(dataset, on_device(images(settings))), &consumer);
      const std::vector<Content> cpu = whole_job(make_loader(dataset, images(settings)), nullptr);
      ASSERT_EQ(device, cpu);
      ASSERT_GT(cpu.size(), 2u);
    }
    expect_clean();
  }
};

TEST_F(DeviceImages, OfOneSizeAreThoseOfTheCpu) {
  Photographs set;
  set.broken = {3, 17};
  const Dataset dataset = set.dataset();
  uint64_t seed = 1;
  for (const char* transform :
       {"image: decode, random_resized_crop(24), hflip, normalize(imagenet), chw; label: one_hot(5)",
        "image: decode, resize(20x24)", "image: decode, random_crop(24), color_jitter(0.2), chw, cast(f16)",
        "image: decode(gray), resize(16x16), scale(0.5), random_erasing(1)"}) {
    for (const char* workers : {"0", "2"}) {
      for (const char* policy : {"replace", "quarantine", "raise"}) {
        SCOPED_TRACE(::testing::Message() << transform << ", " << workers << " workers, " << policy);
        expect_equal(dataset,
                     {{"transform", transform},
                      {"batch_size", "7"},
                      {"epochs", "2"},
                      {"shuffle", "full"},
                      {"num_workers", workers},
                      {"on_error", policy}},
                     ++seed);
      }
    }
  }
}

// A batch's images are packed in its slot once the last of them is there; those of another size are bad samples.
TEST_F(DeviceImages, OfSizesOfTheirOwnAreThoseOfTheCpu) {
  Photographs set;
  set.size = [](int64_t i) { return i / 4 % 2 == 0 ? ImageSize{20, 30} : ImageSize{17, 9 + 4 * (i == 22)}; };
  const Dataset dataset = set.dataset();
  uint64_t seed = 50;
  for (const char* workers : {"0", "2"}) {
    for (const char* batch : {"1", "4"}) {
      for (const char* transform : {"image: decode", "image: decode, hflip, normalize(imagenet), chw"}) {
        SCOPED_TRACE(::testing::Message()
                     << transform << ", " << workers << " workers, batches of " << batch);
        expect_equal(dataset,
                     {{"transform", transform},
                      {"batch_size", batch},
                      {"epochs", "2"},
                      {"num_workers", workers},
                      {"on_error", "quarantine"}},
                     ++seed);
      }
    }
  }
}

TEST_F(DeviceImages, OfPartsWithTransformsOfTheirOwnAreThoseOfTheCpu) {
  const Dataset set = Photographs().dataset();
  for (const char* homogeneous : {"none", "batch"}) {
    const bool alike = homogeneous == std::string("none");
    const Dataset dataset = good_mix(
        {{"a", set.get(), "image: decode, resize(16x16)", 1},
         {"b", set.get(), alike ? "image: decode, center_crop(16)" : "image: decode, center_crop(20)", 1}});
    for (const char* workers : {"0", "2"}) {
      expect_equal(dataset,
                   {{"transform", "image: hflip, normalize(imagenet), chw"},
                    {"batch_size", "4"},
                    {"epochs", "2"},
                    {"homogeneous", homogeneous},
                    {"num_workers", workers}},
                   90);
    }
    const auto [status, message] =
        create_error(dataset, on_device(images({{"io", "device"}, {"homogeneous", homogeneous}})));
    EXPECT_EQ(status, DL_ERR_UNSUPPORTED);
    EXPECT_THAT(message, HasSubstr("io=device cannot hold a mix whose parts have their own transforms"));
  }
}

TEST_F(DeviceImages, MixedWithinTheBatchAreThoseOfTheCpu) {
  const Dataset dataset = Photographs().dataset();
  uint64_t seed = 80;
  for (const char* mix : {"mixup(0.4)", "cutmix"}) {
    const std::string transform =
        std::string("image: decode, resize(16x16), normalize(imagenet), ") + mix + "; label: one_hot(5)";
    for (const char* workers : {"0", "2"})
      expect_equal(dataset,
                   {{"transform", transform}, {"batch_size", "6"}, {"epochs", "2"}, {"num_workers", workers}},
                   ++seed);
  }
}

TEST_F(DeviceImages, ThePlanDecodesOnTheHostAndConvertsOnTheDevice) {
  const Dataset dataset = Photographs().dataset();
  const std::vector<Stage> plan = plan_of(make_loader(
      dataset, on_device(images({{"transform", "image: decode, resize(16x16), normalize(imagenet), chw"}}))));
  constexpr int64_t kPixels = 16 * 16 * 3;
  EXPECT_EQ(plan[0].device_type, DL_DEVICE_CPU);
  EXPECT_THAT(plan[0].text, HasSubstr("decode, resize(16x16)"));
  if (plan[0].bytes_out == kPixels * 4)
    GTEST_SKIP() << "built without kernels: the plan says that the host does it all";
  EXPECT_EQ(plan[0].bytes_out, kPixels);
  EXPECT_EQ(plan[1], (Stage{"image", "copy", DL_DEVICE_CUDA, kPixels, kPixels}));
  EXPECT_EQ(plan[2], (Stage{"image", "normalize(imagenet), chw", DL_DEVICE_CUDA, kPixels, kPixels * 4}));
}

TEST_F(DeviceImages, HeldOnTheDeviceTheyAreDecodedOnceAndThoseOfTheCpu) {
  if (!has_kernels()) GTEST_SKIP() << "built without kernels, which io=device needs";
  const Dataset dataset = Photographs().dataset();
  const Settings held = {{"io", "device"}};
  for (const char* transform :
       {"image: decode, resize(16x16)", "image: decode, resize(16x16), normalize(imagenet), chw"}) {
    const Settings job =
        images({{"transform", transform}, {"epochs", "3"}, {"shuffle", "full"}, {"batch_size", "5"}});
    Consumer consumer;
    EXPECT_EQ(whole_job(make_loader(dataset, on_device(job + held)), &consumer),
              whole_job(make_loader(dataset, job), nullptr))
        << transform;
  }
}

// What is left behind the cache is what the device has a part in.
TEST_F(DeviceImages, OutOfACacheAreThoseOfTheCpuWithout) {
  const std::string folder = make_temp_folder("dataline-device-cache");
  Photographs().write_to(folder + "/set");
  const Dataset dataset = Photographs::of_folder(folder + "/set");
  const Settings job =
      images({{"epochs", "2"}, {"shuffle", "full"}, {"batch_size", "5"}, {"num_workers", "2"}});
  for (const char* transform : {"image: decode, resize(16x16), normalize(imagenet), chw",
                                "image: decode, random_crop(24), hflip, chw, cast(f16)"}) {
    const auto expected = whole_job(make_loader(dataset, job + Settings{{"transform", transform}}), nullptr);
    const Settings cached = job + Settings{{"transform", transform}, {"cache", folder + "/cache"}};
    for (int run = 0; run < 2; ++run) {
      Consumer consumer;
      EXPECT_EQ(whole_job(make_loader(dataset, on_device(cached)), &consumer), expected) << transform;
    }
    if (!has_kernels() || std::string(transform).find("resize") == std::string::npos) continue;
    Consumer consumer;
    EXPECT_EQ(whole_job(make_loader(dataset, on_device(cached + Settings{{"io", "device"}})), &consumer),
              expected);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(DeviceImages, OfSizesOfTheirOwnOrDrawnAtRandomByTheHostAreNotHeldOnTheDevice) {
  if (!has_kernels()) GTEST_SKIP() << "built without kernels, whose absence is named first";
  const Dataset dataset = Photographs().dataset();
  const auto refused = [&](const char* transform) {
    const auto [status, message] =
        create_error(dataset, on_device(images({{"io", "device"}, {"transform", transform}})));
    EXPECT_EQ(status, DL_ERR_UNSUPPORTED) << message;
    return message;
  };
  EXPECT_THAT(refused("image: decode"), HasSubstr("field 'image': its images vary in size"));
  EXPECT_THAT(refused("image: decode, random_resized_crop(16)"), HasSubstr("is random"));
  EXPECT_THAT(refused("image: decode, resize(16x16), hflip, scale(2)"), HasSubstr("is random"));
}

}  // namespace
}  // namespace dataline::tests::loader_images_test
