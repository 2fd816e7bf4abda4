//! Headers of encoded images, and how to recover pixels from values.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline_sys as sys;

/// How an image is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageFormat {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// Netpbm: PGM, PPM, PAM.
    Pnm,
    /// A number that this release of the crate does not know.
    Other(i32),
}

/// The header of an encoded image: [`Dataset::image_info`](crate::Dataset::image_info).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageInfo {
    /// The encoding.
    pub format: ImageFormat,
    /// Width in pixels, as stored: before any Exif orientation.
    pub width: i64,
    /// Height in pixels, as stored.
    pub height: i64,
    /// As stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK).
    pub channels: i32,
    /// Bits per channel.
    pub bits: i32,
    /// Exif orientation, 1 to 8; 1 if absent.
    pub orientation: i32,
    /// Progressive or interlaced.
    pub progressive: bool,
    /// The encoded bytes.
    pub bytes: i64,
}

impl ImageInfo {
    pub(crate) fn from(info: &sys::dl_image_info) -> ImageInfo {
        ImageInfo {
            format: match info.format {
                sys::DL_IMAGE_JPEG => ImageFormat::Jpeg,
                sys::DL_IMAGE_PNG => ImageFormat::Png,
                sys::DL_IMAGE_WEBP => ImageFormat::Webp,
                sys::DL_IMAGE_PNM => ImageFormat::Pnm,
                other => ImageFormat::Other(other),
            },
            width: info.width,
            height: info.height,
            channels: info.channels,
            bits: info.bits,
            orientation: info.orientation,
            progressive: info.progressive != 0,
            bytes: info.bytes,
        }
    }
}

/// The delivered value is `pixel * scale + offset`: [`Loader::pixel_scale`](crate::Loader::pixel_scale).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PixelScale {
    /// The change in value per step of a stored pixel.
    pub scale: f64,
    /// The value of a pixel of 0.
    pub offset: f64,
}
