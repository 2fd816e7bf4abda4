// Trains a small neural network on MNIST digits, can stop in mid-epoch, and resumes exactly there.
// SPDX-License-Identifier: Apache-2.0
//
//   example_train_mnist --data DIR                                          five epochs, then the test set
//   example_train_mnist --data DIR --stop-after 1000 --save-state job.ckpt  ends after 1,000 steps
//   example_train_mnist --data DIR --resume job.ckpt                        goes on; the same weights, bit
//   for bit
//
// mnist_loader.c opens the data, mlp.c does the arithmetic, checkpoint.c keeps a job in a file; here they
// meet.
#include <dataline.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "checkpoint.h"
#include "command_line.h"
#include "mlp.h"
#include "mnist_loader.h"
#include "progress.h"

static const float kLearningRate = 0.1f;  // falls to 0 in a straight line over the job
static const float kMomentum = 0.9f;

typedef struct request {
  const char* data;
  const char* save_state;
  const char* resume;
  int64_t stop_after;  // steps; 0: never
  int64_t num_workers;
} request;

// Sums over an epoch, or over a job.
typedef struct totals {
  double loss;
  int64_t correct;
  int64_t samples;
  double elapsed_s;
  double waited_s;  // for batches that were not ready
} totals;

static int report(const char* doing, dl_status status, const dl_error* error) {
  const char* why = status < 0 && error->message[0] != '\0' ? error->message : dl_status_name(status);
  fprintf(stderr, "example_train_mnist: %s: %s\n", doing, why);
  return 1;
}

static int train_on(mlp* model, const training* job, const dl_batch* batch, int64_t steps, totals* epoch) {
  mnist_batch data;
  dl_batch_info info = {.struct_size = sizeof info};
  if (mnist_batch_of(batch, &data) != 0 || dl_batch_get_info(batch, &info, NULL) != DL_OK) return -1;
  const double done = (double)(info.epoch * steps + info.step) / (double)(job->epochs * steps);
  const float rate = kLearningRate * (float)(1.0 - done);
  const mlp_result result =
      mlp_train_step(model, data.images, data.labels, data.count, rate, kMomentum, NULL);
  epoch->loss += result.loss;
  epoch->correct += result.correct;
  epoch->samples += data.count;
  return 0;
}

// Waiting is what a batch costs that is not ready when it is asked for. A call that finds one ready is not
// counted: on a busy machine the system may run other programs in the middle of it, and that is not for want
// of data.
static dl_status next_timed(dl_epoch* loop, bool loads_here, dl_batch** batch, double* waited_s,
                            dl_error* error) {
  const double before_s = now_s();
  dl_status status = dl_epoch_next(loop, 0, batch, error);
  if (status != DL_TIMEOUT && !loads_here) return status;
  if (status == DL_TIMEOUT) status = dl_epoch_next(loop, -1, batch, error);
  *waited_s += now_s() - before_s;
  return status;
}

static void print_epoch(const char* label, const totals* epoch) {
  if (epoch->samples == 0) return;
  const double samples = (double)epoch->samples;
  printf("%s: loss %.4f, train accuracy %.2f %%, %.0f samples/s, waited %.1f %%\n", label,
         epoch->loss / samples, 100.0 * (double)epoch->correct / samples, samples / epoch->elapsed_s,
         100.0 * epoch->waited_s / epoch->elapsed_s);
  fflush(stdout);
}

