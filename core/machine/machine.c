/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/image.h"

static void *take(size_t n, size_t size, bool *ok)
{
    void *p = calloc(n ? n : 1, size);
    *ok = *ok && p;
    return p;
}

static void gpu_init(struct tmx_machine *m, size_t g, const struct tmx_chip *chip, bool *ok)
{
    struct tmx_gpu *gpu = &m->gpu[g];
    *gpu = (struct tmx_gpu){.chip = chip, .unit0 = m->n_unit, .n_active = chip->n_sm};
    gpu->sm0 = m->n_sm;
    gpu->n_sm = chip->n_sm;
    gpu->n_level = chip->n_level;
    gpu->share = 1;
    gpu->active = take(chip->n_sm, sizeof *gpu->active, ok);
    gpu->active_hot = take(chip->n_sm, sizeof *gpu->active_hot, ok);
    gpu->order = take(chip->n_sm, sizeof *gpu->order, ok);
    for (size_t i = 0; *ok && i < chip->n_sm; i++) {
        gpu->active[i] = i;
        gpu->active_hot[i] = chip->hot_order[i];
        gpu->order[i] = i;
    }
    m->n_sm += chip->n_sm;
    m->n_unit += chip->floorplan.n_unit;
}

/* Jobs state power and work for GPU 0's chip. */
static void scale_to_first(struct tmx_machine *m, size_t g)
{
    const struct tmx_chip *c = m->gpu[g].chip, *first = m->gpu[0].chip;
    if (c == first) {
        m->gpu[g].power_scale = m->gpu[g].speed_scale = 1;
        return;
    }
    m->gpu[g].power_scale = c->kernel_power_scale / c->sm_power_reference_sms /
                            (first->kernel_power_scale / first->sm_power_reference_sms);
    m->gpu[g].speed_scale = first->kernel_time_scale / c->kernel_time_scale;
}

static void find_card(struct tmx_machine *m, size_t g, const size_t *card)
{
    struct tmx_gpu *gpu = &m->gpu[g];
    gpu->card0 = card ? g : 0;
    gpu->n_card = card ? 1 : m->n_gpu;
    while (card && gpu->card0 > 0 && card[gpu->card0 - 1] == card[g]) {
        gpu->card0--;
    }
    while (card && gpu->card0 + gpu->n_card < m->n_gpu && card[gpu->card0 + gpu->n_card] == card[g]) {
        gpu->n_card++;
    }
}

/* The members of the synchronous job get their work and GPU. */
static enum tmx_status start_sync_job(struct tmx_machine *m, const struct tmx_sync_job_spec *s,
                                      struct tmx_err *err)
{
    const enum tmx_status st = tmx_sync_job_create(&m->members, s, err);
    for (size_t i = 0; i < s->n_member && !st; i++) {
        m->job[i].work_sm_s = m->members->member[i].left_s * s->options.steps * (double)m->gpu[0].chip->n_sm;
        m->job[i].home_gpu = s->gpu[i];
    }
    m->sync_job = st ? NULL : &m->members->view;
    return st;
}

enum tmx_status tmx_machine_create(struct tmx_machine **out, const struct tmx_machine_spec *spec,
                                   struct tmx_err *err)
{
    bool ok = true;
    struct tmx_machine *m = take(1, sizeof *m, &ok);
    if (!ok) {
        return tmx_fail(err, TMX_ENOMEM, "machine");
    }
    *m = (struct tmx_machine){.dt_s = spec->dt_s,
                              .gain = spec->gain,
                              .remote_cost = spec->remote_cost,
                              .counting = true,
                              .system_kernel_s = spec->system_kernel_s,
                              .blocks_wait = spec->blocks_wait};
    m->n_gpu = m->last_home = spec->n_gpu;
    m->n_job = spec->n_job;
    m->gpu = take(spec->n_gpu, sizeof *m->gpu, &ok);
    m->job = take(spec->n_job, sizeof *m->job, &ok);
    m->gpu_view = take(spec->n_gpu, sizeof(const struct tmx_gpu_view *), &ok);
    m->job_view = take(spec->n_job, sizeof(const struct tmx_job_view *), &ok);
    for (size_t g = 0; ok && g < spec->n_gpu; g++) {
        m->gpu_view[g] = &m->gpu[g].view;
    }
    for (size_t j = 0; ok && j < spec->n_job; j++) {
        m->job_view[j] = &m->job[j].view;
    }
    m->gpus = m->gpu_view;
    m->jobs = m->job_view;
    for (size_t g = 0; ok && g < spec->n_gpu; g++) {
        gpu_init(m, g, spec->chip[g], &ok);
    }
    for (size_t g = 0; ok && g < spec->n_gpu; g++) {
        find_card(m, g, spec->card);
        scale_to_first(m, g);
    }
    m->gated = take(m->n_sm, sizeof *m->gated, &ok);
    m->share = take(m->n_sm * TMX_WAYS, sizeof *m->share, &ok);
    m->held = take(m->n_sm * TMX_WAYS, sizeof *m->held, &ok);
    m->busy = take(m->n_sm * TMX_WAYS, sizeof *m->busy, &ok);
    m->drain_s = take(m->n_sm, sizeof *m->drain_s, &ok);
    m->gated_s = take(m->n_sm, sizeof *m->gated_s, &ok);
    m->volunteer_s = take(m->n_sm, sizeof *m->volunteer_s, &ok);
    m->volunteer_done = take(m->n_sm, sizeof *m->volunteer_done, &ok);
    m->volunteer_job = take(m->n_sm, sizeof *m->volunteer_job, &ok);
    m->speed = take(m->n_gpu, sizeof *m->speed, &ok);
    m->volt2 = take(m->n_gpu, sizeof *m->volt2, &ok);
    m->volt = take(m->n_gpu, sizeof *m->volt, &ok);
    if (!ok) {
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
        m->job[j] = spec->job[j];
        m->job[j].started_s = m->job[j].finished_s = -1;
    }
    const enum tmx_status st =
        spec->sync_job && spec->sync_job->n_member > 0 ? start_sync_job(m, spec->sync_job, err) : TMX_OK;
    if (st) {
        tmx_machine_destroy(m);
        return st;
    }
    *out = m;
    return TMX_OK;
}

