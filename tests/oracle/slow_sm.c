/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracle/slow_sm.h"

#include <stdlib.h>
#include <string.h>

enum state { ABSENT, ON, ASLEEP, WAKING };

struct unit {
    enum state state;
    int busy_left, idle; /* cycles of the pipeline left; idle cycles since busy or waking */
    int slept;           /* cycles of the present sleep */
    int wake_left;
    bool slept_in_period, short_in_period;
    uint64_t period; /* length of the present idle period */
};

struct warp {
    bool exists, active, at_barrier;
    const struct tmx_program *program;
    size_t pc;
    unsigned left;
    uint64_t id, n_load;
    uint64_t entered; /* the active set: the larger, the later */
    uint64_t next_at; /* cycle from which the next instruction may issue */
    uint64_t result_at[TMX_MAX_REGISTER + 1];
    bool from_memory[TMX_MAX_REGISTER + 1];
};

struct slow {
    const struct tmx_sm_params *sm;
    const struct tmx_stream *s;
    const struct tmx_gate_policy *policy;
    const struct tmx_gate_params *gate;
    const struct tmx_sm_probe *probe;
    struct tmx_sm_result *r;
    struct warp warp[TMX_MAX_WARPS];
    struct unit unit[TMX_SM_N_UNIT];
    uint64_t t, budget, n_started, bus_free, port_free, sfu_free, switched;
    uint64_t block_start[TMX_MAX_WARPS];
    unsigned quota, promoted, turn[TMX_N_UNIT_TYPE], high;
    bool port_used[2];
    int idle_detect[2], critical[2], calm[2];
    uint64_t epochs, idle_detect_sum[2], n_entry;
    uint64_t *answer_at; /* one entry per outstanding line */
    size_t n_answer;
};

static void tell(struct slow *m, enum tmx_sm_event_kind kind, unsigned unit, unsigned warp, uint64_t t)
{
    if (m->probe) {
        m->probe->event(m->probe->context,
                        &(struct tmx_sm_event){.cycle = t, .kind = kind, .unit = unit, .warp = warp});
    }
}

static const struct tmx_instr *next_of(const struct slow *m, const struct warp *w)
{
    return &m->s->instr[w->program->first + w->pc];
}

/* ---- thread blocks ---- */

static void launch(struct slow *m, unsigned slot, uint64_t at)
{
    const struct tmx_stream *s = m->s;
    if (m->n_started >= s->n_block || m->quota == 0) {
        return;
    }
    const uint64_t block = m->n_started++;
    m->quota -= s->blocks_per_launch > 0;
    m->block_start[slot] = at;
    for (unsigned i = 0; i < s->warps_per_block; i++) {
        struct warp *w = &m->warp[slot * s->warps_per_block + i];
        const uint64_t id = block * s->warps_per_block + i;
        *w = (struct warp){.program = &s->program[id % s->n_program], .id = id, .next_at = at};
        w->exists = w->program->count > 0;
        w->left = w->program->repetitions - 1;
        if (w->exists && s->stagger && block < s->warps / s->warps_per_block) {
            const uint64_t place =
                tmx_mix64(s->seed, ~0ull, block) % (w->program->count * w->program->repetitions);
            w->pc = place % w->program->count;
            w->left -= (unsigned)(place / w->program->count);
        }
    }
}

static void launch_grid(struct slow *m, uint64_t at)
{
    m->quota = m->s->blocks_per_launch ? m->s->blocks_per_launch : 1;
    for (unsigned slot = 0; slot < m->s->warps / m->s->warps_per_block; slot++) {
        launch(m, slot, at);
    }
}

static unsigned count_block(const struct slow *m, unsigned slot, bool at_barrier)
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->s->warps_per_block; i++) {
        const struct warp *w = &m->warp[slot * m->s->warps_per_block + i];
        n += w->exists && (!at_barrier || w->at_barrier);
    }
    return n;
}

