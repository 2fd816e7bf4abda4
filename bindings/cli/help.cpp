// The table of commands, and the help texts and manual pages, generated from it and from the library's tables.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/command_line.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/manual.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr Flag kInfoFlags[] = {
    {"images", "",
     "also print the formats and sizes of the encoded images, from their headers, without decoding"},
    {"field", "F", "with --images: the field they are in (default: `image`, or the only one)"},
    {"plan", "",
     "also print where each stage of a sample runs, and the bytes that cross the bus; accepts the options of "
     "loaders (transform, device, ...)"},
    kJson,
};
constexpr Flag kTableFlags[] = {kJson};
constexpr Flag kCatFlags[] = {
    {"field", "F", "the field to write; needed when there are several"},
    {"indices", "", "write the sample index of each row instead, one per line"},
    {"batches", "N", "stop after N batches"},
    {"output", "FILE", "write to FILE; `-` is standard output, even if that is a terminal", 'o'},
    {"save_state", "FILE", "save the position after the last batch written to FILE, atomically"},
    {"load_state", "FILE", "continue at the position in FILE; --epochs still counts the whole job"},
};
constexpr Flag kPreviewFlags[] = {
    {"output", "FILE", "the PNG file, written atomically; `-` is standard output", 'o'},
    {"count", "N", "number of pictures (default 64), from the first batch on; at most one epoch", 'n'},
    {"field", "F", "the field to draw (default: `image`, or the only one)"},
    {"sample", "I", "only sample I, as --repeat epochs deliver it: shows random transforms"},
    {"repeat", "N", "with --sample: number of epochs (default 8)"},
};
constexpr Flag kShowFlags[] = {
    {"count", "N", "number of samples (default 3), from the first batch on; at most one epoch", 'n'},
    {"field", "F", "only this field"},
    {"sample", "I", "only sample I"},
    {"vocabulary", "FILE",
     "show the tokens of whole-number fields as text; FILE has one token per line (the first is 0), "
     "{\"token\": id} as GPT-2's vocab.json, or tiktoken's lines of base64 and rank"},
    kJson,
};
constexpr Flag kVerifyFlags[] = {
    {"good_indices", "FILE",
     "write the indices of the good samples to FILE, one per line, as --sample-indices reads them"},
    kJson,
};
constexpr Flag kConvertFlags[] = {
    {"shard_bytes", "SIZE", "size at which a shard ends (default 256MiB)"},
    {"codec", "CODEC", "compression of arrow and parquet: none (default), lz4 or zstd"},
    {"skip_bad", "", "leave out bad samples and list them; by default, the first one ends the run"},
    kJson,
};
constexpr Flag kRecoverFlags[] = {
    {"shard_bytes", "SIZE", "size at which a shard ends (default 256MiB)"},
    {"codec", "CODEC", "compression of arrow and parquet: none (default), lz4 or zstd"},
    kJson,
};
constexpr Flag kBenchFlags[] = {
    {"seconds", "S",
     "duration of the measurement (default 3), not counting the warm-up and the comparison loops"},
    {"metrics", "PORT",
     "serve /metrics for Prometheus on 127.0.0.1 while it runs (0: a free port); --stats full adds where the "
     "time goes"},
    kJson,
};

constexpr Flag kReportFlags[] = {
    {"output", "FILE", "the HTML file, written atomically; `-` is standard output", 'o'},
    {"seconds", "S", "duration of the run (default 5)"},
    {"consumer_ms", "X", "a consumer that takes X ms for each batch (default: none)"},
};
constexpr Flag kDoctorFlags[] = {
    {"consumer_ms", "X", "the consumer takes X milliseconds per batch (default: none; the loader alone)"},
    {"consumer_cpu", "",
     "with --consumer-ms: the consumer uses a CPU; by default it sleeps, like a trainer on a GPU"},
    {"consumer_holds", "N", "the consumer holds N batches at a time (default 1)"},
    {"attach", "TRACE",
     "a trace of a job (trace=FILE); without a URI, the verdict comes from the trace; with a URI, only the "
     "consumer's time does"},
    {"seconds", "S",
     "about how long to measure (default 10); checking the advised change takes as long again"},
    kJson,
};

constexpr char kCatDetails[] =
    "Writes the raw bytes of one field in delivery order and host byte order, including rows of "
    "last_batch=pad. The same URI, options and seed produce the same bytes for any num_workers and "
    "prefetch_depth, and in every language.";
constexpr char kPreviewDetails[] =
    "Draws a contact sheet of the images that the loader delivers with these options. Normalisation is "
    "undone. Class names, or labels, keys or indices, are printed below the images. Encoded images are "
    "decoded if there is no --transform. Images of varying size are loaded one by one, and reduced only "
    "on the sheet.";