void tmx_machine_destroy(struct tmx_machine *m)
{
    if (!m) {
        return;
    }
    for (size_t g = 0; m->gpu && g < m->n_gpu; g++) {
        free(m->gpu[g].active);
        free(m->gpu[g].active_hot);
        free(m->gpu[g].order);
    }
    tmx_sync_job_destroy(m->members);
    free(m->gpu);
    free(m->job);
    free(m->gpu_view);
    free(m->job_view);
    free(m->gated);
    free(m->share);
    free(m->held);
    free(m->busy);
    free(m->drain_s);
    free(m->gated_s);
    free(m->volunteer_s);
    free(m->volunteer_done);
    free(m->volunteer_job);
    free(m->speed);
    free(m->volt2);
    free(m->volt);
    free(m);
}

void tmx_machine_admit(struct tmx_machine *m, uint64_t tick)
{
    const double now_s = (double)tick * m->dt_s;
    while (m->n_arrived < m->n_job && m->job[m->n_arrived].arrival_s <= now_s) {
        struct tmx_job *j = &m->job[m->n_arrived];
        j->state = TMX_JOB_WAITING;
        j->queue_order = m->n_arrived++;
    }
}

static size_t queue_position(const struct tmx_machine *m, const struct tmx_gpu *gpu,
                             const struct tmx_job *job)
{
    size_t i = gpu->n_queue;
    while (i > 0 && m->job[gpu->queue[i - 1]].priority < job->priority) {
        i--;
    }
    return i;
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
    const size_t at = queue_position(m, gpu, &m->job[job]);
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

/* A way ends: those behind it move up, with what the SMs hold and want of them. */
static void way_ends(struct tmx_machine *m, struct tmx_gpu *gpu, size_t kernel_slot)
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

static void drop_finished(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    for (size_t q = gpu->n_queue; q-- > 0;) { /* a job spread over GPUs may end while queued on one of them */
        if (m->job[gpu->queue[q]].state == TMX_JOB_DONE) {
            dequeue(gpu, q);
        }
    }
    for (size_t k = gpu->n_run; k-- > 0;) {
        if (m->job[gpu->run[k]].state == TMX_JOB_DONE) {
            way_ends(m, gpu, k);
        }
    }
}

/* Hardware's own rule (paper 003, section 2): the queue is served one kernel at a time, unless
 * SMs stay unused that the next kernel can take. */
static void start_from_queue(struct tmx_machine *m, struct tmx_gpu *gpu)
{
    if (gpu->n_run == 0 && gpu->n_queue > 0) {
        make_resident(m, gpu, 0);
    }
    if (gpu->n_run == 1 && gpu->n_queue > 0 && m->job[gpu->run[0]].width_sms < gpu->n_active) {
        make_resident(m, gpu, 0);
    }
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
    size_t k = 0;
    for (size_t sm = 0; sm < n; sm++) {
        for (size_t i = 0; i < n_active; i++) {
            if (gpu->order[i] == sm) {
                gpu->active[k++] = sm;
                break;
            }
        }
    }
    k = 0;
    for (size_t h = 0; h < n; h++) {
        for (size_t i = 0; i < n_active; i++) {
            if (gpu->order[i] == gpu->chip->hot_order[h]) {
                gpu->active_hot[k++] = gpu->chip->hot_order[h];
                break;
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

static void change_gates(struct tmx_machine *m, struct tmx_gpu *gpu, const bool *gate)
{
    bool *gated = m->gated + gpu->sm0;
    if (memcmp(gated, gate, gpu->n_sm * sizeof *gated) != 0) {
        memcpy(gated, gate, gpu->n_sm * sizeof *gated);
        gpu->steady = false;
    }
}

static void change_shares(struct tmx_gpu *gpu, const struct tmx_gpu_request *r)
{
    const double share = gpu->n_run < 2 || r->share > 1 ? 1 : r->share > 0 ? r->share : 0;
    if (share != gpu->share || gpu->n_part != r->n_part ||
        (r->n_part > 0 && memcmp(gpu->part, r->part, sizeof gpu->part) != 0)) {
        gpu->dealt = gpu->steady = false;
        gpu->n_part = r->n_part;
        memcpy(gpu->part, r->part, sizeof gpu->part);
        gpu->share = share;
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
        change_gates(m, gpu, request->gate + gpu->sm0);
        const struct tmx_gpu_request *r = &request->gpu[g];
        drop_finished(m, gpu);
        change_level(m, g, r->level);
        gpu->rest = r->rest < 1 ? (r->rest > 0 ? r->rest : 0) : 1;
        gpu->reasons = r->reasons;
        change_active(gpu, r->n_active);
        admit(m, gpu, r);
        start_from_queue(m, gpu);
        change_shares(gpu, r);
        if (gpu->n_queue > 0) {
            choose_volunteers(m, gpu, sensed_k);
        }
    }
}

/* Images of a machine for snapshots. */

static size_t walk_gpu(enum tmx_image d, struct tmx_gpu *gpu, unsigned char *buf, size_t at)
{
    const size_t n = gpu->chip->n_sm;
    struct tmx_gpu keep = *gpu;
    at = tmx_image_item(d, gpu, sizeof *gpu, buf, at);
    gpu->chip = keep.chip; /* pointers belong to this machine, not to the image */
    gpu->active = keep.active;
    gpu->active_hot = keep.active_hot;
    gpu->order = keep.order;
    gpu->steady = gpu->steady && d != TMX_IMAGE_RESTORE; /* others may rest on it */
    at = tmx_image_item(d, gpu->active, n * sizeof *gpu->active, buf, at);
    at = tmx_image_item(d, gpu->active_hot, n * sizeof *gpu->active_hot, buf, at);
    return tmx_image_item(d, gpu->order, n * sizeof *gpu->order, buf, at);
}

static size_t walk(enum tmx_image d, struct tmx_machine *m, unsigned char *buf)
{
    size_t at = 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        at = walk_gpu(d, &m->gpu[g], buf, at);
    }
    for (size_t j = 0; j < m->n_job; j++) {
        const struct tmx_kernel *kernel = m->job[j].kernel;
        at = tmx_image_item(d, &m->job[j], sizeof m->job[j], buf, at);
        m->job[j].kernel = kernel;
    }
    at = tmx_image_item(d, &m->n_arrived, sizeof m->n_arrived, buf, at);
    at = tmx_image_item(d, &m->n_done, sizeof m->n_done, buf, at);
    at = tmx_image_item(d, &m->first_unfinished, sizeof m->first_unfinished, buf, at);
    at = tmx_image_item(d, &m->last_home, sizeof m->last_home, buf, at);
    at = tmx_image_item(d, &m->counting, sizeof m->counting, buf, at);
    at = tmx_image_item(d, m->gated, m->n_sm * sizeof *m->gated, buf, at);
    at = tmx_image_item(d, m->share, m->n_sm * TMX_WAYS * sizeof *m->share, buf, at);
    at = tmx_image_item(d, m->held, m->n_sm * TMX_WAYS * sizeof *m->held, buf, at);
    at = tmx_image_item(d, m->busy, m->n_sm * TMX_WAYS * sizeof *m->busy, buf, at);
    at = tmx_image_item(d, m->drain_s, m->n_sm * sizeof *m->drain_s, buf, at);
    at = tmx_image_item(d, m->gated_s, m->n_sm * sizeof *m->gated_s, buf, at);
    at = tmx_image_item(d, m->volunteer_s, m->n_sm * sizeof *m->volunteer_s, buf, at);
    at = tmx_image_item(d, m->volunteer_job, m->n_sm * sizeof *m->volunteer_job, buf, at);
    at = tmx_image_item(d, m->volunteer_done, m->n_sm * sizeof *m->volunteer_done, buf, at);
    at = tmx_image_item(d, m->speed, m->n_gpu * sizeof *m->speed, buf, at);
    at = tmx_image_item(d, m->volt2, m->n_gpu * sizeof *m->volt2, buf, at);
    at = tmx_image_item(d, m->volt, m->n_gpu * sizeof *m->volt, buf, at);
    if (d == TMX_IMAGE_SAVE) {
        tmx_sync_job_save(m->members, buf + at);
    } else if (d == TMX_IMAGE_RESTORE) {
        tmx_sync_job_restore(m->members, buf + at);
    }
    return at + tmx_sync_job_image_size(m->members);
}

size_t tmx_machine_image_size(struct tmx_machine *m)
{
    return walk(TMX_IMAGE_COUNT, m, NULL);
}

void tmx_machine_save(struct tmx_machine *m, void *buf)
{
    (void)walk(TMX_IMAGE_SAVE, m, buf);
}

void tmx_machine_restore(struct tmx_machine *m, void *buf)
{
    (void)walk(TMX_IMAGE_RESTORE, m, buf);
}
