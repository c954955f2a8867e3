/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/machine.h"

#include <stdlib.h>
#include <string.h>

enum tmx_status tmx_machine_create(struct tmx_machine **out, const struct tmx_machine_spec *spec,
                                   struct tmx_err *err)
{
    struct tmx_machine *m = calloc(1, sizeof *m);
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "machine");
    }
    *m = (struct tmx_machine){.tick_s = spec->dt_s,
                              .dt_s = spec->dt_s,
                              .gain = spec->gain,
                              .remote_cost = spec->remote_cost,
                              .counting = true,
                              .system_kernel_s = spec->system_kernel_s,
                              .blocks_wait = spec->blocks_wait};
    m->n_gpu = m->last_home = spec->n_gpu;
    m->n_job = spec->n_job;
    TMX_TAKE(&m->arena, m->gpu, spec->n_gpu);
    TMX_TAKE(&m->arena, m->job, spec->n_job);
    TMX_TAKE(&m->arena, m->gpu_view, spec->n_gpu);
    TMX_TAKE(&m->arena, m->job_view, spec->n_job);
    m->gpus = m->gpu_view;
    m->jobs = m->job_view;
    for (size_t g = 0; !m->arena.failed && g < spec->n_gpu; g++) {
        const struct tmx_chip *chip = spec->chip[g],
                              *first = spec->chip[0]; /* for which jobs state power and work */
        const size_t *card = spec->card;              /* the GPUs of its card */
        struct tmx_gpu *gpu = &m->gpu[g];
        m->gpu_view[g] = &gpu->view;
        *gpu = (struct tmx_gpu){.chip = chip, .unit0 = m->n_unit, .n_active = chip->n_sm};
        gpu->sm0 = m->n_sm;
        gpu->n_sm = chip->n_sm;
        gpu->n_level = chip->n_level;
        gpu->share = 1;
        TMX_TAKE(&m->arena, gpu->active, chip->n_sm);
        TMX_TAKE(&m->arena, gpu->active_hot, chip->n_sm);
        TMX_TAKE(&m->arena, gpu->order, chip->n_sm);
        for (size_t i = 0; !m->arena.failed && i < chip->n_sm; i++) {
            gpu->active[i] = i;
            gpu->active_hot[i] = chip->hot_order[i];
            gpu->order[i] = i;
        }
        m->n_sm += chip->n_sm;
        m->n_unit += chip->floorplan.n_unit;
        gpu->card0 = card ? g : 0;
        gpu->n_card = card ? 1 : m->n_gpu;
        while (card && gpu->card0 > 0 && card[gpu->card0 - 1] == card[g]) {
            gpu->card0--;
        }
        while (card && gpu->card0 + gpu->n_card < m->n_gpu && card[gpu->card0 + gpu->n_card] == card[g]) {
            gpu->n_card++;
        }
        gpu->power_scale = chip == first ? 1 : tmx_job_sm_w(chip, first);
        gpu->speed_scale = chip == first ? 1 : tmx_job_sm_speed(chip, first);
        gpu->power_scale *= spec->spread ? spec->spread[g].dynamic : 1;
        gpu->leakage_scale = spec->spread ? spec->spread[g].leakage : 1;
    }
    TMX_TAKE(&m->arena, m->gated, m->n_sm);
    TMX_TAKE_REALS(&m->arena, m->n_sm * TMX_SLOTS, &m->share, &m->held, &m->busy);
    TMX_TAKE_REALS(&m->arena, m->n_sm, &m->drain_s, &m->gated_s, &m->volunteer_s);
    TMX_TAKE(&m->arena, m->volunteer_done, m->n_sm);
    TMX_TAKE(&m->arena, m->volunteer_job, m->n_sm);
    TMX_TAKE_REALS(&m->arena, m->n_gpu, &m->speed, &m->volt2, &m->volt);
    if (m->arena.failed) {
        tmx_machine_destroy(m);
        return tmx_fail(err, TMX_ENOMEM, "machine of %zu GPUs and %zu jobs", spec->n_gpu, spec->n_job);
    }
    for (size_t g = 0; g < m->n_gpu; g++) {
        m->speed[g] = tmx_chip_speed(m->gpu[g].chip, 0);
        m->volt[g] = tmx_chip_volt(m->gpu[g].chip, 0);
        m->volt2[g] = m->volt[g] * m->volt[g];
    }
    for (size_t sm = 0; sm < m->n_sm; sm++) {
        m->volunteer_job[sm] = TMX_NO_JOB;
    }
    for (size_t j = 0; j < m->n_job; j++) {
        m->job_view[j] = &m->job[j].view;
        m->job[j] = spec->job[j];
        m->job[j].started_s = m->job[j].finished_s = -1;
    }
    *out = m;
    return TMX_OK;
}

void tmx_machine_destroy(struct tmx_machine *m)
{
    if (m) {
        tmx_arena_finish(&m->arena);
        free(m);
    }
}