constexpr char kBenchDetails[] =
    "Times a consumer that only receives batches and releases them. For comparison, `gather` is a plain "
    "loop that copies the same rows in the same order into as many slots, on as many threads as the "
    "loader kept cores busy. The loader's rate and CPU seconds are printed as a share of the loop's; 1 is "
    "as good as the loop. `memcpy` is one thread that copies the dataset's bytes in file order. Both run "
    "in host memory even with a device. They use a copy of the dataset's rows, as a loader without a "
    "transform delivers them. The copy has at most 8 GiB and half of the free memory, and is made after "
    "the loader's peak memory is measured. Rounds of loader, gather and memcpy alternate; each rate is "
    "the median of its rounds.";
constexpr char kDoctorDetails[] =
    "Runs the loader several times with your options, and changes one thing in each run: samples from "
    "memory, no transform, the transform cut off after each operator, a different num_workers, a larger "
    "prefetch_depth, no consumer. Also reads the files without a loader. Prints the bottleneck and the "
    "one change to make, with its predicted gain. Then makes that change and prints the measured gain. "
    "Figures are medians of three rounds, and gains are medians of five pairs of runs. Do not run "
    "anything else at the same time. With --attach, the verdict comes from a trace, and the gain is "
    "predicted by a model that divides the work among the workers.";
constexpr char kShowDetails[] =
    "Prints the samples that the loader delivers with these options, one by one. Small arrays are printed "
    "in full. Large arrays are printed as minimum, maximum, mean and first values, text is printed as "
    "text, and labels with the name of their class. Images are drawn if standard output is a terminal "
    "with UTF-8 and colours (COLORTERM=truecolor or a TERM with 256color; not with NO_COLOR). Encoded "
    "images are decoded if there is no --transform.";
constexpr char kVerifyDetails[] =
    "Reads every sample once, in file order, and prints a line for each bad one: its index, file and "
    "offset, and what is wrong. Encoded images are decoded if there is no --transform; an image with a "
    "libjpeg warning counts as bad (--on-warning accept allows it). Files are compared with their stored "
    "checksums, such as those in the manifest of a set; all samples of a file that does not match are bad "
    "(--checksums records skips this). Without a checksum, changed bytes that are still valid are not "
    "detected. The exit status is 1 if any sample is bad or a set is damaged.";
constexpr char kConvertDetails[] =
    "Runs the loader over one epoch and writes its samples to TARGET (FORMAT:PATH), a directory of shards "
    "and a manifest. All commands and languages can open it by that URI. Formats: arrow (any fields; read "
    "without a copy), parquet (the same fields; read by its plug-in), tar (WebDataset: bytes, images, a "
    "label), tfrecord (tf.train.Example), npy (one field), tokens. Use it for work that is done once per "
    "sample (--transform), and for a global shuffle (--shuffle full). PATH appears only when the set is "
    "complete; until then, it is PATH.partial. After a crash or a full disk, the same command verifies "
    "the checksums of the finished shards, and continues after the last good one.";
constexpr char kRecoverDetails[] =
    "Writes everything that can be read, like `convert`. It leaves out bad samples, and files that cannot "
    "be opened or do not match the checksum in the manifest of their set. Truncated files are read up to "
    "the damage (arrow, csv, idx, jsonl, npy, raw, tar, tfrecord, tokens); tar and tfrecord files are "
    "also read after damage in the middle. Losses are listed with their offset and bytes: files on "
    "standard output, samples on standard error. The exit status is 0 if the target was written, even if "
    "samples were lost.";
constexpr char kReportDetails[] =
    "Runs the loader and writes one HTML file that does not load any other file. It shows a time line of "
    "the workers and the consumer, where the threads spend their time, and stalls with their causes. It "
    "also shows the limits of the machine, memory, the first samples, the options that differ from their "
    "defaults, and what to change. For a trace (trace=FILE), the page shows what the trace contains. The "
    "time line covers the first 64 MiB of the trace.";
constexpr char kCompletionDetails[] =
    "`cmake --install` puts the scripts where the shells look for them. By hand, for bash: source <(dataline "
    "completion bash)";

constexpr char kUriHelp[] =
    "A URI is SCHEME:PATH[,PATH...][?KEY=VALUE&...], or a path; `dataline help uris` lists them.";
constexpr char kExitHelp[] =
    "0 success, 1 failure, 2 wrong command line, 128 + n ended by signal n. An error is one line on "
    "standard error; with --json it is {\"error\": {...}}.";
constexpr char kGeneralHelp[] =
    "`dataline COMMAND --help` shows the flags of a command, `dataline help uris` the schemes and keys of a "
    "URI. Exit status: 0 success, 1 failure, 2 wrong command line.";

constexpr int32_t kAllScopes = DL_SCOPE_DATASET | DL_SCOPE_LOADER;

