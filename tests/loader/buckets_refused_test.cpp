// Batches by length: states that do not fit the job, and options that are refused.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/support/sequences.h"

namespace dataline::tests::buckets_refused_test {
namespace {

TEST(BucketedState, OfOtherEdgesLengthsOrRowsIsRefusedByName) {
  const Sequences set = sequences(100);
  const Dataset dataset = set.dataset();
  const Settings job = with(kBucketed, {{"batch_size", "8"}});
  const std::string state = save_state(make_loader(dataset, job));
  EXPECT_NE(state.find("\nbucket_edges: 10,30,100\nlengths: "), std::string::npos) << state;
  EXPECT_NE(state.find("\nglobal_batch_size: 8,8,8\n"), std::string::npos) << state;
  std::vector<int64_t> other_lengths = set.lengths();
  other_lengths[7] ^= 1;
  const auto refused = [&](const Loader& loader, const std::string& text) {
    Error error;
    EXPECT_EQ(dl_loader_state_load(loader.get(), text.c_str(), &error), DL_ERR_STATE_REFUSED);
    return std::string(error.message);
  };
  EXPECT_EQ(refused(make_loader(dataset, with(job, {{"bucket_edges", "10,40,100"}})), state),
            "state of another job: bucket_edges is '10,30,100' in the state, '10,40,100' here");
  EXPECT_EQ(refused(make_loader(dataset, with(job, {{"max_tokens", "200"}})), state),
            "state of another job: global_batch_size is '8,8,8' in the state, '8,6,2' here");
  EXPECT_NE(refused(with_lengths(dataset, other_lengths, job), state).find("another job: lengths is '"),
            std::string::npos);
  const Loader plain = make_loader(dataset, {{"batch_size", "8"}, {"shuffle", "full"}});
  EXPECT_EQ(refused(plain, state),
            "state of another job: bucket_edges is '10,30,100' in the state, 'none' here");
  EXPECT_EQ(refused(make_loader(dataset, job), save_state(plain)),
            "state of another job: bucket_edges is 'none' in the state, '10,30,100' here");
  EXPECT_EQ(save_state(plain).find("bucket"), std::string::npos) << "as in releases without buckets";
  Error error;
  const Loader same = with_lengths(dataset, set.lengths(), job);
  EXPECT_EQ(dl_loader_state_load(same.get(), state.c_str(), &error), DL_OK) << error.message;
}

TEST(BadBuckets, AreRefusedByOptionExpectedAndGot) {
  const Sequences set({3, 40, 90});
  const Dataset dataset = set.dataset();
  const std::string numbers = "expected whole numbers from 1 to 1099511627776, as in 128,256,512, got '";
  std::string many = "1";
  for (int64_t edge = 2; edge <= 1025; ++edge) many += "," + std::to_string(edge);
  struct Row {
    Settings settings;
    dl_status status;
    std::string message;
  };
  const dl_status bad = DL_ERR_BAD_OPTION;
  const std::vector<Row> table = {
      {{{"bucket_edges", ""}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "10,,20"}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "10,20,"}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "0,20"}}, bad, "option bucket_edges: " + numbers + "0'"},
      {{{"bucket_edges", "-5"}}, bad, "option bucket_edges: " + numbers + "-5'"},
      {{{"bucket_edges", "10;20"}}, bad, "option bucket_edges: " + numbers + "10;20'"},
      {{{"bucket_edges", "1e3"}}, bad, "option bucket_edges: " + numbers + "1e3'"},
      {{{"bucket_edges", "1099511627777"}}, bad, "option bucket_edges: " + numbers + "1099511627777'"},
      {{{"bucket_edges", "99999999999999999999"}},
       bad,
       "option bucket_edges: " + numbers + "99999999999999999999'"},
      {{{"bucket_edges", "10,10"}}, bad, "option bucket_edges: expected increasing numbers, got 10 after 10"},
      {{{"bucket_edges", "20,10"}}, bad, "option bucket_edges: expected increasing numbers, got 10 after 20"},
      {{{"bucket_edges", many}}, bad, "option bucket_edges: expected at most 1024 edges"},
      {{{"bucket_edges", "50,80"}},
       DL_ERR_OUT_OF_RANGE,
       "sample 2: its length is 90, the last of bucket_edges is 80"},
      {{{"bucket_edges", "100"}, {"max_tokens", "99"}},
       bad,
       "option max_tokens: expected at least the last of bucket_edges, 100, got 99"},
      {{{"max_tokens", "99"}}, bad, "option max_tokens: needs bucket_edges"},
      {{{"bucket_edges", "100"}, {"batch_size", "1099511627776"}, {"world_size", "2"}},
       bad,
       "option batch_size: a step of 1099511627776 rows on each of 2 ranks is too large"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(bucket), cast(i64)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 17: expected nothing after pad_to(bucket), got 'cast'; put it before"},
      {{{"transform", "pad_to(bucket)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 8: pad_to: length: bucket: needs batches by length, the loader's option "
       "bucket_edges"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(100), pad_to(bucket)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 21: pad_to: length: bucket: expected sequences of varying lengths, got i32[100]"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(bucket, value=0.5)"}}, DL_ERR_BAD_TRANSFORM, ""},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(buckets)"}}, DL_ERR_BAD_TRANSFORM, ""},
      {{{"bucket_edges", "100"}, {"batch_size", "4"}, {"last_batch", "drop"}},
       DL_ERR_EMPTY,
       "an epoch has no steps (3 samples, 3 slots, global batch 4), and epochs=0 repeats it without a limit"},
  };
  for (const Row& row : table) {
    const auto [status, message] = create_error(dataset, row.settings);
    EXPECT_EQ(status, row.status) << message;
    if (!row.message.empty()) {
      EXPECT_EQ(message, row.message);
    }
  }
}

