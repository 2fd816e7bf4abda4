// The configuration of a loader: the values of its options, checked against each other. Each kind of reader has a struct, in a
// header of its own in config/. A reader takes and includes its own structs alone, so that a new option recompiles its readers and
// nothing else.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/status.h"
#include "core/loader/config/bad_samples.h"
#include "core/loader/config/buckets.h"
#include "core/loader/config/cache.h"
#include "core/loader/config/delivery.h"
#include "core/loader/config/job.h"
#include "core/loader/config/memory.h"
#include "core/loader/config/metrics.h"
#include "core/loader/config/order.h"
#include "core/loader/config/sample.h"
#include "core/loader/config/window.h"
#include "core/loader/config/workers.h"
#include "core/order/step_config.h"

namespace dataline {

class Options;

// Most members are filled by the rows of option_rows.inc; the defaults in force are those of the rows.
struct LoaderConfig {
  StepConfig steps;
  OrderConfig order;
  JobConfig job;
  SampleConfig sample;
  BucketConfig buckets;
  BadSampleConfig bad_samples;
  WorkerConfig workers;
  WindowConfig window;
  MemoryConfig memory;
  DeliveryConfig delivery;
  CacheConfig cache;
  MetricsConfig metrics;
};

// Fails with kBadOption, naming the options that contradict each other.
Result<LoaderConfig> make_config(const Options& options);

}  // namespace dataline
