// Trains a small convolutional network on folders of JPEG, PNG or WebP pictures, can stop in mid-epoch, and resumes
// exactly there.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_images --data DIR                                          DIR/train/CLASS/*, DIR/val/CLASS/*
//   example_train_images --data DIR --stop-after 300 --save-state job.ckpt   ends after 300 steps
//   example_train_images --data DIR --resume job.ckpt                        goes on; the same weights, bit for bit
//
// image_loader.c opens the folders, convnet.c does the arithmetic; here they meet.
#include <dataline.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "convnet.h"
#include "image_loader.h"
#include "matrix.h"
#include "progress.h"

enum { kMaxClasses = 1000, kMaxStateBytes = 16 << 20 };
static const float kLearningRate = 2e-3f;  // falls to 0 in a straight line over the job

// What a resumed job must not change.
typedef struct settings {
  int64_t epochs, batch_size, side, seed, classes;
} settings;

typedef struct request {
  const char* data;
  const char* save_state;
  const char* resume;
  int64_t stop_after;  // steps; 0: never
  int64_t num_workers;
} request;

typedef struct job {
  settings set;
  convnet model;
  dl_dataset* dataset;
  dl_loader* loader;
} job;

// Sums over an epoch, or over a job.
typedef struct totals {
  double loss;
  int64_t correct, samples;
  double elapsed_s, waited_s;
} totals;

static int report(const char* doing, dl_status status, const dl_error* error) {
  const char* why = status < 0 && error->message[0] != '\0' ? error->message : dl_status_name(status);
  fprintf(stderr, "example_train_images: %s: %s\n", doing, why);
  return 1;
}

static dl_status open_part(const request* want, const settings* set, bool train, dl_dataset** dataset,
                           dl_loader** loader, dl_error* error) {
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/%s", want->data, train ? "train" : "val");
  const image_options options = {.directory = directory,
                                 .train = train,
                                 .side = set->side,
                                 .batch_size = set->batch_size,
                                 .epochs = train ? set->epochs : 1,
                                 .seed = set->seed,
                                 .num_workers = want->num_workers};
  return images_open(&options, dataset, loader, error);
}

// ---- A job in a file: settings, weights, the optimizer's state, then the loader's position as text ----

static int complain(const char* path, const char* what) {
  fprintf(stderr, "example_train_images: %s: %s\n", path, what);
  return 1;
}

// The loader's position as text, the caller's to free.
static int save_position(const dl_loader* loader, char** out) {
  size_t bytes = 0;
  dl_error error = DL_ERROR_INIT;
  dl_status status = dl_loader_state_save(loader, NULL, &bytes, &error);
  *out = status == DL_OK ? malloc(bytes) : NULL;
  if (*out != NULL) status = dl_loader_state_save(loader, *out, &bytes, &error);
  if (status == DL_OK && *out != NULL) return 0;
  free(*out);
  return report("saving the loader's position", status == DL_OK ? DL_ERR_NO_MEMORY : status, &error);
}

// What is left of `file`, as text, the caller's to free; NULL if it cannot be read.
static char* read_rest(FILE* file) {
  const long at = ftell(file);
  const long end = at >= 0 && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < at || end - at > kMaxStateBytes || fseek(file, at, SEEK_SET) != 0) return NULL;
  char* text = calloc(1, (size_t)(end - at) + 1);
  if (text != NULL && fread(text, 1, (size_t)(end - at), file) == (size_t)(end - at)) return text;
  free(text);
  return NULL;
}

// Written beside its name, then renamed: the file is there whole or not at all.
static int save_job(const char* path, const job* of) {
  char *state = NULL, fresh[4096];
  if (save_position(of->loader, &state) != 0) return 1;
  snprintf(fresh, sizeof fresh, "%s.new", path);
  FILE* file = fopen(fresh, "wb");
  const size_t count = of->model.parameter_count;
  const int written = file != NULL && fwrite(&of->set, sizeof of->set, 1, file) == 1 &&
                      fwrite(of->model.parameters, sizeof(float), count, file) == count &&
                      fwrite(of->model.moments, sizeof(float), 2 * count, file) == 2 * count &&
                      fputs(state, file) >= 0;
  free(state);
  if (file == NULL) return complain(fresh, "cannot be created");
  if (fclose(file) != 0 || !written || rename(fresh, path) != 0) return complain(path, "cannot be written");
  return 0;
}

static int in_range(int64_t value, int64_t most) { return value >= 1 && value <= most; }

// The model of a saved job, and the loader's position, the caller's to free.
static int load_job(const char* path, job* out, char** state) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return complain(path, "cannot be opened");
  settings* set = &out->set;
  int whole = fread(set, sizeof *set, 1, file) == 1 && in_range(set->side, 512) &&
              in_range(set->epochs, 10000) && in_range(set->batch_size, 4096) &&
              in_range(set->classes, kMaxClasses) &&
              convnet_create(&out->model, (int)set->side, (int)set->classes, (int)set->batch_size, 0) == 0;
  const size_t count = out->model.parameter_count;
  whole = whole && fread(out->model.parameters, sizeof(float), count, file) == count &&
          fread(out->model.moments, sizeof(float), 2 * count, file) == 2 * count &&
          (*state = read_rest(file)) != NULL;
  fclose(file);
  return whole ? 0 : complain(path, "not a checkpoint of this program, or damaged");
}