TEST(BadBuckets, WithAnotherOrderOrLengthsOfAnotherCountAreRefused) {
  const Dataset set = counting_dataset(4);
  EXPECT_EQ(create_error(set, {{"bucket_edges", "10"}}).second,
            "option bucket_edges: the length of sample 0 is not known without reading it; set the option "
            "lengths, one per sample");
  const auto refused = [&](std::vector<int64_t> lengths, const Settings& settings,
                           const std::function<dl_status(dl_options*, dl_error*)>& more = nullptr) {
    const Options options = make_options(settings);
    Error error;
    EXPECT_EQ(dl_options_set_lengths(options.get(), lengths.data(), static_cast<int64_t>(lengths.size()),
                                     nullptr, nullptr, &error),
              DL_OK);
    if (more) {
      EXPECT_EQ(more(options.get(), &error), DL_OK);
    }
    dl_loader* loader = nullptr;
    EXPECT_LT(dl_loader_create(set.get(), options.get(), &loader, &error), 0);
    dl_loader_destroy(loader);
    return std::string(error.message);
  };
  EXPECT_EQ(refused({1, 2, 3}, {{"bucket_edges", "10"}}),
            "option lengths: expected 4, one per sample, got 3");
  EXPECT_EQ(refused({}, {{"bucket_edges", "10"}}), "option lengths: expected 4, one per sample, got 0");
  EXPECT_EQ(refused({1, 2, -3, 4}, {{"bucket_edges", "10"}}),
            "sample 2: its length is -3, expected 0 or more");
  EXPECT_EQ(refused({1, 2, 3, 4}, {}), "option lengths: needs bucket_edges");
  const std::string both = ": set only one of the two: buckets deliver every sample once per epoch";
  EXPECT_EQ(refused({1, 2, 3, 4}, {{"bucket_edges", "10"}},
                    [](dl_options* options, dl_error* error) {
                      const int64_t index = 0;
                      return dl_options_set_indices(options, &index, 1, nullptr, nullptr, error);
                    }),
            "options bucket_edges and sample_indices" + both);
  EXPECT_EQ(refused({1, 2, 3, 4}, {{"bucket_edges", "10"}},
                    [](dl_options* options, dl_error* error) {
                      const double weights[4] = {1, 1, 1, 1};
                      return dl_options_set_weights(options, weights, 4, nullptr, nullptr, error);
                    }),
            "options bucket_edges and weights" + both);
}

}  // namespace
}  // namespace dataline::tests::buckets_refused_test
