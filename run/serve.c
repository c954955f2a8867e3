/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A language model in a run: group `serve`, its levels route and row, what it measures and leaves behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/curve.h"
#include "base/plausible.h"
#include "base/text.h"
#include "power/leakage.h"
#include "power/power.h"
#include "run/load/data.h"
#include "run/state.h"
#include "run/summary.h"
#include "thermal/thermal.h"

#define DEFAULT_ALONE "a100"

static const struct tmx_opt limit_opts[] = {
    TMX_ROW_REAL(tmx_serve_limits, ttft_s, "s", 0, 1e6, 0, "to the first token; 0: no limit"),
    TMX_ROW_REAL(tmx_serve_limits, tbt_s, "s", 0, 1e6, 0, "between tokens, mean of the request; 0: no limit"),
    TMX_ROW_REAL(tmx_serve_limits, e2e_s, "s", 0, 1e6, 0, "to the last token; 0: no limit"),
    TMX_ROW_TEXT(tmx_serve_limits, alone_on, DEFAULT_ALONE,
                 "chip on which a request alone sets what slowdown is relative to"),
    {0},
};

static const struct tmx_keys serve_inner[] = {
    TMX_KEYS_GROUP(tmx_run_serve, requests, tmx_request_opts),
    {.group = "scheduler",
     .opts = tmx_serve_scheduler_opts,
     .offset = offsetof(struct tmx_run_serve, spec.scheduler)},
    {.group = "pools", .opts = tmx_serve_pool_opts, .offset = offsetof(struct tmx_run_serve, spec.pools)},
    TMX_KEYS_GROUP(tmx_run_serve, limits, limit_opts),
    {0},
};
const struct tmx_keys tmx_serve_keys[] = {
    {.group = "serve", .opts = tmx_serve_opts, .inner = serve_inner}, TMX_KEYS("row", tmx_row_opts), {0}};

static void fill_gpus(struct tmx_run *r)
{
    static const double hot_k = 328.15; /* 55 degC, of a GPU that makes tokens: assumed */
    struct tmx_run_serve *s = r->serve;
    char word[TMX_PATH_SIZE];
    TMX_TAKE(&r->arena, s->gpu, r->n_gpu);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t g = 0; g < r->n_gpu && !r->err.code; g++) {
        const struct tmx_chip *c = &r->kind[r->kind_of_gpu[g]].chip;
        struct tmx_serve_gpu *gpu = &s->gpu[g];
        struct tmx_err why = {0};
        tmx_data_word(TMX_DATA_CHIP, r->kind[r->kind_of_gpu[g]].name, word,
                      sizeof word); /* as the model's file has it */
        if (tmx_llm_find(&s->llm, word, s->spec.options.tp, &gpu->phase, &why)) {
            tmx_run_fail(r, tmx_run_place(r, "serve.tp"), "%s", why.msg);
        } else if (c->board.power_w <= 0) {
            tmx_run_fail(r, tmx_run_member(r, "serve"),
                         "serve: chip %s states no board.power_w, which the phases are shares of", word);
        }
        gpu->chip = c;
        gpu->board_w = c->board.power_w;
        const double leak_w =
            r->options.leakage ? c->power.leakage_w * tmx_leakage_factor(&c->power, hot_k) : 0;
        gpu->static_w = tmx_chip_board_w(c, c->power.baseline_w + leak_w);
        gpu->limit_k = c->board.slowdown_c > 0 ? c->board.slowdown_c + TMX_ZERO_C : INFINITY;
        gpu->memory_limit_k = c->board.memory_c > 0 ? c->board.memory_c + TMX_ZERO_C : INFINITY;
    }
}

/* Nodes are alike and have as many GPUs, in racks their names differ. */
static bool same_node(const struct tmx_run *r, size_t a, size_t b)
{
    const struct tmx_topology *t = &r->topology;
    if (t->n_rack > 0) {
        return strncmp(t->gpu[a].name, t->gpu[b].name, t->gpu[a].node_letters + 1) == 0;
    }
    const size_t n = t->n_gpu > 0 && t->nodes > 0 ? r->n_gpu / (size_t)t->nodes : r->n_gpu;
    return a / n == b / n;
}

/* Sinks and cards may differ, as in a calibrated node. */
static bool alike(const struct tmx_serve_gpu *a, const struct tmx_serve_gpu *b)
{
    bool same = a->phase == b->phase && a->board_w == b->board_w && a->chip->n_level == b->chip->n_level;
    for (size_t l = 0; same && l < a->chip->n_level; l++) {
        same = a->chip->level[l].freq_hz == b->chip->level[l].freq_hz;
    }
    return same;
}

