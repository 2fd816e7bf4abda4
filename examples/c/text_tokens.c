// Texts and files of tokens.
// SPDX-License-Identifier: Apache-2.0
#include "text_tokens.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char* path, int cause) {
  fprintf(stderr, "%s: %s\n", path, strerror(cause));
  return -1;
}

int text_read(const char* path, text* out) {
  enum { kPieceBytes = 1 << 20 };
  *out = (text){NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) return complain(path, errno);
  for (;;) {
    unsigned char* larger = realloc(out->bytes, out->count + kPieceBytes);
    if (larger == NULL) break;
    out->bytes = larger;
    const size_t got = fread(out->bytes + out->count, 1, kPieceBytes, file);
    out->count += got;
    if (got < kPieceBytes) break;
  }
  const int failed = ferror(file) || !feof(file);
  const int cause = errno;
  fclose(file);
  if (!failed) return 0;
  free(out->bytes);
  *out = (text){NULL, 0};
  return complain(path, cause);
}

typedef struct choice {
  int count;
  const char* words[10];
} choice;

static const choice kArticles = {4, {"the", "a", "every", "one"}};
static const choice kQualities = {8,
                                  {"quick", "small", "old", "quiet", "golden", "tired", "brave", "strange"}};
static const choice kNouns = {
    10, {"fox", "river", "sailor", "garden", "lantern", "wolf", "tower", "child", "storm", "ship"}};
static const choice kVerbs = {
    8, {"sees", "follows", "forgets", "carries", "hears", "finds", "leaves", "remembers"}};
static const choice kEnds = {4, {".\n", ", and then ", " near the sea.\n", " at night.\n"}};
// A sentence picks one word of each, in this order.
static const choice* const kSentence[] = {&kArticles, &kQualities, &kNouns, &kVerbs, &kArticles, &kNouns};

static uint64_t next_bits(uint64_t* state) {  // SplitMix64
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static const char* pick(const choice* from, uint64_t* random) {
  return from->words[(next_bits(random) >> 32) % (unsigned)from->count];
}

int text_generate(size_t count, uint64_t seed, text* out) {
  enum { kLongestWord = 32 };
  *out = (text){malloc(count + kLongestWord), 0};
  if (out->bytes == NULL) return complain("generated text", ENOMEM);
  const int words = (int)(sizeof kSentence / sizeof kSentence[0]);
  for (int place = 0; out->count < count; place = (place + 1) % (words + 1)) {
    const char* word = pick(place < words ? kSentence[place] : &kEnds, &seed);
    const char* space = place + 1 < words ? " " : "";
    out->count += (size_t)snprintf((char*)out->bytes + out->count, kLongestWord, "%s%s", word, space);
  }
  out->count = count;
  return 0;
}

vocabulary vocabulary_of(const text* from) {
  vocabulary words = {0};
  int seen[256] = {0};
  for (size_t i = 0; i < from->count; ++i) seen[from->bytes[i]] = 1;
  for (int byte = 0; byte < 256; ++byte) {
    if (!seen[byte]) continue;
    words.token_of[byte] = (uint16_t)words.count;
    words.byte_of[words.count++] = (unsigned char)byte;
  }
  return words;
}

int tokens_write(const char* path, const text* from, size_t first, size_t count, const vocabulary* words) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return complain(path, errno);
  for (size_t i = first; i < first + count; ++i) {
    const uint16_t token = words->token_of[from->bytes[i]];
    putc(token & 0xFF, file);
    putc(token >> 8, file);
  }
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) return complain(path, errno);
  return 0;
}

double unigram_nats(const text* from, size_t split, const vocabulary* words) {
  double times[256];
  for (int i = 0; i < words->count; ++i) times[i] = 1.0;  // none is impossible
  for (size_t i = 0; i < split; ++i) times[words->token_of[from->bytes[i]]] += 1.0;
  double sum = 0.0;
  for (size_t i = split; i < from->count; ++i) sum -= log(times[words->token_of[from->bytes[i]]]);
  return sum / (double)(from->count - split) + log((double)split + words->count);
}
