// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

// terminalColumns is 0: no progress line is drawn here.
func terminalColumns() int { return 0 }