static void check_instances(struct tmx_run *r)
{
    const struct tmx_run_serve *s = r->serve;
    const struct tmx_serve_pool_options *p = &s->spec.pools;
    const size_t tp = (size_t)s->spec.options.tp, n = r->n_gpu / tp;
    for (size_t g = 0; g < r->n_gpu; g++) {
        const size_t first = g / tp * tp;
        if (r->n_gpu % tp != 0 || !same_node(r, first, g) || !alike(&s->gpu[first], &s->gpu[g])) {
            tmx_run_fail(r, tmx_run_place(r, "serve.tp"),
                         "serve.tp = %zu: the %zu GPUs are not groups of %zu, alike and in one node", tp,
                         r->n_gpu, tp);
        }
    }
    if ((p->prompt > 0) != (p->token > 0) || (size_t)(p->prompt + p->token) > n) {
        tmx_run_fail(r, tmx_run_place(r, "serve.pools"),
                     "serve.pools: %d instances for prompts and %d for tokens; the GPUs are %zu instances",
                     p->prompt, p->token, n);
    }
    if (p->prompt > 0 && (size_t)(p->prompt + p->token) < n && !r->err.code) {
        tmx_warn(
            "serve.pools: %zu of %zu instances serve nothing; they draw power, but not in rows.csv or from a "
            "row's budget",
            n - (size_t)(p->prompt + p->token), n);
    }
}

/* Every request fits into every cache it may get to, and has a server: an instance of prompts and one of
 * tokens, which are the same where phases are not split. */
static void check_requests(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    const struct tmx_serve_options *o = &s->spec.options;
    double least = INFINITY;
    const struct tmx_serve_pool_options *p = &s->spec.pools;
    const size_t n = r->n_gpu / (size_t)o->tp, used = p->prompt > 0 ? (size_t)(p->prompt + p->token) : n;
    size_t servers[2][2] = {{0}}; /* of each class */
    tmx_run_try(r, tmx_requests_make, &s->list, &s->requests, tmx_run_place(r, "serve.requests"),
                (uint64_t)r->options.seed);
    for (size_t g = 0; g < r->n_gpu; g++) {
        least = fmin(least, tmx_llm_capacity(&s->llm, s->gpu[g].phase, o->kv_util));
    }
    for (size_t i = 0; i < used; i++) {
        for (int c = 0; c < 2; c++) {
            const bool open = !o->class_servers || tmx_serve_class(o, i) == c;
            servers[c][0] += open && (p->prompt == 0 || i < (size_t)p->prompt);
            servers[c][1] += open && (p->prompt == 0 || i >= (size_t)p->prompt);
        }
    }
    for (size_t i = 0; i < s->list.n && !r->err.code; i++) {
        const struct tmx_llm_request *q = &s->list.request[i];
        const size_t *has = servers[q->class_of];
        s->output_tokens += q->output;
        if (q->input + (double)q->output > least) {
            tmx_run_fail(r, tmx_run_place(r, "serve.requests"),
                         "request %zu: %u input and %u output tokens exceed the %.0f that an instance's "
                         "cache holds (memory, kv_util, weights of %s)",
                         i + 1, q->input, (unsigned)q->output, fmax(0, least), s->llm.name);
        } else if (has[0] == 0 || has[1] == 0) {
            tmx_run_fail(
                r, tmx_run_place(r, "serve.high_servers"),
                "request %zu is of %s priority; serve.high_servers = %g of %zu instances leaves none%s",
                i + 1, q->class_of ? "low" : "high", o->high_servers, n,
                s->spec.pools.prompt == 0 ? ""
                : has[0] == 0             ? " of the prompts' pool"
                                          : " of the tokens' pool");
        }
    }
}

/* A number of the scheduler that would leave the fit: refused where it is given, else that of the fit. */
static void keep_within(struct tmx_run *r, const char *name, int *v, double most)
{
    struct tmx_run_serve *s = r->serve;
    const struct tmx_setting *given = tmx_opt_given(tmx_serve_scheduler_opts, &s->spec.scheduler, name,
                                                    tmx_setting_find(r->root, "serve.scheduler"));
    if (*v > most && given) {
        tmx_run_fail(r, given,
                     "serve.scheduler.%s = %d: the fit of %s has seen at most %g; serve.beyond_fit = "
                     "true computes more, and marks it",
                     name, *v, s->llm.name, most);
    } else if (*v > most) {
        s->kept_batch = s->kept_batch || v == &s->spec.scheduler.max_batch;
        *v = (int)most;
    }
}

/* No prompt and no batch is larger than those of the rows behind the phases, and no output longer than their
 * prompts: a cache of that length no row has seen. */
static void check_fit(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    struct tmx_serve_scheduler_options *o = &s->spec.scheduler;
    double prompt = INFINITY, batch = INFINITY;
    for (size_t g = 0; g < r->n_gpu; g++) {
        prompt = fmin(prompt, s->gpu[g].phase->max_prompt);
        batch = fmin(batch, s->gpu[g].phase->max_batch);
    }
    if (s->spec.options.beyond_fit) {
        return;
    }
    for (int made = 0; made < 2; made++) {
        double longest = 0, tokens = 0;
        size_t n_beyond = 0, first = 0;
        for (size_t i = 0; i < s->list.n; i++) {
            const double v = made ? s->list.request[i].output : s->list.request[i].input;
            first = v > prompt && n_beyond == 0 ? i : first;
            tokens = first == i ? v : tokens;
            n_beyond += v > prompt;
            longest = fmax(longest, v);
        }
        if (n_beyond > 0) {
            tmx_run_fail(r, tmx_run_place(r, "serve.requests"),
                         "request %zu: %s of %.0f tokens; the fit of %s has seen at most %g (%zu of %zu "
                         "requests are beyond, up to %.3g times); serve.beyond_fit = true computes and marks "
                         "them",
                         first + 1, made ? "an output" : "a prompt", tokens, s->llm.name, prompt, n_beyond,
                         s->list.n, longest / prompt);
        }
    }
    keep_within(r, "max_batch", &o->max_batch, batch);
    if (o->policy == TMX_SERVE_CHUNKED) {
        keep_within(r, "chunk", &o->chunk, prompt);
    } else if (o->policy != TMX_SERVE_ORCA) {
        keep_within(r, "budget", &o->budget, prompt);
    }
}

