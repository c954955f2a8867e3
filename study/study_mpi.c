/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/study.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "study/pool.h"

#if TMX_HAVE_MPI
#include <mpi.h>
#endif

static bool launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

#if TMX_HAVE_MPI

enum { TAG_ORDER = 1, TAG_RESULT, TAG_BYTES };
static const unsigned long long NO_MORE = ~0ULL;

struct answer { /* worker -> rank 0, followed by n_byte bytes */
    unsigned long long point;
    enum tmx_status status;
    struct tmx_err err;
    double wall_s;
    unsigned long long n_byte;
};

/* Blocks without spinning, so that ranks may outnumber processors. */
static MPI_Status await(int from, int tag)
{
    static const struct timespec ms = {.tv_nsec = 1000000};
    MPI_Status status;
    int there = 0;
    for (;;) {
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
        if (there) {
            return status;
        }
        nanosleep(&ms, NULL);
    }
}

static void order(int rank, unsigned long long point)
{
    MPI_Send(&point, 1, MPI_UNSIGNED_LONG_LONG, rank, TAG_ORDER, MPI_COMM_WORLD);
}

/* The next answer, recorded; the rank that it is of. */
static int receive(struct tmx_study *s, struct tmx_err *err)
{
    struct answer a;
    const int from = await(MPI_ANY_SOURCE, TAG_RESULT).MPI_SOURCE;
    MPI_Recv(&a, sizeof a, MPI_BYTE, from, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *bytes = calloc(1, (size_t)a.n_byte + 1);
    if (!bytes) {
        tmx_error(err, TMX_ENOMEM, "out of memory");
        return from;
    }
    MPI_Recv(bytes, (int)a.n_byte, MPI_CHAR, from, TAG_BYTES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const struct tmx_pool_result r = {
        .status = a.status, .err = a.err, .bytes = bytes, .n_byte = (size_t)a.n_byte, .wall_s = a.wall_s};
    (void)!tmx_study_record(s, (size_t)a.point, &r, err);
    free(bytes);
    return from;
}

/* Rank 0, after tmx_study_begin. Also to be called when that failed: n_todo = 0 sends the others home. */
static void lead(const struct tmx_mpi *m, struct tmx_study *s, struct tmx_err *err)
{
    struct tmx_progress progress;
    size_t next = 0;
    int busy = 0;
    tmx_progress_begin(&progress, s->options ? s->options->noun : NULL, s->n_todo);
    for (int rank = 1; rank < m->size; rank++) {
        busy += next < s->n_todo;
        order(rank, next < s->n_todo ? s->todo[next++] : NO_MORE);
    }
    while (busy > 0) {
        const size_t failed = s->n_failed;
        struct tmx_err own = {0}; /* what others have sent is recorded after an error, too */
        const int from = receive(s, &own);
        const bool more = !err->code && !tmx_error_give(err, &own) && next < s->n_todo;
        busy -= !more;
        order(from, more ? s->todo[next++] : NO_MORE);
        tmx_progress_add(&progress, s->n_failed > failed);
        tmx_progress_show(&progress);
    }
    tmx_progress_end(&progress);
}

static enum tmx_status answer(void *ctx, const struct tmx_pool_result *r, struct tmx_err *err)
{
    const struct tmx_study *s = ctx;
    struct answer a;
    memset(&a, 0, sizeof a); /* padding is sent too */
    a.point = s->todo[r->task];
    a.status = r->status;
    a.err = r->err;
    a.wall_s = r->wall_s;
    a.n_byte = r->n_byte;
    if (MPI_Send(&a, sizeof a, MPI_BYTE, 0, TAG_RESULT, MPI_COMM_WORLD) != MPI_SUCCESS ||
        MPI_Send(r->bytes, (int)r->n_byte, MPI_CHAR, 0, TAG_BYTES, MPI_COMM_WORLD) != MPI_SUCCESS) {
        return tmx_fail(err, TMX_EIO, "rank 0 does not answer");
    }
    return TMX_OK;
}

static enum tmx_status gather(const void *ctx, void *all, const int *count, const int *at,
                              struct tmx_err *err)
{
    (void)ctx;
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, at, MPI_BYTE, MPI_COMM_WORLD) ==
                   MPI_SUCCESS
               ? TMX_OK
               : tmx_fail(err, TMX_EIO, "another rank does not answer");
}

/* The other ranks, after tmx_study_begin_worker. */
static void follow(struct tmx_study *s, struct tmx_err *err)
{
    while (!err->code) {
        unsigned long long point;
        (void)await(0, TAG_ORDER);
        MPI_Recv(&point, 1, MPI_UNSIGNED_LONG_LONG, 0, TAG_ORDER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (point == NO_MORE) {
            break;
        }
        (void)!tmx_study_run_one(s, (size_t)point, answer, err);
    }
}

#endif

enum tmx_status tmx_mpi_begin(struct tmx_mpi *m, int *argc, char ***argv, struct tmx_err *err)
{
    *m = (struct tmx_mpi){.size = 1};
    if (!launched()) {
        return TMX_OK;
    }
#if TMX_HAVE_MPI
    if (MPI_Init(argc, argv) != MPI_SUCCESS) {
        return tmx_fail(err, TMX_EIO, "cannot join the MPI job");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->size);
    return TMX_OK;
#else /* so that there is one rank, and nothing below asks another */
    (void)argc, (void)argv;
    return tmx_fail(err, TMX_EUNSUPPORTED,
                    "built without MPI, so every rank would do all of it; install libopenmpi-dev and "
                    "build again (sweeps also go with --shard)");
#endif
}

void tmx_mpi_end(void)
{
#if TMX_HAVE_MPI
    int started = 0;
    MPI_Initialized(&started);
    if (started) {
        MPI_Finalize();
    }
#endif
}

void tmx_mpi_silence(const struct tmx_mpi *m)
{
    if (m->rank > 0 && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))) {
        return; /* said twice, then */
    }
}

