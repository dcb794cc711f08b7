/*
 * Every call, right and wrong: ./calls DIRECTORY FILE, where FILE in DIRECTORY has at least 1 MiB. It prints the
 * first check that fails. tests/c.rs compiles and runs it, as it is and under valgrind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <forerun.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds)) {                                                                                                \
            fprintf(stderr, "%s:%d: %s does not hold: %s\n", __FILE__, __LINE__, #holds, forerun_last_error());        \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static const char *directory, *name;
static unsigned char *content;
static size_t size;

static int last_error_has(const char *text) { return strstr(forerun_last_error(), text) != NULL; }

static void load(void) {
    int fd = openat(open(directory, O_RDONLY), name, O_RDONLY);
    size = (size_t)lseek(fd, 0, SEEK_END);
    content = malloc(size);
    CHECK(content != NULL && size > 1 << 20 && pread(fd, content, size, 0) == (ssize_t)size);
}

static struct forerun_engine *connect_to(const char *url) {
    struct forerun_options options = { .size = sizeof options, .memory_bytes = 8 << 20, .policy = "adaptive" };
    struct forerun_engine *engine = NULL;
    CHECK(forerun_engine_new(url, &options, &engine) == 0 && engine != NULL);
    return engine;
}

static struct forerun_file *open_in(const struct forerun_engine *engine) {
    struct forerun_file *file = NULL;
    CHECK(forerun_open(engine, name, &file) == 0 && file != NULL);
    CHECK(forerun_size(file) == (int64_t)size);
    return file;
}

static void reads_equal_the_file(const struct forerun_file *file) {
    static unsigned char buf[100000];
    for (size_t offset = 0; offset < size; offset += sizeof buf) {
        size_t len = size - offset < sizeof buf ? size - offset : sizeof buf;
        CHECK(forerun_pread(file, buf, sizeof buf, offset) == (ssize_t)len);
        CHECK(memcmp(buf, content + offset, len) == 0);
    }
    CHECK(forerun_pread(file, buf, sizeof buf, size) == 0);
    CHECK(forerun_pread(file, buf, sizeof buf, UINT64_MAX) == 0);
    CHECK(forerun_pread(file, NULL, 0, 5) == 0);
}

static void buffers_are_filled_in_order(const struct forerun_file *file) {
    static unsigned char first[3], second[1 << 20], third[70000];
    struct iovec buffers[] = { { first, sizeof first }, { NULL, 0 }, { second, sizeof second }, { third, sizeof third } };
    size_t rest = size - 77 - sizeof first - sizeof second;
    size_t last = rest < sizeof third ? rest : sizeof third;
    CHECK(forerun_preadv(file, buffers, 4, 77) == (ssize_t)(sizeof first + sizeof second + last));
    CHECK(memcmp(first, content + 77, sizeof first) == 0);
    CHECK(memcmp(second, content + 80, sizeof second) == 0);
    CHECK(memcmp(third, content + 80 + sizeof second, last) == 0);
    CHECK(forerun_preadv(file, buffers, 4, size - 2) == 2 && memcmp(first, content + size - 2, 2) == 0);
    CHECK(forerun_preadv(file, buffers, 4, size + 1) == 0);
    CHECK(forerun_preadv(file, NULL, 0, 0) == 0);
}

static void wrong_calls_are_refused(const struct forerun_engine *engine, const struct forerun_file *file) {
    struct forerun_file *none = (struct forerun_file *)&size;
    struct iovec buffers[] = { { NULL, 1 }, { content, SIZE_MAX } };
    struct forerun_stats stats = { .size = 4 };
    CHECK(forerun_open(engine, "missing.bin", &none) == -ENOENT && none == NULL && last_error_has("missing.bin"));
    CHECK(forerun_open(engine, NULL, &none) == -EINVAL && last_error_has("name a file in it"));
    CHECK(forerun_open(engine, "", &none) == -EINVAL && last_error_has("directory"));
    CHECK(forerun_open(engine, "\xff", &none) == -EINVAL && last_error_has("UTF-8"));
    CHECK(forerun_open(engine, name, NULL) == -EINVAL);
    CHECK(forerun_open(NULL, name, &none) == -EINVAL && last_error_has("the engine is NULL"));
    CHECK(forerun_pread(NULL, content, 1, 0) == -EINVAL && last_error_has("the file is NULL"));
    CHECK(forerun_pread(file, NULL, 1, 0) == -EINVAL && last_error_has("the buffer is NULL"));
    CHECK(forerun_pread(file, content, SIZE_MAX, 0) == -EINVAL && last_error_has("too long"));
    CHECK(forerun_preadv(file, buffers, 1, 0) == -EINVAL && last_error_has("the buffer is NULL"));
    CHECK(forerun_preadv(file, buffers, 2, 0) == -EINVAL && last_error_has("SSIZE_MAX"));
    CHECK(forerun_preadv(file, buffers, -1, 0) == -EINVAL && last_error_has("is -1"));
    CHECK(forerun_preadv(file, buffers, 1025, 0) == -EINVAL);
    CHECK(forerun_preadv(file, NULL, 1, 0) == -EINVAL);
    CHECK(forerun_advise(file, 0, 0, 9) == -EINVAL && last_error_has("9"));
    CHECK(forerun_size(NULL) == -EINVAL);
    CHECK(forerun_stats(engine, NULL) == -EINVAL);
    CHECK(forerun_stats(engine, &stats) == -EINVAL && last_error_has("sizeof(struct forerun_stats)"));
    forerun_close(NULL);
    forerun_engine_close(NULL);
}

static void wrong_options_are_refused(void) {
    struct forerun_engine *engine = (struct forerun_engine *)&size;
    struct { struct forerun_options known; uint64_t later; } options = { { .size = sizeof options }, 1 };
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -E2BIG && engine == NULL);
    options.later = 0;
    options.known.policy = "fastest";
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -EINVAL);
    CHECK(last_error_has("\"fastest\"") && last_error_has("adaptive"));
    options.known.policy = "plain";
    options.known.memory_bytes = 1;
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -EINVAL && last_error_has("MiB"));
    options.known.memory_bytes = 0;
    options.known.flags = 6;
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -EINVAL && last_error_has("0x6"));
    options.known.flags = FORERUN_ANONYMOUS;
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -EINVAL && last_error_has("anonymous"));
    options.known = (struct forerun_options){ .size = 8 };
    CHECK(forerun_engine_new(directory, &options.known, &engine) == -EINVAL && last_error_has("sizeof"));
    CHECK(forerun_engine_new("/no/such/place", NULL, &engine) == -ENOENT && last_error_has("/no/such/place"));
    CHECK(forerun_engine_new(NULL, NULL, &engine) == -EINVAL);
    CHECK(forerun_engine_new(directory, NULL, NULL) == -EINVAL);
    /* A program of a later version, which sets nothing that this one does not know. */
    options.known = (struct forerun_options){ .size = sizeof options, .metadata_ttl_ms = 5 };
    CHECK(forerun_engine_new(directory, &options.known, &engine) == 0 && engine != NULL);
    forerun_engine_close(engine);
}