static void find_rows(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    struct tmx_row_options *o = &s->spec.row_options;
    s->spec.n_row = 1;
    if (o->rows == TMX_ROWS_RACK && r->topology.n_rack == 0) {
        tmx_run_fail(r, tmx_run_place(r, "row.rows"),
                     "row.rows = \"rack\": the run has no topology with racks");
        return;
    }
    for (size_t g = 1; g < r->n_gpu && o->rows == TMX_ROWS_RACK; g++) {
        const struct tmx_topology_gpu *gpu = &r->topology.gpu[g];
        s->spec.n_row += strncmp(gpu[-1].name, gpu->name, gpu->rack_letters + 1) != 0;
        s->gpu[g].row = s->spec.n_row - 1;
    }
    const struct tmx_plugin *policy = r->sim_spec.choice[TMX_LEVEL_ROW].policy;
    tmx_run_whole(r, "row.telemetry_s", o->telemetry_s, &o->telemetry_s, "tick_s", r->options.tick_s);
    if (o->budget_w == 0 && policy && strcmp(policy->name, "none") != 0) {
        tmx_run_fail(r, tmx_run_place(r, "row"), "row policy %s: expected row.budget_w", policy->name);
    }
    for (size_t k = 0; k < s->spec.n_row && o->budget_w > 0; k++) {
        double idle_w = 0;
        for (size_t g = 0; g < r->n_gpu; g++) {
            idle_w += s->gpu[g].row == k ? s->gpu[g].phase->idle_w + s->spec.options.rest_w : 0;
        }
        if (o->budget_w < idle_w) {
            tmx_run_fail(r, tmx_run_place(r, "row.budget_w"),
                         "row.budget_w = %g W is less than the idle servers of row %zu draw, %g W",
                         o->budget_w, k, idle_w);
        }
    }
}

/* One job a GPU, that lasts as long as the run; the source of work says its watts. */
static void make_jobs(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    const double last_s = s->list.request[s->list.n - 1].arrival_s;
    TMX_TAKE(&r->arena, r->job, r->n_gpu);
    TMX_TAKE(&r->arena, r->kernel, 1);
    r->mix.entry = calloc(r->n_gpu, sizeof *r->mix.entry);
    if (!r->job || !r->kernel || !r->mix.entry) {
        tmx_error(&r->err, TMX_ENOMEM, "out of memory");
        return;
    }
    *r->kernel = (struct tmx_kernel){
        .name = "serve",
        .launch = {.thread_blocks = 1000000, .threads_per_block = 32, .registers_per_thread = 1},
        .power = {.sm_power_w = 1, .block_lifetime_s = 1e-3}};
    r->n_kernel = 1;
    r->mix.n_entry = r->n_gpu;
    snprintf(r->mix.name, sizeof r->mix.name, "%s", s->llm.name);
    for (size_t g = 0; g < r->n_gpu && !r->err.code; g++) {
        tmx_run_try(r, tmx_job_init, &r->job[g], r->kernel, &r->kind[r->kind_of_gpu[g]].chip, 1e9);
        r->job[g].power_w = r->job[g].pdi_w = 0;
        r->job[g].pdi_valid = true;
        r->job[g].home_gpu = r->job[g].data_gpu = g;
        r->job[g].has_home = true;
        r->mix.entry[g] = (struct tmx_mix_entry){.work_s = last_s + 60};
    }
}

/* What slowdowns are relative to: the default chip may be one that the model's file lacks, a given one not.
 */
static void find_alone(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    const struct tmx_setting *given = tmx_setting_find(r->root, "serve.limits.alone_on");
    struct tmx_err why = {0};
    if (tmx_llm_find(&s->llm, s->limits.alone_on, s->spec.options.tp, &s->alone, &why)) {
        s->alone = NULL;
        if (given && strcmp(s->limits.alone_on, DEFAULT_ALONE) != 0) {
            tmx_run_fail(r, given, "serve.limits.alone_on = \"%s\": %s", s->limits.alone_on, why.msg);
        }
    }
}

/* What a run without dies has of them: one line, as heat may be switched off for a while. */
static void note_without_heat(const struct tmx_setting *root)
{
    static const char words[] = "inlet_c inlet_plus_k package thermal spread fan fan_failures power_caps_w "
                                "sensor dtm throttle mix_policy policy method network rows cols stuck_s "
                                "emergency_below_trip_k release_below_trip_k";
    char list[300] = "";
    for (size_t i = 0; i < tmx_setting_length(root); i++) {
        const struct tmx_setting *at = tmx_setting_at(root, i);
        const char *name = tmx_setting_name(at), *word = tmx_setting_text(at);
        const bool none = strcmp(name, "policy") == 0 && word && strcmp(word, "BL") == 0; /* of a suite */
        if (!none && tmx_words_have(words, name)) {
            tmx_text_add(list, sizeof list, "%s%s", *list ? ", " : "", name);
        }
    }
    const bool resolved = /* gives every key, which its author did not */
        tmx_setting_member(root, "system_kernel_s") && tmx_setting_member(root, "stopped_blocks") &&
        tmx_setting_member(root, "measured_gains");
    if (*list && !resolved) {
        tmx_warn("serve.heat = false computes no temperatures; without effect: %s", list);
    }
}

