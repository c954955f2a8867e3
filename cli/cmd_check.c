/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file is and whether it is in order. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/plausible.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "core/floorplan/chip.h"
#include "core/floorplan/floorplan.h"
#include "core/serve/llm.h"
#include "core/topology/topology.h"
#include "core/workload/mix.h"
#include "kernels/memory.h"
#include "limits/bound.h"
#include "papers/suite.h"
#include "power/chip_energy.h"
#include "run/load/data.h"
#include "run/load/gate_files.h"
#include "run/load/job_files.h"
#include "run/registry.h"
#include "run/run.h"
#include "study/study.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/files/package.h"

struct request {
    const char *name, *path;
    const struct tmx_sets *sets;
    bool *set; /* have they been applied? */
    FILE *out;
    struct tmx_table *t; /* file, kind, key, value; NULL: sentences go to out */
};

/* That the file is in order, unless there is an error: a sentence, or a row with what it holds. */
__attribute__((format(printf, 4, 5))) static void say(const struct request *r, const struct tmx_err *err,
                                                      const char *kind, const char *fmt, ...)
{
    char text[TMX_PATH_SIZE + 200];
    va_list args;
    if (err->code) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!r->t) {
        tmx_print_visible(r->out, "%s: %s%s, ok\n", r->name, kind, text);
    } else {
        tmx_table_row(r->t, "%s %s - %s", r->name, kind, text + (text[0] == ',' ? 2 : text[0] == ' '));
    }
}

/* A row a key of a resolved configuration, groups with dots, elements with numbers. */
static void put_keys(const struct request *r, const struct tmx_setting *s, const char *key)
{
    char text[TMX_REAL_SIZE];
    const bool element = tmx_setting_is_list(s);
    if (tmx_setting_is(s, TMX_SETTING_GROUP) || element) {
        for (size_t i = 0; i < tmx_setting_length(s); i++) {
            const struct tmx_setting *m = tmx_setting_at(s, i);
            char name[400];
            if (element) {
                snprintf(name, sizeof name, "%s[%zu]", key, i);
            } else {
                snprintf(name, sizeof name, "%s%s%s", key, key[0] ? "." : "", tmx_setting_name(m));
            }
            put_keys(r, m, name);
        }
        return;
    }
    tmx_table_row(r->t, "%s %s %s %s", r->name, "run", key, tmx_scalar_plain(tmx_setting_scalar(s), text));
}

static void check_run(const struct request *r, struct tmx_err *err)
{
    struct tmx_run *run;
    const struct tmx_run_how how = {.sets = r->sets, .catalog = &tmx_builtin_check};
    *r->set = true;
    if (!tmx_run_load(&run, r->path, &how, err)) {
        r->t ? put_keys(r, tmx_run_settings(run), "") : (void)fputs(tmx_run_resolved(run), r->out);
    }
    tmx_run_destroy(run);
}

static void check_study(const struct request *r, struct tmx_err *err)
{
    struct tmx_sweep s = {0};
    struct tmx_runs runs;
    (void)!tmx_sweep_load(&s, r->path, err);
    tmx_sweep_runs(&s, &runs);
    tmx_study_check(&runs, err);
    say(r, err, "study", " of %zu points on %s", s.n_point, s.base);
    tmx_sweep_finish(&s);
}

static void check_suite(const struct request *r, struct tmx_err *err)
{
    *r->set = true;
    struct tmx_suite_call call = {.name = r->path, .sets = r->sets, .probe = &tmx_gap_probe, .check = true};
    (void)!tmx_suite_run(&call, err);
    say(r, err, "suite", "%s", "");
}

