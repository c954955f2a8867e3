/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "study/pool.h"

#include <errno.h>
#ifdef TMX_COVERAGE
#include <gcov.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/os.h"

enum { POLL_MS = 200, READ_SIZE = 65536 };
/* Four runs that are stepped together take, each, what 64 take; one alone takes 1.8 times as long (measured).
 */
enum { FEW = 4 };
static const double MOST_S = 60; /* what a kill may cost a worker, where four tasks take less */

struct head { /* what a child sends before the bytes of a task */
    size_t task;
    enum tmx_status status;
    struct tmx_err err;
    double wall_s, cpu_s;
    size_t n_byte;
};

struct worker {
    pid_t pid; /* 0: idle */
    int fd;
    size_t task[TMX_POOL_TOGETHER], n_task; /* not answered yet */
    bool alone;                             /* it has had one task from the start */
    double begin_s;
    char *data; /* [room] received and not taken yet */
    size_t size, room;
};

struct tmx_pool_child {
    int fd;
    bool ok;
    double wall_s, cpu_s; /* at the last answer */
    double *share;        /* [n_task] done of each; the parent's memory; NULL: it has none to share */
};

struct pool {
    const struct tmx_pool *p;
    struct tmx_err
        e; /* the first error stays (base/err.h): no child is started, nothing handed over after it */
    struct tmx_arena arena;
    struct worker *workers; /* [n_worker] */
    unsigned n_worker, n_busy;
    char **held; /* [n_task] what finished tasks sent, head first; owned until collected */
    bool *again; /* [n_task] to be run once more, alone */
    size_t n_again;
    size_t most;   /* tasks a child: what ends together is lost together by a kill, so first one, then more
                      where they are short */
    double *share; /* [n_task] done of those that children work at, written by them */
    size_t next_start, next_collect, n_collected;
    sigset_t stop, before;
    struct tmx_progress progress;
};

static bool write_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        p += n;
        size -= (size_t)n;
    }
    return true;
}

void tmx_pool_done(struct tmx_pool_child *c, size_t task, enum tmx_status st, const struct tmx_err *err,
                   const void *bytes, size_t n_byte)
{
    const double wall_s = tmx_os_now_s(), cpu_s = tmx_os_cpu_s();
    const struct head head = {.task = task,
                              .status = st,
                              .err = err ? *err : (struct tmx_err){0},
                              .wall_s = wall_s - c->wall_s,
                              .cpu_s = cpu_s - c->cpu_s,
                              .n_byte = n_byte};
    c->ok = c->ok && write_all(c->fd, &head, sizeof head) && write_all(c->fd, bytes, n_byte);
    c->wall_s = wall_s;
    c->cpu_s = cpu_s;
}

void tmx_pool_progress(struct tmx_pool_child *c, size_t task, double share)
{
    if (c->share) {
        c->share[task] = share;
    }
}

static _Noreturn void child(const struct pool *s, const struct worker *w, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves no worker behind */
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the parent decides */
    struct tmx_pool_child c = {
        .fd = fd, .ok = true, .wall_s = tmx_os_now_s(), .cpu_s = tmx_os_cpu_s(), .share = s->share};
    if (s->p->run_together) {
        s->p->run_together(s->p->ctx, w->task, w->n_task, &c);
    } else {
        struct tmx_err err = {0};
        char *bytes = NULL;
        size_t n_byte = 0;
        FILE *out = open_memstream(&bytes, &n_byte);
        const enum tmx_status st = out ? s->p->run(s->p->ctx, w->task[0], out, &err) : TMX_OK;
        const bool ok = out && fclose(out) == 0;
        if (out) {
            tmx_pool_done(&c, w->task[0], st, &err, bytes, ok ? n_byte : 0);
        }
        c.ok = c.ok && ok;
    }
    fflush(stdout);
#ifdef TMX_COVERAGE
    __gcov_dump(); /* _exit leaves out what writes the counters */
#endif
    _exit(c.ok ? 0 : 1);
}