enum tmx_status tmx_mpi_agree(const struct tmx_mpi *m, struct tmx_err *err)
{
#if TMX_HAVE_MPI
    int own = err->code ? m->rank : m->size, first = own;
    if (m->size > 1) {
        MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    if (first < m->size && m->size > 1) {
        MPI_Bcast(err, sizeof *err, MPI_BYTE, first, MPI_COMM_WORLD);
    }
#else
    (void)m;
#endif
    return err->code;
}

struct tmx_ranks tmx_mpi_ranks(const struct tmx_mpi *m, bool watched)
{
    struct tmx_ranks r = {.rank = (size_t)m->rank, .size = (size_t)m->size, .ctx = m, .watched = watched};
#if TMX_HAVE_MPI
    r.gather = gather;
#endif
    return r;
}

/* "I/N" into a part counted from 0. */
enum tmx_status tmx_study_read_shard(const char *text, struct tmx_study_options *o, struct tmx_err *err)
{
    char *slash, *end;
    const unsigned long i = strtoul(text, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (n == 0 || *end || i < 1 || i > n) {
        return tmx_fail(err, TMX_ECONFIG, "--shard %s: expected I/N with I from 1 to N", text);
    }
    o->shard = i - 1;
    o->n_shard = n;
    return TMX_OK;
}

enum tmx_status tmx_study_on_ranks(const struct tmx_mpi *mpi, const struct tmx_runs *runs,
                                   const struct tmx_study_options *o, struct tmx_err *err)
{
    struct tmx_study s;
    if (mpi->rank > 0) {
        (void)!tmx_study_begin_worker(&s, runs, o, err);
#if TMX_HAVE_MPI
        follow(&s, err);
#endif
        tmx_study_end(&s);
        return err->code;
    }
    (void)!tmx_study_begin(&s, runs, o, err);
#if TMX_HAVE_MPI
    if (mpi->size > 1) {
        struct tmx_study nothing = {.options = o};
        lead(mpi, err->code ? &nothing : &s, err);
    }
#endif
    if (!err->code && mpi->size == 1) {
        (void)!tmx_study_run_local(&s, err);
    }
    if (s.results) {
        struct tmx_err late = {0};
        (void)(tmx_study_warn(&s, &late) && !err->code && tmx_error_give(err, &late));
        const size_t n_failed = s.n_failed + s.n_failed_before;
        printf("%zu points, %zu distinct runs: %zu there before, %zu done now, %zu failed; %s\n",
               s.runs->n_point, s.n_run, s.n_before, s.n_done, n_failed, o->path);
        if (n_failed > 0) {
            printf("The errors: thermix query %s --failed; run them again: --retry-failed\n", o->path);
        }
        if (n_failed > 0) {
            tmx_error(err, TMX_ESOLVE, "%zu of %zu runs failed", n_failed, s.n_run);
        }
        tmx_study_end(&s);
    }
    return err->code;
}
