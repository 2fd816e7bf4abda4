// Packing over a mix: the documents of its parts as one sequence, which is then packed (source/packing).
// Threads: as Dataset's functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

// The documents that one epoch of the mix draws, in the order of its epoch 0 with shuffle=full and seed 0, so that neighbours
// have each part's share and each pass through a part is permuted. Rows are made of them once, as of any dataset, and it is the
// rows that each epoch then shuffles by its own seed. Repeats give every epoch all documents, each so many times; weights give
// every epoch the same samples_per_epoch documents.
//
// kUnsupported: parts that hold no documents; a recipe with a schedule, whose steps count batches of a loader. kOverBudget,
// kCancelled.
// Memory: 8 bytes a document drawn (kTable).
Result<SourceRef> documents_of_mix(SourceRef mix, const OpenContext& context);

}  // namespace dataline
