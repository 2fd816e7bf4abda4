// SPDX-License-Identifier: Apache-2.0

// Package dataline loads data for machine-learning training: shuffled, transformed batches, prefetched by native threads
// and viewed without a copy. The stream depends only on the data, the options and the seed, never on the number of
// threads, and is the same in all languages with a binding.
//
//	dataset, err := dataline.Open("mnist:data?split=train")
//	...
//	loader, err := dataline.NewLoader(dataset, dataline.With{"batch_size": 64, "shuffle": "full"})
//	...
//	for batch, err := range loader.Epoch(ctx) {
//		if err != nil {
//			return err
//		}
//		images, err := dataline.View[uint8](batch, "image")
//		...
//	}
//
// No cgo is needed: the shared library is loaded at run time (see SetLibraryPath for where it is searched). With the
// build tag dataline_static and cgo, the static library is linked instead.
//
// Compare errors with the codes of this package with errors.Is (ErrNotFound, ErrCorrupt, ...); *Error has the details.
// Closing twice is allowed; use after Close returns ErrClosed. The garbage collector closes unreachable datasets,
// loaders, shared epochs, writers and tokens some time later, which is only a safety net. A batch without Release is
// reported.
//
// A Go program cannot fork without exec, so no loader runs in a forked child. Child programs (os/exec) inherit nothing
// from it.
package dataline