// clang-format off
constexpr std::array kCommands = {
    Command{"info", "a URI", "print format, samples and fields of a dataset", "",
            "info mnist:data\n"
            "info folder:photos --plan --transform 'decode, resize(256)' --json",
            DL_SCOPE_DATASET, kAllScopes, kInfoFlags, 1, 0, run_info},
    Command{"show", "a URI", "print samples for people", kShowDetails,
            "show mnist:data\n"
            "show folder:photos -n 1 --shuffle full --transform 'decode, resize(256), center_crop(224)'\n"
            "show 'tokens:train.bin?length=64' --sample 7 --vocabulary vocab.json",
            kAllScopes, 0, kShowFlags, 1, 0, run_show},
    Command{"preview", "a URI", "draw what the loader delivers", kPreviewDetails,
            "preview folder:photos -o sheet.png\n"
            "preview folder:photos --sample 3 --transform 'decode, random_resized_crop(224), hflip' -o sheet.png",
            kAllScopes, 0, kPreviewFlags, 1, 0, run_preview},
    Command{"cat", "a URI", "run the loader and write what it delivers", kCatDetails,
            "cat mnist:data --field image --shuffle full --seed 1 | sha256sum\n"
            "cat mnist:data --indices --shuffle full --batches 2",
            kAllScopes, 0, kCatFlags, 1, 0, run_cat},
    Command{"verify", "a URI", "read every sample, and list the bad ones", kVerifyDetails,
            "verify folder:photos\n"
            "verify 'tar:shard-{000..127}.tar' --transform 'image: decode' --json\n"
            "verify folder:photos --good-indices good.txt",
            kAllScopes, 0, kVerifyFlags, 1, 0, run_verify},
    Command{"convert", "a URI and a target", "write a dataset as a set of another format", kConvertDetails,
            "convert folder:photos arrow:photos-256 --transform 'decode, resize(256), center_crop(256)'\n"
            "convert folder:photos tar:photos-tar --shuffle full --seed 1 --shard-bytes 1GiB\n"
            "convert 'jsonl:log.jsonl?fields=text:text,label:i64' tfrecord:log",
            kAllScopes, 0, kConvertFlags, 2, 0, run_convert},
    Command{"recover", "a URI and a target", "save the readable part of a damaged set, and list what is lost", kRecoverDetails,
            "recover tar:shards tar:shards-good\n"
            "recover arrow:out.partial arrow:out-good --json",
            kAllScopes, 0, kRecoverFlags, 2, 0, run_recover},
    Command{"bench", "a URI", "measure the loader, and compare it with plain copy loops", kBenchDetails,
            "bench mnist:data --shuffle full --batch-size 256",
            kAllScopes, 0, kBenchFlags, 1, 0, run_bench},
    Command{"report", "a URI, or a trace", "measure the loader and write a page about it", kReportDetails,
            "report folder:photos --transform 'decode, random_resized_crop(224)' --consumer-ms 20 -o report.html\n"
            "report trace.json -o report.html",
            kAllScopes, 0, kReportFlags, 1, 0, run_report},
    Command{"doctor", "a URI", "find what limits the loader, and the one change to make", kDoctorDetails,
            "doctor mnist:data --shuffle full --batch-size 256 --consumer-ms 2\n"
            "doctor folder:photos --transform 'decode, random_resized_crop(224)' --consumer-ms 100 --json\n"
            "doctor --attach trace.json",
            kAllScopes, 0, kDoctorFlags, 0, 1, run_doctor},
    Command{"options", "the key of an option", "explain the options, or one: type, default, range, meaning", "",
            "options\n"
            "options batch-size",
            0, 0, kTableFlags, 0, 1, run_options},
    Command{"transforms", "the name of an operator", "explain the operators of --transform, or one", "",
            "transforms\n"
            "transforms color_jitter",
            0, 0, kTableFlags, 0, 1, run_transforms},
    Command{"formats", "the scheme of a format", "explain the formats of URIs and their keys, or one", "",
            "formats\n"
            "formats tokens --json",
            0, 0, kTableFlags, 0, 1, run_formats},
    Command{"version", "", "print version, ABI, build features and the machine", "",
            "version --json",
            0, 0, kTableFlags, 0, 0, run_version},
    Command{"completion", "bash, zsh or fish", "print a completion script for a shell", kCompletionDetails,
            "completion bash",
            0, 0, {}, 1, 0, run_completion},
};
// clang-format on

std::string upper_value(const dl_option_info& option) {
  switch (option.type) {
    case DL_OPTION_BOOL:
      return "[=true|false]";
    case DL_OPTION_INT:
      return " N";
    case DL_OPTION_SIZE:
      return " SIZE";
    case DL_OPTION_INDICES:
    case DL_OPTION_WEIGHTS:
    case DL_OPTION_LENGTHS:
      return " FILE";
    case DL_OPTION_WORD:
      return std::string(" ") + (option.choices[0] != '\0' ? option.choices : "WORD");
    default:
      return " TEXT";
  }
}

