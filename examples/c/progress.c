// The progress line.
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { kMaxBarCells = 200, kLeastBarCells = 4 };
static const double kRedrawSeconds = 0.1;

double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_begin(progress* bar, const char* label, int64_t first, int64_t total) {
  *bar = (progress){.label = label, .first = first, .total = total, .began_s = now_s()};
  bar->visible = isatty(STDERR_FILENO) == 1;
  setlocale(LC_CTYPE, "");  // what the terminal can show
  bar->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static int terminal_columns(void) {
  struct winsize size = {0};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void format_seconds(char* out, size_t room, double seconds) {
  const long long s = (long long)(seconds + 0.5);
  if (s >= 3600) {
    snprintf(out, room, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  } else {
    snprintf(out, room, "%02lld:%02lld", s / 60, s % 60);
  }
}

// `cells` characters of which `fraction` are filled, the last filled one by eighths.
static void format_bar(char* out, const progress* bar, double fraction, int cells) {
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = (int)(fraction * cells * 8.0);
  int used = 0;
  for (; used < eighths / 8; ++used) out = stpcpy(out, bar->utf8 ? "█" : "#");
  if (bar->utf8 && eighths % 8 > 0) {
    out = stpcpy(out, kEighths[eighths % 8]);
    ++used;
  }
  for (; used < cells; ++used) out = stpcpy(out, " ");
}

static void draw(progress* bar, int64_t done, const char* remark) {
  const double elapsed_s = now_s() - bar->began_s;
  const double rate = elapsed_s > 0.0 ? (double)(done - bar->first) / elapsed_s : 0.0;
  const double fraction = bar->total > 0 ? (double)done / (double)bar->total : 1.0;
  char elapsed[32], remaining[32] = "?", left[128], right[192], cells[3 * kMaxBarCells + 1];
  format_seconds(elapsed, sizeof elapsed, elapsed_s);
  if (rate > 0.0) format_seconds(remaining, sizeof remaining, (double)(bar->total - done) / rate);
  snprintf(left, sizeof left, "%s: %3.0f%%|", bar->label, 100.0 * fraction);
  snprintf(right, sizeof right, "| %lld/%lld [%s<%s, %.2fit/s, %s]", (long long)done, (long long)bar->total,
           elapsed, remaining, rate, remark);
  int room = terminal_columns() - (int)strlen(left) - (int)strlen(right) - 1;
  if (room > kMaxBarCells) room = kMaxBarCells;
  if (room < kLeastBarCells) room = 0;
  format_bar(cells, bar, fraction, room);
  fprintf(stderr, "\r%s%s%s\033[K", left, cells, right);
  fflush(stderr);
  bar->drawn_s = now_s();
}

void progress_update(progress* bar, int64_t done, const char* remark) {
  if (bar->visible && now_s() - bar->drawn_s >= kRedrawSeconds) draw(bar, done, remark);
}

void progress_end(progress* bar, int64_t done, const char* remark) {
  if (!bar->visible) return;
  draw(bar, done, remark);
  fputc('\n', stderr);
}