// ---- Training ----

// Waiting is what a batch costs that is not ready when it is asked for.
static dl_status next_timed(dl_epoch* loop, bool loads_here, dl_batch** batch, double* waited_s,
                            dl_error* error) {
  const double before_s = now_s();
  dl_status status = dl_epoch_next(loop, 0, batch, error);
  if (status != DL_TIMEOUT && !loads_here) return status;
  if (status == DL_TIMEOUT) status = dl_epoch_next(loop, -1, batch, error);
  *waited_s += now_s() - before_s;
  return status;
}

static int train_on(job* of, const dl_batch* batch, int64_t steps, totals* epoch) {
  image_batch data;
  dl_batch_info info = {.struct_size = sizeof info};
  if (image_batch_of(batch, of->set.side, of->set.classes, &data) != 0) return -1;
  if (dl_batch_get_info(batch, &info, NULL) != DL_OK) return -1;
  const int64_t step = info.epoch * steps + info.step, total = of->set.epochs * steps;
  const float rate = kLearningRate * (float)(1.0 - (double)step / (double)total);
  const convnet_result result =
      convnet_train_step(&of->model, data.images, data.labels, data.count, step + 1, rate);
  epoch->loss += result.loss;
  epoch->correct += result.correct;
  epoch->samples += data.count;
  return 0;
}

static void print_epoch(const char* label, const totals* epoch) {
  const double samples = (double)epoch->samples;
  printf("%s: loss %.4f, train accuracy %.2f %%, %.0f images/s, waited %.1f %%\n", label,
         epoch->loss / samples, 100.0 * (double)epoch->correct / samples, samples / epoch->elapsed_s,
         100.0 * epoch->waited_s / epoch->elapsed_s);
  fflush(stdout);
}

// One epoch, or what a resumed job has left of it, but at most *left steps (-1: no limit), which it counts down. DL_END after
// the last.
static dl_status train_epoch(const request* want, job* of, int64_t* left, totals* epoch, dl_error* error) {
  int64_t number = 0, step = 0;
  dl_epoch* loop = NULL;
  dl_status status = dl_loader_epoch(of->loader, &loop, error);
  if (status == DL_OK) status = dl_loader_position(of->loader, &number, &step, error);
  if (status != DL_OK) return dl_epoch_release(loop), status;
  const int64_t steps = dl_loader_steps(of->loader);
  char label[64], remark[64] = "";
  snprintf(label, sizeof label, "epoch %" PRId64 "/%" PRId64, number + 1, of->set.epochs);
  progress bar;
  progress_begin(&bar, label, "samples", step, steps);
  const double began_s = now_s();
  progress_point at = {.steps = step, .remark = remark};
  dl_batch* batch = NULL;
  while (*left != 0 &&
         (status = next_timed(loop, want->num_workers == 0, &batch, &epoch->waited_s, error)) == DL_OK) {
    const int failed = train_on(of, batch, steps, epoch);
    dl_batch_release(batch);
    if (failed) {
      status = DL_ERR_OUT_OF_RANGE;  // a label
      break;
    }
    if (*left > 0) --*left;
    snprintf(remark, sizeof remark, "loss=%.3f", epoch->loss / (double)epoch->samples);
    at = (progress_point){++step, epoch->samples, epoch->waited_s, remark};
    progress_update(&bar, &at);
  }
  dl_epoch_release(loop);
  epoch->elapsed_s = now_s() - began_s;
  progress_end(&bar, &at);
  if (!bar.visible && epoch->samples > 0) print_epoch(label, epoch);
  return status;
}

static dl_status train(const request* want, job* of, totals* sum, dl_error* error) {
  int64_t left = want->stop_after > 0 ? want->stop_after : -1;
  for (;;) {
    totals epoch = {0};
    const dl_status status = train_epoch(want, of, &left, &epoch, error);
    sum->samples += epoch.samples;
    sum->elapsed_s += epoch.elapsed_s;
    sum->waited_s += epoch.waited_s;
    if (status == DL_END) return DL_OK;
    if (left == 0 || status != DL_END_OF_EPOCH) return status;
  }
}

static int test(const request* want, job* of, totals* sum) {
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  dl_batch* batch = NULL;
  dl_error error = DL_ERROR_INIT;
  dl_status status = open_part(want, &of->set, false, &dataset, &loader, &error);
  while (status == DL_OK && (status = dl_loader_next(loader, -1, &batch, &error)) == DL_OK) {
    image_batch data;
    if (image_batch_of(batch, of->set.side, of->set.classes, &data) == 0) {
      sum->correct += convnet_evaluate(&of->model, data.images, data.labels, data.count).correct;
      sum->samples += data.count;
    } else {
      status = DL_ERR_OUT_OF_RANGE;  // a label
    }
    dl_batch_release(batch);
  }
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  return status == DL_END_OF_EPOCH ? 0 : report("testing", status, &error);
}