/* Keys that have no effect beside others. */
static void check_keys(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    const struct tmx_serve_options *o = &s->spec.options;
    const struct tmx_serve_scheduler_options *sch = &s->spec.scheduler;
    const struct tmx_serve_pool_options *pools = &s->spec.pools;
    const struct tmx_row_options *row = &s->spec.row_options;
    const bool trace = s->requests.process == TMX_REQUESTS_TRACE, budget = row->budget_w > 0,
               caps = strcmp(r->sim_spec.choice[TMX_LEVEL_ROW].policy->name, "none") != 0,
               mixes = sch->policy == TMX_SERVE_MIXED || sch->policy == TMX_SERVE_ORCA;
    const struct tmx_run_idle rows[] = {
        {"", tmx_run_opts, &r->options, true,
         "queue link warmup_with system_kernel_s stopped_blocks memory_bound_time measured_gains "
         "arrival_order "
         "pdi rate_error",
         "a served language model has one job on each GPU"},
        {"bound", tmx_run_bound_opts, &r->bound_options, true, "uniform one_level sm_leak",
         "the bound of a served language model has no such choice"},
        {"serve", tmx_serve_opts, o, !o->class_servers, "high_servers", "class_servers is off"},
        {"serve", tmx_serve_opts, o, !mixes, "mix",
         "this scheduler never has prompts beside tokens, or adds them"},
        {"serve.requests", tmx_request_opts, &s->requests, trace, "sizes rate_per_s day noise noise_s",
         "requests are those of a trace (process)"},
        {"serve.requests", tmx_request_opts, &s->requests, !trace, "file speed",
         "requests are drawn (process)"},
        {"serve.requests", tmx_request_opts, &s->requests, !(s->requests.noise > 0), "noise_s", "noise is 0"},
        {"serve.scheduler", tmx_serve_scheduler_opts, sch, sch->policy != TMX_SERVE_CHUNKED, "chunk",
         "the policy is not chunked"},
        {"serve.scheduler", tmx_serve_scheduler_opts, sch,
         sch->policy == TMX_SERVE_CHUNKED || sch->policy == TMX_SERVE_ORCA, "budget",
         "the policy is neither mixed nor prefill_first"},
        {"serve.scheduler", tmx_serve_scheduler_opts, sch, sch->policy != TMX_SERVE_MIXED, "max_preempt",
         "the policy is not mixed"},
        {"serve.pools", tmx_serve_pool_opts, pools, pools->prompt == 0, "gb_per_s latency_s overlap",
         "phases are not split (prompt, token)"},
        {"serve.pools", tmx_serve_pool_opts, pools, pools->gb_per_s == 0, "overlap",
         "the link is infinitely fast"},
        {"row", tmx_row_opts, row, !budget, "brake oob_s brake_s brake_release brake_hold_s brake_hz",
         "there is no row.budget_w"},
        {"row", tmx_row_opts, row, !row->brake, "brake_s brake_release brake_hold_s brake_hz",
         "row.brake is off"},
        {"row", tmx_row_opts, row, !caps, "oob_s", "no row policy asks for clocks"},
    };
    tmx_run_check_idle(r, rows, sizeof rows / sizeof rows[0], false);
    const struct {
        size_t place;
        const char *none;
    } levels[] = {{TMX_LEVEL_PLACE, "own_gpu"}, {TMX_LEVEL_TB, "round_robin"}};
    for (size_t i = 0; i < 2; i++) {
        const char *word = tmx_choice_keys[levels[i].place],
                   *name = r->sim_spec.choice[levels[i].place].policy->name;
        const struct tmx_setting *at = tmx_run_member(r, word);
        if (strcmp(name, levels[i].none) != 0 && !tmx_run_unread(r)) {
            tmx_run_fail(r, at ? at : tmx_run_member(r, "policy"),
                         "%s policy %s does nothing here: a served language model has one job on each GPU",
                         word, name);
        }
    }
    if (!o->heat && !r->err.code) {
        note_without_heat(r->root);
    }
}

/* A trace that is neither beside the file that names it nor in the current folder is a shipped one. */
static void find_trace(struct tmx_run *r, const char *name, char *path, size_t size)
{
    char found[TMX_PATH_SIZE];
    if (!path[0] || tmx_os_exists(path) || r->err.code) {
        return;
    }
    if (tmx_data_file(path, found, NULL) || strlen(found) >= size) {
        tmx_run_fail(r, tmx_setting_member(tmx_run_place(r, "serve.requests"), name),
                     "%s = \"%s\": no such file; looked for %s, also in thermix's data", name, path, path);
    } else {
        memcpy(path, found, strlen(found) + 1);
    }
}

