// The progress line.
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { kMaxBarCells = 40, kLeastBarCells = 4, kMaxItems = 4, kItemBytes = 96, kLineBytes = 1024 };
static const double kRedrawSeconds = 0.1;
static const double kMostSeconds = 359999.0;  // 99:59:59

double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool can_rewrite_a_line(void) {
  const char* terminal = getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void progress_begin(progress* bar, const char* label, const char* unit, int64_t first, int64_t total) {
  *bar = (progress){.label = label, .unit = unit, .first = first, .total = total, .began_s = now_s()};
  bar->visible = can_rewrite_a_line();
  setlocale(LC_CTYPE, "");  // what the terminal can show
  bar->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

// The last column stays free: some terminals go to the next line when it is written.
static int usable_columns(void) {
  struct winsize size = {0};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : 80) - 1;
}

static void format_seconds(char* out, size_t room, double seconds) {
  if (!(seconds >= 0.0 && seconds <= kMostSeconds)) {
    snprintf(out, room, "?");
    return;
  }
  const long long s = (long long)(seconds + 0.5);
  if (s >= 3600) {
    snprintf(out, room, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  } else {
    snprintf(out, room, "%02lld:%02lld", s / 60, s % 60);
  }
}

// 834, 12.3 k, 6.91 M
static void format_scaled(char* out, size_t room, double value) {
  static const char* const kUnits[] = {"", " k", " M", " G"};
  int unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000.0;
  snprintf(out, room, "%.*f%s", value >= 100.0 ? 0 : value >= 10.0 ? 1 : 2, value, kUnits[unit]);
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
  *out = '\0';
}

// The items in brackets; returns how many there are.
static int format_items(char items[kMaxItems][kItemBytes], const progress* bar, const progress_point* at) {
  const double elapsed_s = now_s() - bar->began_s;
  const double steps_per_s = elapsed_s > 0.0 ? (double)(at->steps - bar->first) / elapsed_s : 0.0;
  char elapsed[32], remaining[32], rate[32];
  format_seconds(elapsed, sizeof elapsed, elapsed_s);
  format_seconds(remaining, sizeof remaining,
                 steps_per_s > 0.0 ? (double)(bar->total - at->steps) / steps_per_s : -1.0);
  format_scaled(rate, sizeof rate, elapsed_s > 0.0 ? (double)at->samples / elapsed_s : 0.0);
  snprintf(items[0], kItemBytes, "%s<%s", elapsed, remaining);
  snprintf(items[1], kItemBytes, "%s %s/s", rate, bar->unit);
  snprintf(items[2], kItemBytes, "waited %.1f %%", elapsed_s > 0.0 ? 100.0 * at->waited_s / elapsed_s : 0.0);
  snprintf(items[3], kItemBytes, "%s", at->remark);
  return at->remark[0] != '\0' ? 4 : 3;
}

static void join_items(char* out, char items[kMaxItems][kItemBytes], int count) {
  *out = '\0';
  for (int i = 0; i < count; ++i) out = stpcpy(stpcpy(out, i == 0 ? " [" : ", "), items[i]);
  if (count > 0) stpcpy(out, "]");
}

static void draw(progress* bar, const progress_point* at) {
  const int columns = usable_columns();
  const double fraction = bar->total > 0 ? (double)at->steps / (double)bar->total : 1.0;
  char items[kMaxItems][kItemBytes], head[192], tail[kLineBytes], cells[3 * kMaxBarCells + 3] = "";
  snprintf(head, sizeof head, "%s, step %lld of %lld: %3d%%", bar->label, (long long)at->steps,
           (long long)bar->total, (int)(100.0 * fraction));
  const int count = format_items(items, bar, at);
  int shown = count;
  for (join_items(tail, items, shown); shown > 0 && (int)(strlen(head) + strlen(tail)) > columns;) {
    join_items(tail, items, --shown);
  }
  int room = columns - (int)(strlen(head) + strlen(tail)) - 2;
  if (room > kMaxBarCells) room = kMaxBarCells;
  if (shown == count && room >= kLeastBarCells) {
    cells[0] = '|';
    format_bar(cells + 1, bar, fraction, room);
    strcat(cells, "|");
  }
  fprintf(stderr, "\r\033[K%.*s%s%s", columns, head, cells, tail);
  fflush(stderr);
  bar->drawn_s = now_s();
}

void progress_update(progress* bar, const progress_point* at) {
  if (bar->visible && now_s() - bar->drawn_s >= kRedrawSeconds) draw(bar, at);
}

void progress_end(progress* bar, const progress_point* at) {
  if (!bar->visible) return;
  draw(bar, at);
  fputc('\n', stderr);
}
