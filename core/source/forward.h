// The base of sources that wrap another one and change part of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/source/source.h"

namespace dataline {

class ForwardSource : public Source {
 public:
  int64_t count() const override { return source_->count(); }
  const Schema& schema() const override { return source_->schema(); }
  SourceInfo info() const override { return source_->info(); }
  void locate(Run& run) const override { source_->locate(run); }
  bool unchanged(const ReadSpan& span) const override { return source_->unchanged(span); }
  void confirm(Run& run, const ReadSpan& span) const override { source_->confirm(run, span); }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return source_->scratch_bytes(max_bytes_per_sample);
  }
  void advise(std::span<const int64_t> indices) const override { source_->advise(indices); }
  bool cached(int64_t index) const override { return source_->cached(index); }
  Place place_of(int64_t index, size_t column) const override { return source_->place_of(index, column); }
  const std::vector<std::string>* classes() const override { return source_->classes(); }
  void fingerprint(Digest& digest) const override { source_->fingerprint(digest); }
  bool calls_host() const override { return source_->calls_host(); }

 protected:
  explicit ForwardSource(SourceRef source) : source_(std::move(source)) {}

  SourceRef source_;
};

}  // namespace dataline
