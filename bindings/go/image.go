// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// ImageFormat is the encoding of an image.
type ImageFormat int32

const (
	JPEG ImageFormat = abi.DL_IMAGE_JPEG
	PNG  ImageFormat = abi.DL_IMAGE_PNG
	WebP ImageFormat = abi.DL_IMAGE_WEBP
	PNM  ImageFormat = abi.DL_IMAGE_PNM
)

// String returns "jpeg", "png", "webp", "pnm".
func (f ImageFormat) String() string {
	switch f {
	case JPEG:
		return "jpeg"
	case PNG:
		return "png"
	case WebP:
		return "webp"
	case PNM:
		return "pnm"
	}
	return fmt.Sprintf("format %d", int32(f))
}

// ImageInfo is the header of an encoded image.
type ImageInfo struct {
	Format        ImageFormat
	Width, Height int64 // pixels, as stored: before any Exif orientation
	Channels      int   // as stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK)
	Bits          int   // per channel
	Orientation   int   // Exif, 1 to 8; 1 if absent
	Progressive   bool  // or interlaced
	Bytes         int64 // encoded
}

// ImageInfo returns the header of a sample's encoded image; does not decode it. Reads the field "image", or the only
// field with encoded bytes.
//
// ErrNoSuchField, ErrUnsupported (no encoded bytes), ErrOutOfRange, ErrCorrupt, ErrTruncated, and the errors of
// reading the sample.
func (d *Dataset) ImageInfo(index int) (ImageInfo, error) { return d.headerOf(nil, index) }

// ImageInfoOf is ImageInfo for a field by its name.
func (d *Dataset) ImageInfoOf(field string, index int) (ImageInfo, error) {
	name, err := cText("field", field)
	if err != nil {
		return ImageInfo{}, err
	}
	return d.headerOf(name, index)
}

func (d *Dataset) headerOf(field *byte, index int) (ImageInfo, error) {
	if err := d.enter(); err != nil {
		return ImageInfo{}, err
	}
	defer runtime.KeepAlive(d)
	defer d.handle.leave()
	raw := &abi.ImageInfo{StructSize: uint32(unsafe.Sizeof(abi.ImageInfo{}))}
	err := call(func(e *abi.Error) int32 {
		return abi.DatasetImageInfo(d.handle.pointer, field, int64(index), raw, e)
	})
	if err != nil {
		return ImageInfo{}, err
	}
	return ImageInfo{
		Format:      ImageFormat(raw.Format),
		Width:       raw.Width,
		Height:      raw.Height,
		Channels:    int(raw.Channels),
		Bits:        int(raw.Bits),
		Orientation: int(raw.Orientation),
		Progressive: raw.Progressive != 0,
		Bytes:       raw.Bytes,
	}, nil
}

// PixelScale returns how to recover the pixels of a field: the value delivered in a channel is pixel * scale +
// offset, where pixel is the stored u8 or u16. If all channels have the same scale, any channel works.
//
// ErrNoSuchField, ErrInvalidArgument (no such channel), ErrUnsupported (the values do not map back to pixels).
func (l *Loader) PixelScale(field string, channel int) (scale, offset float64, err error) {
	if l == nil {
		return 0, 0, errNil("loader")
	}
	place, names := -1, make([]string, len(l.fields))
	for at := range l.fields {
		names[at] = l.fields[at].Name
		if names[at] == field {
			place = at
		}
	}
	if place < 0 {
		return 0, 0, localError(ErrNoSuchField, "no field '%s'; the fields are %s", field, strings.Join(names, ", "))
	}
	found := new([2]float64)
	err = l.use(func(raw abi.Handle, e *abi.Error) int32 {
		return abi.LoaderPixelScale(raw, int32(place), int64(channel), &found[0], &found[1], e)
	})
	return found[0], found[1], err
}
