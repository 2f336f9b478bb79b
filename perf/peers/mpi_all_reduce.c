// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// MPI_Allreduce (fp32, sum, out of place), measured as all_reduce_perf measures: for perf/bench.py, which compiles it
// once for every MPI. Options: --sizes a,b,... (bytes), or -b -e -f; -n iterations (0: about 20 ms), -w warm-ups,
// --touch, --stat mean|median|min, -J file. Prints the columns of the table that have a meaning here.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostSizes = 64, kFewestIterations = 5, kMostIterations = 200000, kPage = 4096 };
static const double kWantedSeconds = 20e-3;
static const double kSeenSeconds = 2e-3;

typedef enum { kMean, kMedian, kMin } Stat;

typedef struct {
  size_t sizes[kMostSizes];
  int size_count;
  int iterations;
  int warmup;
  int touch;
  Stat stat;
  const char* json_path;
} Options;

typedef struct {
  float* send;
  float* recv;
  int count;
  int rank;
  int ranks;
  const Options* options;
} Cell;

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// 0 if the text is no size.
static size_t parse_size(const char* text) {
  char* end = NULL;
  const double value = strtod(text, &end);
  static const char kUnits[] = "KMG";
  const char* unit = *end != '\0' && *end != ',' ? strchr(kUnits, *end & ~0x20) : NULL;
  const int power = unit != NULL ? (int)(unit - kUnits) + 1 : 0;
  return end == text || value < 0 ? 0 : (size_t)value << (10 * power);
}

static void add_list(Options* options, const char* text) {
  for (; text != NULL && options->size_count < kMostSizes; text = strchr(text, ',')) {
    if (*text == ',') ++text;
    options->sizes[options->size_count++] = parse_size(text);
  }
}

static void add_range(Options* options, size_t least, size_t most, size_t factor) {
  for (size_t size = least; size > 0 && size <= most && options->size_count < kMostSizes; size *= factor) {
    options->sizes[options->size_count++] = size;
    if (factor < 2) break;
  }
}

// The argument behind option i; the program's usage is a script's, so a missing one is just the empty text.
static const char* argument(int argc, char** argv, int i) { return i + 1 < argc ? argv[i + 1] : ""; }

static int parse_options(int argc, char** argv, Options* options) {
  size_t least = 32u << 20, most = 32u << 20, factor = 0;
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    const char* value = argument(argc, argv, i);
    if (strcmp(name, "--touch") == 0) {
      options->touch = 1;
      continue;
    }
    if (strcmp(name, "--sizes") == 0)
      add_list(options, value);
    else if (strcmp(name, "-b") == 0)
      least = parse_size(value);
    else if (strcmp(name, "-e") == 0)
      most = parse_size(value);
    else if (strcmp(name, "-f") == 0)
      factor = parse_size(value);
    else if (strcmp(name, "-n") == 0)
      options->iterations = atoi(value);
    else if (strcmp(name, "-w") == 0)
      options->warmup = atoi(value);
    else if (strcmp(name, "-J") == 0)
      options->json_path = value;
    else if (strcmp(name, "--stat") == 0)
      options->stat = strcmp(value, "median") == 0 ? kMedian : strcmp(value, "min") == 0 ? kMin : kMean;
    else
      return 0;
    ++i;
  }
  if (options->size_count == 0) add_range(options, least, most, factor);
  return options->size_count > 0;
}

static void touch(const Cell* cell) {
  for (int i = 0; i < cell->count; ++i) cell->send[i] = (float)((i + cell->rank) % 1024);
}

