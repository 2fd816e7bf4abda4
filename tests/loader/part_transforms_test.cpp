// Transforms of the parts of a mix: what becomes of samples is what becomes of sets that were transformed before they were
// mixed, for every order, rank and worker; and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/loader/transformed_parts.h"

namespace dataline::tests::part_transforms_test {
namespace {

using ::testing::HasSubstr;

constexpr Images kSmall = {.side = 4, .count = 23, .first = 1},
                 kLarge = {.side = 7, .count = 40, .first = 90};

// Two mixes of the same samples: by transforms of the parts, and of sets that were transformed before.
struct Twins {
  Dataset small = kSmall.dataset(), large = kLarge.dataset(), other = kSmall.dataset();
  Dataset by_parts, before;

  explicit Twins(bool repeats = false) {
    const auto share = [&](double weight, double repeat, TransformedPart part) {
      (repeats ? part.repeat : part.weight) = repeats ? repeat : weight;
      return part;
    };
    by_parts = good_mix({share(3, 1, {"small", small.get(), ""}),
                         share(2, 1.5, {"large", large.get(), "image: resize([4, 4])"}),
                         share(1, 2, {"other", other.get(), "image: hflip(1)"})});
    const Dataset resized = transformed(large, "image: resize([4, 4])");
    const Dataset flipped = transformed(other, "image: hflip(1)");
    before = good_mix({share(3, 1, {"small", small.get(), ""}), share(2, 1.5, {"large", resized.get(), ""}),
                       share(1, 2, {"other", flipped.get(), ""})});
  }
};

TEST(PartTransforms, MakeWhatSetsTransformedBeforeWouldGive) {
  for (const bool repeats : {false, true}) {
    const Twins twins(repeats);
    for (const char* transform :
         {"", "image: cast(f32)", "image: normalize(mnist), flatten; label: one_hot(4)",
          "image: cast(f32), mixup(0.4); label: one_hot(4)"}) {
      for (const char* workers : {"0", "2"}) {
        const Settings job =
            with(kJob, {{"transform", transform}, {"num_workers", workers}, {"homogeneous", "none"}});
        ASSERT_EQ(see_job(make_loader(twins.by_parts, job)), see_job(make_loader(twins.before, job)))
            << transform << ", " << workers << " workers" << (repeats ? ", repeats" : "");
      }
    }
  }
}

// The rows of epoch 0 of a loader over `part` alone that has sample indices[s] in slot s.
std::vector<std::string> rows_in_slots(const Dataset& part, const std::vector<int64_t>& indices,
                                       const std::string& transform) {
  const Options options =
      make_options({{"batch_size", "1"}, {"seed", "3"}, {"epochs", "1"}, {"transform", transform}});
  Error error;
  EXPECT_EQ(dl_options_set_indices(options.get(), indices.data(), static_cast<int64_t>(indices.size()),
                                   nullptr, nullptr, &error),
            DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(part.get(), options.get(), &loader, &error), DL_OK) << error.message;
  std::vector<std::string> rows;
  for (const SeenBatch& batch : see_job(Loader(loader))) {
    if (batch.status == DL_OK) rows.push_back(batch.fields[0].bytes);
  }
  return rows;
}

TEST(PartTransforms, DrawAsOneListWithTheLoadersTransform) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const std::string own[] = {"random_crop(4, padding=1)", "resize([6, 6]), random_crop(4)"};
  const std::string all = "hflip, random_erasing(0.5), normalize(mnist)";
  const Dataset mix = good_mix(
      {{"small", small.get(), "image: " + own[0], 2}, {"large", large.get(), "image: " + own[1], 1}});
  std::vector<int64_t> sources, indices;
  std::vector<std::string> rows;
  for (const SeenBatch& batch : see_job(make_loader(mix, with(kJob, {{"transform", "image: " + all}})))) {
    if (batch.status != DL_OK) break;
    sources.insert(sources.end(), batch.sources.begin(), batch.sources.end());
    indices.insert(indices.end(), batch.indices.begin(), batch.indices.end());
    const std::string& bytes = batch.fields[0].bytes;
    const size_t row = bytes.size() / batch.indices.size();
    for (size_t at = 0; at < bytes.size(); at += row) rows.push_back(bytes.substr(at, row));
  }
  for (size_t part = 0; part < 2; ++part) {
    std::vector<int64_t> of_part;
    for (size_t slot = 0; slot < indices.size(); ++slot)
      of_part.push_back(sources[slot] == static_cast<int64_t>(part) ? indices[slot] : 0);
    const std::vector<std::string> alone =
        rows_in_slots(part == 0 ? small : large, of_part, "image: " + own[part] + ", " + all);
    ASSERT_EQ(alone.size(), rows.size());
    for (size_t slot = 0; slot < rows.size(); ++slot) {
      if (sources[slot] != static_cast<int64_t>(part)) continue;
      EXPECT_EQ(alone[slot], rows[slot]) << "slot " << slot;
    }
  }
}

TEST(PartTransforms, AreTheSameForEveryRankAndFromEveryState) {
  const Twins twins;
  const Settings job = with(kJob, {{"transform", "image: random_crop(4, padding=2)"}});
  const std::vector<SeenBatch> whole = see_job(make_loader(twins.by_parts, job));
  for (int rank = 0; rank < 3; ++rank) {
    const Settings of_rank =
        with(job, {{"world_size", "3"}, {"rank", std::to_string(rank)}, {"num_workers", "3"}});
    const std::vector<SeenBatch> part = see_job(make_loader(twins.by_parts, of_rank));
    ASSERT_EQ(part.size(), whole.size());
    for (size_t step = 0; step < whole.size(); ++step) {
      if (whole[step].status != DL_OK || whole[step].valid != 12) continue;  // 4 rows of 16 bytes a rank
      EXPECT_EQ(part[step].fields[0].bytes,
                whole[step].fields[0].bytes.substr(static_cast<size_t>(rank) * 64, 64));
    }
  }
  const Loader first = make_loader(twins.by_parts, job);
  for (size_t step = 0; step < whole.size() - 1; ++step) {
    const Loader again = make_loader(twins.by_parts, job);
    Error error;
    ASSERT_EQ(dl_loader_state_load(again.get(), save_state(first).c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(see_next(again), whole[step]) << step;
    EXPECT_EQ(see_next(first), whole[step]) << step;
  }
}

TEST(PartTransforms, BatchesOfOnePartAreAsOthers) {
  const Twins twins;
  for (const char* last : {"keep", "pad", "drop"}) {
    const Settings job = with(kJob, {{"homogeneous", "batch"}, {"last_batch", last}});
    EXPECT_EQ(see_job(make_loader(twins.by_parts, job)), see_job(make_loader(twins.before, job))) << last;
  }
}

TEST(PartTransforms, TypesBecomeAlikeToo) {
  const std::vector<float> pixels = {0, 0.5f, 1, 1.5f};
  const std::vector<int64_t> labels = {1};
  const Dataset floats = Images::of(DL_DTYPE_F32, {1, 2, 2}, pixels.data(), labels);
  const Dataset bytes = Images{.side = 2, .count = 1, .first = 3}.dataset();
  const Dataset mix =
      good_mix({{"floats", floats.get(), "", 0, 1}, {"bytes", bytes.get(), "image: cast(f32)", 0, 1}});
  const SeenBatch batch = see_next(make_loader(mix, {{"batch_size", "2"}}));
  ASSERT_EQ(batch.status, DL_OK) << batch.message;
  const auto* values = reinterpret_cast<const float*>(batch.fields[0].bytes.data());
  EXPECT_EQ(std::vector<float>(values, values + 8), (std::vector<float>{0, 0.5f, 1, 1.5f, 3, 10, 17, 24}));
}

// One sample in four fails, in the transform of its part.
TEST(PartTransforms, ASampleThatFailsInThemIsReplacedFromItsPart) {
  const Dataset small = kSmall.dataset(), other = kSmall.dataset();
  const Dataset by_parts = good_mix({{"small", small.get(), "label: one_hot(3)", 3},
                                     {"other", other.get(), "label: one_hot(3); image: hflip(0)", 1}});
  const Dataset plain = good_mix({{"small", small.get(), "", 3}, {"other", other.get(), "", 1}});
  for (const char* policy : {"replace", "quarantine"}) {
    const Settings job = with(kJob, {{"on_error", policy}});
    const std::vector<SeenBatch> seen = see_job(make_loader(by_parts, job));
    EXPECT_EQ(seen, see_job(make_loader(plain, with(job, {{"transform", "label: one_hot(3)"}})))) << policy;
    EXPECT_EQ(seen.back().status, DL_END) << seen.back().message;
  }
  const Loader loader = make_loader(by_parts, with(kJob, {{"shuffle", "none"}}));
  const SeenBatch failed = see_next(loader);
  EXPECT_LT(failed.status, 0);
  EXPECT_THAT(failed.message, HasSubstr("sample 3 of part small"));
}

TEST(PartTransforms, TheDatasetHasTheFieldsThatTheyMake) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const Dataset mix = good_mix({{"small", small.get(), "image: cast(f32)", 1},
                                {"large", large.get(), "image: resize([4, 4]), cast(f32)", 1}});
  int32_t count = 0;
  const dl_view* fields = dl_dataset_fields(mix.get(), &count);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(fields[0].dtype, DL_DTYPE_F32);
  EXPECT_EQ(std::vector<int64_t>(fields[0].shape, fields[0].shape + fields[0].rank),
            (std::vector<int64_t>{4, 4}));
  dl_batch* batch = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_read(mix.get(), 30, nullptr, &batch, &error), DL_OK) << error.message;
  EXPECT_EQ(dl_batch_views(batch, nullptr)[0].dtype, DL_DTYPE_F32);
  dl_batch_release(batch);
}

TEST(PartTransforms, WhatCannotBeOneBatchNamesBothPartsAndTheCure) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const MadeMix types =
      mix_of({{"small", small.get(), "image: cast(f32)", 1}, {"large", large.get(), "", 1}});
  EXPECT_EQ(types.status, DL_ERR_MISMATCH);
  EXPECT_EQ(types.message,
            "mix: part large: field 'image' becomes u8[7x7] (HW), in part small it becomes f32[4x4] (HW); "
            "open the parts with the same keys, or add transforms that make them equal");
  const Dataset mix =
      good_mix({{"small", small.get(), "", 1}, {"large", large.get(), "image: resize([5, 5])", 1}});
  const auto [status, message] = create_error(mix, {{"batch_size", "2"}});
  EXPECT_EQ(status, DL_ERR_MISMATCH);
  EXPECT_THAT(message,
              HasSubstr("part large: field 'image' becomes u8[5x5] (HW), in part small it becomes u8[4x4]"));
  EXPECT_THAT(message, HasSubstr("or take each batch from one part (homogeneous=batch)"));
}