/* The file and each of its groups, which different parts of a run read. */
static void kernel_file(struct tmx_kernel *k, const char *path, struct tmx_err *err)
{
    struct tmx_gate_kernel g;
    struct tmx_memory_program program;
    struct tmx_config *cfg = NULL;
    (void)(tmx_kernel_load(k, path, err) || tmx_config_load(&cfg, path, NULL, err) ||
           (tmx_config_find(cfg, "instructions") && tmx_gate_kernel_load(&g, path, err)));
    if (!err->code && tmx_config_find(cfg, "code")) {
        struct tmx_gate_code code[TMX_GATE_CODES];
        size_t n = 0;
        (void)!tmx_gate_code_load(path, code, &n, err);
        while (n > 0) {
            tmx_gate_code_finish(&code[--n]);
        }
    }
    (void)(err->code ||
           (tmx_config_find(cfg, "memory") && tmx_memory_program_load(&program, path, NULL, err)) ||
           (tmx_config_find(cfg, "job") && tmx_job_kernel_check(path, err)));
    tmx_config_close(cfg);
}

static void check_kernel(const struct request *r, struct tmx_err *err)
{
    struct tmx_kernel k = {.name = ""};
    kernel_file(&k, r->path, err);
    say(r, err, "kernel", ", %s", k.name);
}

enum { KERNELS = 64 }; /* entries before one that are looked at for its kernel */

static void check_mix(const struct request *r, struct tmx_err *err)
{
    struct tmx_mix mix = {0};
    (void)!tmx_mix_load(&mix, r->path, 0, err);
    for (size_t i = 0; i < mix.n_entry && !err->code; i++) {
        char path[TMX_PATH_SIZE], kernel[sizeof mix.entry[i].kernel];
        struct tmx_kernel k;
        bool seen = false; /* a million arrivals are of a few kernels */
        for (size_t j = i; j > 0 && i - j < KERNELS && !seen; j--) {
            seen = mix.entry[j - 1].file == mix.entry[i].file &&
                   strcmp(mix.entry[j - 1].kernel, mix.entry[i].kernel) == 0;
        }
        if (seen) {
            continue;
        }
        snprintf(kernel, sizeof kernel, "%s", mix.entry[i].kernel);
        kernel[strcspn(kernel, ":")] = '\0'; /* KERNEL:VARIANT of the job level */
        if (!tmx_data_find_from(TMX_DATA_KERNEL, tmx_mix_kernel_from(&mix.entry[i]), kernel, path, err)) {
            kernel_file(&k, path, err);
        }
        (void)tmx_fail_from(err, err->code, mix.entry[i].file, mix.entry[i].line, "kernel");
    }
    say(r, err, "mix", " of %zu kernel%s", mix.n_entry, tmx_plural(mix.n_entry));
    tmx_mix_finish(&mix);
}

/* A run of a constant load on this chip or system reads all of its files: chips, floorplans, packages and
 * what those name. */
static enum tmx_status check_by_run(const char *key, const char *path, struct tmx_err *err)
{
    struct tmx_run *run = NULL;
    struct tmx_sets sets = {0};
    struct tmx_mix mix = {.name = "check", .entry = calloc(1, sizeof *mix.entry), .n_entry = 1};
    const struct {
        const char *key;
        struct tmx_scalar value;
    } own[] = {{key, TMX_TEXT_VALUE(path)}, {"policy", TMX_TEXT_VALUE("BL")}, {"seed", TMX_INTEGER_VALUE(1)}};
    if (!mix.entry) {
        return tmx_no_memory(err);
    }
    *mix.entry = (struct tmx_mix_entry){.kernel = "load", .gpus = 1, .power_w = 1, .work_s = 1};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        tmx_sets_put(&sets, own[i].key, own[i].value, NULL, 0, err);
    }
    const struct tmx_run_how how = {.sets = &sets, .mix = &mix, .described = true};
    tmx_run_load(&run, "", &how, err);
    tmx_run_destroy(run);
    tmx_sets_finish(&sets);
    return err->code;
}

