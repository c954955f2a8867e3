/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "study/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/os.h"
#include "study/progress.h"

enum { POLL_MS = 200, READ_SIZE = 65536 };

struct head { /* what a child sends before its bytes */
    enum tmx_status status;
    struct tmx_err err;
    double wall_s, cpu_s;
    size_t n_byte;
};

struct worker {
    pid_t pid; /* 0: idle */
    int fd;
    size_t task;
    char *data; /* [room] received so far */
    size_t size, room;
};

struct pool {
    const struct tmx_pool *p;
    struct worker *workers; /* [n_worker] */
    unsigned n_worker, n_busy;
    char **held; /* [n_task] what finished tasks sent, head first; owned until collected */
    size_t next_start, next_collect, n_collected;
    sigset_t stop, before;
    struct tmx_progress progress;
};

unsigned tmx_pool_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

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

static _Noreturn void child(const struct pool *s, size_t task, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves no worker behind */
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the parent decides */
    struct head head = {0};
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, &head.n_byte);
    if (!out) {
        _exit(1);
    }
    const double wall_s = tmx_os_now_s(), cpu_s = tmx_os_cpu_s();
    head.status = s->p->run(s->p->ctx, task, out, &head.err);
    head.wall_s = tmx_os_now_s() - wall_s;
    head.cpu_s = tmx_os_cpu_s() - cpu_s;
    const bool ok =
        fclose(out) == 0 && write_all(fd, &head, sizeof head) && write_all(fd, bytes, head.n_byte);
    fflush(stdout);
    _exit(ok ? 0 : 1);
}

static enum tmx_status start(struct pool *s, struct worker *w, size_t task, struct tmx_err *err)
{
    int fd[2];
    if (pipe(fd) != 0) {
        return tmx_fail(err, TMX_EIO, "cannot make a pipe: %s", strerror(errno));
    }
    fflush(stdout);
    fflush(stderr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        child(s, task, fd[1]);
    }
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return tmx_fail(err, TMX_EIO, "cannot start a worker: %s", strerror(errno));
    }
    *w = (struct worker){.pid = pid, .fd = fd[0], .task = task};
    s->n_busy++;
    return TMX_OK;
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

/* A child closed its pipe: keep what it sent, or say how it died. */
static void finish(struct pool *s, struct worker *w)
{
    struct head head = {0};
    const int status = reap(w);
    s->n_busy--;
    if (w->size >= sizeof head) {
        memcpy(&head, w->data, sizeof head);
    }
    if (w->size < sizeof head || w->size != sizeof head + head.n_byte) {
        head = (struct head){0};
        head.status = WIFSIGNALED(status)
                          ? tmx_fail(&head.err, TMX_ESOLVE, "the run crashed with signal %d (%s)",
                                     WTERMSIG(status), strsignal(WTERMSIG(status)))
                          : tmx_fail(&head.err, TMX_ESOLVE, "the run ended early with exit code %d",
                                     WEXITSTATUS(status));
        memcpy(w->data, &head, sizeof head); /* receive has made room for more than this */
    }
    s->held[w->task] = w->data;
    w->data = NULL;
}

static enum tmx_status receive(struct pool *s, struct worker *w, struct tmx_err *err)
{
    if (w->room - w->size < READ_SIZE + 1) {
        const size_t room = 2 * w->room + 2 * (size_t)READ_SIZE;
        char *data = realloc(w->data, room);
        if (!data) {
            return tmx_fail(err, TMX_ENOMEM, "out of memory");
        }
        w->data = data;
        w->room = room;
    }
    const ssize_t n = read(w->fd, w->data + w->size, READ_SIZE);
    if (n > 0) {
        w->size += (size_t)n;
        w->data[w->size] = '\0';
    } else if (n == 0 || errno != EINTR) {
        finish(s, w);
    }
    return TMX_OK;
}

static enum tmx_status collect(struct pool *s, size_t task, struct tmx_err *err)
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
    enum tmx_status st = r.status;
    if (s->p->collect) {
        st = s->p->collect(s->p->ctx, &r, err);
    } else if (st && err) {
        *err = r.err;
    }
    free(data);
    s->n_collected++;
    tmx_progress_add(&s->progress, r.status != TMX_OK);
    return st;
}