TEST(PartTransforms, TheTransformOfAPartIsRefusedByItsName) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const auto refused = [&](const char* transform) {
    const MadeMix made = mix_of({{"small", small.get(), "", 1}, {"large", large.get(), transform, 1}});
    EXPECT_EQ(made.dataset, nullptr) << transform;
    return std::pair(made.status, made.message);
  };
  using ::testing::Pair;
  EXPECT_THAT(refused("image: shrink(2)"),
              Pair(DL_ERR_BAD_TRANSFORM, HasSubstr("mix: part large: transform: column 8")));
  EXPECT_THAT(refused("picture: hflip"), Pair(DL_ERR_NO_SUCH_FIELD, HasSubstr("part large: ")));
  EXPECT_THAT(refused("image: cast(f32), mixup(0.2); label: one_hot(4)"),
              Pair(DL_ERR_BAD_TRANSFORM, HasSubstr("put them into the loader's transform")));
  EXPECT_THAT(refused("image: resize(bucket)"), Pair(DL_ERR_BAD_TRANSFORM, HasSubstr("part large: ")));
}

TEST(PartTransforms, AFaultOfTheLoadersTransformSaysForWhichPart) {
  const Twins twins;
  const auto [status, message] = create_error(twins.by_parts, {{"transform", "image: gaussian_blur(9)"}});
  EXPECT_EQ(status, DL_ERR_BAD_TRANSFORM);
  EXPECT_THAT(message, HasSubstr("part small: transform: column 22"));
}