static void reads_are_counted(const struct forerun_engine *engine) {
    struct { struct forerun_stats known; uint64_t later; } stats = { { .size = sizeof stats }, 7 };
    CHECK(forerun_stats(engine, &stats.known) == 0);
    CHECK(stats.known.size == sizeof stats && stats.later == 0);
    CHECK(stats.known.read_bytes > size && stats.known.read_count > size / 100000);
    CHECK(stats.known.hit_bytes + stats.known.late_bytes + stats.known.miss_bytes == stats.known.read_bytes);
    CHECK(stats.known.demand_bytes + stats.known.readahead_bytes >= size);
    CHECK(stats.known.memory_bytes <= stats.known.memory_bytes_peak && stats.known.memory_bytes_peak <= 8 << 20);
}

static void advice_changes_no_bytes(const struct forerun_file *file) {
    unsigned char byte;
    CHECK(forerun_advise(file, 4096, 0, FORERUN_ADVICE_WILLNEED) == 0);
    CHECK(forerun_advise(file, size + 1, 1, FORERUN_ADVICE_WILLNEED) == 0);
    CHECK(forerun_advise(file, 0, UINT64_MAX, FORERUN_ADVICE_DONTNEED) == 0);
    CHECK(forerun_advise(file, 0, 0, FORERUN_ADVICE_RANDOM) == 0);
    CHECK(forerun_advise(file, 0, 0, FORERUN_ADVICE_SEQUENTIAL) == 0);
    CHECK(forerun_advise(file, 0, 0, FORERUN_ADVICE_NORMAL) == 0);
    CHECK(forerun_pread(file, &byte, 1, 4096) == 1 && byte == content[4096]);
}

