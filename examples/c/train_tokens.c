// Trains a small language model, character by character, on a text.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_tokens                   on a small generated text
//   example_train_tokens FILE.txt          on any text: nine tenths to learn from, the last tenth to judge by
//
// text_tokens.c makes files of tokens from the text, Dataline cuts and shuffles windows of them,
// language_model.c learns to predict each token from the eight before it.
#include <dataline.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"
#include "language_model.h"
#include "progress.h"
#include "text_tokens.h"

enum {
  kPredictions = 64,  // of one window: its first kContext - 1 tokens are only context
  kWindow = kPredictions + kContext - 1,
  kBatch = kMaxRows / kPredictions,  // windows
  kGeneratedBytes = 300000,
  kSampleBytes = 240,
};
static const float kLearningRate = 0.2f;  // falls to 0 in a straight line over the job
static const float kMomentum = 0.9f;

// Takes contexts and targets from a batch; returns how many, or -1 when a token is not in the vocabulary.
// Windows may overlap in memory (views=true), so a window begins where the strides say.
static int read_batch(language_model* model, const dl_batch* batch) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  const dl_view *x = dl_view_at(views, 0), *y = dl_view_at(views, 1);
  int row = 0;
  for (int64_t window = 0; window < x->shape[0]; ++window) {
    const uint16_t* tokens =
        (const uint16_t*)((const char*)x->data + x->byte_offset) + window * x->strides[0];
    const uint16_t* next = (const uint16_t*)((const char*)y->data + y->byte_offset) + window * y->strides[0];
    for (int i = 0; i < kWindow; ++i) {
      if (tokens[i] >= model->tokens || next[i] >= model->tokens) return -1;
    }
    for (int i = 0; i < kPredictions; ++i, ++row) {
      memcpy(model->contexts[row], tokens + i, sizeof model->contexts[row]);
      model->targets[row] = next[i + kContext - 1];
    }
  }
  return row;
}

static int report(const char* doing, dl_status status, const dl_error* error) {
  const char* why = status < 0 && error->message[0] != '\0' ? error->message : dl_status_name(status);
  fprintf(stderr, "example_train_tokens: %s: %s\n", doing, why);
  return 1;
}

static dl_status open_tokens(const char* path, int train, int64_t epochs, dl_loader** out, dl_error* error) {
  dl_options* options = NULL;
  dl_dataset* dataset = NULL;
  char query[96];
  // Windows overlap by the context, so that each token is predicted once.
  snprintf(query, sizeof query, "dtype=u16&length=%d&stride=%d&views=true", kWindow, kPredictions);
  char* uri = uri_of_path("tokens", path, query);
  dl_status status = uri != NULL ? dl_options_create(&options, error) : DL_ERR_NO_MEMORY;
  if (status == DL_OK) status = dl_options_set_i64(options, "batch_size", kBatch, error);
  if (status == DL_OK) status = dl_options_set_i64(options, "epochs", epochs, error);
  if (status == DL_OK) status = dl_options_set(options, "shuffle", train ? "full" : "none", error);
  if (status == DL_OK) status = dl_dataset_open(uri, options, &dataset, error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, out, error);
  dl_dataset_destroy(dataset);  // the loader keeps its own reference
  dl_options_destroy(options);
  free(uri);
  return status;
}

static dl_status next_timed(dl_epoch* loop, dl_batch** batch, double* waited_s, dl_error* error) {
  const double before_s = now_s();
  const dl_status status = dl_epoch_next(loop, -1, batch, error);
  *waited_s += now_s() - before_s;
  return status;
}

// One epoch. *loss becomes its mean, in nats a token.
static dl_status train_epoch(language_model* model, dl_loader* loader, int64_t epoch, int64_t epochs,
                             double* loss, dl_error* error) {
  dl_epoch* loop = NULL;
  dl_status status = dl_loader_epoch(loader, &loop, error);
  if (status != DL_OK) return status;
  const int64_t steps = dl_loader_steps(loader);
  char label[64], remark[64] = "";
  snprintf(label, sizeof label, "epoch %" PRId64 "/%" PRId64, epoch + 1, epochs);
  progress bar;
  progress_begin(&bar, label, "tokens", 0, steps);
  progress_point at = {.remark = remark};
  double sum = 0.0;
  int64_t tokens = 0, step = 0;
  dl_batch* batch = NULL;
  while ((status = next_timed(loop, &batch, &at.waited_s, error)) == DL_OK) {
    const int rows = read_batch(model, batch);
    dl_batch_release(batch);  // what is needed of it was copied
    if (rows < 0) {
      status = DL_ERR_OUT_OF_RANGE;
      break;
    }
    const double done = (double)(epoch * steps + step) / (double)(epochs * steps);
    sum += model_train(model, rows, kLearningRate * (float)(1.0 - done), kMomentum);
    tokens += rows;
    snprintf(remark, sizeof remark, "loss=%.3f", sum / (double)tokens);
    at.steps = ++step;
    at.samples = tokens;
    progress_update(&bar, &at);
  }
  dl_epoch_release(loop);
  progress_end(&bar, &at);
  *loss = tokens > 0 ? sum / (double)tokens : 0.0;
  if (!bar.visible && status == DL_END_OF_EPOCH) {
    printf("%s: %" PRId64 " steps, loss %.4f nats, %.0f tokens/s\n", label, step, *loss,
           (double)tokens / (now_s() - bar.began_s));
    fflush(stdout);
  }
  return status;
}