TEST(PartTransforms, WhereValuesComeFromPixelsInDifferentWaysNoScaleIsTold) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const auto scale_of = [&](const char* of_small, const char* of_large) {
    const Dataset mix = good_mix({{"small", small.get(), of_small, 1}, {"large", large.get(), of_large, 1}});
    double a = 0, b = 0;
    Error error;
    const Loader loader = make_loader(mix, {{"transform", "image: hflip"}});
    const dl_status status = dl_loader_pixel_scale(loader.get(), 0, 0, &a, &b, &error);
    return std::pair(status, a);
  };
  EXPECT_EQ(scale_of("image: scale(0.5)", "image: resize([4, 4]), scale(0.5)"), std::pair(DL_OK, 0.5));
  EXPECT_EQ(scale_of("image: scale(0.5)", "image: resize([4, 4]), scale(0.25)").first, DL_ERR_UNSUPPORTED);
}

TEST(PartTransforms, OtherCompositionsRefuseTheMix) {
  const Twins twins;
  dl_dataset* both[] = {twins.by_parts.get(), twins.by_parts.get()};
  const int64_t index = 0;
  dl_dataset* made = nullptr;
  Error error;
  EXPECT_EQ(dl_dataset_concat(both, 2, nullptr, &made, &error), DL_ERR_UNSUPPORTED);
  EXPECT_THAT(error.message,
              HasSubstr("concat: not supported for a mix whose parts have their own transforms"));
  const char* names[] = {"a", "b"};
  EXPECT_EQ(dl_dataset_zip(both, names, 2, nullptr, &made, &error), DL_ERR_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("zip: not supported for a mix"));
  EXPECT_EQ(dl_dataset_subset(twins.by_parts.get(), &index, 1, nullptr, nullptr, nullptr, &made, &error),
            DL_ERR_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("subset: not supported for a mix"));
  const MadeMix packed =
      mix_of({{"small", twins.small.get(), "image: hflip", 0, 1}, {"large", twins.small.get(), "", 0, 1}},
             {{"pack_length", "8"}});
  EXPECT_EQ(packed.status, DL_ERR_UNSUPPORTED);
  EXPECT_THAT(packed.message, HasSubstr("option pack_length: not supported for a mix"));
}