// One epoch, or what a resumed job has left of it, but at most *left steps (-1: no limit), which it counts down. DL_END after
// the last.
static dl_status train_epoch(dl_loader* loader, bool loads_here, mlp* model, const training* job,
                             int64_t* left, totals* epoch, dl_error* error) {
  int64_t number = 0, step = 0;
  dl_epoch* loop = NULL;
  dl_status status = dl_loader_epoch(loader, &loop, error);
  if (status == DL_OK) status = dl_loader_position(loader, &number, &step, error);
  if (status != DL_OK) return dl_epoch_release(loop), status;
  const int64_t steps = dl_loader_steps(loader);
  char label[64], remark[64] = "";
  snprintf(label, sizeof label, "epoch %" PRId64 "/%" PRId64, number + 1, job->epochs);
  progress bar;
  progress_begin(&bar, label, "samples", step, steps);
  const double began_s = now_s();
  progress_point at = {.steps = step, .remark = remark};
  dl_batch* batch = NULL;
  while (*left != 0 && (status = next_timed(loop, loads_here, &batch, &epoch->waited_s, error)) == DL_OK) {
    const int failed = train_on(model, job, batch, steps, epoch);
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
  if (!bar.visible) print_epoch(label, epoch);
  return status;
}

// Trains to the end of the job, or to the stop. *sum is what this process did.
static dl_status train(dl_loader* loader, const request* want, mlp* model, const training* job, totals* sum,
                       dl_error* error) {
  const bool loads_here = want->num_workers == 0;
  int64_t left = want->stop_after > 0 ? want->stop_after : -1;
  for (;;) {
    totals epoch = {0};
    const dl_status status = train_epoch(loader, loads_here, model, job, &left, &epoch, error);
    sum->samples += epoch.samples;
    sum->elapsed_s += epoch.elapsed_s;
    sum->waited_s += epoch.waited_s;
    if (status == DL_END) return DL_OK;
    if (left == 0 || status != DL_END_OF_EPOCH) return status;
  }
}

static mnist_options options_of(const request* want, const training* job, bool train) {
  return (mnist_options){.directory = want->data,
                         .train = train,
                         .samples = train ? job->samples : 0,
                         .batch_size = job->batch_size,
                         .epochs = train ? job->epochs : 1,
                         .seed = job->seed,
                         .num_workers = want->num_workers};
}

static int test(const request* want, const training* job, mlp* model, totals* sum) {
  dl_loader* loader = NULL;
  dl_batch* batch = NULL;
  dl_error error = DL_ERROR_INIT;
  const mnist_options options = options_of(want, job, false);
  dl_status status = mnist_open(&options, &loader, &error);
  if (status == DL_OK && mnist_inputs(loader) != model->inputs) status = DL_ERR_MISMATCH;
  while (status == DL_OK && (status = dl_loader_next(loader, -1, &batch, &error)) == DL_OK) {
    mnist_batch data;
    if (mnist_batch_of(batch, &data) == 0) {
      sum->correct += mlp_evaluate(model, data.images, data.labels, data.count).correct;
      sum->samples += data.count;
    } else {
      status = DL_ERR_OUT_OF_RANGE;  // a label
    }
    dl_batch_release(batch);
  }
  dl_loader_destroy(loader);
  return status == DL_END_OF_EPOCH ? 0 : report("testing", status, &error);
}

static int save_job(const char* path, const training* job, const mlp* model, const dl_loader* loader) {
  size_t bytes = 0;
  dl_error error = DL_ERROR_INIT;
  dl_status status = dl_loader_state_save(loader, NULL, &bytes, &error);  // how long it is
  char* state = malloc(bytes);
  if (status == DL_OK && state != NULL) status = dl_loader_state_save(loader, state, &bytes, &error);
  const int failed = status != DL_OK || state == NULL ? report("saving the loader's position", status, &error)
                                                      : checkpoint_save(path, job, model, state);
  free(state);
  return failed == 0 ? 0 : 1;
}

static int run(const request* want, checkpoint* at, dl_loader* loader) {
  dl_error error = DL_ERROR_INIT;
  totals trained = {0}, tested = {0};
  printf("steps per epoch: %" PRId64 "\n", dl_loader_steps(loader));
  fflush(stdout);
  dl_status status = train(loader, want, &at->model, &at->job, &trained, &error);
  if (status < 0) return report("training", status, &error);
  if (want->save_state != NULL && save_job(want->save_state, &at->job, &at->model, loader) != 0) return 1;
  int64_t epoch = 0, step = 0;
  status = dl_loader_position(loader, &epoch, &step, &error);
  if (status != DL_OK) return report("training", status, &error);
  if (epoch < at->job.epochs) {
    printf("stopped: epoch %" PRId64 ", step %" PRId64 "\n", epoch + 1, step);
    return 0;
  }
  if (test(want, &at->job, &at->model, &tested) != 0) return 1;
  printf("test accuracy: %.2f %%\n", 100.0 * (double)tested.correct / (double)tested.samples);
  if (trained.samples > 0) {
    printf("waited for data: %.1f %%\n", 100.0 * trained.waited_s / trained.elapsed_s);
    printf("training speed: %.0f samples/s\n", (double)trained.samples / trained.elapsed_s);
  }
  printf("weights digest: %016" PRIx64 "\n", mlp_digest(&at->model));
  return 0;
}

// Opens the loader; makes a new network for a new job, or takes the saved one and its place for a resumed
// job.
static int prepare(const request* want, checkpoint* at, dl_loader** loader) {
  dl_error error = DL_ERROR_INIT;
  const mnist_options options = options_of(want, &at->job, true);
  dl_status status = mnist_open(&options, loader, &error);
  if (status != DL_OK) return report("opening the data", status, &error);
  const int64_t inputs = mnist_inputs(*loader);
  if (inputs < 1 || inputs > 1 << 16) return report("opening the data", DL_ERR_MISMATCH, &error);
  if (want->resume == NULL) {
    const int failed = mlp_create(&at->model, (int)inputs, (int)at->job.hidden, kClasses,
                                  (int)at->job.batch_size, (uint64_t)at->job.seed);
    return failed ? report("creating the network", DL_ERR_NO_MEMORY, &error) : 0;
  }
  if (at->model.inputs != inputs || at->model.outputs != kClasses) {
    return report("the saved network does not fit the data", DL_ERR_MISMATCH, &error);
  }
  status = dl_loader_state_load(*loader, at->state, &error);
  return status == DL_OK ? 0 : report("resuming", status, &error);
}

int main(int argc, char** argv) {
  request want = {.num_workers = -1};
  checkpoint at = {.job = {.epochs = 5, .batch_size = 128, .hidden = 128, .seed = 1, .samples = 0}};
  const flag flags[] = {
      {"--data", "DIR", "the four MNIST files, .gz or not (needed)", .text = &want.data},
      {"--num-workers", "N", "loading threads (-1: as many as fit)", NULL, &want.num_workers, -1, 256},
      {"--stop-after", "STEPS", "end after so many steps", NULL, &want.stop_after, 1, INT64_MAX},
      {"--save-state", "FILE", "where the job is saved when it ends", .text = &want.save_state},
      {"--resume", "FILE", "go on from a saved job, whose settings replace those below",
       .text = &want.resume},
      {"--epochs", "N", "how often the training set is seen (5)", NULL, &at.job.epochs, 1, 10000},
      {"--batch-size", "N", "samples a step (128)", NULL, &at.job.batch_size, 1, 65536},
      {"--hidden", "N", "hidden units (128)", NULL, &at.job.hidden, 1, 65536},
      {"--seed", "N", "of the order and of the first weights (1)", NULL, &at.job.seed, 0, INT64_MAX},
      {"--samples", "N", "only the first N of the training set (0: all)", NULL, &at.job.samples, 0,
       INT64_MAX},
  };
  parse_command_line(argc, argv, "Trains a small neural network on MNIST digits.", flags,
                     (int)(sizeof flags / sizeof flags[0]), NULL);
  if (want.data == NULL) {
    fprintf(stderr, "example_train_mnist: --data DIR is needed (--help lists the flags)\n");
    return 2;
  }
  if (want.resume != NULL && checkpoint_load(want.resume, &at) != 0) return 1;
  dl_loader* loader = NULL;
  int status = prepare(&want, &at, &loader);
  if (status == 0) status = run(&want, &at, loader);
  dl_loader_destroy(loader);
  mlp_destroy(&at.model);
  free(at.state);
  return status;
}
