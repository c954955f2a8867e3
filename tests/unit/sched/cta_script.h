/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_CTA_SCRIPT_H
#define TMX_TESTS_CTA_SCRIPT_H

/* A chip of scripted cores for tests of CTA policies: the test sets what the policy sees and checks what
 * it asks for; requests are applied as the epoch model does. */

#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"
#include "tests/support/check.h"

enum { SCRIPT_CORES = 6 };

struct script {
    const struct tmx_cta_policy *policy;
    void *state;
    struct tmx_cta_core core[SCRIPT_CORES];
    enum tmx_core_state asked[SCRIPT_CORES];
    bool accept[SCRIPT_CORES];
    size_t drained[SCRIPT_CORES];
    struct tmx_cta_view view;
    struct tmx_cta_request request;
};

static inline void script_apply(struct script *s)
{
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        s->core[i].state = s->request.state[i];
        if (s->request.reset_counters) {
            s->core[i].stall_cycles = s->core[i].latency_cycles = 0;
        }
    }
    s->request.reset_counters = false;
    s->view.n_drained = 0;
}

static inline void script_launch(struct script *s)
{
    s->view.cycle = 0;
    s->view.first_done_cycle = INFINITY;
    s->view.n_drained = 0;
    s->request = (struct tmx_cta_request){
        .state = s->asked, .accept = s->accept, .core_clock = 1, .memory_clock = 1, .wake_cycle = INFINITY};
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        s->core[i] = (struct tmx_cta_core){.state = TMX_CORE_ACTIVE, .n_block = 2};
        s->asked[i] = TMX_CORE_ACTIVE;
        s->accept[i] = true;
    }
    s->policy->launch(s->state, &s->view, &s->request);
    script_apply(s);
}

static inline void script_begin(struct script *s, const char *name)
{
    *s = (struct script){0};
    for (const struct tmx_cta_policy *const *p = tmx_cta_policies; *p; p++) {
        if (strcmp((*p)->base.name, name) == 0) {
            s->policy = *p;
        }
    }
    assert_non_null(s->policy);
    assert_int_equal(tmx_plugin_state(&s->policy->base, NULL, NULL, &s->state, NULL), TMX_OK);
    s->view.n_core = SCRIPT_CORES;
    s->view.core = s->core;
    s->view.drained = s->drained;
    s->view.base_latency_cycles = 200;
    s->view.blocks_left = 100;
    script_launch(s);
}

static inline void script_end(struct script *s)
{
    free(s->state);
}

static inline void script_observe(struct script *s, double cycle)
{
    s->view.cycle = cycle;
    s->policy->observe(s->state, &s->view, &s->request);
    script_apply(s);
}

/* The core's last block ends at cycle. */
static inline void script_drain(struct script *s, double cycle, size_t core)
{
    s->core[core].n_block = 0;
    s->drained[s->view.n_drained++] = core;
    script_observe(s, cycle);
}

static inline size_t script_count(const struct script *s, enum tmx_core_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < SCRIPT_CORES; i++) {
        n += s->core[i].state == state;
    }
    return n;
}

#endif