void tmx_machine_arrive(struct tmx_machine *m)
{
    struct tmx_job *j = &m->job[m->n_arrived];
    j->state = TMX_JOB_WAITING;
    j->queue_order = m->n_arrived++;
    m->ranked = m->ranked || j->priority != m->job[0].priority;
}

void tmx_machine_admit(struct tmx_machine *m, uint64_t tick)
{
    const double now_s = (double)tick * m->tick_s;
    while (m->n_arrived < m->n_job && m->job[m->n_arrived].arrival_s <= now_s) {
        tmx_machine_arrive(m);
    }
}

void tmx_machine_draw(struct tmx_machine *m, size_t job, size_t gpu, double sm_w, double l2_w, double dram_w)
{
    struct tmx_job *j = &m->job[job];
    const double per_sm = 1 / ((double)m->gpu[gpu].n_sm * m->gpu[gpu].power_scale);
    j->power_w = sm_w * per_sm;
    j->l2_w = l2_w * per_sm;
    j->dram_w = dram_w * per_sm / m->speed[gpu]; /* the power model takes it times the clock */
}

static bool has_room(const struct tmx_machine *m, size_t home, size_t n)
{
    for (size_t g = home; g < home + n; g++) {
        if (m->gpu[g].n_queue == TMX_KQUEUE) {
            return false;
        }
    }
    return true;
}

static void enqueue(struct tmx_machine *m, size_t g, size_t job)
{
    struct tmx_gpu *gpu = &m->gpu[g];
    size_t at = gpu->n_queue;
    while (at > 0 && m->job[gpu->queue[at - 1]].priority < m->job[job].priority) {
        at--;
    }
    memmove(&gpu->queue[at + 1], &gpu->queue[at], (gpu->n_queue - at) * sizeof gpu->queue[0]);
    gpu->queue[at] = job;
    gpu->n_queue++;
}

bool tmx_machine_enqueue(struct tmx_machine *m, size_t job)
{
    struct tmx_job *j = &m->job[job];
    if (!has_room(m, j->home_gpu, j->n_gpu)) {
        return false;
    }
    for (size_t g = j->home_gpu; g < j->home_gpu + j->n_gpu; g++) {
        enqueue(m, g, job);
    }
    j->data_gpu = m->last_home = j->home_gpu;
    return true;
}

bool tmx_machine_widen(struct tmx_machine *m, size_t job, size_t home, size_t n)
{
    struct tmx_job *j = &m->job[job];
    if (!has_room(m, home, n)) {
        return false;
    }
    for (size_t g = home; g < home + n; g++) {
        if (g < j->home_gpu || g >= j->home_gpu + j->n_gpu) {
            enqueue(m, g, job);
        }
    }
    j->home_gpu = home;
    j->n_gpu = n;
    return true;
}

static void dequeue(struct tmx_gpu *gpu, size_t at)
{
    gpu->n_queue--;
    memmove(&gpu->queue[at], &gpu->queue[at + 1], (gpu->n_queue - at) * sizeof gpu->queue[0]);
}

static void make_resident(struct tmx_machine *m, struct tmx_gpu *gpu, size_t at)
{
    const size_t job = gpu->queue[at];
    dequeue(gpu, at);
    gpu->run[gpu->n_run++] = job;
    gpu->dealt = false;
    m->job[job].state = TMX_JOB_RUNNING;
}

/* A kernel slot becomes free: those behind it move up, with what the SMs hold and want of them. */
static void slot_ends(struct tmx_machine *m, struct tmx_gpu *gpu, size_t kernel_slot)
{
    const size_t last = --gpu->n_run;
    gpu->dealt = gpu->steady = false;
    for (size_t k = kernel_slot; k < last; k++) {
        gpu->run[k] = gpu->run[k + 1];
    }
    if (kernel_slot == last && gpu->n_part == 0) {
        return; /* its shares go as its blocks drain */
    }
    const size_t n = gpu->chip->n_sm;
    double *share = m->share + gpu->sm0, *held = m->held + gpu->sm0;
    for (size_t k = kernel_slot; k < last; k++) {
        memcpy(share + k * m->n_sm, share + (k + 1) * m->n_sm, n * sizeof *share);
        memcpy(held + k * m->n_sm, held + (k + 1) * m->n_sm, n * sizeof *held);
    }
    memset(share + last * m->n_sm, 0, n * sizeof *share);
    memset(held + last * m->n_sm, 0, n * sizeof *held);
}

static void change_level(struct tmx_machine *m, size_t g, size_t level)
{
    struct tmx_gpu *gpu = &m->gpu[g];
    const struct tmx_chip *c = gpu->chip;
    level = level < c->n_level ? level : c->n_level - 1;
    gpu->transition_j = 0;
    if (level == gpu->level) {
        return;
    }
    gpu->level = level;
    gpu->stall_s += c->power.transition_s;
    gpu->transition_j = c->power.transition_j;
    m->speed[g] = tmx_chip_speed(c, level);
    m->volt[g] = tmx_chip_volt(c, level);
    m->volt2[g] = m->volt[g] * m->volt[g];
}