static void check_chip(const struct request *r, struct tmx_err *err)
{
    char path[2 * TMX_PATH_SIZE], folder[TMX_PATH_SIZE], file[TMX_PATH_SIZE];
    struct tmx_chip chip = {0};
    struct tmx_memory_chip memory = {0};
    struct tmx_chip_energy energy = {0};
    struct tmx_gate_chip sm = {.clock_hz = 0};
    struct tmx_config *cfg = NULL;
    snprintf(folder, sizeof folder, "%s", r->path);
    char *slash = strrchr(folder, '/');
    if (tmx_text_ends(folder, ".cfg")) { /* chip.cfg of the folder */
        slash ? (void)(*slash = '\0') : (void)snprintf(folder, sizeof folder, ".");
        snprintf(path, sizeof path, "%s", r->path);
    } else {
        snprintf(path, sizeof path, "%s/chip.cfg", folder);
    }
    (void)(tmx_chip_open(&chip, folder, err) || check_by_run("chip", folder, err) ||
           tmx_config_load(&cfg, path, NULL, err) ||
           (tmx_config_find(cfg, "memory") && tmx_memory_chip_load(&memory, path, NULL, err)) ||
           (tmx_config_find(cfg, "energy") && tmx_chip_energy_load(&energy, path, NULL, err)) ||
           tmx_path_join(file, folder, "sm.cfg", err) ||
           (tmx_os_exists(file) && tmx_keys_load(tmx_sm_keys, &sm, file, NULL, NULL, err)) ||
           tmx_path_join(file, folder, chip.floorplan_file, err));
    tmx_config_close(cfg);
    say(r, err, "chip", " with %zu SMs, %s", chip.n_sm, file);
    tmx_chip_finish(&chip);
}

/* What a card's sinks give off for a kelvin above the air they breathe, of what that air takes up when it
 * becomes as hot as they are. */
static double given_of_taken(const struct tmx_topology *t, const struct tmx_card *c, double share)
{
    double rpm = 0, flow = 0;
    for (size_t f = c->fan0; f < c->fan0 + c->n_fan; f++) {
        const double at = fmax(t->fan[f].min_rpm, share * t->fan[f].max_rpm);
        rpm += at / (double)c->n_fan;
        flow += tmx_fan_flow_m3_per_s(&t->fan[f], at) / (double)c->n_gpu;
    }
    return 1 / (tmx_fan_convection_k_per_w(c, NULL, rpm, flow) * c->coolant_j_per_m3k * flow);
}

/* A fit and a flow that cannot both be: in a steady state the air has the right heat, before it air behind a
 * sink is hotter than the sink. */
static void warn_of_air(const struct tmx_topology *t, const struct tmx_card *c)
{
    bool known = c->convection == TMX_CONVECTION_FIT;
    for (size_t f = c->fan0; f < c->fan0 + c->n_fan; f++) {
        known = known && !t->fan[f].stand_in && t->fan[f].min_rpm > 0 && t->fan[f].flow_m3_per_s > 0;
    }
    const double slow = known ? given_of_taken(t, c, 0) : 0, fast = known ? given_of_taken(t, c, 1) : 0;
    if (fmax(slow, fast) > 1) {
        tmx_warn("card %s: at %s its sinks give off %.2g times what its air can take up (fit against "
                 "flow_m3_per_s): until temperatures are steady, the air behind them is hotter than they are",
                 c->name, slow > fast ? "its slowest" : "full speed", fmax(slow, fast));
    }
}