static void open_barrier(struct slow *m, unsigned slot)
{
    const uint64_t earliest = m->t + (uint64_t)m->sm->barrier_cycles;
    if (count_block(m, slot, true) == 0 || count_block(m, slot, true) < count_block(m, slot, false)) {
        return;
    }
    for (unsigned i = 0; i < m->s->warps_per_block; i++) {
        struct warp *w = &m->warp[slot * m->s->warps_per_block + i];
        if (w->exists) {
            w->at_barrier = false;
            w->next_at = w->next_at > earliest ? w->next_at : earliest;
        }
    }
}

static void end_warp(struct slow *m, unsigned index)
{
    const unsigned slot = index / m->s->warps_per_block;
    m->warp[index].exists = false;
    m->warp[index].active = false;
    if (count_block(m, slot, false) > 0) {
        open_barrier(m, slot);
        return;
    }
    m->r->blocks++;
    m->r->block_cycles += m->t + 1 - m->block_start[slot];
    launch(m, slot, m->t + (uint64_t)m->sm->launch_cycles);
    for (unsigned i = 0; i < m->s->warps; i++) {
        if (m->warp[i].exists) {
            return;
        }
    }
    launch_grid(m, m->t + m->s->launch_gap_cycles + (uint64_t)m->sm->launch_cycles);
}

/* ---- memory and scoreboard ---- */

static uint64_t access_global(struct slow *m, struct warp *w, bool store)
{
    const struct tmx_memory *mem = &m->s->memory;
    const uint64_t h = tmx_mix64(m->s->seed, w->id + 1, w->n_load++);
    const double u = (double)(h & 0xffffff) / 16777216.0, v = (double)((h >> 24) & 0xffffff) / 16777216.0;
    const unsigned lines = (unsigned)(mem->lines + (double)(h >> 48) / 65536.0);
    const uint64_t service = mem->bandwidth > 0 ? (uint64_t)(1024 / mem->bandwidth + 0.5) : 0;

    if (!store && u >= mem->miss) {
        return m->t + (uint64_t)m->sm->hit_cycles;
    }
    if (lines > (unsigned)m->sm->ldst_interval_cycles) {
        m->port_free = m->t + lines;
    }
    if (m->bus_free < m->t * 1024) {
        m->bus_free = m->t * 1024;
    }
    m->bus_free += lines * service;
    const uint64_t sent = (m->bus_free + 1023) / 1024;
    uint64_t done = sent + 1;
    if (!store) {
        done = sent + (uint64_t)(mem->latency_cycles * (1 + mem->latency_variation * (2 * v - 1)));
        m->r->misses++;
        m->r->latency_sum_cycles += done - m->t;
    }
    if (done == m->t) {
        done++;
    }
    for (unsigned i = 0; i < lines; i++) {
        m->answer_at[m->n_answer++] = done;
    }
    m->r->lines += lines;
    return done;
}

static void answers(struct slow *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_answer; i++) {
        if (m->answer_at[i] > m->t) {
            m->answer_at[n++] = m->answer_at[i];
        }
    }
    m->n_answer = n;
}

static void await_operands(struct slow *m, struct warp *w)
{
    const struct tmx_instr *in = next_of(m, w);
    const uint8_t regs[] = {in->dest, in->source[0], in->source[1], in->source[2]};
    bool memory = false;
    w->next_at = m->t + (uint64_t)m->sm->issue_gap_cycles;
    for (size_t i = 0; i < sizeof regs; i++) {
        const uint64_t at = regs[i] ? w->result_at[regs[i]] : 0;
        if (at > w->next_at) {
            w->next_at = at;
            memory = w->from_memory[regs[i]];
        } else if (at == w->next_at && at > m->t + (uint64_t)m->sm->issue_gap_cycles) {
            memory = memory || w->from_memory[regs[i]];
        }
    }
    w->active = w->active && !memory;
}

