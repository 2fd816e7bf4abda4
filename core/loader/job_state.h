// What a saved state says of the job beside its position. It identifies the job and must agree when a state is loaded: the
// data by their ContentIdentity (core/source/identity.h), and the order. Directories, transforms, workers, depth, io, memory
// and device are not in it, and rank and world size are free at an equal global batch.
//
// Owns the digests and texts; borrows the job for each call.
// Threads: externally synchronized (the loader's lock).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/loader/epochs.h"
#include "core/loader/orders.h"
#include "core/loader/state_text.h"
#include "core/source/composed/mix.h"
#include "core/source/identity.h"
#include "core/source/source.h"

namespace dataline {

struct LoaderConfig;  // core/loader/config.h

class JobState {
 public:
  // `config` and `steps` outlive it. `fields` are those of the dataset, so a cache does not change them.
  JobState(const LoaderConfig& config, const Steps& steps, const std::vector<Field>& fields,
           OrderTexts order);

  struct Job {
    const Source& source;
    const Mix* mix;  // may be null
    const OrderVersions& orders;
  };
  // `tuned` is where the next start begins; "" saves nothing. Returns the errors of content_identity().
  Result<std::string> save(const Job& job, Position at, std::string_view tuned);

  struct Match {
    const OrderVersion* order;      // of job.orders: the one that the state was saved under
    const std::string_view* tuned;  // null: the state has none
  };
  // kStateRefused: a state of another job, and what differs. kBadState: lines are missing or unknown. What
  // content_identity() returns.
  Result<Match> match(const SavedState& saved, const Job& job);

 private:
  Status find_content(const Source& source);
  std::vector<StateLine> identity(const Job& job, std::string_view indices_digest) const;
  std::vector<StateLine> extras(const Job& job) const;

  const LoaderConfig& config_;
  const Steps& steps_;
  const std::string fields_;
  const OrderTexts order_;
  std::optional<ContentIdentity> content_;  // find_content()
};

}  // namespace dataline
