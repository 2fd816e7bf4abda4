// SPDX-License-Identifier: Apache-2.0

package gomlx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
	"github.com/dataline/dataline/bindings/go/gomlx"
)

// On the fake CUDA driver.
func TestAFieldOnADeviceIsRefusedByName(t *testing.T) {
	driver := os.Getenv("DATALINE_FAKE_CUDA")
	if driver == "" {
		driver = filepath.Join(os.Getenv("DATALINE_LIB_DIR"), "libfake_cuda.so")
	}
	if _, err := os.Stat(driver); err != nil {
		t.Skip("there is no libfake_cuda.so (DATALINE_FAKE_CUDA)")
	}
	options := dataline.With{"batch_size": 4, "device": "cuda:0", "cuda_library": driver}
	d := gomlx.New("digits", loader(t, options), []string{"image"}, []string{"label"})
	for _, err := range d.Iter() {
		if !errors.Is(err, dataline.ErrUnsupported) || !strings.Contains(err.Error(), "cuda:0") {
			t.Error(err)
		}
		return
	}
	t.Error("there was no turn of the loop")
}