static void issue(struct slow *m, unsigned index, unsigned unit)
{
    struct warp *w = &m->warp[index];
    const struct tmx_instr *in = next_of(m, w);
    uint64_t done = m->t;
    tell(m, TMX_SM_ISSUE, unit, index, m->t);
    m->turn[m->policy->order == TMX_ORDER_BY_TYPE ? in->type : 0] = index + 1;
    m->r->issued++;
    m->r->issued_type[in->type]++;
    if (in->type == TMX_UNIT_LDST) {
        m->port_free = m->t + (uint64_t)m->sm->ldst_interval_cycles;
    }
    switch (in->latency) {
    case TMX_LATENCY_ALU:
        done += (uint64_t)m->sm->alu_cycles;
        break;
    case TMX_LATENCY_SFU:
        done += (uint64_t)m->sm->sfu_cycles;
        break;
    case TMX_LATENCY_SHARED:
        done += (uint64_t)m->sm->shared_cycles;
        break;
    default:
        done = access_global(m, w, in->latency == TMX_LATENCY_STORE);
    }
    if (in->dest) {
        w->result_at[in->dest] = done;
        w->from_memory[in->dest] = in->latency == TMX_LATENCY_GLOBAL;
    }
    if (++w->pc == w->program->count) {
        w->pc = 0;
        if (w->left == 0) {
            end_warp(m, index);
            return;
        }
        w->left--;
    }
    await_operands(m, w);
    if (in->barrier) {
        w->at_barrier = true;
        w->active = false;
        open_barrier(m, index / m->s->warps_per_block);
    }
}

/* ---- units ---- */

static struct tmx_gate_stat *stat_of(struct slow *m, unsigned unit)
{
    return &m->r->type[unit / 2];
}

static bool may_wake(const struct slow *m, unsigned unit)
{
    return m->policy->wake != TMX_WAKE_AFTER_BET || unit == TMX_SM_SFU ||
           m->unit[unit].slept >= m->gate->break_even_cycles;
}

static void end_sleep(struct slow *m, unsigned unit)
{
    const int over = m->unit[unit].slept - m->gate->break_even_cycles;
    if (over < 0) {
        stat_of(m, unit)->unpaid_cycles += (uint64_t)-over;
    } else {
        stat_of(m, unit)->paid_cycles += (uint64_t)over;
    }
}

static void wake(struct slow *m, unsigned unit)
{
    struct unit *u = &m->unit[unit];
    struct tmx_gate_stat *g = stat_of(m, unit);
    g->wakeups++;
    g->early_wakeups += u->slept < m->gate->break_even_cycles;
    g->critical_wakeups += u->slept == m->gate->break_even_cycles;
    if (unit != TMX_SM_SFU) {
        m->critical[unit / 2] += u->slept == m->gate->break_even_cycles;
    }
    u->short_in_period |= u->slept < m->gate->break_even_cycles;
    end_sleep(m, unit);
    u->state = WAKING;
    u->wake_left = m->gate->wakeup_cycles;
    tell(m, TMX_SM_WAKE, unit, 0, m->t);
}

static void end_period(struct slow *m, unsigned unit)
{
    struct unit *u = &m->unit[unit];
    int class = TMX_IDLE_WASTED;
    if (u->period == 0) {
        return;
    }
    if (m->policy->wake == TMX_WAKE_NO_GATING) {
        class += u->period >= (uint64_t)m->gate->idle_detect_cycles;
        class += u->period >= (uint64_t)m->gate->idle_detect_cycles + (uint64_t)m->gate->break_even_cycles;
    } else if (u->slept_in_period) {
        class = u->short_in_period ? TMX_IDLE_UNCOMPENSATED : TMX_IDLE_COMPENSATED;
    }
    stat_of(m, unit)->idle_periods[class]++;
    stat_of(m, unit)->period_cycles[class] += u->period;
    u->period = 0;
    u->slept_in_period = false;
    u->short_in_period = false;
}

static void use(struct slow *m, unsigned unit, int busy)
{
    stat_of(m, unit)->issued++;
    end_period(m, unit);
    m->unit[unit].busy_left = busy;
    m->unit[unit].idle = 0;
}

static bool wanted(const struct slow *m, unsigned type)
{
    for (unsigned i = 0; i < m->s->warps; i++) {
        const struct warp *w = &m->warp[i];
        if (w->exists && w->active && next_of(m, w)->type == type) {
            return true;
        }
    }
    return false;
}

static bool falls_asleep(const struct slow *m, unsigned unit)
{
    const struct unit *u = &m->unit[unit];
    if (u->state != ON) {
        return false;
    }
    if (unit == TMX_SM_SFU) {
        return m->gate->gate_sfu && u->idle >= m->gate->idle_detect_cycles;
    }
    if (m->policy->coordinated && m->unit[unit ^ 1u].state == ASLEEP) {
        return u->idle >= 1 && !wanted(m, unit / 2);
    }
    return u->idle >= m->idle_detect[unit / 2];
}