static void check_system(const struct request *r, struct tmx_err *err)
{
    struct tmx_topology t = {0};
    if (!tmx_topology_load(&t, r->path, err) && !check_by_run("topology", r->path, err)) {
        char nodes[40] = "", racks[40] = "";
        if (t.nodes > 1) {
            snprintf(nodes, sizeof nodes, ", %d nodes", t.nodes);
        }
        if (t.n_rack > 0) {
            snprintf(racks, sizeof racks, " in %zu racks", t.n_rack);
        }
        say(r, err, "system", " of %zu GPU%s on %zu card%s, %zu fan%s%s%s", t.n_gpu, tmx_plural(t.n_gpu),
            t.n_card, tmx_plural(t.n_card), t.n_fan, tmx_plural(t.n_fan), nodes, racks);
        for (size_t i = 0; i < t.n_card; i++) {
            const struct tmx_card *c = &t.card[i], *before = i > 0 ? c - 1 : NULL;
            if (!before || before->fit_b_k_per_w != c->fit_b_k_per_w ||
                before->fit_a_k_per_w != c->fit_a_k_per_w || before->n_gpu != c->n_gpu) {
                warn_of_air(&t, c);
            }
            if (c->n_point > 0 && !(before && before->fit_b_k_per_w == c->fit_b_k_per_w &&
                                    before->fit_a_k_per_w == c->fit_a_k_per_w)) {
                printf("  card %s: %.4g + %.4g rpm^-%.3g K/W from sink to air, fitted to %zu points; at most "
                       "%.2f %% off, at %g rpm\n",
                       c->name, c->fit_a_k_per_w, c->fit_b_k_per_w, c->fit_exponent, c->n_point,
                       100 * fabs(c->fit_error), c->fit_error_rpm);
            }
        }
    }
    tmx_topology_finish(&t);
}

static void check_batch(const struct request *r, struct tmx_err *err)
{
    struct tmx_job_data d = {0};
    struct tmx_job_batch b;
    (void)(tmx_job_data_load(&d, "c1060", NULL, err) || tmx_job_batch_load(&d, r->path, &b, err));
    say(r, err, "batch", " of %zu kinds of instances", d.n_kind);
    tmx_job_data_finish(&d);
}

/* Files that only others name: what they are, and who looks at them. */
static void check_node(const struct request *r, struct tmx_err *err)
{
    struct tmx_job_data d = {0};
    (void)!tmx_job_data_load(&d, r->path, NULL, err);
    say(r, err, "node of the job level", ", %s, %zu templates", d.name, d.n_tmpl);
    tmx_job_data_finish(&d);
}

static void check_sm(const struct request *r, struct tmx_err *err)
{
    struct tmx_gate_chip sm = {.clock_hz = 0};
    tmx_keys_load(tmx_sm_keys, &sm, r->path, NULL, NULL, err);
    say(r, err, "SM of a chip", "%s", "");
}

static void check_llm(const struct request *r, struct tmx_err *err)
{
    struct tmx_llm m = {.n_phase = 0};
    (void)!tmx_llm_load(&m, r->path, err);
    say(r, err, "language model", " of %zu phase%s", m.n_phase, tmx_plural(m.n_phase));
    tmx_llm_finish(&m);
}

/* A kind of file, and the key that tells a file of it. */
static const struct kind {
    const char *key;
    void (*check)(const struct request *r, struct tmx_err *err);
} kinds[] = {
    {"axes", check_study}, /* a study is in the suites' folder too: asked first */
    {"kind", check_suite},          {"kernels", check_mix},    {"arrivals", check_mix},
    {"floorplan_file", check_chip}, {"cards", check_system},   {"gpus", check_system},
    {"instances", check_batch},     {"launch", check_kernel},  {"jobs", check_kernel},
    {"templates", check_node},      {"framework", check_node}, {"sm", check_sm},
    {"phases", check_llm},          {"mix", check_run},
};
enum { N_KIND = sizeof kinds / sizeof kinds[0] };

/* By what it holds; a file that tells nothing is taken for a run, whose reader names what is missing. */
static void check_path(const struct request *r, struct tmx_err *err)
{
    char chip[TMX_PATH_SIZE + 16];
    struct tmx_config *cfg = NULL;
    snprintf(chip, sizeof chip, "%s/chip.cfg", r->path);
    if (tmx_os_exists(chip)) {
        check_chip(r, err);
        return;
    }
    if (strstr(r->path, ".flp") || (strstr(r->path, ".config") && tmx_os_exists(r->path))) {
        tmx_error_at(err, TMX_ECONFIG, r->path, 0,
                     "is a file of HotSpot's: expected the folder of its chip, or `thermix floorplan check` "
                     "for a floorplan");
    }
    if (tmx_config_load(&cfg, r->path, NULL, err)) {
        return;
    }
    const struct kind *kind = &kinds[N_KIND - 1];
    const bool seed =
        tmx_config_find(cfg, "seed") && (tmx_config_find(cfg, "mix") || tmx_config_find(cfg, "serve"));
    for (size_t i = 0; i < N_KIND && !seed; i++) {
        if (tmx_config_find(cfg, kinds[i].key)) {
            kind = &kinds[i];
            break;
        }
    }
    tmx_config_close(cfg);
    kind->check(r, err);
}