static void change_active(struct tmx_gpu *gpu, size_t n_active)
{
    const size_t n = gpu->chip->n_sm;
    n_active = n_active < 1 ? 1 : n_active < n ? n_active : n;
    if (n_active == gpu->n_active && (n_active == n || gpu->dealt)) {
        return;
    }
    gpu->dealt = false;
    gpu->n_active = n_active;
    size_t n_sm = 0, n_hot = 0;
    for (size_t sm = 0; sm < n; sm++) {
        const size_t hot = gpu->chip->hot_order[sm];
        for (size_t i = 0; i < n_active; i++) {
            if (gpu->order[i] == sm) {
                gpu->active[n_sm++] = sm;
            }
            if (gpu->order[i] == hot) {
                gpu->active_hot[n_hot++] = hot;
            }
        }
    }
}

/* Let a waiting job join the one that runs. */
static void admit(struct tmx_machine *m, struct tmx_gpu *gpu, const struct tmx_gpu_request *r)
{
    const size_t most = r->n_part > 0 ? r->n_part : 2;
    if (gpu->n_run == 0 || gpu->n_run >= most || r->admit == TMX_NO_JOB) {
        return;
    }
    for (size_t q = 0; q < gpu->n_queue; q++) {
        if (gpu->queue[q] == r->admit) {
            make_resident(m, gpu, q);
            gpu->admit_share = r->share;
            return;
        }
    }
}

/* Volunteer SMs, paper 003 section 3.1: the coldest SM profiles a waiting kernel that no SM has profiled. It
 * first lets its resident blocks finish, then runs blocks of the new kernel until one retires. */
static void choose_volunteers(struct tmx_machine *m, struct tmx_gpu *gpu, const double *sensed_k)
{
    for (size_t q = 0; q < gpu->n_queue; q++) {
        struct tmx_job *j = &m->job[gpu->queue[q]];
        size_t coldest = TMX_NO_JOB;
        if (j->pdi_valid || j->profiling_s > 0 || gpu->n_run == 0) {
            continue;
        }
        for (size_t sm = gpu->sm0; sm < gpu->sm0 + gpu->chip->n_sm; sm++) {
            const bool free_sm = m->volunteer_job[sm] == TMX_NO_JOB && !m->gated[sm];
            if (free_sm && (coldest == TMX_NO_JOB || sensed_k[sm] < sensed_k[coldest])) {
                coldest = sm;
            }
        }
        if (coldest == TMX_NO_JOB) {
            return;
        }
        m->volunteer_job[coldest] = gpu->queue[q];
        gpu->n_volunteer++;
        j->profiling_s = m->job[gpu->run[0]].lifetime_s + j->lifetime_s + m->system_kernel_s;
    }
}

void tmx_machine_apply_span(struct tmx_machine *m, struct tmx_gpus span, const struct tmx_request *request,
                            const double *sensed_k)
{
    for (size_t g = span.first; g < span.end; g++) {
        struct tmx_gpu *gpu = &m->gpu[g];
        const size_t gates = gpu->n_sm * sizeof *m->gated;
        if (memcmp(m->gated + gpu->sm0, request->gate + gpu->sm0, gates) != 0) {
            memcpy(m->gated + gpu->sm0, request->gate + gpu->sm0, gates);
            gpu->steady = false;
        }
        const struct tmx_gpu_request *r = &request->gpu[g];
        /* what has ended; a job spread over GPUs may end while queued on one of them */
        for (size_t q = gpu->n_queue; q-- > 0;) {
            if (m->job[gpu->queue[q]].state == TMX_JOB_DONE) {
                dequeue(gpu, q);
            }
        }
        for (size_t k = gpu->n_run; k-- > 0;) {
            if (m->job[gpu->run[k]].state == TMX_JOB_DONE) {
                slot_ends(m, gpu, k);
            }
        }
        change_level(m, g, r->level);
        gpu->rest = r->rest < 1 ? (r->rest > 0 ? r->rest : 0) : 1;
        gpu->reasons = r->reasons;
        change_active(gpu, r->n_active);
        admit(m, gpu, r);
        /* hardware's own rule (paper 003, section 2): the queue is served one kernel at a time, unless
         * SMs stay unused that the next kernel can take */
        if (gpu->n_run == 0 && gpu->n_queue > 0) {
            make_resident(m, gpu, 0);
        }
        if (gpu->n_run == 1 && gpu->n_queue > 0 && m->job[gpu->run[0]].width_sms < gpu->n_active) {
            make_resident(m, gpu, 0);
        }
        const double share = gpu->n_run < 2 || r->share > 1 ? 1 : r->share > 0 ? r->share : 0;
        if (share != gpu->share || gpu->n_part != r->n_part ||
            (r->n_part > 0 && memcmp(gpu->part, r->part, sizeof gpu->part) != 0)) {
            gpu->dealt = gpu->steady = false;
            gpu->n_part = r->n_part;
            memcpy(gpu->part, r->part, sizeof gpu->part);
            gpu->share = share;
        }
        if (gpu->n_queue > 0) {
            choose_volunteers(m, gpu, sensed_k);
        }
    }
}
