// A text becomes files of tokens, one a character, as nanoGPT's shakespeare_char does it: u16, little-endian,
// no header. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

// The bytes that occur in the text, in order; a token is a place in this list.
typedef struct vocabulary {
  int count;
  unsigned char byte_of[256];
  uint16_t token_of[256];
} vocabulary;

typedef struct text {
  unsigned char* bytes;  // the owner frees it
  size_t count;
} text;

// 0, or -1 after one line on stderr.
int text_read(const char* path, text* out);
// `count` bytes of sentences from a small grammar; the same for a seed, everywhere.
int text_generate(size_t count, uint64_t seed, text* out);

vocabulary vocabulary_of(const text* from);

// Tokens of bytes first .. first + count; 0, or -1 after one line on stderr.
int tokens_write(const char* path, const text* from, size_t first, size_t count, const vocabulary* words);

// What the second part of the text costs, in nats a token, when the frequencies of the first `split` bytes
// are all that is known: a model that learns anything from context is below.
double unigram_nats(const text* from, size_t split, const vocabulary* words);
