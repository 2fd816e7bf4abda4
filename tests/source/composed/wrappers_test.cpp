// Every wrapper over a source with an answer of its own to each function: what the wrapper does not change, it passes on.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"
#include "core/source/damage.h"
#include "core/source/identity.h"
#include "core/source/image_sets/image_sets.h"
#include "core/source/null_masks.h"
#include "tests/source/located.h"

namespace dataline::wrappers_test {
namespace {

constexpr int64_t kRecords = 6;

// Derives from Source itself: every function has an answer that no base gives. Notes what it hears.
class Probe final : public Source {
 public:
  explicit Probe(std::string name = "probe", bool shared = false) : name_(std::move(name)) {
    schema_ = column_per_field({{"x", FieldKind::kRagged, DType::kU8, {-1}, "", 4}});
    schema_.places[0].shared = shared;
    facts_ = {.classes = &classes_,
              .packing = "packed rows",
              .host_calls = HostCalls::kPrompt,
              .opens_blocks = true,
              .held_blocks = 3};
  }

  int64_t count() const override { return kRecords; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"probe", "probe:uri", {"a note"}}; }
  const SourceFacts& facts() const override { return facts_; }
  void locate(Run& run) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      run.columns[0].data[i] = bytes_.data() + run.indices[i];
      run.columns[0].bytes[i] = 1;
    }
    run.columns[0].contiguous = false;
  }
  bool unchanged(const ReadSpan&) const override { return false; }
  void confirm(Run& run, const ReadSpan&) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      if (run.indices[i] % 2 == 1) run.errors->fail(i, error(Code::kChanged, "changed ", run.indices[i]));
    }
  }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override { return max_bytes_per_sample * 128; }
  void advise(std::span<const int64_t> indices) const override {
    for (const int64_t index : indices) heard += concat(" record ", index);
  }
  void advise_block(int64_t first, int64_t count) const override {
    heard += concat(" block ", first, " of ", count);
  }
  bool cached(int64_t index) const override { return index != 2; }
  void append_blocks(int64_t, BlockEnds& ends) const override {
    const int64_t begin = ends.empty() ? 0 : ends.back();
    ends.push_back(begin + 2);
    ends.push_back(begin + kRecords);
  }
  int64_t stored_bytes() const override { return 77; }
  int64_t record_items(int64_t index) const override { return 10 + index; }
  Result<const std::byte*> locate_items(const Run&, const ItemRange& range, std::byte*) const override {
    return bytes_.data() + range.index + range.first;
  }
  void advise_items(const ItemRange& range) const override { heard += concat(" items ", range.index); }
  Place place_of(int64_t index, size_t) const override { return {"file", concat("record ", index)}; }
  void identify(IdentityBuilder& identity) const override { identity.add(name_); }
  std::optional<uint64_t> stamp(int64_t index) const override { return 100 + static_cast<uint64_t>(index); }

  mutable std::string heard;

 private:
  const std::string name_;
  const std::vector<std::string> classes_ = {"cat"};
  std::array<std::byte, 64> bytes_ = [] {
    std::array<std::byte, 64> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
  }();
  Schema schema_;
  SourceFacts facts_;
};

using Answers = std::map<std::string, std::string>;  // by function
using Maker = SourceRef (*)(SourceRef);

std::string text_of(const BlockEnds& ends) {
  std::string text;
  for (const int64_t end : ends) text += concat(" ", end);
  return text;
}

// What the functions of one record answer.
void ask_record(const Source& source, int64_t index, Answers& answers) {
  answers["cached"] += source.cached(index) ? "yes " : "no ";
  answers["record_items"] += concat(source.record_items(index), " ");
  answers["place_of"] += place_text(source.place_of(index, 0)) + " ";
  const std::optional<uint64_t> stamp = source.stamp(index);
  answers["stamp"] += stamp ? concat(*stamp, " ") : "none ";
  const Located located(source, {index});
  const std::byte* const value = located.data(0, 0);
  answers["locate"] += value == nullptr ? "failed " : concat(std::to_integer<int>(*value), " ");
  const Result<const std::byte*> items = source.locate_items({}, {index, 1, 2}, nullptr);
  answers["locate_items"] += items.is_ok() ? concat(std::to_integer<int>(*items.value()), " ") : "failed ";
  RowErrors errors;
  Run run;
  run.count = 1;
  run.indices = &index;
  run.errors = &errors;
  source.confirm(run, {});
  answers["confirm"] += errors.empty() ? "whole " : errors.all()[0].status.message() + " ";
}

