/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core/sim/source/users.c: users who wait for their kernel, think, and submit the next one of the mix. */
#include "core/sim/source/sources.h"

struct users {
    int n;
    double think_s;
};

const struct tmx_opt tmx_source_users_opts[] = {
    TMX_ROW_INT(users, n, "1", 1, 10000, 1, "users, of which each has one kernel at a time"),
    TMX_ROW_REAL(users, think_s, "s", 0, 1e6, 0, "from a kernel's end to its user's next one"),
    {0},
};

static void *open(const struct tmx_source_view *v, const void *options, struct tmx_arena *arena)
{
    struct users *own = TMX_TAKE(arena, own, 1);
    (void)v;
    if (own) {
        *own = *(const struct users *)options;
    }
    return own;
}

/* Kernel j is of the user who had kernel j - n. */
static void admit(const struct tmx_source_view *v, void *own)
{
    const struct users *u = own;
    struct tmx_machine *m = v->machine;
    for (size_t j = m->n_arrived, n = (size_t)u->n; j < m->n_job; j++) {
        const struct tmx_job *before = j < n ? NULL : &m->job[j - n];
        if (before && (before->state != TMX_JOB_DONE || before->finished_s + u->think_s > m->now_s)) {
            return;
        }
        m->job[j].arrival_s = (double)v->tick * m->tick_s; /* from the begin of the warm-up on */
        tmx_machine_arrive(m);
    }
}

const struct tmx_source tmx_source_users = {
    .base = {.name = "users", .opts = tmx_source_users_opts, .state_size = sizeof(struct users)},
    .open = open,
    .admit = admit,
};
