// Properties of every order, over random sizes, seeds, cuts and worlds (RapidCheck).
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/order/window_support.h"

namespace dataline::properties_test {
namespace {

// An order of any kind with up to a few thousand slots to look at, and what it borrows.
struct AnyOrder {
  std::vector<int64_t> indices;
  std::vector<double> weights;
  std::unique_ptr<const Order> order;
  int64_t looked_at = 0;  // slots
};

AnyOrder any_order() {
  AnyOrder any;
  const int kind = *rc::gen::inRange(0, 7);
  if (kind == 6) {
    const auto sizes =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 100)));
    std::vector<int64_t> ends;
    for (const int64_t size : sizes) ends.push_back((ends.empty() ? 0 : ends.back()) + size);
    any.order = make_window_order(ends, *rc::gen::inRange<int64_t>(1, 600),
                                  *rc::gen::inRange<int64_t>(1, 2000), *rc::gen::arbitrary<uint64_t>() >> 1);
    any.looked_at = std::min<int64_t>(any.order->slots(), 3000);
    return any;
  }
  const int64_t n =
      kind == 2 ? *rc::gen::inRange<int64_t>(65536, 10'000'000'000) : *rc::gen::inRange(1, 3000);
  OrderSpec spec = order_spec(n, kind == 1 || kind == 2 ? Shuffle::kFull : Shuffle::kNone,
                              *rc::gen::arbitrary<uint64_t>() >> 1);
  if (kind == 3) {
    any.indices = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, n));
    spec.has_indices = true;
    spec.indices = any.indices;
  }
  if (kind >= 4) {
    any.weights = *rc::gen::container<std::vector<double>>(
        static_cast<size_t>(n), rc::gen::map(rc::gen::inRange(1, 1000), [](int w) { return w / 8.0; }));
    spec.weights = any.weights;
    spec.replacement = kind == 4;
    spec.samples_per_epoch = *rc::gen::inRange<int64_t>(1, n + 1);
  }
  any.order = make_order(spec);
  any.looked_at = std::min<int64_t>(any.order->slots(), 3000);
  return any;
}

RC_GTEST_PROP(OrderProperties, AnyCutIntoPiecesGivesTheSameSamples, ()) {
  const AnyOrder any = any_order();
  const int64_t epoch = *rc::gen::inRange<int64_t>(0, 1'000'000);
  const int64_t begin = *rc::gen::inRange<int64_t>(0, any.order->slots() - any.looked_at + 1);
  TestTable table(*any.order);
  table.build(*any.order, epoch);
  std::vector<int64_t> whole(static_cast<size_t>(any.looked_at));
  any.order->samples(epoch, &table.get(), begin, any.looked_at, whole.data());
  std::vector<int64_t> pieces;
  while (static_cast<int64_t>(pieces.size()) < any.looked_at) {
    const int64_t done = static_cast<int64_t>(pieces.size());
    const int64_t count = *rc::gen::inRange<int64_t>(1, std::min<int64_t>(500, any.looked_at - done) + 1);
    pieces.resize(static_cast<size_t>(done + count));
    any.order->samples(epoch, &table.get(), begin + done, count, pieces.data() + done);
  }
  RC_ASSERT(pieces == whole);
}

RC_GTEST_PROP(OrderProperties, TablesBuiltInAnySlicesAreTheSame, ()) {
  const AnyOrder any = any_order();
  const int64_t epoch = *rc::gen::inRange<int64_t>(0, 1000);
  TestTable at_once(*any.order);
  at_once.build(*any.order, epoch);
  TestTable sliced(*any.order);
  any.order->begin_table(sliced.get(), epoch);
  while (sliced.get().done < any.order->table_steps()) {
    const int64_t before = sliced.get().done;
    const int64_t slice = *rc::gen::inRange<int64_t>(1, 700);
    any.order->advance_table(sliced.get(), slice);
    RC_ASSERT(sliced.get().done == std::min(before + slice, any.order->table_steps()));
  }
  std::vector<int64_t> expected(static_cast<size_t>(any.looked_at));
  std::vector<int64_t> got(expected.size());
  any.order->samples(epoch, &at_once.get(), 0, any.looked_at, expected.data());
  any.order->samples(epoch, &sliced.get(), 0, any.looked_at, got.data());
  RC_ASSERT(got == expected);
}

RC_GTEST_PROP(OrderProperties, AFullShuffleTakesEachSampleOnce, ()) {
  const int64_t n = *rc::gen::inRange<int64_t>(0, 200'000);
  const auto order = make_order(order_spec(n, Shuffle::kFull, *rc::gen::arbitrary<uint64_t>() >> 1));
  RC_ASSERT(is_permutation(whole_epoch(*order, *rc::gen::inRange<int64_t>(0, 1000))));
}

RC_GTEST_PROP(OrderProperties, AWindowShuffleTakesEachSampleOnceAndRanksOfAnyWorldJoinToOneStream, ()) {
  const auto sizes =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 3000)));
  std::vector<int64_t> ends;
  for (const int64_t size : sizes) ends.push_back((ends.empty() ? 0 : ends.back()) + size);
  const int64_t step_slots = *rc::gen::inRange<int64_t>(1, 5000);
  const auto order = make_window_order(ends, *rc::gen::inRange<int64_t>(1, 2000), step_slots,
                                       *rc::gen::arbitrary<uint64_t>() >> 1);
  const int64_t epoch = *rc::gen::inRange<int64_t>(0, 1000);
  const std::vector<int64_t> whole = whole_epoch(*order, epoch);
  RC_ASSERT(is_permutation(whole));
  // From a step on, in another world: as after a resize.
  const int64_t steps = (order->slots() + step_slots - 1) / step_slots;
  const int64_t from = *rc::gen::inRange<int64_t>(0, steps);
  const int64_t world = *rc::gen::inRange<int64_t>(1, 70);
  TestTable table(*order);
  table.build(*order, epoch);
  std::vector<int64_t> joined;
  for (int64_t step = from; step < steps; ++step) {
    const int64_t begin = step * step_slots, slots = std::min(step_slots, order->slots() - begin);
    for (int64_t rank = 0; rank < world; ++rank) {
      const SlotRange mine = rank_slots(begin, slots, rank, world);
      joined.resize(joined.size() + static_cast<size_t>(mine.count()));
      order->samples(epoch, &table.get(), mine.begin, mine.count(),
                     joined.data() + joined.size() - static_cast<size_t>(mine.count()));
    }
  }
  RC_ASSERT(joined == std::vector<int64_t>(whole.begin() + from * step_slots, whole.end()));
}

RC_GTEST_PROP(OrderProperties, TheRanksOfAnyWorldTogetherReadTheStepInOrder, ()) {
  const int64_t world = *rc::gen::inRange<int64_t>(1, 5000);
  const int64_t length = *rc::gen::inRange<int64_t>(0, 1'000'000);
  int64_t next = *rc::gen::inRange<int64_t>(0, int64_t{1} << 61);
  const int64_t begin = next;
  for (int64_t rank = 0; rank < world; ++rank) {
    const SlotRange part = rank_slots(begin, length, rank, world);
    RC_ASSERT(part.begin == next);
    RC_ASSERT(part.end >= part.begin);
    next = part.end;
  }
  RC_ASSERT(next == begin + length);
}

}  // namespace
}  // namespace dataline::properties_test
