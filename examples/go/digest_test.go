// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestItIsFNV1a(t *testing.T) {
	d := emptyDigest
	if d.String() != "cbf29ce484222325" {
		t.Error(d)
	}
	d.add([]byte("foo"))
	d.add([]byte("bar"))
	if d.String() != "85944171f73967e8" {
		t.Error(d)
	}
}
