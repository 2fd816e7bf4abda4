// The option `cache`: samples as they are after the first operators of the transform, kept on disk. A source of what is kept; what
// is not kept yet is read, made and kept as it is asked for.
//
// A sample that was kept counts while Source::stamp() of its record is what it was: a file that is written to makes its samples
// anew. What is kept is what the loader would have made without it, and an error is not kept.
// Cost: a sample that is made takes one copy more than without a cache, and the writing.
//
// Threads: as Source; as many locate() at once as the maker has states.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/atomic.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/source/source.h"
#include "core/transform/transform.h"

namespace dataline {

class SampleMaker;

struct CacheCounts {
  Atomic<int64_t> read{0}, made{0};  // samples that were found, and that were not. Relaxed: statistics
};

struct KeptOptions {
  std::string directory;
  int64_t max_bytes = -1;  // limit for the directory; -1: leave a tenth of its file system free
  int jpeg_quality = 0;    // re-encode images as JPEG with this quality; 0: store the decoded pixels
  int64_t threads = 1;     // the largest number of threads that the loader may use, including the consumer
  std::string transform;   // the loader's
  TransformSettings settings;  // it compiles with these
};

struct KeptSamples {
  SourceRef source;             // of the samples as they are kept
  std::string after;            // the transform that is left
  std::vector<int64_t> places;  // of each field: SampleConfig::transform_places
  std::shared_ptr<const CacheCounts> counts;
  std::vector<std::string> before;     // of each field
  std::shared_ptr<SampleMaker> maker;  // has a state for one thread; add_states() for the others
  bool heavy = false;                  // making a sample takes long (Program::heavy)
  int64_t state_bytes = 0;             // that each thread which fills takes beside the pipeline's
};

// For a loader whose whole transform compiles. A directory that cannot be used is no error (SampleStore::open): then each sample
// is made, and counted so. kUnsupported: a set whose data cannot be told from other data of the same shape (in
// memory, or from a reader without a fingerprint), a mix whose parts have transforms. An option that names no directory; a field
// that cannot be kept.
Result<KeptSamples> keep_samples(SourceRef source, const KeptOptions& options, const Log& log,
                                 HostMemory& memory);

}  // namespace dataline
