/*
 * Copies a file from any storage to standard output, and shows what the engine did:
 *
 *     cc -o read read.c $(pkg-config --cflags --libs forerun)
 *     ./read s3://my-bucket/data train/part-0001.bin > part.bin
 *     ./read https://example.org/data.bin > data.bin
 */
#include <forerun.h>
#include <inttypes.h>
#include <stdio.h>

static int failed(const char *what) {
    fprintf(stderr, "cannot %s: %s\n", what, forerun_last_error());
    return 1;
}

static int copy(const struct forerun_file *file, FILE *to) {
    static char buf[1 << 20];
    uint64_t offset = 0;
    for (;;) {
        ssize_t len = forerun_pread(file, buf, sizeof buf, offset);
        if (len < 0)
            return failed("read");
        if (len == 0)
            return 0;
        if (fwrite(buf, 1, (size_t)len, to) != (size_t)len) {
            perror("cannot write");
            return 1;
        }
        offset += (uint64_t)len;
    }
}

static int show(const struct forerun_engine *engine) {
    struct forerun_stats stats = { .size = sizeof stats };
    if (forerun_stats(engine, &stats) < 0)
        return failed("count");
    fprintf(stderr, "read %" PRIu64 " bytes by %" PRIu64 " fetches, %" PRIu64 " of them ahead\n", stats.read_bytes,
            stats.demand_count + stats.readahead_count, stats.readahead_count);
    return 0;
}

int main(int argc, char **argv) {
    struct forerun_options options = { .size = sizeof options, .memory_bytes = 64 << 20 };
    struct forerun_engine *engine;
    struct forerun_file *file;
    int status;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s URL [PATH] > FILE\n", argv[0]);
        return 2;
    }
    if (forerun_engine_new(argv[1], &options, &engine) < 0)
        return failed("connect");
    if (forerun_open(engine, argv[2], &file) < 0) {
        status = failed("open");
    } else {
        forerun_advise(file, 0, 0, FORERUN_ADVICE_SEQUENTIAL);
        status = copy(file, stdout) || show(engine);
        forerun_close(file);
    }
    forerun_engine_close(engine);
    return status;
}