static void read_groups(struct tmx_run *r)
{
    struct tmx_run_serve *s = r->serve;
    tmx_run_try(r, tmx_keys_read, tmx_serve_keys, s, tmx_run_member(r, "serve"));
    find_trace(r, "file", s->requests.file, sizeof s->requests.file);
    find_trace(r, "sizes", s->requests.sizes, sizeof s->requests.sizes);
    tmx_run_choose(r, TMX_LEVEL_ROUTE, "tokens", NULL, NULL);
    tmx_run_choose(r, TMX_LEVEL_ROW, "none", tmx_row_opts, &s->spec.row_options);
    const struct tmx_setting *model = tmx_run_place(r, "serve.model");
    char path[TMX_PATH_SIZE];
    tmx_run_try(r, tmx_data_find_read, TMX_DATA_LLM, tmx_setting_file(model), s->spec.options.model, path);
    tmx_run_locate(r, model);
    tmx_run_try(r, tmx_llm_load, &s->llm, path);
}

static void open_serve(struct tmx_run *r)
{
    static const char *const others[] = {"mix", "job", "cta", "gate", "sync_job"};
    static void (*const steps[])(struct tmx_run *) = {read_groups, fill_gpus,      check_instances,
                                                      find_rows,   check_requests, check_fit,
                                                      find_alone,  check_keys,     make_jobs};
    const struct tmx_setting *group = tmx_setting_group(r->root, "serve", &r->err);
    if (!group) {
        return;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct tmx_setting *other = tmx_run_member(r, others[i]);
        if (other) {
            tmx_run_fail(r, other, "%s and serve: a run has one of them", others[i]);
        }
    }
    struct tmx_run_serve *s = r->serve = r->err.code ? NULL : TMX_TAKE(&r->arena, s, 1);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !r->err.code; i++) {
        steps[i](r);
    }
    if (r->err.code) {
        return;
    }
    if (!s->spec.options.heat && !tmx_run_member(r, "method")) { /* it is built and never asked */
        snprintf(r->options.method, sizeof r->options.method, "%s", tmx_thermal_lumped.base.name);
    }
    s->spec.llm = &s->llm;
    s->spec.gpu = s->gpu;
    s->spec.n_gpu = r->n_gpu;
    s->spec.list = &s->list;
    tmx_run_source(r, &tmx_source_serve, &s->spec, group);
}

/* How much each kind's sensors rise in a second by a watt of a prompt: a step of its thermal model. */
static void build_routes(struct tmx_run *r)
{
    static const double horizon_s = 1; /* of a prompt */
    const struct tmx_run_serve *s = r->serve;
    const size_t steps = (size_t)fmax(1, round(horizon_s / r->options.tick_s));
    for (size_t of = 0; of < r->n_kind && s && s->spec.options.heat && !r->err.code; of++) {
        const struct tmx_run_kind *k = &r->kind[of];
        const struct tmx_llm *m = &s->llm;
        const size_t n = k->chip.floorplan.n_unit;
        double *power_w = calloc(8 * n, sizeof *power_w), *still_k = power_w + n, *temp_k = still_k + n,
               *l2 = temp_k + n, *dram = l2 + n, *unused = dram + n, die_k = 0, memory_k = 0;
        void *state = NULL;
        enum tmx_status st =
            power_w ? r->thermal.ops->create(k->model, &state, &r->err) : tmx_no_memory(&r->err);
        st = st ? st : r->thermal.ops->steady(state, power_w, true, still_k);
        if (!st) {
            tmx_power_share_out(
                &k->chip, 0, 0,
                &(struct tmx_power_shares){unused, unused + n, unused + 2 * n, unused, l2, dram});
        }
        for (size_t u = 0; u < n && !st; u++) { /* where a watt of a prompt goes */
            const double sm =
                k->chip.sm_of_unit[u] == TMX_NO_SM ? 0 : k->chip.part_share[u] / (double)k->chip.n_sm;
            power_w[u] = (1 - m->l2_share - m->prompt_dram_share) * sm + m->l2_share * l2[u] +
                         m->prompt_dram_share * dram[u];
        }
        for (size_t i = 0; i < steps && !st; i++) {
            st = r->thermal.ops->step(state, r->options.tick_s, power_w, temp_k);
        }
        for (size_t u = 0; u < n && !st; u++) {
            const double by_k = temp_k[u] - still_k[u];
            die_k = k->chip.sm_of_unit[u] == TMX_NO_SM ? die_k : fmax(die_k, by_k);
            for (size_t i = 0; i < k->chip.n_memory; i++) {
                memory_k = k->chip.memory_unit[i] == u
                               ? fmax(memory_k, by_k + k->chip.board.memory_k_per_w * power_w[u])
                               : memory_k;
            }
        }
        if (state) {
            r->thermal.ops->destroy(state);
        }
        free(power_w);
        for (size_t g = 0; g < r->n_gpu && !st; g++) {
            if (r->kind_of_gpu[g] == of) {
                s->gpu[g].k_per_w = die_k * (1 - k->chip.board.loss);
                s->gpu[g].memory_k_per_w = memory_k * (1 - k->chip.board.loss);
            }
        }
        if (st) {
            (void)tmx_fail(&r->err, st, "step of a prompt on %s", k->name);
        }
    }
}

