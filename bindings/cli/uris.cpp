// `dataline help uris`. The library has no table of URI schemes, so the text is written here; tests/cli/tables_test.py compares it
// with the schemes and keys in the library's error messages.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command_line.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Scheme {
  const char* name;
  const char* holds;
  Rows keys;
};

std::vector<Scheme> schemes() {
  const std::vector<std::string> axes = {
      "axes=HWC", "what the dims of a sample are, one letter each; of the only field, or of `image`"};
  return {
      {"npy",
       "NumPy arrays; a sample is an index of the first axis. Field: data",
       {{"trailing=error|ignore", "bytes after the array (default error)"},
        {"dtype=bf16", "reads 2-byte void as bf16"},
        axes}},
      {"idx", "the IDX files of MNIST, gzipped or not. Field: data", {axes}},
      {"raw",
       "packed little-endian records without a header. Field: data, or those named",
       {{"dtype=u8", "of a sample; with shape=28x28, without it a scalar"},
        {"shape=28x28", "of a sample"},
        {"fields=label:u8,image:u8[3x32x32]",
         "instead of dtype and shape: the fields of a record in their order"},
        {"header=N", "bytes at the start of each file that are passed over (default 0)"},
        {"partial=error|ignore", "a last record that is cut (default error)"},
        axes}},
      {"mnist, cifar10, cifar100",
       "a directory with the usual file names. Fields: image, label (cifar100: coarse too)",
       {{"split=train|test", "default train"}, {"label_dtype=i64|u8", "default i64"}}},
      {"tokens",
       "integers in a row, as nanoGPT, llm.c and NumPy write them. Fields: x, and y = x shifted by one",
       {{"length=N", "tokens of a sample (default 1024)"},
        {"stride=N", "tokens from one sample to the next (default length)"},
        {"views=true|false", "x and y as overlapping views of one row (default false)"},
        {"dtype=u16", "of the file where it does not say (default u16 for .bin)"}}},
      {"folder",
       "pictures in class folders, as torchvision's ImageFolder. Fields: image, label",
       {{"labels=folder|none|FILE",
         "folder: a label for each folder, in the order of their names (default). none: no labels, pictures "
         "in any "
         "depth. FILE: a .csv (two columns, or a header line with path and label) or .jsonl ({\"path\": ..., "
         "\"label\": ...}) that lists the pictures, their paths from the folder on; labels are integers, "
         "taken as they "
         "are, or names, which become classes in sorted order"},
        {"index=FILE",
         "keeps the list of files there and uses it again as long as no directory has changed, so that a "
         "large folder "
         "opens at once; made where it is not yet. Not with labels=FILE"},
        {"extensions=jpg,png",
         "which files count (default jpg jpeg png ppm bmp pgm tif tiff webp). Not with labels=FILE"},
        {"allow_empty=true|false", "classes without pictures, and no pictures at all (default false)"},
        {"label_dtype=i64|u8", "default i64"}}},
      {"tar",
       "WebDataset shards; shard-{000..127}.tar is 128 of them. Fields: one for each extension, and key; jpg "
       "jpeg png "
       "webp are image, cls is label",
       {{"fields=image,label", "only these, in this order"},
        {"image=jpg", "the one extension that is image"},
        {"label_dtype=i64|u8", "default i64"},
        {"end=required|optional", "whether an archive may end without its end mark (default required)"}}},
  };
}

}  // namespace

std::string uri_help() {
  std::string out =
      "usage: SCHEME:PATH[,PATH...][?KEY=VALUE&KEY=VALUE], or a path, whose format is found\n\n";
  out += table_text({{"A path is a file, or a directory: its files of that format, in natural order (part-2 "
                      "before part-10). Several "
                      "paths are put one after another; named ones side by side: "
                      "npy:image=a.npy,label=b.npy. In paths and values the "
                      "characters % , ? & = are written %25 %2C %3F %26 %3D; a path without a scheme is "
                      "taken as it is. In a command "
                      "line a URI with ? & { stands in quotes. Only files of this machine are read: what is "
                      "on s3:// or https:// is "
                      "downloaded or mounted first."}},
                    output_width(), 0);
  for (const Scheme& scheme : schemes()) {
    out += "\n" + wrapped_text(std::string(scheme.name) + ": " + scheme.holds, output_width(), 2) + "\n";
    out += table_text(scheme.keys, output_width(), 4);
  }
  return out;
}

}  // namespace dataline::cli