/* w->task and n_task say what. */
static void start(struct pool *s, struct worker *w)
{
    int fd[2];
    if (pipe(fd) != 0) {
        tmx_error(&s->e, TMX_EIO, "cannot make a pipe: %s", strerror(errno));
        return;
    }
    fflush(stdout);
    fflush(stderr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        child(s, w, fd[1]);
    }
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        tmx_error(&s->e, TMX_EIO, "cannot start a worker: %s", strerror(errno));
        return;
    }
    w->pid = pid;
    w->fd = fd[0];
    w->alone = w->n_task == 1;
    w->begin_s = tmx_os_now_s();
    s->n_busy++;
}

static int reap(struct worker *w)
{
    int status = 0;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(w->fd);
    w->pid = 0;
    return status;
}

static bool keep(struct pool *s, struct worker *w, const struct head *head, const char *bytes)
{
    size_t i = 0;
    while (i < w->n_task && w->task[i] != head->task) {
        i++;
    }
    char *copy = i < w->n_task ? malloc(sizeof *head + head->n_byte + 1) : NULL;
    if (!copy) {
        return false;
    }
    memcpy(copy, head, sizeof *head);
    memcpy(copy + sizeof *head, bytes, head->n_byte);
    copy[sizeof *head + head->n_byte] = '\0';
    s->held[head->task] = copy;
    if (s->share) {
        s->share[head->task] = 0; /* from here on it counts as a whole one */
    }
    w->n_task--;
    memmove(&w->task[i], &w->task[i + 1], (w->n_task - i) * sizeof w->task[0]);
    return true;
}

/* The first whole answer among what a child has sent; *task is its task. */
static bool take(struct pool *s, struct worker *w, size_t *task)
{
    struct head head;
    if (w->size < sizeof head) {
        return false;
    }
    memcpy(&head, w->data, sizeof head);
    if (w->size - sizeof head < head.n_byte || !keep(s, w, &head, w->data + sizeof head)) {
        return false;
    }
    w->size -= sizeof head + head.n_byte;
    memmove(w->data, w->data + sizeof head + head.n_byte, w->size);
    *task = head.task;
    return true;
}

/* A child closed its pipe: what it has not answered is run again, or an error reports how it died. */
static void finish(struct pool *s, struct worker *w)
{
    const int status = reap(w);
    const double took_s = tmx_os_now_s() - w->begin_s;
    s->n_busy--;
    if (s->most < FEW || (took_s < MOST_S / 4 && s->most < TMX_POOL_TOGETHER)) {
        s->most *= 2;
    } else if (took_s > MOST_S && s->most > FEW) {
        s->most /= 2;
    }
    w->size = 0;
    for (size_t i = 0; i < w->n_task && !w->alone; i++) {
        s->again[w->task[i]] = true;
        if (s->share) {
            s->share[w->task[i]] = 0;
        }
        s->n_again++;
    }
    if (w->alone && w->n_task == 1) {
        struct head head = {.task = w->task[0]};
        head.status = WIFSIGNALED(status)
                          ? tmx_fail(&head.err, TMX_ESOLVE, "the run crashed with signal %d (%s)",
                                     WTERMSIG(status), strsignal(WTERMSIG(status)))
                          : tmx_fail(&head.err, TMX_ESOLVE, "the run ended early with exit code %d",
                                     WEXITSTATUS(status));
        tmx_memory_check(keep(s, w, &head, ""), &s->e);
    }
}

/* More of what a child sends. */
static void receive(struct pool *s, struct worker *w)
{
    if (w->room - w->size < READ_SIZE + 1) {
        const size_t room = 2 * w->room + 2 * (size_t)READ_SIZE;
        char *data = realloc(w->data, room);
        if (!data) {
            tmx_error(&s->e, TMX_ENOMEM, "out of memory");
            return;
        }
        w->data = data;
        w->room = room;
    }
    const ssize_t n = read(w->fd, w->data + w->size, READ_SIZE);
    if (n > 0) {
        w->size += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        finish(s, w);
    }
}

static void collect(struct pool *s, size_t task)
{
    struct head head;
    char *data = s->held[task];
    s->held[task] = NULL;
    memcpy(&head, data, sizeof head);
    const struct tmx_pool_result r = {
        .task = task,
        .status = head.status,
        .err = head.err,
        .bytes = head.n_byte ? data + sizeof head : "",
        .n_byte = head.n_byte,
        .wall_s = head.wall_s,
        .cpu_s = head.cpu_s,
    };
    if (s->p->collect) {
        s->e.code = s->p->collect(s->p->ctx, &r, &s->e);
    } else if (r.status) {
        s->e = r.err;
    }
    free(data);
    s->n_collected++;
    tmx_progress_add(&s->progress, r.status != TMX_OK);
}

