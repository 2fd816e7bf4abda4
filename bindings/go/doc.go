// Package dataline loads data for machine-learning training: shuffled, transformed batches, loaded ahead by native
// threads, seen without a copy. The stream depends on the data, the options and the seed alone, never on the number of
// threads, and it is the same in every language Dataline speaks.
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
// dataline_static and cgo the static library is linked in instead.
//
// Every error is compared by errors.Is with the codes of this package (ErrNotFound, ErrCorrupt, ...); *Error has the
// details. Closing twice is fine; what is used after Close gives ErrClosed. What is not closed is closed some time after
// the garbage collector found it unreachable, a safety net only.
//
// A Go program cannot fork without exec, so a loader never meets a forked child; child programs (os/exec) inherit
// nothing of it.
//
// SPDX-License-Identifier: Apache-2.0
package dataline
