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
// No cgo is needed: the shared library is loaded at run time (SetLibraryPath says from where). With the build tag
// dataline_static and cgo the static library is linked instead.
//
// Compare errors with the codes of this package by errors.Is (ErrNotFound, ErrCorrupt, ...); *Error has the details.
// Closing twice is fine; use after Close returns ErrClosed. Datasets, loaders, shared epochs, writers and tokens that were not
// closed are closed some time after the garbage collector finds them unreachable, which is only a safety net; a batch without
// Release is reported.
//
// A Go program cannot fork without exec, so no loader runs in a forked child; child programs (os/exec) inherit nothing of
// it.
package dataline