/* The next tasks for a worker, shared out among those that are idle; 0: there are none. */
static size_t give(struct pool *s, struct worker *w)
{
    const size_t idle = s->n_worker - s->n_busy;
    const size_t left = s->p->n_task - s->next_start;
    size_t most = 1;
    w->n_task = 0;
    for (size_t i = 0; i < s->p->n_task && s->n_again > 0; i++) {
        if (s->again[i]) {
            s->again[i] = false;
            s->n_again--;
            w->task[w->n_task++] = i;
            return 1;
        }
    }
    if (s->p->run_together) {
        const size_t limit = s->most < s->p->n_together ? s->most : s->p->n_together,
                     share = (left + idle - 1) / idle;
        most = share < limit ? share : limit;
    }
    while (s->next_start < s->p->n_task && w->n_task < most) {
        w->task[w->n_task++] = s->next_start++;
    }
    return w->n_task;
}

static void start_idle(struct pool *s)
{
    for (unsigned i = 0; i < s->n_worker && !s->e.code; i++) {
        if (s->workers[i].pid == 0 && give(s, &s->workers[i]) > 0) {
            start(s, &s->workers[i]);
        }
    }
}

static bool runs(const struct pool *s, size_t task)
{
    for (unsigned i = 0; i < s->n_worker; i++) {
        const struct worker *w = &s->workers[i];
        if (w->pid != 0 && w->n_task > 0 && w->task[0] == task) {
            return true;
        }
    }
    return false;
}

/* Hand over what is finished, in the order asked for. */
static void hand_over(struct pool *s, size_t task)
{
    if (s->p->as_completed) {
        collect(s, task);
        return;
    }
    while (s->next_collect < s->next_start && !s->e.code && !runs(s, s->next_collect)) {
        collect(s, s->next_collect++);
    }
}

/* More of what a child sends, and hand over the tasks that it has answered. */
static void read_answers(struct pool *s, struct worker *w)
{
    receive(s, w);
    for (size_t task; !s->e.code && w->pid && take(s, w, &task);) {
        hand_over(s, task);
    }
}

/* Ends the children; what they have sent before is handed over still. */
static void stop(struct pool *s)
{
    for (unsigned i = 0; i < s->n_worker && !s->e.code; i++) {
        struct worker *w = &s->workers[i];
        if (w->pid) {
            kill(w->pid, SIGKILL);
        }
        while (w->pid && !s->e.code) {
            read_answers(s, w);
        }
    }
    tmx_error(&s->e, TMX_ESTOPPED, "stopped by a signal: %zu of %zu %s done", s->n_collected, s->p->n_task,
              s->p->noun ? s->p->noun : "tasks");
}

static void step(struct pool *s, struct pollfd *fds)
{
    const struct timespec now = {0};
    for (unsigned i = 0; i < s->n_worker; i++) {
        fds[i] = (struct pollfd){.fd = s->workers[i].pid ? s->workers[i].fd : -1, .events = POLLIN};
    }
    if (poll(fds, s->n_worker, POLL_MS) < 0 && errno != EINTR) {
        tmx_error(&s->e, TMX_EIO, "waiting for workers: %s", strerror(errno));
    } else if (sigtimedwait(&s->stop, NULL, &now) > 0) {
        stop(s);
    }
    for (unsigned i = 0; i < s->n_worker && !s->e.code; i++) {
        struct worker *w = &s->workers[i];
        if (w->pid == 0 || fds[i].revents == 0) {
            continue;
        }
        const size_t last = w->task[0];
        const bool waits = w->n_task > 0;
        read_answers(s, w);
        if (!s->e.code && w->pid == 0 && waits && s->held[last]) { /* it died over its only task */
            hand_over(s, last);
        }
    }
    s->progress.part = 0;
    for (size_t i = 0; s->share && i < s->p->n_task; i++) {
        s->progress.part += s->share[i];
    }
    tmx_progress_show(&s->progress);
}

