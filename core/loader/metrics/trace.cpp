// SPDX-License-Identifier: Apache-2.0
#include "core/loader/metrics/trace.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/loader/metrics/metrics.h"
#include "core/memory/file.h"
#include "core/memory/replaced_file.h"

namespace dataline {
namespace {

constexpr size_t kTrackBytes = size_t{64} << 10;  // formatted by a thread before it writes
constexpr size_t kEventBytes = 1024;              // most that one span adds: names are cut to fit
constexpr size_t kNameBytes = 120;
constexpr int64_t kWithinNs = 500;  // before the end of a span
constexpr std::string_view kHead = "{\"displayTimeUnit\":\"ms\",", kTail = "\n]}\n";

void add_number(std::string& out, int64_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, static_cast<size_t>(end.ptr - text));
}

// Nanoseconds as microseconds with three digits.
void add_us(std::string& out, int64_t ns) {
  add_number(out, ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

// What a JSON string may hold, cut at a character.
std::string json_name(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (out.size() >= kNameBytes && (byte & 0xC0) != 0x80) return out + "...";
    if (c == '"' || c == '\\') out += '\\';
    if (byte >= 0x20)
      out += c;
    else
      out += concat("\\u00", std::string(1, kHex[byte >> 4]), std::string(1, kHex[byte & 15]));
  }
  return out;
}

int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> json_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(json_name(name));
  return out;
}

}  // namespace

Trace::Trace(std::vector<std::string> stages, int64_t workers, bool to_device, Log log, int64_t limit_bytes)
    : stages_(json_names(stages)),
      workers_(workers),
      to_device_(to_device),
      log_(std::move(log)),
      limit_bytes_(limit_bytes) {
  for (int64_t t = 0; t <= workers + (to_device ? 1 : 0); ++t) {
    tracks_.push_back(std::make_unique<Track>());
    ThreadLock lock(tracks_.back()->mutex);
    tracks_.back()->text.reserve(kTrackBytes);
  }
}

Trace::~Trace() { static_cast<void>(stop()); }

Status Trace::start(const TraceTarget& target) {
  ThreadLock lock(out_mutex_);
  if (open_.load()) return error(Code::kWrongState, "a trace is already being written; stop it first");
  close_file();  // of a trace that could not be written, and was not stopped
  target_ = target;
  end_ = End::kNone;
  bytes_.store(0);
  if (!target.path.empty()) {
    DL_ASSIGN_OR_RETURN(file_, open_replaced(target.path, kHead, "trace"));
    std::setvbuf(file_, nullptr, _IONBF, 0);  // tracks are the buffers
  }
  const int64_t now_ns = realtime_ns();
  offset_ns_ = now_ns - monotonic_ns();
  std::string head = concat(kHead, "\"otherData\":{\"producer\":\"dataline\",\"realtime_ns\":\"", now_ns,
                            "\",\"monotonic_ns\":\"", now_ns - offset_ns_, "\"},\"traceEvents\":[\n",
                            R"({"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"dataline"}})");
  const auto name_track = [&head](int64_t track, std::string_view name) {
    head += concat(",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":", track,
                   ",\"args\":{\"name\":\"", name, "\"}}");
  };
  for (int64_t t = 0; t < workers_; ++t) name_track(t + 1, concat("worker ", t));
  name_track(0, "consumer");
  if (to_device_) name_track(workers_ + 1, "device");
  if (!put(head)) {
    Status failed = file_error(concat("trace ", target.path), os_error_);
    close_file();
    return failed;
  }
  open_.store(true);
  return Status::ok();
}

Status Trace::stop() {
  if (!open_.exchange(false)) {
    ThreadLock lock(out_mutex_);
    if (end_ == End::kNone) return Status::ok();
  }
  for (const auto& track : tracks_) {
    ThreadLock lock(track->mutex);
    flush(track->text);
  }
  ThreadLock lock(out_mutex_);
  const End end = std::exchange(end_, End::kNone);
  const std::string name = target_.path.empty() ? std::string("trace") : concat("trace ", target_.path);
  if (end != End::kFailed && !put(kTail)) {
    const int why = os_error_;
    close_file();
    end_ = End::kNone;
    return file_error(name, why);
  }
  close_file();
  if (end == End::kFailed) return file_error(name, os_error_);
  return Status::ok();
}

void Trace::close_file() noexcept {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
}

