/*
 * Forerun for C: reads slow storage fast. docs/c.md is the reference.
 *
 * A call that fails returns a negative errno, and forerun_last_error() says the rest. Calls are
 * thread-safe. A handle belongs to the caller until it is closed, and is not used after that.
 *
 * `make header` generates this file from crates/forerun-c.
 */

#ifndef FORERUN_H
#define FORERUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/**
 * Advice: nothing special. It takes back the advice before.
 */
#define FORERUN_ADVICE_NORMAL 0

/**
 * Advice: the next read cannot be told. Nothing is read ahead for this file.
 */
#define FORERUN_ADVICE_RANDOM 1

/**
 * Advice: the file is read onward. Readahead begins with the first read.
 */
#define FORERUN_ADVICE_SEQUENTIAL 2

/**
 * Advice: these bytes are read next, after those of earlier advice.
 */
#define FORERUN_ADVICE_WILLNEED 3

/**
 * Advice: nobody needs these bytes soon.
 */
#define FORERUN_ADVICE_DONTNEED 4

/**
 * In the flags of struct forerun_options: asks an object store without credentials.
 */
#define FORERUN_ANONYMOUS 1

/**
 * An engine: one storage, one memory budget, and the threads that fetch.
 */
struct forerun_engine;

/**
 * An open file: one version of one object.
 */
struct forerun_file;

/**
 * Choices of an engine. Zero and NULL stand for the default, so that an initializer names only the
 * fields that differ: { .size = sizeof(struct forerun_options), .memory_bytes = 64 << 20 }.
 */
struct forerun_options {
  /**
   * sizeof(struct forerun_options). Later versions of the struct are longer.
   */
  size_t size;
  /**
   * Memory for cached bytes, data in flight included, in bytes: 256 MiB unless chosen, at least 4 MiB.
   */
  uint64_t memory_bytes;
  /**
   * The name of the policy: "adaptive" unless chosen.
   */
  const char *policy;
  /**
   * How long names and sizes are believed, in milliseconds: 1000 unless chosen.
   */
  uint64_t metadata_ttl_ms;
  /**
   * How long transient errors are retried, in milliseconds: 30000 unless chosen.
   */
  uint64_t retry_timeout_ms;
  /**
   * The path of a profile, which records what is read and in which order for the next run.
   */
  const char *learn;
  /**
   * The URL of an object store other than the provider's own.
   */
  const char *endpoint;
  /**
   * The region of an S3 bucket.
   */
  const char *region;
  /**
   * The profile of the AWS configuration files.
   */
  const char *profile;
  /**
   * The path of a file with headers for a web server.
   */
  const char *header_file;
  /**
   * The sum of flags, such as FORERUN_ANONYMOUS.
   */
  uint64_t flags;
};

/**
 * Sums since the engine was made. Sizes are in bytes.
 */
struct forerun_stats {
  /**
   * sizeof(struct forerun_stats), set by the caller. Later versions of the struct are longer.
   */
  size_t size;
  /**
   * Reads asked for.
   */
  uint64_t read_count;
  /**
   * Bytes asked for: the sum of the next three.
   */
  uint64_t read_bytes;
  /**
   * Bytes that were in memory when asked for.
   */
  uint64_t hit_bytes;
  /**
   * Bytes that were in flight when asked for.
   */
  uint64_t late_bytes;
  /**
   * Bytes that were neither.
   */
  uint64_t miss_bytes;
  /**
   * Fetches that a reader waited for.
   */
  uint64_t demand_count;
  /**
   * Bytes of these fetches, with the readahead that they included.
   */
  uint64_t demand_bytes;
  /**
   * Fetches ahead of any reader.
   */
  uint64_t readahead_count;
  /**
   * Bytes of these fetches.
   */
  uint64_t readahead_bytes;
  /**
   * Requests that repeated late ones (hedged requests).
   */
  uint64_t hedged_count;
  /**
   * Bytes of these requests.
   */
  uint64_t hedged_bytes;
  /**
   * Bytes fetched ahead that left the memory unread.
   */
  uint64_t wasted_bytes;
  /**
   * Fetches that failed.
   */
  uint64_t failed_count;
  /**
   * Memory in use now: cached and in flight.
   */
  uint64_t memory_bytes;
  /**
   * The most memory that was ever in use.
   */
  uint64_t memory_bytes_peak;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0".
 */
const char *forerun_version(void);

/**
 * Makes an engine over the storage that url names: a path, or a URL with http, https, s3, gs or az. The
 * storage is asked whether it answers. options may be NULL. The handle is stored in *engine, and NULL if
 * the call fails.
 */
int forerun_engine_new(const char *url,
                       const struct forerun_options *options,
                       struct forerun_engine **engine);

/**
 * Closes the engine. Files that are still open keep it at work until they are closed. NULL is allowed.
 * No other thread may be in a call with this engine.
 */
void forerun_engine_close(struct forerun_engine *engine);

/**
 * The text of the last call that failed on this thread: what happened, to what, and what to do. It is
 * empty if none failed. The text stays valid until the next call that fails on this thread.
 */
const char *forerun_last_error(void);

/**
 * Opens the object at path, which is relative to the engine's URL, such as "train/part-0001.bin". path may
 * be NULL if that URL names one object. The handle is stored in *file, and NULL if the call fails.
 */
int forerun_open(const struct forerun_engine *engine, const char *path, struct forerun_file **file);

/**
 * Closes the file. NULL is allowed. No other thread may be in a call with this file.
 */
void forerun_close(struct forerun_file *file);

/**
 * The size in bytes, of the version that was opened.
 */
int64_t forerun_size(const struct forerun_file *file);

/**
 * Reads count bytes from offset on into buf, and returns how many. They are fewer only where the file
 * ends, and 0 past its end. Any number of threads may read one file at once.
 */
ssize_t forerun_pread(const struct forerun_file *file, void *buf, size_t count, uint64_t offset);

/**
 * As forerun_pread, into count buffers one after the other. At most 1024 buffers are allowed.
 */
ssize_t forerun_preadv(const struct forerun_file *file,
                       const struct iovec *buffers,
                       int count,
                       uint64_t offset);

/**
 * Says how this file will be read: one of FORERUN_ADVICE_*. It changes how fast reads are answered, never
 * their bytes. offset and len, in bytes, matter for WILLNEED and DONTNEED. A len of 0 means to the end.
 */
int forerun_advise(const struct forerun_file *file, uint64_t offset, uint64_t len, int advice);

/**
 * Says, in a new child process, that handles of the parent have no threads here: every call on them then
 * fails with -ENOTCONN. fork() does this by itself. Call it after another way to fork, such as
 * syscall(SYS_clone, ...), before any other call.
 */
void forerun_after_fork(void);

/**
 * Fills *stats, whose size the caller has set.
 */
int forerun_stats(const struct forerun_engine *engine, struct forerun_stats *stats);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FORERUN_H */