static void close_serve(struct tmx_run *r)
{
    if (r->serve) {
        tmx_llm_finish(&r->serve->llm);
        tmx_requests_finish(&r->serve->list);
    }
}

static void write_serve(const struct tmx_run *r, struct tmx_writer *w)
{
    const struct tmx_run_serve *s = r->serve;
    if (!s) {
        return;
    }
    tmx_writer_open(w, "serve", TMX_SETTING_GROUP);
    tmx_opt_write(tmx_serve_opts, &s->spec.options, w);
    tmx_opt_write_group(tmx_request_opts, &s->requests, "requests", w);
    tmx_opt_write_group(tmx_serve_scheduler_opts, &s->spec.scheduler, "scheduler", w);
    tmx_opt_write_group(tmx_serve_pool_opts, &s->spec.pools, "pools", w);
    tmx_opt_write_group(limit_opts, &s->limits, "limits", w);
    tmx_writer_close(w);
    tmx_run_choice_write(r, TMX_LEVEL_ROUTE, NULL, NULL, NULL, w);
    tmx_run_choice_write(r, TMX_LEVEL_ROW, tmx_row_opts, &s->spec.row_options, NULL, w);
}

const struct tmx_run_feature tmx_feature_service = {
    .open = open_serve, .write = write_serve, .close = close_serve};
const struct tmx_run_feature tmx_feature_routes = {.build = build_routes};

/* ---- what it measures ---- */

static const struct tmx_serve *served(const struct tmx_run *r)
{
    return r->serve ? tmx_sim_serve(r->sim) : NULL;
}

/* A request that has ended: a latency, or its slowdown against the request alone; NAN: it has none. */
static double latency(const struct tmx_run *r, const struct tmx_llm_request *q, enum tmx_serve_latency what)
{
    const double ttft_s = q->first_s - q->arrival_s, e2e_s = q->done_s - q->arrival_s;
    const double tbt_s = q->output > 1 ? (e2e_s - ttft_s) / (q->output - 1.0) : NAN;
    const struct tmx_llm_phase *p = r->serve->alone;
    if (what < TMX_SERVE_SLOW_TTFT || !p) {
        return what == TMX_SERVE_TTFT  ? ttft_s
               : what == TMX_SERVE_TBT ? tbt_s
               : what == TMX_SERVE_E2E ? e2e_s
                                       : NAN;
    }
    const double n = q->output - 1.0, first_s = tmx_llm_prompt_s(p, q->input),
                 token_s = tmx_llm_token_s(p, 1, q->input + (q->output + 1.0) / 2);
    return what == TMX_SERVE_SLOW_TTFT  ? ttft_s / first_s
           : what == TMX_SERVE_SLOW_TBT ? tbt_s / token_s
                                        : e2e_s / (first_s + n * token_s);
}

double tmx_run_serve_quantile(const struct tmx_run *r, enum tmx_serve_latency what, int class_of,
                              double share)
{
    const struct tmx_serve *s = served(r);
    size_t n = 0;
    if (!s) {
        return 0;
    }
    const size_t n_request = s->n_request;
    const struct tmx_llm_request *q = s->request;
    double *v = malloc((n_request + 1) * sizeof *v);
    for (size_t i = 0; v && i < n_request; i++) {
        const bool counts =
            q[i].first_s >= 0 && q[i].done_s >= 0 && (class_of < 0 || q[i].class_of == class_of);
        const double x = counts ? latency(r, &q[i], what) : NAN;
        if (!isnan(x)) {
            v[n++] = x;
        }
    }
    const double at = n > 0 ? tmx_quantile(n, v, share) : 0;
    free(v);
    return at;
}

/* Splitwise's nine: quantiles of slowdown over their limits, the largest; at most 1: all are met. */
double tmx_run_limits_ratio(const struct tmx_run *r)
{
    static const double at[3] = {0.5, 0.9, 0.99}, limit[3][3] = {{2, 3, 6}, {1.25, 1.5, 5}, {1.25, 1.5, 5}};
    double worst = 0;
    for (size_t what = 0; what < 9; what++) {
        worst =
            fmax(worst, tmx_run_serve_quantile(r, (enum tmx_serve_latency)(TMX_SERVE_SLOW_TTFT + what / 3),
                                               -1, at[what % 3]) /
                            limit[what / 3][what % 3]);
    }
    return worst;
}

double tmx_run_goodput_pct(const struct tmx_run *r)
{
    const struct tmx_serve *s = served(r);
    size_t good = 0;
    for (size_t i = 0; s && i < s->n_request; i++) {
        const struct tmx_serve_limits *l = &r->serve->limits;
        const struct tmx_llm_request *q = &s->request[i];
        const double tbt_s = latency(r, q, TMX_SERVE_TBT);
        good += q->first_s >= 0 && q->done_s >= 0 &&
                (l->ttft_s == 0 || latency(r, q, TMX_SERVE_TTFT) <= l->ttft_s) &&
                (l->tbt_s == 0 || isnan(tbt_s) || tbt_s <= l->tbt_s) &&
                (l->e2e_s == 0 || latency(r, q, TMX_SERVE_E2E) <= l->e2e_s);
    }
    return s && s->n_request > 0 ? 100 * (double)good / (double)s->n_request : 0;
}