static int run(const request* want, job* of) {
  dl_error error = DL_ERROR_INIT;
  totals trained = {0}, tested = {0};
  printf("steps per epoch: %" PRId64 "\n", dl_loader_steps(of->loader));
  fflush(stdout);
  dl_status status = train(want, of, &trained, &error);
  if (status < 0) return report("training", status, &error);
  if (want->save_state != NULL && save_job(want->save_state, of) != 0) return 1;
  int64_t epoch = 0, step = 0;
  status = dl_loader_position(of->loader, &epoch, &step, &error);
  if (status != DL_OK) return report("training", status, &error);
  if (epoch < of->set.epochs) {
    printf("stopped: epoch %" PRId64 ", step %" PRId64 "\n", epoch + 1, step);
    return 0;
  }
  if (test(want, of, &tested) != 0) return 1;
  printf("test accuracy: %.2f %%\n", 100.0 * (double)tested.correct / (double)tested.samples);
  if (trained.samples > 0) {
    printf("waited for data: %.1f %%\n", 100.0 * trained.waited_s / trained.elapsed_s);
    printf("training speed: %.0f images/s\n", (double)trained.samples / trained.elapsed_s);
  }
  printf("weights digest: %016" PRIx64 "\n", digest_floats(of->model.parameters, of->model.parameter_count));
  return 0;
}

// Opens the folders; makes a new network for a new job, or takes the saved one and its `state` for a resumed job.
static int prepare(const request* want, const char* state, job* of) {
  dl_error error = DL_ERROR_INIT;
  dl_status status = open_part(want, &of->set, true, &of->dataset, &of->loader, &error);
  if (status != DL_OK) return report("opening the pictures", status, &error);
  const int64_t classes = dl_dataset_class_count(of->dataset);
  if (want->resume != NULL) {
    if (classes != of->set.classes) return report("resuming", DL_ERR_MISMATCH, &error);
    status = dl_loader_state_load(of->loader, state, &error);
    return status == DL_OK ? 0 : report("resuming", status, &error);
  }
  if (classes < 2 || classes > kMaxClasses) {
    return complain(want->data, "expected folders train and val with 2 to 1000 class folders in each");
  }
  of->set.classes = classes;
  printf("classes:");
  for (int64_t i = 0; i < classes; ++i) printf(" %s", dl_dataset_class_name(of->dataset, i));
  printf("\npictures: %" PRId64 "\n", dl_dataset_count(of->dataset));
  const int failed = convnet_create(&of->model, (int)of->set.side, (int)classes, (int)of->set.batch_size,
                                    (uint64_t)of->set.seed);
  return failed ? report("creating the network", DL_ERR_NO_MEMORY, &error) : 0;
}

int main(int argc, char** argv) {
  request want = {.num_workers = -1};
  job at = {.set = {.epochs = 12, .batch_size = 32, .side = 48, .seed = 1}};
  const flag flags[] = {
      {"--data", "DIR",
       "has the folders train and val, each with a folder of pictures for each class (needed)",
       .text = &want.data},
      {"--num-workers", "N", "loading threads (-1: as many as fit)", NULL, &want.num_workers, -1, 256},
      {"--stop-after", "STEPS", "end after so many steps", NULL, &want.stop_after, 1, INT64_MAX},
      {"--save-state", "FILE", "where the job is saved when it ends", .text = &want.save_state},
      {"--resume", "FILE", "go on from a saved job, whose settings replace those below",
       .text = &want.resume},
      {"--epochs", "N", "how often the pictures are seen (12)", NULL, &at.set.epochs, 1, 10000},
      {"--batch-size", "N", "pictures a step (32)", NULL, &at.set.batch_size, 1, 4096},
      {"--side", "N", "of the squares the network sees (48)", NULL, &at.set.side, 16, 512},
      {"--seed", "N", "of the order, the crops and the first weights (1)", NULL, &at.set.seed, 0, INT64_MAX},
  };
  parse_command_line(argc, argv, "Trains a small convolutional network on folders of pictures.", flags,
                     (int)(sizeof flags / sizeof flags[0]), NULL);
  if (want.data == NULL) {
    fprintf(stderr, "example_train_images: --data DIR is needed (--help lists the flags)\n");
    return 2;
  }
  char* state = NULL;
  int status = want.resume == NULL ? 0 : load_job(want.resume, &at, &state);
  if (status == 0) status = prepare(&want, state, &at);
  free(state);
  if (status == 0) status = run(&want, &at);
  dl_loader_destroy(at.loader);
  dl_dataset_destroy(at.dataset);
  convnet_destroy(&at.model);
  return status;
}
