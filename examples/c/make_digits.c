// Writes a set of hand-drawn-looking digits as the four files that MNIST consists of.
// SPDX-License-Identifier: Apache-2.0
//
// Every image is a function of (seed, index): a class, a style, its pen's points displaced a little, then
// thickness, slant, rotation, size, place and noise. The ink of a pixel follows from its distance to the
// strokes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"
#include "digit_glyphs.h"
#include "progress.h"

enum { kSide = 28, kPixels = kSide * kSide, kPiecesPerSpan = 5, kMaxImages = 10000000, kSheetRows = 20 };

static uint64_t next_bits(uint64_t* state) {  // SplitMix64
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static float uniform(uint64_t* state, float least, float most) {
  return least + (most - least) * (float)(next_bits(state) >> 40) * (1.0f / 16777216.0f);
}

// Close to normal, deviation 1, within -3.5 .. 3.5: the sum of four uniform numbers of 16 bits.
static float bell(uint64_t* state) {
  const uint64_t bits = next_bits(state);
  const float sum = (float)(bits & 0xFFFF) + (float)(bits >> 16 & 0xFFFF) + (float)(bits >> 32 & 0xFFFF) +
                    (float)(bits >> 48);
  return (sum * (1.0f / 65536.0f) - 2.0f) * 1.7320508f;
}

// Two conditional moves: a branch here would be guessed wrong half of the time.
static float clamp(float value, float least, float most) {
  const float raised = value > least ? value : least;
  return raised < most ? raised : most;
}

typedef struct point {
  float x, y;
} point;

// How one image's pen is held.
typedef struct hand {
  float width, height;  // pixels
  float slant;          // how far the top leans right, in heights
  float cosine, sine;   // of the rotation
  float x, y;           // where the glyph's centre goes
  float wobble;         // how far points stray, in heights
  float reach;          // half the line's width, pixels
  float ink;            // the darkest value
  float noise;
} hand;

static hand random_hand(uint64_t* random) {
  hand pen;
  pen.height = 20.0f * uniform(random, 0.75f, 1.1f);
  pen.width = pen.height * uniform(random, 0.7f, 1.25f);
  pen.slant = 0.08f + 0.16f * bell(random);
  const float angle = 0.09f * bell(random);
  pen.cosine = cosf(angle);
  pen.sine = sinf(angle);
  pen.x = 0.5f * (float)(kSide - 1) + 1.2f * bell(random);
  pen.y = 0.5f * (float)(kSide - 1) + 1.2f * bell(random);
  pen.wobble = 0.06f;
  pen.reach = uniform(random, 0.6f, 1.7f);
  pen.ink = uniform(random, 170.0f, 255.0f);
  pen.noise = uniform(random, 0.0f, 50.0f);
  return pen;
}

static point to_pixels(const hand* pen, point p) {
  const float y = pen->height * (p.y - 0.5f);
  const float x = pen->width * p.x - pen->slant * y;
  return (point){pen->cosine * x - pen->sine * y + pen->x, pen->sine * x + pen->cosine * y + pen->y};
}

// The squared distance of each pixel to the nearest stroke, as far as the pen reaches.
typedef struct canvas {
  float distance2[kSide][kSide];
} canvas;

static int clamp_to_side(float value) { return (int)clamp(value, 0.0f, (float)kSide); }

// Only the pixels of the piece's box, wider by `margin`, are looked at.
static void draw_piece(canvas* on, point a, point b, float margin) {
  const point way = {b.x - a.x, b.y - a.y};
  const float length2 = way.x * way.x + way.y * way.y;
  const float scale = length2 > 0.0f ? 1.0f / length2 : 0.0f;
  const int left = clamp_to_side(fminf(a.x, b.x) - margin),
            right = clamp_to_side(fmaxf(a.x, b.x) + margin + 1.0f);
  const int top = clamp_to_side(fminf(a.y, b.y) - margin),
            bottom = clamp_to_side(fmaxf(a.y, b.y) + margin + 1.0f);
  for (int y = top; y < bottom; ++y) {
    float* row = on->distance2[y];
    for (int x = left; x < right; ++x) {
      const float dx = (float)x - a.x, dy = (float)y - a.y;
      float along = (dx * way.x + dy * way.y) * scale;
      along = clamp(along, 0.0f, 1.0f);
      const float ex = dx - along * way.x, ey = dy - along * way.y;
      const float distance2 = ex * ex + ey * ey;
      row[x] = distance2 < row[x] ? distance2 : row[x];
    }
  }
}

// The Catmull-Rom curve between b and c at t in 0 .. 1; a and d are the neighbours.
static float curve(float a, float b, float c, float d, float t) {
  return b + 0.5f * t * ((c - a) + t * ((2.0f * a - 5.0f * b + 4.0f * c - d) + t * (3.0f * (b - c) + d - a)));
}

static void draw_stroke(canvas* on, const stroke* line, const hand* pen, uint64_t* random) {
  const float margin = pen->reach + 1.0f;
  point at[kMaxPoints];
  for (int i = 0; i < line->count; ++i) {
    const float dx = pen->wobble * bell(random), dy = pen->wobble * bell(random);
    at[i] = to_pixels(pen, (point){0.01f * line->points[i].x + dx, 0.01f * line->points[i].y + dy});
  }
  for (int i = 0; i + 1 < line->count; ++i) {
    if (line->kind == kStraight) {
      draw_piece(on, at[i], at[i + 1], margin);
      continue;
    }
    const point before = at[i > 0 ? i - 1 : 0], after = at[i + 2 < line->count ? i + 2 : i + 1];
    point from = at[i];
    for (int piece = 1; piece <= kPiecesPerSpan; ++piece) {
      const float t = (float)piece / (float)kPiecesPerSpan;
      const point to = {curve(before.x, at[i].x, at[i + 1].x, after.x, t),
                        curve(before.y, at[i].y, at[i + 1].y, after.y, t)};
      draw_piece(on, from, to, margin);
      from = to;
    }
  }
}

// Ink by distance, falling to nothing over one pixel at the stroke's edge, and noise everywhere.
static void develop(const canvas* from, const hand* pen, uint64_t* random, unsigned char* pixels) {
  const float* distance2 = &from->distance2[0][0];
  unsigned char grain[kPixels];  // drawn first, so that the compiler can vectorise what follows
  for (int i = 0; i < kPixels; i += 8) {
    const uint64_t bits = next_bits(random);
    for (int k = 0; k < 8; ++k) grain[i + k] = (unsigned char)(bits >> (8 * k));
  }
  const float noise = pen->noise * (1.0f / 127.5f);
  for (int i = 0; i < kPixels; ++i) {
    const float cover = clamp(pen->reach + 0.5f - sqrtf(distance2[i]), 0.0f, 1.0f);
    const float value = pen->ink * cover + noise * (float)grain[i] - pen->noise;
    pixels[i] = (unsigned char)(int)clamp(value, 0.0f, 255.0f);
  }
}
_Static_assert(kPixels % 8 == 0, "noise is drawn for eight pixels at a time");

// The label; the image goes to `pixels`.
static unsigned char draw_digit(uint64_t seed, int64_t index, unsigned char* pixels) {
  uint64_t random = seed * 0xD1342543DE82EF95u + (uint64_t)index * 0xA0761D6478BD642Fu;
  const unsigned label = (unsigned)(next_bits(&random) >> 32) % kDigits;
  const glyph* digit = &kGlyphs[label];
  const style* written = &digit->styles[(next_bits(&random) >> 32) % (unsigned)digit->count];
  const hand pen = random_hand(&random);
  canvas on;
  for (int i = 0; i < kPixels; ++i) on.distance2[i / kSide][i % kSide] = 1e4f;
  for (int i = 0; i < written->count; ++i) draw_stroke(&on, &written->strokes[i], &pen, &random);
  develop(&on, &pen, &random, pixels);
  return (unsigned char)label;
}

static int complain(const char* path) {
  perror(path);
  return -1;
}

// `head` and `bytes` under a name beside the final one, then renamed: a file is there whole or not at all.
static int write_file(const char* directory, const char* name, const void* head, size_t head_bytes,
                      const void* data, size_t bytes) {
  char path[4096], fresh[4096 + 8];
  if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return complain(directory);
  snprintf(fresh, sizeof fresh, "%s.new", path);
  FILE* file = fopen(fresh, "wb");
  if (file == NULL) return complain(fresh);
  const int written =
      fwrite(head, 1, head_bytes, file) == head_bytes && fwrite(data, 1, bytes, file) == bytes;
  if (fclose(file) != 0 || !written) return complain(fresh);
  return rename(fresh, path) == 0 ? 0 : complain(path);
}

// An IDX header: two zero bytes, the type (8: u8), how many dims, each dim as 32 bits, big end first.
static int write_idx(const char* directory, const char* name, const int64_t* dims, int rank,
                     const void* data) {
  unsigned char head[4 + 4 * 3] = {0, 0, 8, (unsigned char)rank};
  size_t bytes = 1;
  for (int i = 0; i < rank; ++i) {
    for (int k = 0; k < 4; ++k) head[4 + 4 * i + k] = (unsigned char)(dims[i] >> (24 - 8 * k));
    bytes *= (size_t)dims[i];
  }
  return write_file(directory, name, head, 4 + 4 * (size_t)rank, data, bytes);
}

// A picture of the first 20 x 20 digits, to look at.
static int write_sheet(const char* path, const unsigned char* images, int64_t count) {
  enum { kWide = kSheetRows * kSide };
  static unsigned char sheet[kWide][kWide];
  for (int64_t i = 0; i < count && i < kSheetRows * kSheetRows; ++i) {
    for (int y = 0; y < kSide; ++y) {
      memcpy(&sheet[i / kSheetRows * kSide + y][i % kSheetRows * kSide], images + i * kPixels + y * kSide,
             kSide);
    }
  }
  FILE* file = fopen(path, "wb");
  if (file == NULL) return complain(path);
  fprintf(file, "P5 %d %d 255\n", kWide, kWide);
  const int written = fwrite(sheet, sizeof sheet, 1, file) == 1;
  return fclose(file) == 0 && written ? 0 : complain(path);
}

typedef struct request {
  const char* out;
  const char* sheet;
  int64_t seed;
} request;

// Images first .. first + count of the sequence, as the two files whose names begin with `part`.
static int write_part(const request* want, const char* part, int64_t first, int64_t count) {
  unsigned char* images = malloc((size_t)count * kPixels);
  unsigned char* labels = malloc((size_t)count);
  int status = images != NULL && labels != NULL ? 0 : complain(part);
  for (int64_t i = 0; i < count && status == 0; ++i) {
    labels[i] = draw_digit((uint64_t)want->seed, first + i, images + i * kPixels);
  }
  char name[64];
  const int64_t dims[] = {count, kSide, kSide};
  snprintf(name, sizeof name, "%s-images-idx3-ubyte", part);
  if (status == 0) status = write_idx(want->out, name, dims, 3, images);
  snprintf(name, sizeof name, "%s-labels-idx1-ubyte", part);
  if (status == 0) status = write_idx(want->out, name, dims, 1, labels);
  if (status == 0 && want->sheet != NULL && first == 0) status = write_sheet(want->sheet, images, count);
  free(images);
  free(labels);
  return status;
}

int main(int argc, char** argv) {
  request want = {NULL, NULL, 1};
  int64_t train = 60000, test = 10000;
  const flag flags[] = {
      {"--out", "DIR", "where the four files go (needed; its parent must exist)", &want.out, NULL, 0, 0},
      {"--train", "N", "training images (60000)", NULL, &train, 1, kMaxImages},
      {"--test", "N", "test images (10000)", NULL, &test, 1, kMaxImages},
      {"--seed", "N", "another set (1)", NULL, &want.seed, 0, INT64_MAX},
      {"--sheet", "FILE.pgm", "also a picture of the first 400", &want.sheet, NULL, 0, 0},
  };
  parse_command_line(argc, argv, "Writes generated digits as the four MNIST files.", flags,
                     (int)(sizeof flags / sizeof flags[0]), NULL);
  if (want.out == NULL) {
    fprintf(stderr, "example_make_digits: --out DIR is needed (--help lists the flags)\n");
    return 2;
  }
  const double began_s = now_s();
  (void)mkdir(want.out, 0777);  // if that fails, opening the files says why
  if (write_part(&want, "train", 0, train) != 0 || write_part(&want, "t10k", train, test) != 0) return 1;
  printf("digits: %lld + %lld images in %.1f s\n", (long long)train, (long long)test, now_s() - began_s);
  return 0;
}