/* Over instances: sums of their ledgers; rows: largest, sums. */
struct tmx_run_serving tmx_run_serving(const struct tmx_run *r)
{
    const struct tmx_serve *s = served(r);
    struct tmx_run_serving v = {0};
    size_t n_class[2] = {0, 0};
    double output = 0, prompt_s = 0, token_s = 0, few_s = 0, one_s = 0, capped_s[2] = {0, 0}, idle_w = 0;
    if (!s) {
        return v;
    }
    const size_t n = s->n;
    const struct tmx_instance_view *of = s->view;
    const struct tmx_serve_spec *spec = &s->spec;
    for (size_t i = 0; i < n; i++) {
        const struct tmx_serve_instance_ledger *l = &s->ledger[i];
        output += (double)l->output_tokens;
        prompt_s += l->prompt_s;
        token_s += l->token_s;
        one_s += l->active_s[0];
        few_s += l->active_s[0] + l->active_s[1];
        capped_s[of[i].class_of] += l->capped_s;
        n_class[of[i].class_of]++;
        v.brake_s += l->braked_s / (double)n;
    }
    for (size_t k = 0; k < spec->n_row; k++) {
        const struct tmx_serve_row_ledger *l = &s->row_ledger[k];
        v.row_peak_w = fmax(v.row_peak_w, l->peak_w);
        v.row_mean_w = fmax(v.row_mean_w, l->n > 0 ? l->sum_w / (double)l->n : 0);
        v.row_rise_2s_w = fmax(v.row_rise_2s_w, l->rise_2s_w);
        v.row_rise_40s_w = fmax(v.row_rise_40s_w, l->rise_40s_w);
        v.brakes += (double)l->n_brake;
    }
    for (size_t g = 0; g < spec->n_gpu; g++) {
        idle_w += spec->gpu[g].phase->idle_w;
    }
    const double busy_s = prompt_s + token_s, span_s = fmax(tmx_sim_time_s(r->sim), r->options.tick_s),
                 rest_j = (double)spec->n_gpu * span_s * spec->options.rest_w,
                 gpu_j = r->sim->recorder->total_j;
    v.requests_done = (double)s->n_done;
    v.tokens_per_s = s->end_s > 0 ? output / s->end_s : 0;
    v.j_per_token = output > 0 ? gpu_j / output : 0;
    v.node_j_per_token =
        output > 0 ? (gpu_j + rest_j + spec->options.rest_slope * (gpu_j - idle_w * span_s)) / output : 0;
    v.prompt_pct = 100 * prompt_s / ((double)n * span_s);
    v.serving_pct = 100 * busy_s / ((double)n * span_s);
    v.active_few_pct = busy_s > 0 ? 100 * few_s / busy_s : 0;
    v.active_one_pct = busy_s > 0 ? 100 * one_s / busy_s : 0;
    v.capped_high_s = n_class[0] > 0 ? capped_s[0] / (double)n_class[0] : 0;
    v.capped_low_s = n_class[1] > 0 ? capped_s[1] / (double)n_class[1] : 0;
    v.beyond_fit = (double)tmx_serve_n_beyond(s);
    v.beyond_prompt_x = s->most_prompt;
    v.beyond_batch_x = s->most_batch;
    return v;
}

void tmx_run_serve_warn(const struct tmx_run *r)
{
    const struct tmx_serve *s = served(r);
    const size_t beyond = s ? tmx_serve_n_beyond(s) : 0;
    if (s && r->serve->kept_batch && s->most_batch >= 1) {
        tmx_warn("batches stayed at %d, the largest behind the fit of %s (serve.scheduler.max_batch); "
                 "serve.beyond_fit = true computes larger ones and marks them",
                 r->serve->spec.scheduler.max_batch, r->serve->llm.name);
    }
    if (beyond > 0) {
        const double most[] = {s->most_prompt, s->most_batch, s->most_output};
        static const char *const what[] = {"prompts", "batches", "outputs"};
        char of[192] = "";
        for (size_t k = 0; k < 3; k++) {
            if (most[k] > 1) {
                tmx_text_add(of, sizeof of, "%s%s up to %.3g times as large", *of ? ", " : "", what[k],
                             most[k]);
            }
        }
        tmx_warn("%zu of %zu requests are beyond the fit of %s (%s): their times and watts are "
                 "extrapolated; requests.csv marks them",
                 beyond, s->n_request, r->serve->llm.name, of);
    }
}

void tmx_run_requests(const struct tmx_run *run, FILE *out)
{
    const size_t n = served(run)->n_request;
    const struct tmx_llm_request *q = served(run)->request;
    char real[TMX_REAL_SIZE];
    static const char *const beyond[] = {/* by bits of enum tmx_beyond */
                                         "",       "prompt",        "batch",        "prompt batch",
                                         "output", "prompt output", "batch output", "prompt batch output"};
    fputs("arrival_s,input_tokens,output_tokens,class,instance,token_instance,ttft_s,e2e_s,beyond_fit\n",
          out);
    for (size_t i = 0; i < n; i++) {
        const bool first = q[i].first_s >= 0, last = first && q[i].done_s >= q[i].first_s;
        tmx_real_print(real, q[i].arrival_s);
        fprintf(out, "%s,%u,%u,%s,%u,%u,", real, q[i].input, (unsigned)q[i].output,
                q[i].class_of ? "low" : "high", (unsigned)q[i].instance, (unsigned)q[i].token_instance);
        tmx_real_print(real, q[i].first_s - q[i].arrival_s);
        fprintf(out, "%s,", first ? real : "");
        tmx_real_print(real, q[i].done_s - q[i].arrival_s);
        fprintf(out, "%s,%s\n", last ? real : "", beyond[q[i].beyond]);
    }
}

