// Draws pictures of shapes as JPEG files in class folders: DIR/train/circle/00000.jpg ... DIR/val/triangle/00011.jpg.
// SPDX-License-Identifier: Apache-2.0
//
// Every picture is a function of (seed, index): its size, a shape of any colour, texture, place, size and rotation, on
// a darker, textured ground, with noise. Only the outline tells the class.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"
#include "progress.h"

#if !defined(DATALINE_HAS_LIBJPEG)
int main(void) {
  fprintf(stderr, "example_make_shapes: skipped: built without libjpeg, which writes the files\n");
  return 77;
}
#else
// jpeglib.h wants stdio.h before it.
#include <jpeglib.h>

enum { kClasses = 6, kLeastSide = 80, kMostSide = 200, kMaxPictures = 1000000 };
static const char* const kNames[kClasses] = {"circle", "cross", "moon", "square", "star", "triangle"};

static uint64_t next_bits(uint64_t* state) {  // SplitMix64
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static float uniform(uint64_t* state, float least, float most) {
  return least + (most - least) * (float)(next_bits(state) >> 40) * (1.0f / 16777216.0f);
}

static int pick(uint64_t* state, int count) {
  return (int)((next_bits(state) >> 32) * (uint64_t)count >> 32);
}

// How far (x, y) lies outside of a shape of radius 1, negative inside; near the edge in units of the radius.
static float outside(int shape, float x, float y) {
  const float distance = hypotf(x, y);
  const float across = fmaxf(fabsf(x), fabsf(y)), along = fminf(fabsf(x), fabsf(y));
  switch (shape) {
    case 0:
      return distance - 0.92f;
    case 1:
      return fmaxf(across - 1.0f, along - 0.3f);
    case 2:
      return fmaxf(distance - 1.0f, 0.85f - hypotf(x - 0.55f, y));
    case 3:
      return across - 0.82f;
    case 4: {  // one of ten half points, mirrored onto the first: the line from a tip to the notch beside it
      const float fifth = 1.2566371f;
      float angle = fmodf(atan2f(y, x) + 6.2831853f, fifth);
      if (angle > 0.5f * fifth) angle = fifth - angle;
      const float px = distance * cosf(angle), py = distance * sinf(angle);
      const float notch_x = 0.42f * 0.8090170f, notch_y = 0.42f * 0.5877853f;
      const float dx = notch_x - 1.05f, dy = notch_y;
      return ((px - 1.05f) * -dy + py * dx) / -hypotf(dx, dy);
    }
    default:
      return fmaxf(fmaxf(y - 0.5f, 0.8660254f * x - 0.5f * y - 0.5f), -0.8660254f * x - 0.5f * y - 0.5f);
  }
}

typedef struct colour {
  float rgb[3];
} colour;

typedef struct texture {
  int kind;  // flat, stripes, checks, dots, a slope
  float cosine, sine, period;
  colour one, other;
} texture;

static colour random_colour(uint64_t* random) {
  colour made;
  for (int c = 0; c < 3; ++c) made.rgb[c] = uniform(random, 10.0f, 245.0f);
  return made;
}

static float brightness(const colour* of) {
  return 0.299f * of->rgb[0] + 0.587f * of->rgb[1] + 0.114f * of->rgb[2];
}

static colour near_colour(uint64_t* random, const colour* of, float most) {
  colour made;
  for (int c = 0; c < 3; ++c)
    made.rgb[c] = fminf(fmaxf(of->rgb[c] + uniform(random, -most, most), 0.0f), 255.0f);
  return made;
}

static texture random_texture(uint64_t* random, colour main_colour) {
  texture made = {.kind = pick(random, 5), .one = main_colour};
  const float angle = uniform(random, 0.0f, 3.1415927f);
  made.cosine = cosf(angle);
  made.sine = sinf(angle);
  made.period = uniform(random, 5.0f, 24.0f);
  made.other = near_colour(random, &main_colour, 30.0f);
  return made;
}

// The share of `other` at a pixel.
static float blend_at(const texture* of, float x, float y) {
  const float u = (of->cosine * x + of->sine * y) / of->period;
  const float v = (of->cosine * y - of->sine * x) / of->period;
  const float fu = u - floorf(u) - 0.5f, fv = v - floorf(v) - 0.5f;
  switch (of->kind) {
    case 0:
      return 0.0f;
    case 1:
      return fu > 0.0f ? 1.0f : 0.0f;
    case 2:
      return (fu > 0.0f) == (fv > 0.0f) ? 1.0f : 0.0f;
    case 3:
      return fu * fu + fv * fv < 0.1f ? 1.0f : 0.0f;
    default:
      return fminf(fabsf(u) * 0.1f, 1.0f);
  }
}

typedef struct picture {
  int shape, width, height, quality;
  float x, y, radius, cosine, sine, squeeze, noise;
  texture ground, body;
} picture;

static picture random_picture(uint64_t* random, int shape) {
  picture made = {.shape = shape};
  made.width = kLeastSide + pick(random, kMostSide - kLeastSide + 1);
  made.height = (int)((float)made.width * uniform(random, 0.75f, 1.3333f));
  made.height = made.height < kLeastSide ? kLeastSide : made.height > kMostSide ? kMostSide : made.height;
  const float side = (float)(made.width < made.height ? made.width : made.height);
  made.radius = side * uniform(random, 0.32f, 0.45f);
  const float room_x = 0.5f * (float)made.width - made.radius,
              room_y = 0.5f * (float)made.height - made.radius;
  made.x = 0.5f * (float)made.width + uniform(random, -0.8f, 0.8f) * room_x;
  made.y = 0.5f * (float)made.height + uniform(random, -0.8f, 0.8f) * room_y;
  const float angle = uniform(random, 0.0f, 6.2831853f);
  made.cosine = cosf(angle);
  made.sine = sinf(angle);
  made.squeeze = uniform(random, 1.0f, 1.25f);
  made.noise = uniform(random, 0.0f, 20.0f);
  made.quality = 75 + pick(random, 21);
  colour ground = random_colour(random), body = random_colour(random);
  while (brightness(&body) < brightness(&ground) + 70.0f) {  // so that there is something to be seen
    ground = random_colour(random);
    body = random_colour(random);
  }
  made.ground = random_texture(random, ground);
  made.body = random_texture(random, body);
  return made;
}

static void draw_pixel(const picture* of, uint64_t* random, int x, int y, unsigned char* rgb) {
  const float dx = ((float)x - of->x) / of->radius, dy = ((float)y - of->y) / of->radius;
  const float u = of->cosine * dx + of->sine * dy, v = (of->cosine * dy - of->sine * dx) * of->squeeze;
  const float cover = fminf(fmaxf(0.5f - outside(of->shape, u, v) * of->radius, 0.0f), 1.0f);
  const float ground = blend_at(&of->ground, (float)x, (float)y);
  const float body = blend_at(&of->body, (float)x, (float)y);
  const uint64_t grain = next_bits(random);
  for (int c = 0; c < 3; ++c) {
    const float below = of->ground.one.rgb[c] + ground * (of->ground.other.rgb[c] - of->ground.one.rgb[c]);
    const float above = of->body.one.rgb[c] + body * (of->body.other.rgb[c] - of->body.one.rgb[c]);
    const float noise = of->noise * ((float)(grain >> (16 * c) & 0xFFFF) * (1.0f / 32768.0f) - 1.0f);
    const float value = below + cover * (above - below) + noise;
    rgb[c] = (unsigned char)fminf(fmaxf(value, 0.0f), 255.0f);
  }
}

static int complain(const char* path) {
  perror(path);
  return -1;
}

static int write_jpeg(const char* path, const picture* of, unsigned char* pixels) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return complain(path);
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);  // ends the program when it fails
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = (JDIMENSION)of->width;
  jpeg.image_height = (JDIMENSION)of->height;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, of->quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = pixels + (size_t)jpeg.next_scanline * (size_t)of->width * 3;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return fclose(file) == 0 ? 0 : complain(path);
}

