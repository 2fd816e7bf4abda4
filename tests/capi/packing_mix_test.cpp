// Packing over a mix: the rows are those of the documents that a job of shuffle=full and seed=0 gets from the unpacked mix,
// packed by the plain packers of tests/source/packing/packer.h.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <tuple>

#include "tests/memory/temp_files.h"
#include "tests/source/packing/packer.h"
#include "tests/support/job.h"

namespace dataline::tests::packing_mix_test {
namespace {

constexpr int64_t kLength = 16, kWindow = 50;
constexpr int64_t kWeb = 90, kCode = 40;  // documents

const Settings kConcat = {{"pack_length", "16"}};
const Settings kBestFit = {{"pack_length", "16"}, {"pack_method", "best_fit"}, {"pack_window", "50"}};
const Settings kDrawing = {{"shuffle", "full"}, {"seed", "0"}, {"batch_size", "1"}, {"num_workers", "0"}};

// `count` documents of 1 to 21 tokens; token t of document d of part k is 10000 k + 100 (d % 100) + t.
Dataset documents(int64_t part, int64_t count) {
  std::vector<uint16_t> tokens;
  std::vector<int64_t> offsets = {0};
  for (int64_t d = 0; d < count; ++d) {
    for (int64_t t = 0; t < 1 + (d * 8 + part) % 21; ++t)
      tokens.push_back(static_cast<uint16_t>(10000 * part + 100 * (d % 100) + t));
    offsets.push_back(static_cast<int64_t>(tokens.size()));
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(tokens.size())};
  return array_dataset(ragged_array_of("tokens", DL_DTYPE_U16, shape, tokens.data(), offsets));
}

struct Recipe {
  bool by_weight = true;
  int64_t samples_per_epoch = -1;
  std::vector<std::pair<int64_t, std::vector<double>>> schedule;
};
const std::vector<Recipe> kRecipes = {{true, -1, {}}, {true, 2048, {}}, {false, -1, {}}};

struct Mixed {
  dl_status status = DL_OK;
  std::string message;
  Dataset dataset;
};

Mixed mixed(const Recipe& recipe, const Dataset& web, const Dataset& code, const Settings& settings,
            dl_cancel_token* token = nullptr) {
  std::vector<dl_mix_part> parts(2);
  for (size_t k = 0; k < 2; ++k) {
    parts[k].struct_size = sizeof parts[k];
    parts[k].name = k == 0 ? "web" : "code";
    parts[k].dataset = k == 0 ? web.get() : code.get();
    (recipe.by_weight ? parts[k].weight : parts[k].repeat) =
        recipe.by_weight ? (k == 0 ? 0.7 : 0.3) : (k == 0 ? 1 : 2.5);
  }
  std::vector<dl_mix_stage> stages;
  for (const auto& [step, weights] : recipe.schedule)
    stages.push_back({sizeof(dl_mix_stage), 0, step, weights.data()});
  Mixed out;
  Error error;
  dl_dataset* dataset = nullptr;
  const auto options = make_options(settings);
  if (token != nullptr) {
    EXPECT_EQ(dl_options_set_cancel_token(options.get(), token, &error), DL_OK);
  }
  out.status = dl_dataset_mix(parts.data(), 2, stages.data(), static_cast<int32_t>(stages.size()),
                              recipe.samples_per_epoch, options.get(), &dataset, &error);
  out.message = error.message;
  out.dataset.reset(dataset);
  return out;
}

Dataset made(const Recipe& recipe, const Settings& settings) {
  Mixed out = mixed(recipe, documents(1, kWeb), documents(2, kCode), settings);
  EXPECT_EQ(out.status, DL_OK) << out.message;
  return std::move(out.dataset);
}

// The samples of the first field, one a row, up to the end of an epoch.
Documents epoch_of(const Loader& loader) {
  Documents samples;
  for (;;) {
    const Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return samples;
    }
    const dl_view* view = dl_batch_views(got.batch.get(), nullptr);
    const auto* tokens = static_cast<const uint16_t*>(view->data);
    const int64_t rows = static_cast<int64_t>(got.indices.size());
    for (int64_t row = 0; row < rows; ++row) {
      const bool ragged = view->kind == DL_KIND_RAGGED;
      const int64_t from = ragged ? view->offsets[row] : row * view->shape[1];
      const int64_t to = ragged ? view->offsets[row + 1] : (row + 1) * view->shape[1];
      samples.emplace_back(tokens + from, tokens + to);
    }
  }
}
Documents epoch_of(const Dataset& dataset, const Settings& settings) {
  return epoch_of(make_loader(dataset, settings));
}

Documents plain_rows(const Documents& drawn, const PlainRows& rows) {
  Documents out;
  for (const std::vector<PlainPiece>& row : rows) out.push_back(expected_row(drawn, row, kLength).x);
  return out;
}

std::string notes_of(const Dataset& dataset) {
  std::string notes;
  for (int32_t n = 0; n < dl_dataset_note_count(dataset.get()); ++n)
    notes += std::string(dl_dataset_note(dataset.get(), n)) + "\n";
  return notes;
}

TEST(PackingOverAMix, RowsAreMadeOfTheDocumentsInTheOrderInWhichTheyAreDrawn) {
  for (const Recipe& recipe : kRecipes) {
    const Documents drawn = epoch_of(made(recipe, {}), kDrawing);
    ASSERT_EQ(static_cast<int64_t>(drawn.size()), recipe.samples_per_epoch > 0 ? recipe.samples_per_epoch
                                                  : recipe.by_weight           ? kWeb + kCode
                                                                               : kWeb + 5 * kCode / 2);
    const Settings in_file_order = {{"num_workers", "0"}};
    EXPECT_EQ(epoch_of(made(recipe, kConcat), in_file_order),
              plain_rows(drawn, join_plainly(drawn, kLength)));
    EXPECT_EQ(epoch_of(made(recipe, kBestFit), in_file_order),
              plain_rows(drawn, fit_plainly(drawn, kLength, kWindow)));
  }
}

bool is_code(uint16_t token) { return token >= 20000; }

TEST(PackingOverAMix, EachPartHasItsShareOfTheDocuments) {
  for (const Recipe& recipe : kRecipes) {
    const Documents drawn = epoch_of(made(recipe, {}), kDrawing);
    const auto code = std::count_if(drawn.begin(), drawn.end(),
                                    [](const std::vector<uint16_t>& tokens) { return is_code(tokens[0]); });
    const auto web = static_cast<int64_t>(drawn.size()) - code;
    if (recipe.by_weight) {
      // Exact over whole periods of 1,024 slots.
      EXPECT_NEAR(static_cast<double>(code), 0.3 * static_cast<double>(drawn.size()),
                  drawn.size() == 2048 ? 2 : 20);
    } else {
      EXPECT_EQ(code, 5 * kCode / 2);
    }
    const Dataset dataset = made(recipe, kConcat);
    const std::string note =
        "documents of a mix of 2 parts, as one epoch draws them: " + std::to_string(drawn.size()) + " (web " +
        std::to_string(web) + ", code " + std::to_string(code) + ")\npacked (concat): ";
    EXPECT_NE(notes_of(dataset).find(note), std::string::npos) << notes_of(dataset);
    EXPECT_EQ(dl_dataset_part_count(dataset.get()), 0) << "rows are of several parts";
  }
  // Documents of both parts are neighbours: many rows, of sixteen tokens, have some of both.
  const Documents rows = epoch_of(made(kRecipes[0], kConcat), {{"num_workers", "0"}});
  size_t both = 0;
  for (const std::vector<uint16_t>& row : rows) {
    both += std::any_of(row.begin(), row.end(), is_code) && !std::all_of(row.begin(), row.end(), is_code);
  }
  EXPECT_GT(both, rows.size() / 3);
}

TEST(PackingOverAMix, RanksJoinedAndAResumedJobGetTheRowsOfOneProcess) {
  const Dataset dataset = made(kRecipes[2], kBestFit);
  const Settings job = {{"global_batch_size", "12"}, {"shuffle", "full"}, {"seed", "5"}, {"epochs", "2"}};
  const Loader whole = make_loader(dataset, job);
  const std::vector<Documents> epochs = {epoch_of(whole), epoch_of(whole)};
  EXPECT_NE(epochs[0], epochs[1]) << "rows are shuffled anew";
  // Ranks: a step's rows of rank 0, 1, 2.
  std::vector<Loader> ranks;
  for (const char* rank : {"0", "1", "2"})
    ranks.push_back(make_loader(dataset, with(job, {{"rank", rank}, {"world_size", "3"}})));
  Documents joined;
  for (bool ended = false; !ended;) {
    for (const Loader& rank : ranks) {
      const Delivered got = next(rank);
      ended = got.status != DL_OK;
      if (ended) continue;
      const dl_view* x = dl_batch_views(got.batch.get(), nullptr);
      const auto* tokens = static_cast<const uint16_t*>(x->data);
      for (int64_t row = 0; row < x->shape[0]; ++row)
        joined.emplace_back(tokens + row * kLength, tokens + (row + 1) * kLength);
    }
  }
  EXPECT_EQ(joined, epochs[0]);
  // Resumed after four steps, by a process that packs the mix anew.
  const Loader begun = make_loader(dataset, job);
  for (int step = 0; step < 4; ++step) ASSERT_EQ(next(begun).status, DL_OK);
  const std::string state = save_state(begun);
  const Loader resumed = make_loader(made(kRecipes[2], kBestFit), job);
  Error error;
  ASSERT_EQ(dl_loader_state_load(resumed.get(), state.c_str(), &error), DL_OK) << error.message;
  EXPECT_EQ(epoch_of(resumed), Documents(epochs[0].begin() + 48, epochs[0].end()));
  EXPECT_EQ(epoch_of(resumed), epochs[1]);
  // Another recipe, and another way of packing, are other data.
  for (const auto& [recipe, packing] : {std::pair(kRecipes[0], kBestFit), std::pair(kRecipes[2], kConcat)}) {
    const Loader other = make_loader(made(recipe, packing), job);
    EXPECT_EQ(dl_loader_state_load(other.get(), state.c_str(), &error), DL_ERR_STATE_REFUSED)
        << error.message;
  }
}

TEST(PackingOverAMix, ARecipeIsOpenedAndPackedInOneCall) {
  const TempDir dir;
  for (const auto& [name, part] : {std::pair("web.bin", 1), std::pair("code.bin", 2)}) {
    std::vector<uint16_t> tokens;
    for (int t = 0; t < 3000; ++t)
      tokens.push_back(static_cast<uint16_t>(t % (7 + 4 * part) == 0 ? 9 : 10000 * part + t));
    std::ofstream(dir.path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(tokens.data()), static_cast<std::streamsize>(tokens.size() * 2));
  }
  dir.write("mix.json",
            R"({"parts": [{"name": "web", "uri": "tokens:web.bin?dtype=u16&documents=eot:9", "weight": 0.7},
                                      {"name": "code", "uri": "tokens:code.bin?dtype=u16&documents=eot:9", "weight": 0.3}]})");
  const auto open = [&](const std::string& uri, const Settings& settings, std::string* message) {
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_open(uri.c_str(), make_options(settings).get(), &dataset, &error),
              message == nullptr ? DL_OK : DL_ERR_BAD_URI)
        << error.message;
    if (message != nullptr) *message = error.message;
    return Dataset(dataset);
  };
  const std::string uri = "mix:" + dir.path("mix.json");
  const Documents drawn = epoch_of(open(uri, {}, nullptr), kDrawing);
  EXPECT_EQ(epoch_of(open(uri, kBestFit, nullptr), {{"num_workers", "0"}}),
            plain_rows(drawn, fit_plainly(drawn, kLength, kWindow)));
  std::string message;
  open(uri + "?pack_length=16", {}, &message);
  EXPECT_NE(message.find("mix has no key 'pack_length'; set it as an option when you open the dataset"),
            std::string::npos)
      << message;
}