static dl_status validate(language_model* model, const char* path, double* loss, dl_error* error) {
  dl_loader* loader = NULL;
  dl_batch* batch = NULL;
  double sum = 0.0;
  int64_t tokens = 0;
  dl_status status = open_tokens(path, 0, 1, &loader, error);
  while (status == DL_OK && (status = dl_loader_next(loader, -1, &batch, error)) == DL_OK) {
    const int rows = read_batch(model, batch);
    dl_batch_release(batch);
    if (rows < 0) status = DL_ERR_OUT_OF_RANGE;
    if (rows > 0) sum += model_evaluate(model, rows);
    tokens += rows;
  }
  dl_loader_destroy(loader);
  *loss = tokens > 0 ? sum / (double)tokens : 0.0;
  return status;
}

// Text as the model would write it, after the last context it saw.
static void print_sample(language_model* model, const vocabulary* words) {
  uint64_t random = 1;
  printf("a sample of the model's own:\n");
  for (int i = 0; i < kSampleBytes; ++i) putchar(words->byte_of[model_sample(model, &random)]);
  printf("\n");
}

static int run(const char* train_path, const char* validation_path, int64_t epochs, const vocabulary* words,
               language_model* model) {
  dl_loader* loader = NULL;
  dl_error error = DL_ERROR_INIT;
  dl_status status = open_tokens(train_path, 1, epochs, &loader, &error);
  double loss = 0.0;
  if (status == DL_OK) printf("steps per epoch: %" PRId64 "\n", dl_loader_steps(loader));
  for (int64_t epoch = 0; epoch < epochs && (status == DL_OK || status == DL_END_OF_EPOCH); ++epoch) {
    status = train_epoch(model, loader, epoch, epochs, &loss, &error);
  }
  dl_loader_destroy(loader);
  if (status != DL_END_OF_EPOCH) return report("training", status, &error);
  status = validate(model, validation_path, &loss, &error);
  if (status != DL_END_OF_EPOCH) return report("validation", status, &error);
  print_sample(model, words);
  printf("validation loss: %.4f nats\n", loss);
  return 0;
}

// Where the files of tokens go when --out says nothing: beside the program.
static void directory_of(const char* program, char* out, size_t room) {
  const char* slash = strrchr(program, '/');
  snprintf(out, room, "%.*s", slash ? (int)(slash - program) : 1, slash ? program : ".");
}

int main(int argc, char** argv) {
  const char *path = NULL, *out = NULL;
  int64_t epochs = 3;
  const flag flags[] = {
      {"--epochs", "N", "how often the text is read (3)", NULL, &epochs, 1, 10000},
      {"--out", "DIR", "where the files of tokens go (beside the program)", .text = &out},
  };
  parse_command_line(argc, argv, "Trains a small language model on FILE.txt, or on a generated text.", flags,
                     2, &path);
  char beside[4000], train_path[4096], validation_path[4096];
  directory_of(argv[0], beside, sizeof beside);
  snprintf(train_path, sizeof train_path, "%s/tokens_train.bin", out ? out : beside);
  snprintf(validation_path, sizeof validation_path, "%s/tokens_validation.bin", out ? out : beside);
  if (out != NULL) (void)mkdir(out, 0777);  // if that fails, writing the files says why

  text from;
  if ((path ? text_read(path, &from) : text_generate(kGeneratedBytes, 1, &from)) != 0) return 1;
  const vocabulary words = vocabulary_of(&from);
  const size_t split = from.count / 10 * 9;
  int status = 1;
  language_model* model = NULL;
  if (from.count / 10 <= kWindow) {
    fprintf(stderr, "example_train_tokens: %s: %zu bytes are too few to learn from\n", path ? path : "",
            from.count);
  } else if (tokens_write(train_path, &from, 0, split, &words) == 0 &&
             tokens_write(validation_path, &from, split, from.count - split, &words) == 0) {
    printf("text: %zu bytes, %d different; %zu to learn from\n", from.count, words.count, split);
    printf("unigram: %.4f nats\n", unigram_nats(&from, split, &words));
    model = model_create(words.count, 1);
    status = model != NULL ? run(train_path, validation_path, epochs, &words, model) : 1;
  }
  model_destroy(model);
  free(from.bytes);
  return status;
}
