// The option `cache` on class folders of photographs: the stream is what it is without it, whatever is kept, by whom, and
// whatever becomes of the files meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/images/photographs.h"
#include "tests/support/plan_stages.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::cache_test {
namespace {

namespace fs = std::filesystem;

const Settings kJob = {{"batch_size", "4"}, {"epochs", "2"}, {"shuffle", "full"}, {"seed", "5"}};

class CachedImages : public ::testing::TestWithParam<const char*> {
 protected:
  CachedImages() { set_.write_to(folder_ + "/set"); }
  ~CachedImages() override { fs::remove_all(folder_); }

  std::string path(int64_t i) const { return Photographs::path_in(folder_ + "/set", i); }
  void write(int64_t i, const std::string& bytes) const { Photographs::write(path(i), bytes); }
  // One epoch. The batches of a second one are begun before the first has ended: a sample that is not kept yet is made twice.
  Settings filling(const Settings& settings) const { return with(cached(settings), {{"epochs", "1"}}); }
  // Samples that a whole job has to make, because the cache does not have them.
  int64_t made(const Settings& settings) const {
    const Loader loader = make_loader(dataset(), settings);
    static_cast<void>(stream_of(loader));
    return stats_of(loader).cache_made;
  }
  Dataset dataset(const Settings& settings = {}) const {
    return Photographs::of_folder(folder_ + "/set", settings);
  }
  Settings cached(const Settings& settings) const { return with(settings, {{"cache", folder_ + "/cache"}}); }
  std::vector<std::string> stream(const Settings& settings) const {
    return stream_of(make_loader(dataset(), settings));
  }
  int64_t cache_bytes() const {
    int64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/cache"))
      if (entry.path().extension() == ".samples") bytes += static_cast<int64_t>(entry.file_size());
    return bytes;
  }