TEST(PackingOverAMix, WhatCannotBePackedSaysWhy) {
  const Dataset web = documents(1, 3), code = documents(2, 3);
  const std::vector<float> numbers(6);
  const Dataset rows = array_dataset(array_of("x", DL_DTYPE_F32, {3, 2}, numbers.data()));
  const Recipe weights = kRecipes[0], large = {true, int64_t{1} << 40, {}},
               larger = {true, int64_t{1} << 61, {}};
  const Recipe staged = {true, -1, {{5, {1, 0}}}};
  for (const auto& [recipe, first, second, settings, status, words] :
       std::vector<std::tuple<Recipe, const Dataset*, const Dataset*, Settings, dl_status, std::string>>{
           {staged, &web, &code, kConcat, DL_ERR_UNSUPPORTED,
            "packing: a mix with a schedule cannot be packed, because its steps count batches of a loader; "
            "open each part with pack_length instead"},
           {weights, &rows, &rows, kConcat, DL_ERR_UNSUPPORTED,
            "packing needs documents, one ragged field of integers, got x f32[2]"},
           {weights,
            &web,
            &code,
            {{"pack_window", "50"}},
            DL_ERR_BAD_OPTION,
            "option pack_window: needs pack_length"},
           {weights,
            &web,
            &code,
            {{"pack_length", "4"}, {"pack_method", "best_fit"}, {"pack_split", "false"}},
            DL_ERR_TOO_LARGE,
            "tokens, pack_length is 4 and pack_split=false"},
           {large, &web, &code, with(kConcat, {{"memory_budget", "1048576"}}), DL_ERR_OVER_BUDGET,
            "the documents that a mix draws: needs 8796093022208 bytes"},
           {larger, &web, &code, kConcat, DL_ERR_OVER_BUDGET, "documents of a mix do not fit in memory"}}) {
    const Mixed out = mixed(recipe, *first, *second, settings);
    EXPECT_EQ(out.status, status) << out.message;
    EXPECT_EQ(out.dataset, nullptr);
    EXPECT_NE(out.message.find(words), std::string::npos) << out.message;
  }
}

TEST(PackingOverAMix, ACancelledTokenEndsIt) {
  Error error;
  dl_cancel_token* token = nullptr;
  ASSERT_EQ(dl_cancel_token_create(&token, &error), DL_OK) << error.message;
  dl_cancel_token_cancel(token);
  const Mixed out = mixed(kRecipes[0], documents(1, kWeb), documents(2, kCode), kConcat, token);
  EXPECT_EQ(out.status, DL_CANCELLED);
  EXPECT_EQ(out.dataset, nullptr);
  dl_cancel_token_destroy(token);
}

}  // namespace
}  // namespace dataline::tests::packing_mix_test