static int make_directory(char* path, size_t room, const char* parent, const char* name) {
  if (snprintf(path, room, "%s/%s", parent, name) >= (int)room) return complain(parent);
  (void)mkdir(path, 0777);  // if that fails, creating the files says why
  return 0;
}

// Pictures first .. first + count of the sequence, the classes in turn.
static int write_part(const char* out, const char* part, int64_t seed, int64_t first, int64_t count) {
  static unsigned char pixels[kMostSide * kMostSide * 3];
  char of_part[2048], of_class[2560], path[3072];
  if (make_directory(of_part, sizeof of_part, out, part) != 0) return -1;
  for (int64_t i = 0; i < count; ++i) {
    const int shape = (int)(i % kClasses);
    uint64_t random = (uint64_t)seed * 0xD1342543DE82EF95u + (uint64_t)(first + i) * 0xA0761D6478BD642Fu;
    const picture drawn = random_picture(&random, shape);
    for (int y = 0; y < drawn.height; ++y) {
      for (int x = 0; x < drawn.width; ++x)
        draw_pixel(&drawn, &random, x, y, pixels + ((size_t)y * (size_t)drawn.width + (size_t)x) * 3);
    }
    if (make_directory(of_class, sizeof of_class, of_part, kNames[shape]) != 0) return -1;
    snprintf(path, sizeof path, "%s/%05lld.jpg", of_class, (long long)(i / kClasses));
    if (write_jpeg(path, &drawn, pixels) != 0) return -1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* out = NULL;
  int64_t train = 3000, val = 600, seed = 1;
  const flag flags[] = {
      {"--out", "DIR", "where the folders train and val go (needed; its parent must exist)", &out, NULL, 0,
       0},
      {"--train", "N", "pictures to train on (3000)", NULL, &train, 1, kMaxPictures},
      {"--val", "N", "pictures to test on (600)", NULL, &val, 1, kMaxPictures},
      {"--seed", "N", "another set (1)", NULL, &seed, 0, INT64_MAX},
  };
  parse_command_line(argc, argv, "Draws shapes as JPEG files in class folders.", flags,
                     (int)(sizeof flags / sizeof flags[0]), NULL);
  if (out == NULL) {
    fprintf(stderr, "example_make_shapes: --out DIR is needed (--help lists the flags)\n");
    return 2;
  }
  const double began_s = now_s();
  (void)mkdir(out, 0777);
  if (write_part(out, "train", seed, 0, train) != 0 || write_part(out, "val", seed, train, val) != 0)
    return 1;
  printf("shapes: %lld + %lld pictures of %d classes in %.1f s\n", (long long)train, (long long)val, kClasses,
         now_s() - began_s);
  return 0;
}
#endif