TEST(PartTransforms, AThousandDifferentOnesAreTakenAndOneMoreIsRefused) {
  const Dataset set = Images{.side = 2, .count = 2}.dataset();
  std::vector<TransformedPart> parts;
  std::vector<std::string> names;
  for (int k = 0; k < 1025; ++k) names.push_back(std::to_string(k));
  for (int k = 0; k < 1024; ++k)
    parts.push_back(
        {names[static_cast<size_t>(k)].c_str(), set.get(), "image: scale(" + std::to_string(k + 1) + ")", 1});
  const Loader loader = make_loader(good_mix(parts), {{"batch_size", "64"}, {"num_workers", "0"}});
  const SeenBatch batch = see_next(loader);
  ASSERT_EQ(batch.status, DL_OK);
  for (size_t row = 0; row < batch.indices.size(); ++row) {
    const auto* values = reinterpret_cast<const float*>(batch.fields[0].bytes.data()) + 4 * row;
    EXPECT_EQ(values[1],
              static_cast<float>(7 + 31 * batch.indices[row]) * static_cast<float>(batch.sources[row] + 1));
  }
  parts.push_back({names[1024].c_str(), set.get(), "image: scale(0.5)", 1});
  const MadeMix more = mix_of(parts);
  EXPECT_EQ(more.status, DL_ERR_TOO_LARGE);
  EXPECT_THAT(more.message, HasSubstr("part 1024: more than 1024 kinds of parts"));
  parts.back().transform = parts.front().transform;  // known
  EXPECT_EQ(mix_of(parts).status, DL_OK);
}

}  // namespace
}  // namespace dataline::tests::part_transforms_test
