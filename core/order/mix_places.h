// The places of an epoch of a mix by repeats: each part's samples as often as they come, part by part and pass by pass. Orders by
// repeats permute them.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/mix_parts.h"

namespace dataline {

class MixPlaces {
 public:
  // kTooLarge: more than 2^62 places; kEmpty: none.
  static Result<MixPlaces> create(const MixOrderSpec& spec);

  const MixParts& parts() const { return parts_; }
  int64_t total() const { return ends_.back(); }
  int64_t part_of(int64_t place) const;
  int64_t begin(int64_t part) const { return part == 0 ? 0 : ends_[static_cast<size_t>(part - 1)]; }
  int64_t size(int64_t part) const { return ends_[static_cast<size_t>(part)] - begin(part); }
  // How often all samples of the part come, and how many of them once more.
  int64_t whole_passes(int64_t part) const { return size(part) / parts_.count(part); }
  int64_t once_more(int64_t part) const { return size(part) % parts_.count(part); }

  // The sample at place `at` of a part, numbered through all parts. Those that come once more are drawn anew for each epoch.
  int64_t sample(int64_t epoch, int64_t part, int64_t at) const {
    const int64_t n = parts_.count(part), index = at % n;
    // In whole passes the shuffle of the epoch is enough.
    return parts_.start(part) + (at / n < whole_passes(part) ? index : chosen(epoch, part, index));
  }
  // Where the samples that come once more lie at equal distances: from which one of the part on, in units of 1 / once_more(part).
  int64_t drawn_offset(int64_t epoch, int64_t part) const;

  // MixOrder's, when the share `done` of an epoch is over.
  double passes(int64_t part, int64_t epoch, double done) const {
    return (static_cast<double>(epoch) + done) * static_cast<double>(size(part)) /
           static_cast<double>(parts_.count(part));
  }
  double share(int64_t part) const { return static_cast<double>(size(part)) / static_cast<double>(total()); }
  int64_t allocated_bytes() const { return memory_.bytes(); }

 private:
  MixPlaces(const MixOrderSpec& spec, Block ends)
      : parts_(spec),
        seed_(spec.seed),
        ends_(reinterpret_cast<const int64_t*>(ends.data()), static_cast<size_t>(parts_.size())),
        memory_(std::move(ends)) {}
  int64_t chosen(int64_t epoch, int64_t part, int64_t index) const;

  MixParts parts_;
  uint64_t seed_;
  std::span<const int64_t> ends_;  // of each part's places
  Block memory_;
};

}  // namespace dataline
