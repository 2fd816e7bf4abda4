// Golden orders of mixes with shuffle=window and of homogeneous steps by repeats, made by check_golden_order.py from the text of
// docs/pages/reference/order.md, not by this library. They never change. golden_mixes.json says the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace dataline {

// Of one epoch: the first slots and the digest of all (golden_order.h).
struct GoldenMix {
  std::vector<std::pair<int64_t, int64_t>> parts;  // blocks and spread (window_support.h)
  std::vector<std::pair<int64_t, std::vector<double>>> stages;
  std::vector<double> repeats;
  int64_t samples_per_epoch;
  bool homogeneous;
  int64_t open_blocks, step_slots;
  uint64_t seed;
  int64_t epoch;
  std::vector<int64_t> first;
  uint64_t digest;
};

inline std::vector<GoldenMix> golden_mixes() {
  return {
      {{{30, 20}, {4, 7}, {200, 9}},
       {{0, {0.5, 0.2, 0.3}}},
       {},
       1500,
       false,
       16,
       32,
       0u,
       0,
       {228, 357, 1123, 396, 216, 1125, 226, 801},
       0x2f0d5ba349188b87u},
      {{{30, 20}, {4, 7}, {200, 9}},
       {{0, {0.5, 0.2, 0.3}}},
       {},
       1500,
       false,
       16,
       32,
       0u,
       3,
       {360, 833, 837, 1196, 356, 313, 262, 482},
       0x395cfd1bca594b3u},
      {{{50, 90}, {1, 1}, {300, 3}, {2, 40}},
       {{0, {1, 1, 1, 1}}, {70, {0, 1e-09, 1, 3}}, {211, {5, 4, 3, 2}}},
       {},
       2000,
       false,
       8,
       21,
       9223372036854775807u,
       2,
       {3875, 3868, 3843, 3849, 3563, 3872, 3873, 3851},
       0x6e7fb74018a5097cu},
      {{{60, 50}, {20, 200}},
       {{0, {3, 1}}, {40, {1, 3}}},
       {},
       1024,
       true,
       6,
       16,
       7u,
       4,
       {3325, 3386, 2985, 2976, 2152, 2086, 2267, 2271},
       0xcf9e7f98025881c3u},
      {{{30, 20}, {4, 7}, {90, 9}},
       {},
       {2.5, 1, 0.3},
       -1,
       false,
       12,
       32,
       5u,
       0,
       {554, 558, 95, 96, 97, 265, 288, 255},
       0x60f508402b7ac0beu},
      {{{30, 20}, {4, 7}, {90, 9}},
       {},
       {2.5, 1, 0.3},
       -1,
       false,
       12,
       32,
       5u,
       6,
       {344, 348, 184, 406, 189, 157, 160, 158},
       0x2e6430357a6c3486u},
      {{{8, 600}, {100, 1}},
       {},
       {1.25, 0.5},
       -1,
       false,
       5,
       7,
       1u,
       1,
       {155, 1954, 1401, 1402, 298, 913, 911, 322},
       0xa67c69355ff1639du},
  };
}

// The steps of an epoch by repeats with homogeneous=batch and shuffle=full.
struct GoldenSteps {
  std::vector<int64_t> counts;
  std::vector<double> repeats;
  int64_t rows;
  uint64_t seed;
  int64_t epoch;
  std::vector<std::vector<int64_t>> steps;
};

inline std::vector<GoldenSteps> golden_steps() {
  return {
      {{7, 12, 1, 5},
       {1.5, 1, 3, 0.2},
       4,
       0u,
       0,
       {{12, 8, 14, 16},
        {0, 5, 4},
        {3, 1, 0, 6},
        {6, 3, 5, 2},
        {19, 19, 19},
        {24},
        {10, 18, 7, 15},
        {13, 17, 11, 9}}},
      {{7, 12, 1, 5},
       {1.5, 1, 3, 0.2},
       4,
       9223372036854775807u,
       5,
       {{19, 19, 19},
        {5, 6, 1},
        {5, 4, 6, 1},
        {7, 12, 16, 13},
        {0, 2, 0, 3},
        {9, 10, 17, 8},
        {20},
        {18, 14, 15, 11}}},
      {{3, 20}, {2, 0.5}, 5, 1u, 2, {{12, 9, 20, 19, 5}, {3, 22, 17, 4, 15}, {2}, {2, 0, 1, 1, 0}}},
  };
}

}  // namespace dataline
