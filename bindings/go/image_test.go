// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// A PNG of 2x1 grey pixels, 10 and 200.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x01\x08\x00\x00\x00\x00\xd1\x49\x20\x56" +
	"\x00\x00\x00\x0bIDAT\x78\xda\x63\xe0\x3a\x01\x00\x00\xdf\x00\xd3\xd8\x85\xd2\xae\x00\x00\x00\x00IEND\xae\x42\x60\x82"

func pictures(t *testing.T) *dataline.Dataset {
	t.Helper()
	folder := t.TempDir()
	check(t, os.Mkdir(filepath.Join(folder, "grey"), 0o755))
	check(t, os.WriteFile(filepath.Join(folder, "grey", "1.png"), []byte(png), 0o600))
	d := must[*dataline.Dataset](t)(dataline.Open("folder:" + folder))
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func TestHeadersAreReadWithoutDecoding(t *testing.T) {
	d := pictures(t)
	info := must[dataline.ImageInfo](t)(d.ImageInfo(0))
	expected := dataline.ImageInfo{Format: dataline.PNG, Width: 2, Height: 1, Channels: 1, Bits: 8, Orientation: 1,
		Bytes: int64(len(png))}
	if info != expected || info.Format.String() != "png" {
		t.Errorf("%+v", info)
	}
	if named := must[dataline.ImageInfo](t)(d.ImageInfoOf("image", 0)); named != expected {
		t.Errorf("%+v", named)
	}
	_, err := d.ImageInfo(1)
	wants(t, err, dataline.ErrOutOfRange)
	_, err = d.ImageInfoOf("label", 0)
	wants(t, err, dataline.ErrUnsupported)
	_, err = d.ImageInfoOf("imag", 0)
	wants(t, err, dataline.ErrNoSuchField)
	_, err = d.ImageInfoOf("im\x00age", 0)
	wants(t, err, dataline.ErrInvalidArgument)
	check(t, d.Close())
	_, err = d.ImageInfo(0)
	wants(t, err, dataline.ErrClosed)
}

func TestDeliveredValuesArePixelsAgain(t *testing.T) {
	l := loaderOf(t, pictures(t), dataline.With{"transform": "image: decode, normalize(imagenet)"})
	b := must[*dataline.Batch](t)(l.Next(background))
	defer b.Release()
	var pixels []float64
	for at, value := range must[[]float32](t)(dataline.View[float32](b, "image")) {
		scale, offset, err := l.PixelScale("image", at%3)
		check(t, err)
		pixels = append(pixels, math.Round((float64(value)-offset)/scale))
	}
	equal(t, pixels, 10, 10, 10, 200, 200, 200)
	_, _, err := l.PixelScale("image", 3)
	wants(t, err, dataline.ErrInvalidArgument)
	_, _, err = l.PixelScale("imag", 0)
	wants(t, err, dataline.ErrNoSuchField)
	_, _, err = loaderOf(t, numbers(t, 3)).PixelScale("x", 0)
	wants(t, err, dataline.ErrUnsupported)
}