struct tmx_table *tmx_run_instances(const struct tmx_run *run)
{
    const struct tmx_serve *s = served(run);
    const struct tmx_instance_view *v = s->view;
    struct tmx_table *t = tmx_table_of(
        "instance:d gpu:d gpus:d row:d class busy_s:3 prompt_s:3 token_s:3 iterations:d requests:d "
        "input_tokens:d output_tokens:d mean_batch:3 energy_j:1 capped_s:3 braked_s:3");
    for (size_t i = 0; i < s->n; i++) {
        const struct tmx_serve_instance_ledger *l = &s->ledger[i];
        const double busy_s = l->prompt_s + l->token_s;
        tmx_table_row(t, "%zu %zu %zu %zu %s %g %g %g %zu %zu %zu %zu %g %g %g %g", i, v[i].gpu0, v[i].n_gpu,
                      v[i].row,
                      !run->serve->spec.options.class_servers ? "any"
                      : v[i].class_of                         ? "low"
                                                              : "high",
                      busy_s, l->prompt_s, l->token_s, (size_t)l->n_iteration, (size_t)l->n_request,
                      (size_t)l->input_tokens, (size_t)l->output_tokens,
                      busy_s > 0 ? l->sequence_s / busy_s : 0, l->joules, l->capped_s, l->braked_s);
    }
    return t;
}

struct tmx_table *tmx_run_missed(const struct tmx_run *run)
{
    static const char *const words[] = {"ttft", "tbt", "e2e"};
    const struct tmx_serve_limits *given = &run->serve->limits;
    const double limits[] = {given->ttft_s, given->tbt_s, given->e2e_s};
    const struct tmx_serve *s = served(run);
    const size_t tp = (size_t)run->serve->spec.options.tp;
    struct tmx_table *t = tmx_table_of("limit limit_s:3 missed:d missed_pct:2 queue_s:3 batch_s:3 clock_s:3 "
                                       "row_pct:1 brake_pct:1 board_pct:1 mean_inlet_c:1");
    for (int what = 0; what < 3; what++) {
        const double limit_s = limits[what] > 0
                                   ? limits[what]
                                   : tmx_run_serve_quantile(run, (enum tmx_serve_latency)what, -1, 0.99);
        double sum[3] = {0}, late[TMX_N_LATE] = {0}, inlet_k = 0;
        size_t missed = 0;
        for (const struct tmx_llm_request *q = s->request; q < s->request + s->n_request; q++) {
            if (q->done_s < 0 || !(latency(run, q, (enum tmx_serve_latency)what) > limit_s)) {
                continue;
            }
            /* what its time beyond the request alone was due to [s]: the queue, the batch, clocks */
            const struct tmx_llm_phase *p = run->serve->gpu[q->instance * tp].phase,
                                       *own = run->serve->gpu[q->token_instance * tp].phase;
            const double n = q->output - 1.0,
                         alone_s = n * tmx_llm_token_s(own, 1, q->input + (q->output + 1.0) / 2),
                         first_s = tmx_llm_prompt_s(p, q->input), token_clock_s = 1e-4 * q->token_late,
                         ttft_s = q->first_s - q->arrival_s, token_s = q->done_s - q->first_s;
            const double ttft[3] = {q->queue_s, ttft_s - q->queue_s - first_s - q->late_s, q->late_s},
                         tbt[3] = {0, token_s - alone_s - token_clock_s, token_clock_s};
            const struct tmx_serve_instance_ledger *l =
                &s->ledger[what == TMX_SERVE_TTFT ? q->instance : q->token_instance];
            const double all_s = l->late_s[0] + l->late_s[1] + l->late_s[2];
            double part[3];
            for (size_t k = 0; k < 3; k++) {
                part[k] = what == TMX_SERVE_TTFT  ? ttft[k]
                          : what == TMX_SERVE_TBT ? tbt[k] / n
                                                  : ttft[k] + tbt[k];
                sum[k] += part[k];
            }
            for (size_t k = 0; k < 3; k++) {
                late[k] += all_s > 0 ? part[2] * l->late_s[k] / all_s : 0;
            }
            inlet_k += l->inlet_ks / fmax(tmx_sim_time_s(run->sim), run->options.tick_s);
            missed++;
        }
        const double count = missed > 0 ? (double)missed : 1;
        for (size_t k = 0; k < 3; k++) {
            late[k] = sum[2] > 0 ? 100 * late[k] / sum[2] : 0;
        }
        tmx_table_row(t, "%s %g %zu %g %g %g %g %g %g %g %G", words[what], limit_s, missed,
                      100 * (double)missed / (double)s->n_request, sum[0] / count, sum[1] / count,
                      sum[2] / count, late[0], late[1], late[2],
                      missed > 0 ? inlet_k / count - TMX_ZERO_C : NAN);
    }
    return t;
}