std::string sentence(std::string text) {
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

std::vector<std::string> examples_of(const Command& command) {
  std::vector<std::string> lines;
  std::string_view rest = command.examples;
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
    lines.emplace_back(rest.substr(0, end));
  lines.emplace_back(rest);
  return lines;
}

// " URI", " [NAME]", " SHELL" or "".
std::string placeholder(const Command& command) {
  if (command.optional_positionals > 0) return command.option_scope != 0 ? " [URI]" : " [NAME]";
  if (command.positionals == 0) return "";
  if (command.positionals == 2) return " URI TARGET";
  return command.option_scope != 0 ? " URI" : " SHELL";
}

std::string flag_head(const Flag& flag) {
  const std::string letter = flag.letter == 0 ? "" : std::string("-") + flag.letter + ", ";
  return letter + flag_text(flag.name) + (flag.value[0] == '\0' ? "" : std::string(" ") + flag.value);
}

std::string option_doc(const Command& command, const dl_option_info& option) {
  const std::string default_value = default_of(command, option);
  return option.doc + (default_value.empty() ? "" : " (default " + default_value + ")");
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::string general_help() {
  std::string out = "usage: dataline COMMAND [URI] [flags]\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const Command& command : kCommands)
    rows.push_back({command.name + placeholder(command), command.summary});
  out += table_text(rows, output_width(), 2);
  return out + "\n" + table_text({{kGeneralHelp}}, output_width(), 0);
}

std::string command_help(const Command& command) {
  const size_t width = output_width();
  const auto lines = examples_of(command);
  std::string out = "usage: dataline " + std::string(command.name) + placeholder(command) + " [flags]\n\n" +
                    table_text({{sentence(command.summary)}}, width, 0);
  if (command.option_scope != 0) out += table_text({{kUriHelp}}, width, 0);
  if (command.details[0] != '\0') out += "\n" + table_text({{command.details}}, width, 0);
  out += lines.size() > 1 ? "\nexamples\n" : "\nexample\n";
  for (const std::string& line : lines) out += "  dataline " + line + "\n";  // not wrapped: to be copied

  std::vector<std::vector<std::string>> own;
  for (const Flag& flag : flags_of(command)) own.push_back({flag_head(flag), flag.doc});
  out += "\nflags\n" + table_text(own, width, 2);

  const auto options = options_of(command);
  if (options.empty()) return out;
  std::vector<std::vector<std::string>> rows;
  for (const dl_option_info& option : options)
    rows.push_back({flag_text(option.key) + upper_value(option), option_doc(command, option)});
  out += "\noptions of the library (sizes accept KiB, MiB, GiB; `-` and `_` are the same)\n";
  return out + table_text(rows, width, 2);
}

std::string general_manual() {
  Manual page("dataline", "load data for training, and look at datasets");
  page.section("SYNOPSIS").text("dataline COMMAND [URI] [flags]");
  page.section("COMMANDS");
  for (const Command& command : kCommands) page.item(command.name + placeholder(command), command.summary);
  page.section("DESCRIPTION").text(kGeneralHelp).text(kUriHelp);
  page.section("FLAGS OF EVERY COMMAND");
  for (const Flag& flag : kCommonFlags) page.item(flag_head(flag), flag.doc);
  std::vector<std::string> others;
  for (const Command& command : kCommands) others.push_back(command.name);
  return page.see_also(others).roff();
}

std::string command_manual(const Command& command) {
  Manual page("dataline-" + std::string(command.name), command.summary);
  page.section("SYNOPSIS").text("dataline " + std::string(command.name) + placeholder(command) + " [flags]");
  page.section("DESCRIPTION").text(sentence(command.summary));
  if (command.option_scope != 0) page.text(kUriHelp);
  if (command.details[0] != '\0') page.text(command.details);
  page.section("FLAGS");
  for (const Flag& flag : flags_of(command)) page.item(flag_head(flag), flag.doc);
  if (const auto options = options_of(command); !options.empty()) {
    page.section("OPTIONS OF THE LIBRARY").text("Sizes accept KiB, MiB, GiB; `-` and `_` are the same.");
    for (const dl_option_info& option : options)
      page.item(flag_text(option.key) + upper_value(option), option_doc(command, option));
  }
  page.section("EXIT STATUS").text(kExitHelp);
  page.section("EXAMPLES");
  for (const std::string& line : examples_of(command)) page.example("dataline " + line);
  return page.see_also({}).roff();
}

}  // namespace dataline::cli