  const Photographs set_;
  const std::string folder_ = make_temp_folder("dataline-cached");
};

TEST_P(CachedImages, GiveTheStreamThatTheyGiveWithout) {
  const char* const transforms[] = {
      "image: decode, resize(32), random_crop(24)",
      "image: decode, resize([40, 40]), random_crop(32), hflip",
      "image: decode(mode=gray), random_resized_crop(20)",
      "image: decode(mode=rgba), random_resized_crop([20, 24]), chw",
      "image: decode(orientation=true), center_crop(30), normalize(imagenet); label: one_hot(2)",
      "image: decode(mode=unchanged), random_crop(16)",
      "image: decode, random_resized_crop(20), color_jitter(0.4, 0.4, 0.4, 0.1), random_erasing(0.5)",
      "image: decode, resize([24, 24]), rotate(30), cast(f32), mixup(0.4, labels=label); label: one_hot(2)",
      "image: decode, resize([24, 24])",
      "",
  };
  for (const char* transform : transforms) {
    SCOPED_TRACE(transform);
    const Settings job = with(kJob, {{"transform", transform}, {"num_workers", GetParam()}});
    const std::vector<std::string> expected = stream(job);
    ASSERT_EQ(expected.size(), 12u);
    EXPECT_EQ(stream(cached(job)), expected) << "while it fills";
    EXPECT_EQ(stream(cached(job)), expected) << "when it is full";
    EXPECT_EQ(stream(with(cached(job), {{"io", "pread"}, {"stats", "full"}})), expected);
  }
}

TEST_P(CachedImages, AreNotDecodedAgain) {
  for (const char* transform :
       {"image: decode, resize(32), random_crop(24)", "image: decode, random_resized_crop(20)",
        "image: decode, resize([32, 32]), normalize(imagenet)"}) {
    SCOPED_TRACE(transform);
    const Settings job = with(kJob, {{"transform", transform}, {"num_workers", GetParam()}});
    EXPECT_EQ(made(filling(job)), set_.count);
    EXPECT_EQ(made(cached(job)), 0);
  }
}

TEST_P(CachedImages, OfFilesThatAreWrittenToAreMadeAnew) {
  const Settings job =
      with(kJob, {{"transform", "image: decode, resize(32), random_crop(24)"}, {"num_workers", GetParam()}});
  const std::vector<std::string> before = stream(cached(job));
  Photographs other;
  other.size = [](int64_t) { return ImageSize{50, 50}; };
  for (const int64_t i : {3, 8}) write(i, other.file(i));
  const std::vector<std::string> expected = stream(job);
  EXPECT_NE(expected, before);
  EXPECT_EQ(stream(cached(job)), expected);
  EXPECT_EQ(stream(cached(job)), expected);
}

// Of a set that is loaded when it is opened, what counts is what was loaded, not what lies there now.
TEST_P(CachedImages, OfASetInMemoryAreKeptForTheFilesThatWereLoaded) {
  const Settings job =
      with(kJob, {{"transform", "image: decode, resize(32), random_crop(24)"}, {"num_workers", GetParam()}});
  const std::vector<std::string> before = stream(job);
  {
    const Dataset loaded = dataset({{"io", "memory"}});
    for (const int64_t i : {18, 23}) {
      std::string other = set_.file(i - 15);  // the same size of image, fewer bytes
      other.resize(fs::file_size(path(i)));
      write(i, other);
    }
    EXPECT_EQ(stream_of(make_loader(loaded, cached(job))), before);
  }
  EXPECT_EQ(stream(cached(job)), stream(job)) << "nothing of the old files was kept for the new ones";
}

TEST_P(CachedImages, ThatAreBadStayBadAndAreNotKept) {
  write(2, set_.file(2).substr(0, 30));
  const Settings job = with(kJob, {{"transform", "image: decode, resize(32), random_crop(24)"},
                                   {"on_error", "quarantine"},
                                   {"num_workers", GetParam()}});
  const std::vector<std::string> expected = stream(job);
  for (int run = 0; run < 2; ++run) {
    const Dataset data = dataset();
    const Loader loader = make_loader(data, cached(job));
    EXPECT_EQ(stream_of(loader), expected);
    EXPECT_EQ(stats_of(loader).bad, 1);
  }
  write(2, set_.file(2));
  EXPECT_EQ(stream(cached(job)), stream(job)) << "mended";
}

TEST_P(CachedImages, TooManyForTheBudgetAreMadeEachTime) {
  for (const char* transform :
       {"image: decode, resize(32), random_crop(24)", "image: decode, random_resized_crop(20)"}) {
    const Settings job = with(kJob, {{"transform", transform}, {"num_workers", GetParam()}});
    const Settings small = with(cached(job), {{"cache_bytes", "20000"}});
    EXPECT_EQ(stream(small), stream(job));
    EXPECT_EQ(stream(small), stream(job));
    EXPECT_LE(cache_bytes(), 20000);
    EXPECT_GT(cache_bytes(), 3000);
  }
}

// Decoded it has no room in a sample, encoded it has: what is left of the transform takes it as it is stored.
TEST_P(CachedImages, ThatAreTooLargeAreDeliveredAndNotKept) {
  Photographs large;
  large.size = [](int64_t) { return ImageSize{200, 300}; };
  write(7, large.file(7));
  const Settings job = with(kJob, {{"transform", "image: decode, random_resized_crop(20)"},
                                   {"max_bytes_per_sample", "30000"},
                                   {"num_workers", GetParam()}});
  EXPECT_EQ(stream(cached(job)), stream(job));
  EXPECT_EQ(stream(cached(job)), stream(job));
}

// Batches of the same job, compared value by value: the mean difference of the images; labels, sizes and order are the same.
double mean_difference(const Loader& a, const Loader& b) {
  double sum = 0, count = 0;
  for (;;) {
    const Delivered x = next(a), y = next(b);
    EXPECT_EQ(x.status, y.status) << y.message;
    if (x.status == DL_END || x.status != y.status) return sum / count;
    if (x.status != DL_OK) continue;
    EXPECT_EQ(x.indices, y.indices);
    EXPECT_EQ(shape_of(view_of(x.batch, 0)), shape_of(view_of(y.batch, 0)));
    EXPECT_EQ(bytes_of(view_of(x.batch, 1)), bytes_of(view_of(y.batch, 1)));
    const std::string p = bytes_of(view_of(x.batch, 0)), q = bytes_of(view_of(y.batch, 0));
    for (size_t i = 0; i < std::min(p.size(), q.size()); ++i)
      sum += std::abs(static_cast<uint8_t>(p[i]) - static_cast<uint8_t>(q[i]));
    count += static_cast<double>(p.size());
  }
}

TEST_P(CachedImages, OfAQualityAreSmallerAndNearlyTheSame) {
  for (const char* transform :
       {"image: decode, resize(32), random_crop(24)",
        "image: decode, resize([40, 40]), random_crop(32), hflip",
        "image: decode(mode=gray), resize(32), random_crop(24)", "image: decode, resize([32, 32])",
        "image: decode, random_resized_crop(24)"}) {
    SCOPED_TRACE(transform);
    fs::remove_all(folder_ + "/cache");
    const Settings job = with(kJob, {{"transform", transform}, {"num_workers", GetParam()}});
    stream(cached(job));
    const int64_t exact_bytes = cache_bytes();
    fs::remove_all(folder_ + "/cache");
    const Settings lossy = with(cached(job), {{"cache_quality", "90"}});
    for (int run = 0; run < 2; ++run) {
      const Dataset data = dataset();
      const double difference = mean_difference(make_loader(data, job), make_loader(data, lossy));
      EXPECT_GT(difference, 0);
      EXPECT_LT(difference, 12);
    }
    EXPECT_LT(cache_bytes(), exact_bytes);
    EXPECT_EQ(stream(lossy), stream(lossy));
  }
}

TEST_P(CachedImages, OfFourChannelsAndValuesBehindPixelsAreKeptExactly) {
  const Settings rgba = with(kJob, {{"transform", "image: decode(mode=rgba), resize(32), random_crop(24)"},
                                    {"num_workers", GetParam()}});
  EXPECT_EQ(stream(with(cached(rgba), {{"cache_quality", "50"}})), stream(rgba));
}

TEST_P(CachedImages, OfTheirBatchsBucketAreKeptAsTheyWereDecoded) {
  const Settings job = with(kJob, {{"transform", "image: decode, resize(bucket)"},
                                   {"bucket_by", "aspect"},
                                   {"bucket_edges", "32x48,40x40,48x32"},
                                   {"num_workers", GetParam()}});
  const std::vector<std::string> expected = stream(job);
  EXPECT_EQ(stream(cached(job)), expected);
  static_cast<void>(made(filling(job)));  // those that two workers wrote at the same time
  EXPECT_EQ(made(cached(job)), 0);
  EXPECT_EQ(stream(cached(job)), expected);
}

INSTANTIATE_TEST_SUITE_P(Workers, CachedImages, ::testing::Values("0", "2"));

class CachedImagesOnce : public CachedImages {};
INSTANTIATE_TEST_SUITE_P(OneWorker, CachedImagesOnce, ::testing::Values("1"));

TEST_P(CachedImagesOnce, StatesGoFromJobsWithToJobsWithout) {
  const Settings job = with(kJob, {{"transform", "image: decode, resize(32), random_crop(24)"}});
  const std::vector<std::string> expected = stream(job);
  for (const bool first_with : {false, true}) {
    const Dataset data = dataset();
    const Loader begun = make_loader(data, first_with ? cached(job) : job);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(digest_of(next(begun)), expected[static_cast<size_t>(i)]);
    const std::string state = save_state(begun);
    const Loader resumed = make_loader(data, first_with ? job : cached(job));
    Error error;
    ASSERT_EQ(dl_loader_state_load(resumed.get(), state.c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(stream_of(resumed), std::vector<std::string>(expected.begin() + 3, expected.end()));
  }
}

TEST_P(CachedImagesOnce, ThePlanSaysWhereTheTransformIsCut) {
  const auto text_of = [&](const char* transform) {
    const Dataset data = dataset();
    return plan_of(make_loader(data, with(cached(kJob), {{"transform", transform}})))[0].text;
  };
  EXPECT_EQ(text_of("image: decode, resize(32), random_crop(24), normalize(imagenet)"),
            "decode, resize(32), cache, decode, random_crop(24), normalize(imagenet)");
  EXPECT_EQ(text_of("image: decode, resize([32, 32]), center_crop(24), normalize(imagenet)"),
            "decode, resize([32, 32]), center_crop(24), cache, normalize(imagenet)");
  EXPECT_EQ(text_of("image: decode, random_resized_crop(20)"),
            "decode, cache, decode, random_resized_crop(20)");
}

TEST_P(CachedImagesOnce, AFaultOfTheTransformIsToldWithItsColumn) {
  const Dataset data = dataset();
  const auto [status, message] =
      create_error(data, with(cached(kJob), {{"transform", "image: decode, resize(32), random_crap(24)"}}));
  EXPECT_EQ(status, DL_ERR_BAD_TRANSFORM);
  EXPECT_NE(message.find("column 28"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder_ + "/cache"));
}

TEST_P(CachedImagesOnce, ASampleWithoutRoomNamesFileSizeAndOption) {
  const Dataset data = dataset();
  const Loader loader =
      make_loader(data, with(cached(kJob), {{"transform", "image: decode, resize(40), random_crop(24)"},
                                            {"max_bytes_per_sample", "5000"}}));
  const Delivered got = next(loader);
  EXPECT_EQ(got.status, DL_ERR_BAD_SAMPLE);
  for (const char* part : {".jpg", "field 'image'", "max_bytes_per_sample is 5000"})
    EXPECT_NE(got.message.find(part), std::string::npos) << got.message;
}

TEST_P(CachedImagesOnce, ADirectoryThatGoesAwayMeanwhileOnlyEndsTheCache) {
  const Settings job = with(kJob, {{"transform", "image: decode, resize(32), random_crop(24)"}});
  const std::vector<std::string> expected = stream(job);
  const Dataset data = dataset();
  const Loader loader = make_loader(data, cached(job));
  EXPECT_EQ(digest_of(next(loader)), expected[0]);
  fs::remove_all(folder_ + "/cache");
  EXPECT_EQ(stream_of(loader), std::vector<std::string>(expected.begin() + 1, expected.end()));
}

}  // namespace
}  // namespace dataline::tests::cache_test
