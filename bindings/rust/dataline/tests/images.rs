//! What encoded images say of themselves, and how values become pixels again.
//!
//! SPDX-License-Identifier: Apache-2.0
mod common;

use common::{loader_of, numbers};
use dataline::{Code, Dataset, ImageFormat, Options};

/// A PNG of 2x1 grey pixels, 10 and 200.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\0\0\0\0\xd1\x49\x20\x56\
    \0\0\0\x0bIDAT\x78\xda\x63\xe0\x3a\x01\0\0\xdf\0\xd3\xd8\x85\xd2\xae\0\0\0\0IEND\xaeB\x60\x82";

fn pictures(name: &str) -> Dataset<'static> {
    let folder = common::file(name);
    std::fs::create_dir_all(folder.join("grey")).unwrap();
    std::fs::write(folder.join("grey").join("1.png"), PNG).unwrap();
    Dataset::open(&format!("folder:{}", folder.display()), &Options::new()).unwrap()
}

#[test]
fn headers_are_read_without_decoding() {
    let dataset = pictures("headers");
    let info = dataset.image_info(0).unwrap();
    assert_eq!((info.format, info.width, info.height), (ImageFormat::Png, 2, 1));
    assert_eq!((info.channels, info.bits, info.orientation, info.progressive), (1, 8, 1, false));
    assert_eq!(info.bytes, PNG.len() as i64);
    assert_eq!(dataset.image_info_of("image", 0).unwrap(), info);
    assert_eq!(dataset.image_info(1).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(dataset.image_info_of("label", 0).unwrap_err().code(), Code::Unsupported);
    assert_eq!(dataset.image_info_of("imag", 0).unwrap_err().code(), Code::NoSuchField);
    assert_eq!(dataset.image_info_of("im\0age", 0).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn delivered_values_are_pixels_again() {
    let transform = "image: decode, normalize(imagenet)";
    let loader = loader_of(&pictures("scales"), &[("transform", transform)]).unwrap();
    let batch = loader.epoch().next().unwrap().unwrap();
    let mut pixels = Vec::new();
    for (at, &value) in batch.view::<f32>("image").unwrap().iter().enumerate() {
        let of = loader.pixel_scale("image", at % 3).unwrap();
        pixels.push(((f64::from(value) - of.offset) / of.scale).round());
    }
    assert_eq!(pixels, [10.0, 10.0, 10.0, 200.0, 200.0, 200.0]);
    assert_eq!(loader.pixel_scale("image", 3).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(loader.pixel_scale("imag", 0).unwrap_err().code(), Code::NoSuchField);
    let none = loader_of(&numbers(3), &[]).unwrap();
    assert_eq!(none.pixel_scale("x", 0).unwrap_err().code(), Code::Unsupported);
}
