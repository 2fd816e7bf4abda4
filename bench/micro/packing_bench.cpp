// What packing takes when a dataset is made: the documents of a mix, drawn and packed, beside documents of one set, which are
// packed alone. Of arrays in memory, whose lengths are all that is read.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <dataline.hpp>
#include <string>
#include <vector>

namespace {

constexpr int64_t kDocuments = 5'000'000;  // of a part

// Documents of 20 to 119 tokens of a byte.
class Part {
 public:
  explicit Part(uint64_t seed) {
    offsets_.reserve(kDocuments + 1);
    for (int64_t d = 0; d < kDocuments; ++d) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      offsets_.push_back(offsets_.back() + 20 + static_cast<int64_t>((seed >> 33) % 100));
    }
    tokens_.resize(static_cast<size_t>(offsets_.back()));
  }
  dataline::Dataset dataset(const dataline::Options& options = {}) const {
    return dataline::Dataset::borrow_arrays(
        {dataline::Array::ragged("tokens", tokens_, offsets_)}, [] {}, options);
  }

 private:
  std::vector<int64_t> offsets_ = {0};
  std::vector<uint8_t> tokens_;
};

// `make` makes a dataset of so many documents.
template <typename Make>
void register_packing(const std::string& name, int64_t documents, Make make) {
  for (const std::string method : {"concat", "best_fit"}) {
    benchmark::RegisterBenchmark((name + "/" + method).c_str(), [=](benchmark::State& state) {
      const dataline::Options options = {{"pack_length", 2048}, {"pack_method", method}};
      for (auto _ : state) benchmark::DoNotOptimize(make(options));
      state.counters["a_document"] =
          benchmark::Counter(static_cast<double>(documents),
                             benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const Part first(1), second(2);
  const dataline::Dataset web = first.dataset(), code = second.dataset();
  using dataline::MixPart;
  const std::vector<MixPart> weights = {MixPart::weighted("web", web, 0.7),
                                        MixPart::weighted("code", code, 0.3)};
  const std::vector<MixPart> repeats = {MixPart::repeated("web", web, 1), MixPart::repeated("code", code, 1)};
  register_packing("one_set", kDocuments, [&](const auto& options) { return first.dataset(options); });
  for (const auto& [name, parts] : {std::pair("mix_weights", &weights), std::pair("mix_repeats", &repeats)}) {
    register_packing(name, 2 * kDocuments, [parts = parts](const auto& options) {
      return dataline::Dataset::mix(*parts, {}, -1, options);
    });
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