static void iterate(const Cell* cell) {
  MPI_Allreduce(cell->send, cell->recv, cell->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double figure_of(Stat stat, double* times, int count) {
  double sum = 0;
  if (stat == kMean) {
    for (int i = 0; i < count; ++i) sum += times[i];
    return sum / count;
  }
  qsort(times, (size_t)count, sizeof(*times), compare);
  return stat == kMin ? times[0] : (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static double time_together(const Cell* cell, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_seconds();
  for (int i = 0; i < iterations; ++i) iterate(cell);
  return (now_seconds() - start) / iterations;
}

static double time_each(const Cell* cell, int iterations) {
  double* times = malloc((size_t)iterations * sizeof(*times));
  if (times == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < iterations; ++i) {
    if (cell->options->touch) {
      touch(cell);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    const double start = now_seconds();
    iterate(cell);
    times[i] = now_seconds() - start;
  }
  const double figure = figure_of(cell->options->stat, times, iterations);
  free(times);
  return figure;
}

// All ranks must iterate equally often, so they decide by the slowest of them.
static int choose_iterations(const Cell* cell) {
  if (cell->options->iterations > 0) return cell->options->iterations;
  int tried = 1;
  double slowest = 0;
  for (;; tried *= 2) {
    const double start = now_seconds();
    time_each(cell, tried);
    const double spent = now_seconds() - start;
    MPI_Allreduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (slowest >= kSeenSeconds || tried >= kMostIterations / 2) break;
  }
  const double wanted = kWantedSeconds / (slowest / tried);
  return wanted < kFewestIterations ? kFewestIterations : wanted > kMostIterations ? kMostIterations : (int)wanted;
}

// A peer that computes nonsense quickly is no peer.
static long count_wrong(const Cell* cell) {
  long wrong = 0, all = 0;
  touch(cell);
  memset(cell->recv, 0xff, (size_t)cell->count * sizeof(float));
  iterate(cell);
  for (int i = 0; i < cell->count; ++i) {
    float sum = 0;
    for (int rank = 0; rank < cell->ranks; ++rank) sum += (float)((i + rank) % 1024);
    wrong += cell->recv[i] == sum ? 0 : 1;
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static long measure(const Cell* cell, FILE* json, int is_first) {
  const Options* options = cell->options;
  touch(cell);
  for (int i = 0; i < options->warmup; ++i) iterate(cell);
  const int iterations = choose_iterations(cell);
  const int together = options->stat == kMean && !options->touch;
  const double mine = together ? time_together(cell, iterations) : time_each(cell, iterations);
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double time_us = sum / cell->ranks * 1e6;
  const long wrong = count_wrong(cell);
  if (cell->rank != 0) return wrong;
  const size_t bytes = (size_t)cell->count * sizeof(float);
  printf("%12zu  %12d  %8s  %6s  %10.2f  %6ld\n", bytes, cell->count, "float", "sum", time_us, wrong);
  if (json != NULL)
    fprintf(json, "%s\n  {\"size\": %zu, \"count\": %d, \"out_of_place\": {\"time\": %.6f, \"nwrong\": %ld}}",
            is_first ? "" : ",", bytes, cell->count, time_us, wrong);
  fflush(stdout);
  return wrong;
}

static float* allocate(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, kPage, bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(memory, 0, bytes);
  return memory;
}

static long measure_all(const Options* options, FILE* json) {
  Cell cell = {.options = options};
  size_t most = sizeof(float);
  long wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &cell.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &cell.ranks);
  for (int i = 0; i < options->size_count; ++i) most = options->sizes[i] > most ? options->sizes[i] : most;
  cell.send = allocate(most);
  cell.recv = allocate(most);
  for (int i = 0; i < options->size_count; ++i) {
    cell.count = (int)(options->sizes[i] / sizeof(float));
    wrong += measure(&cell, json, i == 0);
  }
  free(cell.send);
  free(cell.recv);
  return wrong;
}

int main(int argc, char** argv) {
  Options options = {.iterations = 20, .warmup = 1};
  int rank = 0, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  FILE* json = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!parse_options(argc, argv, &options)) {
    fprintf(stderr, "mpi_all_reduce: --sizes a,b or -b -e -f; -n -w --touch --stat -J\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n\"\\")] = '\0';
  for (char* tab = version; (tab = strchr(tab, '\t')) != NULL;) *tab = ' ';
  if (rank == 0) {
    printf("# %s\n#       size         count      type   redop        time   #wrong\n", version);
    if (options.json_path != NULL) json = fopen(options.json_path, "w");
    if (json != NULL) fprintf(json, "{\"version\": \"%s\", \"results\": [", version);
  }
  const long wrong = measure_all(&options, json);
  if (json != NULL) {
    fprintf(json, "\n]}\n");
    fclose(json);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 7;
}
