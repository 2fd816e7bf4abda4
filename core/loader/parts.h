// Mixes of datasets as the loader sees them: the order that a recipe makes, and what of it identifies a job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/mix.h"
#include "core/order/steps.h"
#include "core/source/composed/mix.h"

namespace dataline {

struct BucketConfig;  // core/loader/config/buckets.h
struct OrderConfig;   // core/loader/config/order.h

constexpr std::string_view kPartsKey = "parts";  // of the line of a state

// kBadOption: an option that does not go with a mix, or needs one. `mix` may be null.
Status check_mix_options(const Mix* mix, const OrderConfig& config, const BucketConfig& buckets);
// The mix and the memory outlive the order. `steps`: not cut yet. `block_ends`: with shuffle=window, where the blocks of the mix end.
Result<std::unique_ptr<const MixOrder>> make_mix_order(const Mix& mix, const OrderConfig& config,
                                                       const Steps& steps,
                                                       std::span<const int64_t> block_ends,
                                                       std::shared_ptr<HostMemory> memory);

// The lines of a state: the parts with their samples (of many, a digest), and the digest of weights or repeats.
std::string mix_parts_text(const Mix& mix);
std::string mix_recipe_text(const Mix& mix, const OrderConfig& config);
// How two values of the line of parts differ: "part code: 1200 samples, saved with 1100".
std::string parts_difference(std::string_view saved, std::string_view here);

}  // namespace dataline
