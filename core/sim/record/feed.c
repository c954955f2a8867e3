/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/record/recorder.h"

#include <math.h>

static const double EULER = 2.718281828459045;

const struct tmx_opt tmx_store_opts[] = {
    TMX_ROW_REAL(tmx_store_options, joules, "J", 0, 1e12, 0, "that a node's store holds; 0: there is none"),
    TMX_ROW_REAL(tmx_store_options, watts, "W", 0, 1e9, 0, "that it takes or gives at most"),
    TMX_ROW_REAL(tmx_store_options, efficiency, "1", 0.01, 1, 0.95, "there and back (assumed)"),
    {0},
};

void tmx_feed_take(struct tmx_feed *f, struct tmx_arena *arena, const struct tmx_machine *m,
                   const struct tmx_topology *t, const struct tmx_store_options *o)
{
    const size_t n = t && t->nodes > 1 ? (size_t)t->nodes : 1;
    *f = (struct tmx_feed){.store = *o,
                           .host = t && t->host.given ? &t->host : NULL,
                           .n_node = n,
                           .gpus = m->n_gpu / n,
                           .tick_s = m->tick_s,
                           .tau_s = o->watts > 0 ? EULER / 2 * sqrt(o->efficiency) * o->joules / o->watts : 0,
                           .way = sqrt(o->efficiency)};
    TMX_TAKE(arena, f->node, n);
}

void tmx_feed_restart(struct tmx_feed *f)
{
    for (size_t i = 0; i < f->n_node; i++) {
        struct tmx_feed_node *n = &f->node[i];
        n->load_j = n->fed_j = n->wall_j = n->loss_j = 0;
        n->from_j = n->above_j;
    }
}

void tmx_feed_hosts(struct tmx_feed *f, const struct tmx_machine *m)
{
    for (size_t i = 0; i < f->n_node && f->host; i++) {
        size_t works = 0;
        for (size_t g = i * f->gpus; g < (i + 1) * f->gpus; g++) {
            works += m->gpu[g].n_run > 0;
        }
        f->node[i].host_w = f->host->idle_w + f->host->active_w * (double)works / (double)f->gpus;
    }
}

/* What the store gives of the load, less than 0 where it takes. */
static double give(const struct tmx_feed *f, struct tmx_feed_node *n, double load_w)
{
    const double dt_s = f->tick_s, half_j = f->store.joules / 2;
    n->mean_w = n->started > 0 ? n->mean_w + (load_w - n->mean_w) * dt_s / (f->tau_s + dt_s) : load_w;
    n->started = 1;
    double w = load_w - n->mean_w + n->above_j / (f->tau_s + dt_s);
    w = fmax(-f->store.watts, fmin(w, fmin(f->store.watts, load_w)));
    w = fmax(-(half_j - n->above_j) / (f->way * dt_s), fmin(w, (half_j + n->above_j) * f->way / dt_s));
    const double drawn_w = w > 0 ? w / f->way : w * f->way;
    n->above_j -= drawn_w * dt_s;
    n->loss_j += (drawn_w - w) * dt_s;
    return w;
}

double tmx_feed_tick(struct tmx_feed *f, const double *board_w, double n_tick)
{
    double all_w = 0;
    for (size_t i = 0; i < f->n_node; i++) {
        struct tmx_feed_node *n = &f->node[i];
        double load_w = n->host_w;
        for (size_t g = i * f->gpus; g < (i + 1) * f->gpus; g++) {
            load_w += board_w[g] + (f->fan_w ? f->fan_w[g] : 0);
        }
        const double fed_w = f->store.joules > 0 ? load_w - give(f, n, load_w) : load_w;
        n->load_j += load_w * n_tick * f->tick_s;
        n->fed_j += fed_w * n_tick * f->tick_s;
        const double wall_w = f->host ? tmx_host_wall_w(f->host, fed_w) : fed_w;
        n->wall_j += wall_w * n_tick * f->tick_s;
        all_w += wall_w;
    }
    return all_w;
}

bool tmx_feed_is_boards(const struct tmx_feed *f)
{
    return !f->host && !f->fan_w && f->n_node == 1 && !(f->store.joules > 0);
}

struct tmx_feed_sum tmx_feed_sum(const struct tmx_feed *f)
{
    struct tmx_feed_sum s = {0};
    for (size_t i = 0; i < f->n_node; i++) {
        const struct tmx_feed_node *n = &f->node[i];
        s.load_j += n->load_j;
        s.fed_j += n->fed_j;
        s.wall_j += n->wall_j;
        s.loss_j += n->loss_j;
        s.charge_j += n->above_j - n->from_j;
    }
    return s;
}