static bool over(const struct slow *m)
{
    return m->r->issued >= m->budget || m->r->blocks == m->s->n_block;
}

static void end_of_cycle(struct slow *m)
{
    for (unsigned i = 0; i < TMX_SM_N_UNIT; i++) {
        struct unit *u = &m->unit[i];
        if (u->state == ABSENT) {
            continue;
        }
        if (u->busy_left > 0) {
            u->busy_left--;
        } else {
            u->idle++;
            u->period++;
            stat_of(m, i)->idle_cycles++;
        }
        if (u->state == ASLEEP) {
            u->slept++;
            stat_of(m, i)->asleep_cycles++;
        }
        stat_of(m, i)->waking_cycles += u->state == WAKING;
    }
    if (over(m)) {
        return;
    }
    for (unsigned i = 0; i < TMX_SM_N_UNIT && m->policy->wake != TMX_WAKE_NO_GATING; i++) {
        struct unit *u = &m->unit[i];
        if (falls_asleep(m, i)) {
            u->state = ASLEEP;
            u->slept = 0;
            u->slept_in_period = true;
            stat_of(m, i)->gatings++;
            tell(m, TMX_SM_SLEEP, i, 0, m->t + 1);
        }
    }
    if (m->policy->adaptive && (m->t + 1) % (uint64_t)m->gate->epoch_cycles == 0) {
        for (int k = 0; k < 2; k++) {
            m->idle_detect_sum[k] += (uint64_t)m->idle_detect[k];
            if (m->critical[k] > m->gate->critical_limit) {
                m->calm[k] = 0;
                m->idle_detect[k] += m->idle_detect[k] < m->gate->idle_detect_max_cycles;
            } else if (++m->calm[k] == m->gate->relax_epochs) {
                m->calm[k] = 0;
                m->idle_detect[k] -= m->idle_detect[k] > m->gate->idle_detect_min_cycles;
            }
            m->critical[k] = 0;
        }
        m->epochs++;
    }
}

/* ---- issue ---- */

static bool ready(const struct slow *m, unsigned i)
{
    return m->warp[i].exists && m->warp[i].active && m->warp[i].next_at <= m->t;
}

/* unit to use (>= 0), -1: none, -2: a port waits for *ask (or for a unit already waking: *ask = -1) */
static int lane(const struct slow *m, unsigned type, int *port, int *ask)
{
    int best = -1;
    *ask = -1;
    for (int p = 0; p < m->sm->clusters; p++) {
        const uint64_t idle = m->unit[2 * type + (unsigned)p].period;
        const int busy = m->unit[2 * type + (unsigned)p].busy_left;
        if (m->port_used[p] || m->unit[2 * type + (unsigned)p].state != ON) {
            continue;
        }
        if (best < 0) {
            best = p;
        } else if (m->sm->cluster_choice == TMX_CLUSTER_RESTED) {
            const struct unit *b = &m->unit[2 * type + (unsigned)best];
            best = idle > b->period || (idle == b->period && busy < b->busy_left) ? p : best;
        }
    }
    if (best >= 0) {
        *port = best;
        return (int)(2 * type) + best;
    }
    for (int p = 0; p < m->sm->clusters; p++) {
        if (!m->port_used[p] && m->unit[2 * type + (unsigned)p].state == WAKING) {
            *port = p;
            return -2;
        }
    }
    for (int p = 0; p < m->sm->clusters; p++) {
        const unsigned unit = 2 * type + (unsigned)p;
        if (!m->port_used[p] && m->unit[unit].state == ASLEEP && may_wake(m, unit)) {
            *port = p;
            *ask = (int)unit;
            return -2;
        }
    }
    return -1;
}

static bool is_open(const struct slow *m, unsigned type)
{
    int port, ask;
    switch (type) {
    case TMX_UNIT_SFU:
        return m->t >= m->sfu_free && m->unit[TMX_SM_SFU].state != WAKING;
    case TMX_UNIT_LDST:
        return m->t >= m->port_free && m->n_answer < (size_t)m->sm->mshr;
    default:
        return lane(m, type, &port, &ask) != -1;
    }
}

