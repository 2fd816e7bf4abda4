// Flags and URIs of the examples.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* program_of(char** argv) {
  const char* slash = strrchr(argv[0], '/');
  return slash ? slash + 1 : argv[0];
}

static void print_help(const char* summary, const flag* flags, int flag_count) {
  printf("%s\n\n", summary);
  for (int i = 0; i < flag_count; ++i) {
    char head[48];
    snprintf(head, sizeof head, "%s %s", flags[i].name, flags[i].value);
    printf("  %-24s %s\n", head, flags[i].doc);
  }
  printf("  %-24s %s\n", "--help", "this text");
}

__attribute__((noreturn, format(printf, 2, 3))) static void refuse(char** argv, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program_of(argv));
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started two lines above
  vfprintf(stderr, format, arguments);
  fprintf(stderr, " (--help lists the flags)\n");
  va_end(arguments);
  exit(2);
}

static void assign(char** argv, const flag* target, const char* value) {
  if (target->text != NULL) {
    *target->text = value;
    return;
  }
  char* end = NULL;
  errno = 0;
  const long long number = strtoll(value, &end, 10);
  if (errno != 0 || end == value || *end != '\0' || number < target->minimum || number > target->maximum) {
    refuse(argv, "%s: expected an integer in %" PRId64 " .. %" PRId64 ", got \"%s\"", target->name,
           target->minimum, target->maximum, value);
  }
  *target->number = number;
}

static const flag* find_flag(const flag* flags, int flag_count, const char* name, size_t length) {
  for (int i = 0; i < flag_count; ++i) {
    if (strlen(flags[i].name) == length && memcmp(flags[i].name, name, length) == 0) return &flags[i];
  }
  return NULL;
}

void parse_command_line(int argc, char** argv, const char* summary, const flag* flags, int flag_count,
                        const char** positional) {
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (strcmp(word, "--help") == 0) {
      print_help(summary, flags, flag_count);
      exit(0);
    }
    if (word[0] != '-') {
      if (positional == NULL || *positional != NULL) refuse(argv, "unexpected argument \"%s\"", word);
      *positional = word;
      continue;
    }
    const char* equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const flag* target = find_flag(flags, flag_count, word, length);
    if (target == NULL) refuse(argv, "unknown flag \"%.*s\"", (int)length, word);
    if (equals == NULL && i + 1 == argc) refuse(argv, "%s: its value is missing", word);
    assign(argv, target, equals ? equals + 1 : argv[++i]);
  }
}

char* uri_of_path(const char* scheme, const char* path, const char* query) {
  const size_t room = strlen(scheme) + 3 * strlen(path) + strlen(query) + 3;
  char* uri = malloc(room);
  if (uri == NULL) return NULL;
  char* at = uri + snprintf(uri, room, "%s:", scheme);
  for (const char* from = path; *from != '\0'; ++from) {
    if (strchr("%,?&=", *from) != NULL) {
      at += snprintf(at, 4, "%%%02X", (unsigned char)*from);
    } else {
      *at++ = *from;
    }
  }
  snprintf(at, room - (size_t)(at - uri), "%s%s", query[0] != '\0' ? "?" : "", query);
  return uri;
}