// `first`: the wrapper's index of the probe's record 0; its other records follow.
Answers ask(const Source& source, int64_t first, std::string& heard) {
  Answers answers;
  const SourceFacts& facts = source.facts();
  answers["classes"] = facts.classes == nullptr ? "none" : facts.classes->front();
  answers["packing"] = std::string(facts.packing);
  answers["host_calls"] = std::to_string(static_cast<int>(facts.host_calls));
  answers["opens_blocks"] = facts.opens_blocks ? "yes" : "no";
  answers["held_blocks"] = std::to_string(facts.held_blocks);
  for (const std::string& note : source.info().notes) answers["notes"] += note + " ";
  answers["unchanged"] = source.unchanged({}) ? "yes" : "no";
  answers["scratch_bytes"] = source.scratch_bytes(2) >= 256 ? "enough" : "not enough";
  answers["stored_bytes"] = std::to_string(source.stored_bytes());
  BlockEnds ends;
  source.append_blocks(1000, ends);
  answers["append_blocks"] = text_of(ends);
  for (int64_t index = first; index < first + kRecords; ++index) ask_record(source, index, answers);
  heard.clear();
  const std::array<int64_t, 2> indices = {first + 4, first + 1};
  source.advise(indices);
  answers["advise"] = std::exchange(heard, "");
  source.advise_block(first + 1, 3);
  answers["advise_block"] = std::exchange(heard, "");
  source.advise_items({first + 2, 0, 1});
  answers["advise_items"] = std::exchange(heard, "");
  return answers;
}

struct Wrapper {
  const char* name;
  Maker wrap;
  std::set<std::string> changes;  // the functions whose answers the wrapper changes
  int64_t first = 0;              // the index of the probe's record 0
};

SourceRef subset_of(SourceRef source) {
  static constexpr std::array<int64_t, kRecords> kAll = {0, 1, 2, 3, 4, 5};
  return subset_source(std::move(source), kAll, {}, *HostMemory::create({})).take();
}
SourceRef masked(SourceRef source) {
  return with_null_masks(std::move(source), NullFill{.mask = true}).take();
}
SourceRef mixed(SourceRef source) {
  MixRecipe recipe;
  recipe.parts.push_back({.name = "only", .source = std::move(source), .uri = "", .weight = 1});
  return mix_sources(std::move(recipe)).take();
}

const Wrapper kWrappers[] = {
    {"notes", [](SourceRef s) { return with_notes(std::move(s), {"another"}); }, {"notes"}},
    {"damage",
     [](SourceRef s) { return damaged_source(std::move(s), error(Code::kCorrupt, "damaged")); },
     {"locate", "locate_items", "stamp"}},
    {"label check", [](SourceRef s) { return with_label_check(std::move(s), "file", {}); }, {}},
    {"column per field", [](SourceRef s) { return with_column_per_field(std::move(s)).take(); }, {}},
    {"masks", masked, {}},
    {"mix", mixed, {}},
    {"subset", subset_of, {"opens_blocks", "advise_block"}},
    {"zip of one",
     [](SourceRef s) {
       return zip_sources({{"y", std::move(s), ""}}).take();
     },
     {"stamp"}},
    {"concat, first part",
     [](SourceRef s) {
       return concat_sources({{"", s, ""}, {"", s, ""}}).take();
     },
     {"append_blocks"}},
    {"concat, second part",
     [](SourceRef s) {
       return concat_sources({{"", s, ""}, {"", s, ""}}).take();
     },
     {"append_blocks"},
     kRecords},
};

TEST(Wrappers, PassOnWhatTheyDoNotChange) {
  for (const Wrapper& wrapper : kWrappers) {
    SCOPED_TRACE(wrapper.name);
    // A shared column is what with_column_per_field() has to change.
    const bool shared = wrapper.name == std::string("column per field");
    const auto probe = std::make_shared<Probe>("probe", shared);
    const SourceRef wrapped = wrapper.wrap(probe);
    ASSERT_NE(wrapped, probe);
    Answers expected = ask(*probe, 0, probe->heard), got = ask(*wrapped, wrapper.first, probe->heard);
    for (const std::string& function : wrapper.changes) {
      EXPECT_NE(got[function], expected[function]) << function;
      got[function] = expected[function];
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(Wrappers, IdentifyTheSourceThatTheyWrap) {
  for (const Wrapper& wrapper : kWrappers) {
    const auto structure = [&](const char* name) {
      return local_structure(*wrapper.wrap(std::make_shared<Probe>(name)));
    };
    EXPECT_EQ(structure("one"), structure("one")) << wrapper.name;
    EXPECT_NE(structure("one"), structure("two")) << wrapper.name;
  }
}

TEST(Wrappers, OnlyAMixItselfIsAMix) {
  const SourceRef mix = mixed(std::make_shared<Probe>());
  ASSERT_NE(mix->facts().mix, nullptr);
  EXPECT_EQ(with_notes(mix, {"another"})->facts().mix, mix->facts().mix);
  EXPECT_EQ(subset_of(mix)->facts().mix, nullptr);
  EXPECT_EQ(zip_sources({{"y", mix, ""}}).take()->facts().mix, nullptr);
  EXPECT_EQ(concat_sources({{"", mix, ""}, {"", mix, ""}}).take()->facts().mix, nullptr);
}

}  // namespace
}  // namespace dataline::wrappers_test