static int first_warp(const struct slow *m, const bool open[TMX_N_UNIT_TYPE], int only, unsigned turn)
{
    int first = -1;
    for (unsigned k = 0; k < 64; k++) {
        const unsigned i = m->sm->scan == TMX_SCAN_ROUND ? (turn + k) % 64 : k;
        if (i >= m->s->warps || !ready(m, i)) {
            continue;
        }
        const unsigned type = next_of(m, &m->warp[i])->type;
        if (!open[type] || (only >= 0 && (unsigned)only != type)) {
            continue;
        }
        if (first < 0 || (m->sm->scan == TMX_SCAN_ENTRY && m->warp[i].entered < m->warp[first].entered)) {
            first = (int)i;
        }
    }
    return first;
}

static int choose(const struct slow *m, const bool open[TMX_N_UNIT_TYPE])
{
    if (m->policy->order == TMX_ORDER_ROUND) {
        return first_warp(m, open, -1, m->turn[0]);
    }
    const unsigned order[] = {m->high, TMX_UNIT_LDST, TMX_UNIT_SFU,
                              m->high == TMX_UNIT_INT ? TMX_UNIT_FP : TMX_UNIT_INT};
    for (unsigned k = 0; k < TMX_N_UNIT_TYPE; k++) {
        const int w = first_warp(m, open, (int)order[k], m->turn[order[k]]);
        if (w >= 0) {
            return w;
        }
    }
    return -1;
}

static void slot(struct slow *m)
{
    bool open[TMX_N_UNIT_TYPE];
    for (unsigned type = 0; type < TMX_N_UNIT_TYPE; type++) {
        open[type] = is_open(m, type);
    }
    for (;;) {
        const int w = choose(m, open);
        if (w < 0) {
            return;
        }
        const unsigned type = next_of(m, &m->warp[w])->type;
        if (type == TMX_UNIT_LDST) {
            issue(m, (unsigned)w, TMX_SM_N_UNIT);
            return;
        }
        if (type == TMX_UNIT_SFU && m->unit[TMX_SM_SFU].state == ASLEEP) {
            wake(m, TMX_SM_SFU);
            open[type] = false;
            continue;
        }
        if (type == TMX_UNIT_SFU) {
            m->sfu_free = m->t + (uint64_t)m->sm->sfu_interval_cycles;
            use(m, TMX_SM_SFU, m->sm->sfu_interval_cycles + m->sm->busy_cycles);
            issue(m, (unsigned)w, TMX_SM_SFU);
            return;
        }
        int port, ask;
        const int unit = lane(m, type, &port, &ask);
        m->port_used[port] = unit >= 0 || m->sm->waking == TMX_WAKING_PORT || m->port_used[port];
        if (unit >= 0) {
            use(m, (unsigned)unit, m->sm->busy_cycles);
            issue(m, (unsigned)w, (unsigned)unit);
            return;
        }
        if (ask >= 0) {
            wake(m, (unsigned)ask);
        }
        if (m->sm->waking == TMX_WAKING_TYPE) {
            open[type] = false;
            continue;
        }
        open[TMX_UNIT_INT] = false;
        open[TMX_UNIT_FP] = false;
    }
}

static bool dark(const struct slow *m, unsigned type, bool locked)
{
    for (unsigned p = 0; p < (unsigned)m->sm->clusters; p++) {
        const enum state state = m->unit[2 * type + p].state;
        if (state != ASLEEP || (locked && may_wake(m, 2 * type + p))) {
            return false;
        }
    }
    return true;
}

static void choose_priority(struct slow *m)
{
    const unsigned low = m->high == TMX_UNIT_INT ? TMX_UNIT_FP : TMX_UNIT_INT;
    const int limit = m->gate->switch_limit_cycles;
    bool swap = !wanted(m, m->high) && wanted(m, low);
    if (m->policy->coordinated && m->sm->clusters == 2 && wanted(m, m->high) && dark(m, m->high, true) &&
        !dark(m, low, false)) {
        swap = true;
    }
    if (limit > 0 && wanted(m, low) && m->t - m->switched >= (uint64_t)limit) {
        swap = true;
    }
    if (swap) {
        m->high = low;
        m->switched = m->t;
    }
}

