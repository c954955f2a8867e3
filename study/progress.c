/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/progress.h"

#include <stdio.h>

#include "core/base/os.h"

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