static void *read_every_other_piece(void *of) {
    void **argument = of;
    const struct forerun_file *file = argument[0];
    unsigned char buf[30000];
    CHECK(strcmp(forerun_last_error(), "") == 0);
    for (size_t offset = argument[1] ? sizeof buf : 0; offset + sizeof buf <= size; offset += 2 * sizeof buf) {
        CHECK(forerun_pread(file, buf, sizeof buf, offset) == sizeof buf);
        CHECK(memcmp(buf, content + offset, sizeof buf) == 0);
    }
    return NULL;
}

static void two_threads_share_a_file(const struct forerun_file *file) {
    void *arguments[2][2] = { { (void *)file, NULL }, { (void *)file, &size } };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, read_every_other_piece, arguments[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void a_file_outlives_its_engine(void) {
    char url[4096];
    struct forerun_file *file = NULL;
    snprintf(url, sizeof url, "%s/%s", directory, name);
    struct forerun_engine *engine = connect_to(url);
    CHECK(forerun_open(engine, NULL, &file) == 0);
    forerun_engine_close(engine);
    reads_equal_the_file(file);
    forerun_close(file);
}

/* Memcheck would report memory of threads that stayed with the parent, so another program takes its place. */
static void end_child(void) {
    execlp("true", "true", (char *)NULL);
    _exit(127);
}

static void a_child_needs_an_engine_of_its_own(struct forerun_engine *engine, struct forerun_file *file) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct forerun_stats stats = { .size = sizeof stats };
        struct forerun_file *other;
        CHECK(forerun_pread(file, content, 1, 0) == -ENOTCONN && last_error_has("make another engine"));
        CHECK(forerun_size(file) == -ENOTCONN && forerun_advise(file, 0, 0, 0) == -ENOTCONN);
        CHECK(forerun_open(engine, name, &other) == -ENOTCONN && other == NULL);
        CHECK(forerun_stats(engine, &stats) == -ENOTCONN);
        struct forerun_engine *own = connect_to(directory);
        other = open_in(own);
        reads_equal_the_file(other);
        /* As a child of a bare clone(2) says it. */
        forerun_after_fork();
        CHECK(forerun_size(other) == -ENOTCONN);
        end_child();
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    child = fork();
    if (child == 0) {
        forerun_close(file);
        forerun_engine_close(engine);
        end_child();
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    reads_equal_the_file(file);
}

int main(int argc, char **argv) {
    CHECK(argc == 3 && strchr(forerun_version(), '.') != NULL && strcmp(forerun_last_error(), "") == 0);
    directory = argv[1];
    name = argv[2];
    load();
    struct forerun_engine *engine = connect_to(directory);
    struct forerun_file *file = open_in(engine);
    reads_equal_the_file(file);
    buffers_are_filled_in_order(file);
    reads_are_counted(engine);
    wrong_calls_are_refused(engine, file);
    wrong_options_are_refused();
    advice_changes_no_bytes(file);
    two_threads_share_a_file(file);
    a_child_needs_an_engine_of_its_own(engine, file);
    a_file_outlives_its_engine();
    forerun_close(file);
    forerun_engine_close(engine);
    free(content);
    return 0;
}