bool Trace::put(std::string_view text) noexcept {
  int failed = 0;
  if (file_ != nullptr) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) failed = errno != 0 ? errno : EIO;
  } else if (target_.write != nullptr) {
    failed = target_.write(target_.context, text.data(), text.size());
  }
  if (failed == 0) {
    bytes_.fetch_add(static_cast<int64_t>(text.size()), std::memory_order_relaxed);
    return true;
  }
  os_error_ = failed;
  return false;
}

// After the limit, or a failure, what comes is dropped; stop() still ends the text.
void Trace::flush(std::string& text) noexcept {
  ThreadLock lock(out_mutex_);
  if (end_ == End::kNone && !text.empty()) {
    if (bytes() + static_cast<int64_t>(text.size()) > limit_bytes_) {
      end_ = End::kFull;
    } else if (!put(text)) {
      end_ = End::kFailed;
    }
    if (end_ != End::kNone) {
      open_.store(false);
      tell_end();
    }
  }
  text.clear();
}

void Trace::tell_end() const noexcept {
  try {
    log_(LogLevel::kWarning,
         end_ == End::kFull
             ? concat("trace: stopped at its limit of ", limit_bytes_, " bytes; the job continues")
             : concat("trace: stopped by a write error; the job continues"));
  } catch (...) {  // no memory for the words
  }
}

// The consumer's, the workers', the device's: as their threads are numbered in the text.
int64_t Trace::number_of(int32_t thread) const {
  return thread == kThreadDevice ? workers_ + 1 : thread < 0 ? 0 : thread + 1;
}

void Trace::add_event(std::string& out, std::string_view name, char phase, int64_t at_ns,
                      int64_t track) const {
  out += ",\n{\"name\":\"";
  out += name;
  out += "\",\"ph\":\"";
  out += phase;
  out += "\",\"pid\":1,\"tid\":";
  add_number(out, track);
  out += ",\"ts\":";
  add_us(out, at_ns + offset_ns_);
}

void Trace::add_flow(std::string& out, char phase, int64_t at_ns, int64_t track,
                     const SpanBatch& batch) const {
  add_event(out, "batch", phase, at_ns, track);
  out += ",\"cat\":\"batch\",\"bp\":\"e\",\"id\":\"";
  add_number(out, batch.epoch);
  out += '.';
  add_number(out, batch.step);
  out += "\"}";
}

void Trace::add_span(int32_t thread, int32_t stage, int64_t begin_ns, int64_t end_ns,
                     const SpanBatch& batch) noexcept {
  if (!open_.load(std::memory_order_relaxed)) return;
  constexpr std::string_view kOwn[] = {"next", "step", "copy", "kernels"};  // from kNext downwards
  const std::string_view name =
      stage < 0 ? kOwn[kNext - stage] : std::string_view(stages_[static_cast<size_t>(stage)]);
  const int64_t track = number_of(thread);
  Track& own = *tracks_[static_cast<size_t>(track)];
  ThreadLock lock(own.mutex);
  if (own.text.size() + kEventBytes > kTrackBytes) flush(own.text);
  add_event(own.text, name, 'X', begin_ns, track);
  own.text += ",\"dur\":";
  add_us(own.text, end_ns - begin_ns);
  own.text += ",\"args\":{\"epoch\":";
  add_number(own.text, batch.epoch);
  own.text += ",\"step\":";
  add_number(own.text, batch.step);
  own.text += "}}";
  if (stage == stage::kOrder && batch.first) add_flow(own.text, 's', begin_ns, track, batch);
  if (stage == stage::kPack || stage == kCopies) add_flow(own.text, 't', begin_ns, track, batch);
  // Within the call, whose begin may be before that of the batch; viewers keep no more than a quarter of a microsecond.
  if (stage == kNext)
    add_flow(own.text, 't', std::max((begin_ns + end_ns) / 2, end_ns - kWithinNs), track, batch);
}

void Trace::add_release(int64_t at_ns, const SpanBatch& batch) noexcept {
  if (!open_.load(std::memory_order_relaxed)) return;
  Track& own = *tracks_[0];
  ThreadLock lock(own.mutex);
  if (own.text.size() + kEventBytes > kTrackBytes) flush(own.text);
  add_event(own.text, "release", 'X', at_ns, 0);
  own.text += ",\"dur\":0}";
  add_flow(own.text, 'f', at_ns, 0, batch);
}

}  // namespace dataline