static bool wanted(const struct pool *s, size_t task)
{
    return !s->p->wanted || s->p->wanted(s->p->ctx, task);
}

static enum tmx_status start_idle(struct pool *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (unsigned i = 0; i < s->n_worker && !st; i++) {
        while (s->next_start < s->p->n_task && !wanted(s, s->next_start)) {
            s->next_start++;
        }
        if (s->workers[i].pid == 0 && s->next_start < s->p->n_task) {
            st = start(s, &s->workers[i], s->next_start++, err);
        }
    }
    return st;
}

/* Hand over what is finished, in the order asked for. */
static enum tmx_status hand_over(struct pool *s, struct worker *w, struct tmx_err *err)
{
    if (s->p->as_completed) {
        return collect(s, w->task, err);
    }
    enum tmx_status st = TMX_OK;
    for (; s->next_collect < s->next_start && !st; s->next_collect++) {
        bool running = false;
        for (unsigned i = 0; i < s->n_worker; i++) {
            running = running || (s->workers[i].pid != 0 && s->workers[i].task == s->next_collect);
        }
        if (running) {
            break;
        }
        if (s->held[s->next_collect]) { /* else it was not wanted */
            st = collect(s, s->next_collect, err);
        }
    }
    return st;
}

static enum tmx_status step(struct pool *s, struct pollfd *fds, struct tmx_err *err)
{
    const struct timespec now = {0};
    enum tmx_status st = TMX_OK;
    for (unsigned i = 0; i < s->n_worker; i++) {
        fds[i] = (struct pollfd){.fd = s->workers[i].pid ? s->workers[i].fd : -1, .events = POLLIN};
    }
    if (poll(fds, s->n_worker, POLL_MS) < 0 && errno != EINTR) {
        return tmx_fail(err, TMX_EIO, "waiting for workers: %s", strerror(errno));
    }
    if (sigtimedwait(&s->stop, NULL, &now) > 0) {
        return tmx_fail(err, TMX_ESTOPPED, "stopped by a signal: %zu of %zu %s done", s->n_collected,
                        s->p->n_task, s->p->noun ? s->p->noun : "tasks");
    }
    for (unsigned i = 0; i < s->n_worker && !st; i++) {
        struct worker *w = &s->workers[i];
        if (w->pid == 0 || fds[i].revents == 0) {
            continue;
        }
        st = receive(s, w, err);
        if (!st && w->pid == 0) {
            st = hand_over(s, w, err);
        }
    }
    tmx_progress_show(&s->progress);
    return st;
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
    free(s->workers);
    free(s->held);
    tmx_progress_end(&s->progress);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

enum tmx_status tmx_pool_run(const struct tmx_pool *p, struct tmx_err *err)
{
    struct pool s = {.p = p, .n_worker = p->n_worker ? p->n_worker : tmx_pool_processors()};
    if (p->n_task == 0) {
        return TMX_OK;
    }
    if (s.n_worker > p->n_task) {
        s.n_worker = (unsigned)p->n_task;
    }
    sigemptyset(&s.stop);
    sigaddset(&s.stop, SIGINT);
    sigaddset(&s.stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &s.stop, &s.before);
    s.workers = calloc(s.n_worker, sizeof *s.workers);
    s.held = calloc(p->n_task, sizeof *s.held);
    struct pollfd *fds = calloc(s.n_worker, sizeof *fds);
    enum tmx_status st = TMX_OK;
    if (!s.workers || !s.held || !fds) {
        st = tmx_fail(err, TMX_ENOMEM, "out of memory");
    } else {
        size_t n_wanted = 0;
        for (size_t i = 0; i < p->n_task; i++) {
            n_wanted += wanted(&s, i);
        }
        tmx_progress_begin(&s.progress, p->noun, n_wanted);
        st = start_idle(&s, err);
        while (!st && s.n_busy > 0) {
            st = step(&s, fds, err);
            if (!st) {
                st = start_idle(&s, err);
            }
        }
    }
    free(fds);
    release(&s);
    return st;
}