static void check(struct request r, struct tmx_err *err)
{
    const char *name = r.name;
    static const enum tmx_data order[] = {TMX_DATA_RUN,    TMX_DATA_SUITE,  TMX_DATA_MIX,  TMX_DATA_CHIP,
                                          TMX_DATA_SYSTEM, TMX_DATA_KERNEL, TMX_DATA_BATCH};
    char path[TMX_PATH_SIZE];
    const bool there = tmx_os_exists(name);
    const bool file = strchr(name, '/') || strstr(name, ".cfg") || (there && !tmx_os_is_folder(name));
    bool found = file;
    for (size_t i = 0; i < sizeof order / sizeof order[0] && !file && !err->code; i++) {
        if (!tmx_data_find(order[i], name, path, NULL)) {
            found = true;
            r.path = path;
            order[i] == TMX_DATA_CHIP ? check_chip(&r, err) : check_path(&r, err);
        }
    }
    if (file || (!found && there)) { /* a chip's folder; one of a shipped name hides nothing */
        check_path(&r, err);
    } else if (!found) {
        (void)!tmx_data_find(TMX_DATA_RUN, name, path, err); /* with the nearest name */
    }
}

/* thermix check: is this file in order? */

struct args {
    struct tmx_texts config;
    struct tmx_sets sets;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {TMX_ARG_SET(args, sets, ""),
                                      TMX_ARG_FORMAT(args, print.format),
                                      TMX_ARG_COLUMNS(args, print.columns, .of = NULL),
                                      {0}};

/* What a name or a file is: a run, suite, study, mix, chip, system, kernel or batch, each with everything it
 * names. A name may be of several kinds: all are checked. A run is printed resolved, the others as one line;
 * in the formats for programs rows of file, kind, key and value. */
static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    const char *name = a->config.text[0];
    const bool rows_of = a->print.format != TMX_FORMAT_TEXT || a->print.columns.n > 0;
    struct tmx_table *t = rows_of ? tmx_table_of("file kind key value:t") : NULL;
    bool set = a->sets.n == 0;
    check((struct request){name, name, &a->sets, &set, stdout, t}, err);
    if (!set) {
        tmx_error(err, TMX_ECONFIG, "--set does nothing: %s is neither a run nor a suite", name);
    }
    if (rows_of) {
        tmx_print_end(t, &a->print, "-", NULL, err);
    }
}

const struct tmx_command tmx_cmd_check = {
    .name = "check",
    .summary = "check a run, suite, study, mix, kernel, chip or system without running it",
    .doc = "Check a file and everything it names: a run (printed resolved), suite, study, mix, kernel, chip, "
           "system, batch or node of the job level. FILE is a file, a chip's folder, or a name of `thermix "
           "list`.",
    .notes =
        "check loads no modules. A warning names each policy that comes from a module and is therefore not "
        "checked.\n\n"
        "With --format csv, markdown, json or latex: rows of file, kind, key and value; with --columns also "
        "as a table. Overrides (--set) apply to runs. To override keys of a suite's runs, write base.KEY.",
    .examples = "thermix check wl1\n"
                "thermix check tabs\n"
                "thermix check wl1 --set policy=MNU --format json\n"
                "thermix check floorplans/gtx280",
    TMX_OPERANDS(args, config, 1, 1, "FILE", DATA, "which configuration?"),
    TMX_RUNS(args),
};