static void release(struct pool *s)
{
    for (unsigned i = 0; s->workers && i < s->n_worker; i++) {
        if (s->workers[i].pid) {
            kill(s->workers[i].pid, SIGKILL);
            (void)reap(&s->workers[i]);
        }
        free(s->workers[i].data);
    }
    for (size_t i = 0; s->held && i < s->p->n_task; i++) {
        free(s->held[i]);
    }
    tmx_arena_finish(&s->arena);
    s->progress.part = 0;
    if (s->share) {
        munmap(s->share, s->p->n_task * sizeof *s->share);
    }
    tmx_progress_end(&s->progress);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

enum tmx_status tmx_pool_run(const struct tmx_pool *p, struct tmx_err *err)
{
    const long n_processor = sysconf(_SC_NPROCESSORS_ONLN); /* that this process may use */
    struct pool s = {.p = p, .n_worker = p->n_worker, .most = 1};
    s.n_worker = s.n_worker ? s.n_worker : n_processor > 0 ? (unsigned)n_processor : 1;
    if (tmx_failed(err) || p->n_task == 0) {
        return tmx_failed(err) ? err->code : TMX_OK;
    }
    if (s.n_worker > p->n_task) {
        s.n_worker = (unsigned)p->n_task;
    }
    sigemptyset(&s.stop);
    sigaddset(&s.stop, SIGINT);
    sigaddset(&s.stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &s.stop, &s.before);
    struct pollfd *fds;
    TMX_TAKE(&s.arena, s.workers, s.n_worker);
    TMX_TAKE(&s.arena, s.held, p->n_task);
    TMX_TAKE(&s.arena, s.again, p->n_task);
    TMX_TAKE(&s.arena, fds, s.n_worker);
    s.share = tmx_os_shared(p->n_task * sizeof *s.share); /* without it the time left is known later */
    tmx_arena_check(&s.arena, &s.e);
    if (!s.e.code) {
        tmx_progress_begin(&s.progress, p->noun, p->n_task);
        start_idle(&s);
        while (!s.e.code && s.n_busy > 0) {
            step(&s, fds);
            start_idle(&s);
        }
    }
    release(&s);
    return tmx_error_give(err, &s.e);
}

static const double redraw_s = 0.25;

void tmx_progress_begin(struct tmx_progress *p, const char *noun, size_t n_total)
{
    *p = (struct tmx_progress){.noun = noun, .n_total = n_total, .begin_s = tmx_os_now_s()};
    p->shown = noun && n_total > 0 && tmx_os_is_terminal(stderr);
}

void tmx_progress_add(struct tmx_progress *p, bool failed)
{
    p->n_done++;
    p->n_failed += failed;
}

void tmx_progress_time(char *buf, size_t size, double s)
{
    const long t = s > 0 ? (long)(s + 0.5) : 0;
    if (t >= 3600) {
        snprintf(buf, size, "%ldh%02ldm", t / 3600, t % 3600 / 60);
    } else if (t >= 60) {
        snprintf(buf, size, "%ldm%02lds", t / 60, t % 60);
    } else {
        snprintf(buf, size, "%lds", t);
    }
}

static void draw(const struct tmx_progress *p, double now_s)
{
    char left[32] = "?";
    const double done = (double)p->n_done + p->part;
    const double rate = now_s > p->begin_s ? done / (now_s - p->begin_s) : 0;
    if (rate > 0) {
        tmx_progress_time(left, sizeof left, ((double)p->n_total - done) / rate);
    }
    fprintf(stderr, "\r%zu of %zu %s, %.1f/s, %s left, %zu failed\033[K", p->n_done, p->n_total, p->noun,
            rate, left, p->n_failed);
    fflush(stderr);
}

void tmx_progress_show(struct tmx_progress *p)
{
    const double now_s = tmx_os_now_s();
    if (p->shown && now_s - p->last_s >= redraw_s) {
        p->last_s = now_s;
        draw(p, now_s);
    }
}

void tmx_progress_end(struct tmx_progress *p)
{
    if (p->shown) {
        draw(p, tmx_os_now_s());
        fputc('\n', stderr);
        p->shown = false;
    }
}

void tmx_progress_at(void *progress, size_t n_done, size_t n_total)
{
    struct tmx_progress *p = progress;
    if (p->n_total == 0) {
        tmx_progress_begin(p, p->noun, n_total);
    }
    p->n_done = n_done;
    tmx_progress_show(p);
    if (n_done >= n_total) {
        tmx_progress_end(p); /* the answer follows */
    }
}
