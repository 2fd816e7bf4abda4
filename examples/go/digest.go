// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// digest is 64 bits over all bytes that were delivered: FNV-1a, the same in the examples of every language.
type digest uint64

const emptyDigest digest = 0xCBF29CE484222325

func (d *digest) add(bytes []byte) {
	sum := *d
	for _, letter := range bytes {
		sum = (sum ^ digest(letter)) * 0x100000001B3
	}
	*d = sum
}

func (d digest) String() string {
	return fmt.Sprintf("%016x", uint64(d))
}