static void start_of_cycle(struct slow *m)
{
    for (unsigned i = 0; i < TMX_SM_N_UNIT; i++) {
        struct unit *u = &m->unit[i];
        if (u->state == WAKING && --u->wake_left == 0) {
            u->state = ON;
            u->idle = 0;
            tell(m, TMX_SM_ON, i, 0, m->t);
        }
    }
    answers(m);
    unsigned n_active = 0;
    for (unsigned i = 0; i < m->s->warps; i++) {
        n_active += m->warp[i].exists && m->warp[i].active;
    }
    for (unsigned k = 0, from = m->promoted; k < 64 && n_active < (unsigned)m->sm->active; k++) {
        const unsigned i = (from + k) % 64;
        struct warp *w = &m->warp[i % TMX_MAX_WARPS];
        if (i < m->s->warps && w->exists && !w->active && !w->at_barrier && w->next_at <= m->t) {
            w->active = true;
            w->entered = ++m->n_entry;
            m->promoted = i + 1;
            n_active++;
        }
    }
    m->r->active_sum += n_active;
    m->r->active_max = n_active > m->r->active_max ? n_active : m->r->active_max;
}

static void one_cycle(struct slow *m)
{
    bool any = false;
    start_of_cycle(m);
    for (unsigned i = 0; i < m->s->warps; i++) {
        any = any || ready(m, i);
    }
    m->port_used[0] = false;
    m->port_used[1] = false;
    if (any) {
        if (m->policy->order == TMX_ORDER_BY_TYPE) {
            choose_priority(m);
        }
        slot(m);
        const double chance = (double)(tmx_mix64(m->s->seed, m->t, 7) >> 11) * 0x1p-53;
        if (m->sm->slots == 2 && chance < m->sm->dual_issue && m->r->issued < m->budget) {
            slot(m);
        }
    }
    end_of_cycle(m);
    m->t++;
}

static void finish(struct slow *m)
{
    m->r->cycles = m->t;
    for (unsigned i = 0; i < TMX_SM_N_UNIT; i++) {
        if (m->unit[i].state == ASLEEP) {
            end_sleep(m, i);
        }
        if (m->unit[i].state != ABSENT) {
            end_period(m, i);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        m->r->idle_detect_mean[k] =
            m->epochs ? (double)m->idle_detect_sum[k] / (double)m->epochs : (double)m->idle_detect[k];
    }
}

enum tmx_status slow_sm_run(const struct tmx_sm_params *sm, const struct tmx_stream *s,
                            const struct tmx_gate_policy *policy, const struct tmx_gate_params *gate,
                            uint64_t budget, const struct tmx_sm_probe *probe, struct tmx_sm_result *r,
                            struct tmx_err *err)
{
    struct slow *m = calloc(1, sizeof *m);
    uint64_t *answer_at = calloc((size_t)sm->mshr + 64, sizeof *answer_at);
    if (!m || !answer_at) {
        free(m);
        free(answer_at);
        return tmx_fail(err, TMX_ENOMEM, "oracle");
    }
    *r = (struct tmx_sm_result){0};
    *m = (struct slow){.sm = sm,
                       .s = s,
                       .policy = policy,
                       .gate = gate,
                       .probe = probe,
                       .r = r,
                       .budget = budget,
                       .high = TMX_UNIT_INT,
                       .answer_at = answer_at,
                       .idle_detect = {gate->idle_detect_cycles, gate->idle_detect_cycles}};
    for (unsigned i = 0; i < TMX_SM_N_UNIT; i++) {
        const bool second = i == TMX_SM_INT1 || i == TMX_SM_FP1;
        m->unit[i].state = second && sm->clusters < 2 ? ABSENT : ON;
        r->type[i / 2].clusters += m->unit[i].state == ON;
    }
    launch_grid(m, 0);
    while (!over(m)) {
        one_cycle(m);
    }
    finish(m);
    free(answer_at);
    free(m);
    return TMX_OK;
}
