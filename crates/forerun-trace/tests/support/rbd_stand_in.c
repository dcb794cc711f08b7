/*
 * What rbd-replay needs of librados and librbd, without a cluster: preloaded, it connects at
 * once, opens whatever is asked for, completes every request immediately and writes a line
 * about it to the file that STAND_IN_LOG names.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The parts of the names that C++ gives to the functions below. */
#define NAMED(symbol) __asm__(symbol)
#define IOCTX "RN8librados7v14_2_05IoCtxE"
#define LIST "RN4ceph6buffer7v15_2_04listE"
#define COMPLETION "PNS_3RBD13AioCompletionE"

struct state {
	void *argument;
	void (*done)(void *completion, void *argument);
};
struct completion {
	struct state *state;
};

static FILE *told(void)
{
	static FILE *log;

	if (!log) {
		log = fopen(getenv("STAND_IN_LOG"), "a");
		if (!log) {
			perror("STAND_IN_LOG");
			exit(1);
		}
		setvbuf(log, NULL, _IOLBF, 0);
	}
	return log;
}

static int request(const char *what, uint64_t offset, uint64_t len, struct completion *completion)
{
	fprintf(told(), "%s %lu+%lu\n", what, (unsigned long)offset, (unsigned long)len);
	if (completion)
		completion->state->done(completion, completion->state->argument);
	return 0;
}

int connect_cluster(void *rados) NAMED("_ZN8librados7v14_2_05Rados7connectEv");
int connect_cluster(void *rados)
{
	return 0;
}

int create_context(void *rados, const char *pool, void *context)
	NAMED("_ZN8librados7v14_2_05Rados12ioctx_createEPKc" "RNS0_5IoCtxE");
int create_context(void *rados, const char *pool, void *context)
{
	return 0;
}

int open_image(void *rbd, void *context, void *image, const char *name, const char *snapshot)
	NAMED("_ZN6librbd3RBD4openE" IOCTX "RNS_5ImageEPKcS8_");
int open_image(void *rbd, void *context, void *image, const char *name, const char *snapshot)
{
	fprintf(told(), "open %s@%s\n", name, snapshot ? snapshot : "");
	return 0;
}

int open_image_read_only(void *rbd, void *context, void *image, const char *name, const char *snapshot)
	NAMED("_ZN6librbd3RBD14open_read_onlyE" IOCTX "RNS_5ImageEPKcS8_");
int open_image_read_only(void *rbd, void *context, void *image, const char *name, const char *snapshot)
{
	return open_image(rbd, context, image, name, snapshot);
}

void create_completion(struct completion *completion, void *argument, void (*done)(void *, void *))
	NAMED("_ZN6librbd3RBD13AioCompletionC1EPvPFvS2_S2_E");
void create_completion(struct completion *completion, void *argument, void (*done)(void *, void *))
{
	completion->state = malloc(sizeof(*completion->state));
	if (!completion->state)
		abort();
	completion->state->argument = argument;
	completion->state->done = done;
}

long completed_with(struct completion *completion) NAMED("_ZN6librbd3RBD13AioCompletion16get_return_valueEv");
long completed_with(struct completion *completion)
{
	return 0;
}

void release_completion(struct completion *completion) NAMED("_ZN6librbd3RBD13AioCompletion7releaseEv");
void release_completion(struct completion *completion)
{
	free(completion->state);
}

long read_now(void *image, uint64_t offset, uint64_t len, void *bytes)
	NAMED("_ZN6librbd5Image4readEmm" LIST);
long read_now(void *image, uint64_t offset, uint64_t len, void *bytes)
{
	request("read", offset, len, NULL);
	return (long)len;
}

long write_now(void *image, uint64_t offset, uint64_t len, void *bytes)
	NAMED("_ZN6librbd5Image5writeEmm" LIST);
long write_now(void *image, uint64_t offset, uint64_t len, void *bytes)
{
	request("write", offset, len, NULL);
	return (long)len;
}

int discard_now(void *image, uint64_t offset, uint64_t len) NAMED("_ZN6librbd5Image7discardEmm");
int discard_now(void *image, uint64_t offset, uint64_t len)
{
	return request("discard", offset, len, NULL);
}

int read_later(void *image, uint64_t offset, uint64_t len, void *bytes, struct completion *completion)
	NAMED("_ZN6librbd5Image8aio_readEmm" LIST COMPLETION);
int read_later(void *image, uint64_t offset, uint64_t len, void *bytes, struct completion *completion)
{
	return request("aio_read", offset, len, completion);
}

int write_later(void *image, uint64_t offset, uint64_t len, void *bytes, struct completion *completion)
	NAMED("_ZN6librbd5Image9aio_writeEmm" LIST COMPLETION);
int write_later(void *image, uint64_t offset, uint64_t len, void *bytes, struct completion *completion)
{
	return request("aio_write", offset, len, completion);
}

int discard_later(void *image, uint64_t offset, uint64_t len, struct completion *completion)
	NAMED("_ZN6librbd5Image11aio_discardEmm" COMPLETION);
int discard_later(void *image, uint64_t offset, uint64_t len, struct completion *completion)
{
	return request("aio_discard", offset, len, completion);
}
