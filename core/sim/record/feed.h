/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_RECORD_FEED_H
#define TMX_CORE_SIM_RECORD_FEED_H

/* What the feed of a node sees: its boards, fans and host, less what its energy store gives, behind its
 * supply. A store starts half full. Its controller, assumed, as vendors publish none:
 *
 *   feed = mean - (charge - joules / 2) / tau      mean: of the load, its first-order lag of tau
 *   tau  = e / 2 * sqrt(efficiency) * joules / watts        one with which a step of `watts` does not empty
 * it
 *
 * within watts and charge. Half of the losses, sqrt(efficiency), are those of charging. So, always,
 *
 *   energy of the feed behind the supply = energy of the load + losses of the store + change of its charge */

#include "base/arena.h"
#include "base/opt.h"
#include "core/machine/machine.h"
#include "core/topology/topology.h"

struct tmx_store_options { /* of each node */
    double joules, watts;  /* 0: none */
    double efficiency;     /* there and back */
};
extern const struct tmx_opt tmx_store_opts[];

struct tmx_feed_node {
    double host_w, mean_w, above_j; /* above_j: charge above half of the store */
    double started;
    double load_j, fed_j, wall_j, loss_j, from_j; /* since the end of the warm-up; from_j: above_j then */
};

struct tmx_feed {
    struct tmx_store_options store;
    const struct tmx_host *host; /* NULL: none */
    const double *fan_w;         /* [n_gpu] of a GPU's part of its card's fans; NULL: none */
    size_t n_node, gpus;         /* of a node */
    double tick_s, tau_s, way;   /* efficiency of one way */
    struct tmx_feed_node *node;  /* [n_node] */
};

void tmx_feed_take(struct tmx_feed *f, struct tmx_arena *arena, const struct tmx_machine *m,
                   const struct tmx_topology *t, const struct tmx_store_options *o);
void tmx_feed_restart(struct tmx_feed *f);
/* At scheduling ticks: hosts follow the share of their GPUs that have work. */
void tmx_feed_hosts(struct tmx_feed *f, const struct tmx_machine *m);
/* n_tick ticks, one where there is a store, of the boards' watts [n_gpu]; returns those of all feeds. */
double tmx_feed_tick(struct tmx_feed *f, const double *board_w, double n_tick);

/* It sees its boards, no more. */
bool tmx_feed_is_boards(const struct tmx_feed *f);

struct tmx_feed_sum {                               /* since the end of the warm-up, of all nodes */
    double load_j, fed_j, wall_j, loss_j, charge_j; /* fed_j behind supplies, wall_j before them */
};
struct tmx_feed_sum tmx_feed_sum(const struct tmx_feed *f);

#endif
