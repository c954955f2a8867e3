/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/provenance.h"
#include "base/text.h"
#include "core/floorplan/floorplan.h"
#include "run/options.h"
#include "run/state.h"

/* Are all kernels done? */
static const char *status_of(const struct tmx_run *run)
{
    const struct tmx_machine *m = run->sim->machine;
    return m->n_done == m->n_job ? "complete" : "partial";
}

struct tmx_table *tmx_run_summary(const struct tmx_run *run)
{
    struct tmx_table *t = tmx_table_of("run mix policy status");
    for (const struct tmx_metric *k = tmx_metrics; k->name; k++) {
        if (tmx_run_has_metric(run, k)) {
            tmx_table_extend(t, k->name, TMX_COLUMN_REAL, 3);
        }
    }
    tmx_table_extend(t, "policies", TMX_COLUMN_TEXT, 0); /* the preset and what differs from it */
    tmx_table_row(t, "%s %s %s %s", tmx_run_id(run), tmx_run_mix_name(run), tmx_run_policy_name(run),
                  status_of(run));
    for (const struct tmx_metric *k = tmx_metrics; k->name; k++) {
        if (tmx_run_has_metric(run, k)) {
            const double v = tmx_run_metric(run, k);
            isnan(v) && k->may_lack ? tmx_table_empty(t) : tmx_table_real(t, v);
        }
    }
    char words[300];
    tmx_table_text(t, tmx_run_policy_words(run, words, sizeof words));
    return t;
}

/* A cell that may have no value: %G. */
static double if_there(bool there, double v)
{
    return there ? v : NAN;
}

const char *tmx_run_gpu_label(const struct tmx_run *run, size_t g, char label[TMX_NAME])
{
    return tmx_gpu_label(run->topology.n_gpu > 0 ? run->topology.gpu[g].name : "", g, label);
}

bool tmx_run_has_gpu_labels(const struct tmx_run *run)
{
    char label[TMX_NAME], number[TMX_NAME];
    bool names = false;
    for (size_t g = 0; g < run->n_gpu && !names; g++) {
        names = strcmp(tmx_run_gpu_label(run, g, label), tmx_gpu_label("", g, number)) != 0;
    }
    return names;
}

struct tmx_table *tmx_run_kernels(const struct tmx_run *run)
{
    const struct tmx_sim *sim = run->sim;
    const struct tmx_machine *m = sim->machine;
    const bool names = tmx_run_has_gpu_labels(run);
    char words[200];
    snprintf(
        words, sizeof words,
        "kernel arrival_s:3 started_s:3 finished_s:3 blocks:d blocks_retired:d dynamic_j:1 pdi_w:3 gpu:d "
        "gpus:d wait_s:3 turnaround_s:3%s",
        names ? " gpu_label" : ""); /* of topologies that give their GPUs names */
    struct tmx_table *t = tmx_table_of(words);
    for (size_t j = 0; !run->serve && j < m->n_job; j++) {
        const struct tmx_job *job = &m->job[j];
        const struct tmx_job_blocks b = tmx_job_blocks(job);
        const double arrival_s = tmx_run_arrival_s(run, job),
                     started_s = if_there(job->started_s >= 0, job->started_s),
                     finished_s = if_there(job->finished_s >= 0, job->finished_s);
        tmx_table_row(t, "%s %g %G %G %" PRId64 " %" PRId64 " %g %g", job->kernel->name, arrival_s, started_s,
                      finished_s, (int64_t)b.total, (int64_t)b.retired, sim->recorder->job_j[j],
                      job->pdi_w * job->sm_w);
        job->n_gpu > 0 ? tmx_table_int(t, (int64_t)job->home_gpu) : tmx_table_empty(t);
        tmx_table_row(t, "%zu %G %G", job->n_gpu, started_s - arrival_s, finished_s - arrival_s);
        if (names) {
            char label[TMX_NAME];
            tmx_table_text(t, job->n_gpu > 0 ? tmx_run_gpu_label(run, job->home_gpu, label) : "");
        }
    }
    return t;
}

/* Energies and extremes of one GPU, over the counted time. */
static void add_gpu(struct tmx_table *t, const struct tmx_run *run, size_t g)
{
    const struct tmx_sim *sim = run->sim;
    const struct tmx_machine *m = sim->machine;
    const struct tmx_recorder *rec = sim->recorder;
    const struct tmx_gpu *gpu = &m->gpu[g];
    const struct tmx_chip *c = gpu->chip;
    const double counted_s = (double)rec->n_tick * run->options.tick_s;
    double dynamic_j = 0, leakage_j = 0, baseline_j = 0, sm_k = 0, stopped_s = 0;
    size_t kernels = 0;
    for (size_t u = gpu->unit0; u < gpu->unit0 + c->floorplan.n_unit; u++) {
        dynamic_j += rec->dynamic_j[u];
        leakage_j += rec->leakage_j[u];
        baseline_j += rec->baseline_j[u];
        sm_k += c->part_share[u - gpu->unit0] * rec->sum_k[u];
    }
    for (size_t sm = gpu->sm0; sm < gpu->sm0 + c->n_sm; sm++) {
        stopped_s += m->gated_s[sm] / (double)c->n_sm;
    }
    for (size_t j = 0; j < m->n_job; j++) {
        const struct tmx_job *job = &m->job[j];
        kernels += job->started_s >= 0 && job->home_gpu <= g && g < job->home_gpu + job->n_gpu;
    }
    const double energy_j = dynamic_j + leakage_j + baseline_j + rec->transition_j[g] + rec->smooth_j[g];
    const bool heat =
        !run->serve || run->serve->spec.options.heat; /* else neither watts by cause nor degrees */
    const bool counted = heat && rec->n_tick > 0;
    char chip[TMX_PATH_SIZE];
    tmx_data_word(TMX_DATA_CHIP, run->kind[run->kind_of_gpu[g]].name, chip, sizeof chip);
    tmx_table_row(t, "%zu %s %zu %G %G %G %G %G %G %G %G %G %g", g, chip, kernels, if_there(heat, energy_j),
                  if_there(heat, dynamic_j), if_there(heat, leakage_j),
                  if_there(counted, energy_j / counted_s), if_there(heat, rec->peak_w[g]),
                  if_there(counted, sm_k / (double)c->n_sm / (double)rec->n_tick - TMX_ZERO_C),
                  if_there(counted, rec->peak_k[g] - TMX_ZERO_C),
                  if_there(rec->memory_k[g] > 0, rec->memory_k[g] - TMX_ZERO_C),
                  if_there(counted, 100 * gpu->busy_s / counted_s), stopped_s);
    for (unsigned why = 0; why < TMX_N_REASON; why++) {
        tmx_table_real(t, rec->reason_s[TMX_N_REASON * g + why]);
    }
    struct tmx_cooling_gpu air = {0};
    const bool fans = tmx_sim_gpu_cooling(sim, g, &air);
    tmx_table_row(t, "%g %G",
                  (fans ? air.mean_inlet_k : run->kind[run->kind_of_gpu[g]].package.ambient) - TMX_ZERO_C,
                  if_there(fans, air.mean_rpm));
    if (run->spread_of_gpu) {
        const struct tmx_chip_draw *own = &run->spread_of_gpu[g];
        tmx_table_row(t, "%g %g %g %g", own->leakage, own->dynamic, own->sink, own->inlet_k);
    }
    if (run->topology.n_gpu > 0) {
        tmx_table_text(t, run->topology.gpu[g].name);
    }
    if (run->topology.n_rack > 0) {
        char rack[TMX_NAME];
        snprintf(rack, sizeof rack, "%.*s", (int)run->topology.gpu[g].rack_letters,
                 run->topology.gpu[g].name);
        tmx_table_text(t, rack);
    }
}

struct tmx_table *tmx_run_gpus(const struct tmx_run *run)
{
    char words[1000] = "gpu:d chip kernels:d energy_j:1 dynamic_j:1 leakage_j:1 mean_w:2 peak_w:2 "
                       "mean_temp_c:3 peak_temp_c:3 peak_memory_c:3 busy_pct:3 clock_stopped_s:3";
    for (size_t why = 0; why < TMX_N_REASON; why++) {
        tmx_text_add(words, sizeof words, " %s_s:3", tmx_reason_names[why]);
    }
    tmx_text_add(words, sizeof words, " mean_inlet_c:3 mean_fan_rpm:1%s%s%s",
                 run->spread_of_gpu ? " leakage_factor:4 dynamic_factor:4 sink_factor:4 inlet_offset_k:3"
                                    : "",
                 run->topology.n_gpu > 0 ? " name" : "", run->topology.n_rack > 0 ? " rack" : "");
    struct tmx_table *t = tmx_table_of(words);
    for (size_t g = 0; g < run->n_gpu; g++) {
        add_gpu(t, run, g);
    }
    return t;
}

/* A row a member of the synchronous job. No rows: no such job. */
static struct tmx_table *members_table(const struct tmx_run *run)
{
    const struct tmx_sync_job *g = run->sim->machine->members;
    struct tmx_table *t = tmx_table_of("member:d gpu:d weight:3 compute_s:6 speed:6 wait_pct:3 last_steps:d");
    double fastest = 0;
    for (size_t i = 0; g && i < g->spec.n_member; i++) {
        fastest = fmax(fastest, tmx_sync_job_speed(g, i));
    }
    for (size_t i = 0; g && i < g->spec.n_member; i++) {
        const double speed = tmx_sync_job_speed(g, i);
        tmx_table_row(t, "%zu %zu %g %G %G %g %zu", i, g->spec.gpu[i], g->spec.weight[i],
                      if_there(speed > 0, g->spec.weight[i] * g->spec.options.step_work_s / speed),
                      if_there(speed > 0, speed / fastest), 100 * tmx_sync_job_wait_share(g, i),
                      (size_t)g->member[i].n_last);
    }
    return t;
}

enum { INDENT = 41 }; /* of a meaning behind its metric */

const char *tmx_run_policy_words(const struct tmx_run *run, char *buf, size_t size)
{
    const struct tmx_preset *p = tmx_preset_find(run->options.policy);
    const char *const usual[TMX_N_LEVEL] = {[TMX_LEVEL_PLACE] = p ? p->place : NULL,
                                            [TMX_LEVEL_MIX] = p ? p->mix : NULL,
                                            [TMX_LEVEL_DTM] = p ? p->dtm : NULL,
                                            [TMX_LEVEL_TB] = p ? p->tb : NULL,
                                            [TMX_LEVEL_GATE] = "none",
                                            [TMX_LEVEL_ROUTE] = "tokens",
                                            [TMX_LEVEL_ROW] = "none"};
    snprintf(buf, size, "%s", run->options.policy);
    const char *joint = " with ";
    for (size_t l = 0; l < TMX_N_LEVEL; l++) {
        const struct tmx_plugin *policy = run->sim_spec.choice[l].policy;
        if (policy && l != TMX_LEVEL_FAN && (!usual[l] || strcmp(policy->name, usual[l]) != 0)) {
            tmx_text_add(buf, size, "%s%s %s", joint, tmx_choice_keys[l], policy->name);
            joint = ", ";
        }
    }
    return buf;
}

void tmx_run_print(const struct tmx_run *run, FILE *out)
{
    const size_t screen = tmx_os_terminal_width(out), width = screen > 0 ? screen : 100;
    const struct tmx_bold bold = tmx_os_bold(out);
    size_t n_zero = 0, n_reason = 0; /* metrics */
    double latched = 0;
    char title[900], policy[300], gpus[40] = "", chip[64];
    tmx_data_word(TMX_DATA_CHIP, run->kind[0].name, chip, sizeof chip);
    if (run->n_gpu > 1) {
        snprintf(gpus, sizeof gpus, ", %zu GPUs", run->n_gpu);
    }
    const size_t n_work = run->serve ? run->serve->list.n : run->sim->machine->n_job;
    snprintf(title, sizeof title, "%s under %s on %s%s, tick %g s, seed %d, %zu %s%s, run %.8s",
             tmx_run_mix_name(run), tmx_run_policy_words(run, policy, sizeof policy),
             run->topology.n_gpu > 0 ? run->topology.name : chip, gpus, run->options.tick_s,
             run->options.seed, n_work, run->serve ? "request" : "kernel", tmx_plural(n_work),
             tmx_run_id(run));
    tmx_text_wrap(title, 0, width, out);
    fputc('\n', out);
    for (const struct tmx_metric *m = tmx_metrics; m->name; m++) {
        const double v = tmx_run_metric(run, m);
        const bool first = m == tmx_metrics; /* what a run is for: shown where it is 0, too */
        n_zero += v == 0 && !first && tmx_run_has_metric(run, m);
        latched = strcmp(m->name, "latched_sm") == 0 ? v : latched;
        n_reason +=
            v > 0 && tmx_words_have("sw_power_cap_s sw_thermal_slowdown_s hw_thermal_slowdown_s", m->name);
        if (((v != 0 && !isnan(v)) || first) && tmx_run_has_metric(run, m)) {
            fprintf(out, "%s%-24s %14.3f%s  ", first ? bold.on : "", m->name, fabs(v) < 5e-4 ? 0 : v,
                    first ? bold.off : "");
            tmx_text_wrap(m->doc, INDENT, width, out);
        }
    }
    if (latched > 0) {
        char line[120];
        snprintf(line, sizeof line,
                 "%g SMs stood still for more than 10 s at a time: throttle.scope = \"sm\" has latched.",
                 latched);
        tmx_text_wrap(line, 0, width, out);
    }
    if (n_reason > 1) {
        fputs("Several reasons may slow a GPU at once: their times can sum to more than the run's.\n", out);
    }
    if (n_zero > 0) {
        fprintf(out, "Zero: %zu other metrics of `thermix list metrics`.\n", n_zero);
    }
    fputc('\n', out);
}

/* A file of the folder: what print writes, or a table as CSV. */
static void save(const struct tmx_run *run, const char *folder, const char *name,
                 void (*print)(const struct tmx_run *, FILE *),
                 struct tmx_table *(*table)(const struct tmx_run *), struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_output o;
    struct tmx_table *t = table ? table(run) : NULL;
    tmx_path_join(path, folder, name, err);
    if (!tmx_output_open(&o, path, err) && print) {
        print(run, o.file);
    } else if (!err->code) {
        (void)!tmx_table_write_csv(t, o.file, err);
    }
    tmx_table_destroy(t);
    tmx_output_end(&o, err);
}

static void print_resolved(const struct tmx_run *run, FILE *out)
{
    fputs(tmx_run_resolved(run), out);
}

/* The first GPU with the same floorplan: its chip is the same, under whatever cooler. */
static size_t first_alike(const struct tmx_run *run, size_t gpu)
{
    size_t kind = 0, first = 0;
    while (strcmp(run->kind[kind].name, run->kind[run->kind_of_gpu[gpu]].name) != 0) {
        kind++;
    }
    while (run->kind_of_gpu[first] != kind) {
        first++;
    }
    return first;
}

/* folder.cfg: what readers of the folder need that its tables do not say, so that the run is not opened
 * again.
 */
static void print_description(const struct tmx_run *run, FILE *out)
{
    char chip[TMX_PATH_SIZE];
    fputs("# What the tables of this folder are of; written by thermix run.\nmix = ", out);
    tmx_config_quote(run->mix.name, out);
    fputs(";\npolicy = ", out);
    tmx_config_quote(run->options.policy, out);
    fprintf(out, ";\nwarmup_s = %.17g;\ngpus = (\n", run->options.warmup_s);
    for (size_t g = 0; g < run->n_gpu; g++) {
        const struct tmx_run_kind *kind = &run->kind[run->kind_of_gpu[g]];
        fputs("    { chip = ", out);
        tmx_data_word(TMX_DATA_CHIP, kind->name, chip, sizeof chip);
        tmx_config_quote(chip, out);
        if (run->topology.n_gpu > 0) {
            fputs("; name = ", out);
            tmx_config_quote(run->topology.gpu[g].name, out);
        }
        fprintf(out, "; floorplan = \"floorplan_gpu%zu.flp\"; sensors = [", first_alike(run, g));
        for (size_t sm = 0; sm < kind->chip.n_sm; sm++) {
            fputs(sm ? ", " : "", out);
            tmx_config_quote(kind->chip.floorplan.unit[kind->chip.unit_of_sm[sm]].name, out);
        }
        fprintf(out, "]; }%s\n", g + 1 < run->n_gpu ? "," : "");
    }
    fputs(");\n", out);
}

void tmx_run_save(const struct tmx_run *run, const char *folder, struct tmx_err *err)
{
    const bool members = run->sync_job.n_member > 0;
    const struct {
        const char *name;
        struct tmx_table *(*table)(const struct tmx_run *);
        void (*print)(const struct tmx_run *, FILE *);
        bool there;
    } files[] = {
        {"summary.csv", tmx_run_summary, NULL, true},
        {"kernels.csv", tmx_run_kernels, NULL, true},
        {"gpus.csv", tmx_run_gpus, NULL, true},
        {"ramp.csv", tmx_run_ramps, NULL, true},
        {"spectrum.csv", tmx_run_spectrum, NULL,
         members || run->sim_spec.store.joules > 0 || tmx_smooth_on(&run->sim_spec.smooth)},
        {"members.csv", members_table, NULL, members},
        {"requests.csv", NULL, tmx_run_requests, run->serve},
        {"instances.csv", tmx_run_instances, NULL, run->serve},
    };
    save(run, folder, "resolved.cfg", print_resolved, NULL, err);
    save(run, folder, "folder.cfg", print_description, NULL, err);
    for (size_t g = 0; g < run->n_gpu && !err->code; g++) {
        char path[TMX_PATH_SIZE], name[40], comment[80];
        if (first_alike(run, g) == g) {
            snprintf(name, sizeof name, "floorplan_gpu%zu.flp", g);
            snprintf(comment, sizeof comment, "GPU %zu of the run in this folder, and all with its chip", g);
            (void)(tmx_path_join(path, folder, name, err) ||
                   tmx_flp_write(path, &run->kind[run->kind_of_gpu[g]].chip.floorplan, comment, err));
        }
    }
    if (err->code) {
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !err->code; i++) {
        if (files[i].there) {
            save(run, folder, files[i].name, files[i].print, files[i].table, err);
        }
    }
    tmx_folder_mark(folder, tmx_run_id(run), status_of(run));
    for (size_t i = 0; !err->code && i < run->inputs.n_file; i++) {
        const char *path = run->inputs.file[i].path, *slash = strrchr(path, '/');
        (void)!tmx_folder_input(folder, slash ? slash + 1 : path, run->inputs.file[i].hash, err);
    }
}

/* Is it the name of a file that a run may have left in a folder? */
static bool is_product(const char *name)
{
    static const char *const products[] = {"resolved.cfg",
                                           "summary.csv",
                                           "kernels.csv",
                                           "trace.csv",
                                           "power.ptrace",
                                           "temps.ttrace",
                                           "thermal.config",
                                           "folder.cfg",
                                           "members.csv",
                                           "gpus.csv",
                                           "requests.csv",
                                           "instances.csv",
                                           "rows.csv",
                                           "ramp.csv",
                                           "spectrum.csv",
                                           "power_gpu[0-9]*.ptrace",
                                           "temps_gpu[0-9]*.ttrace",
                                           "floorplan_gpu[0-9]*.flp"};
    size_t i = 0;
    while (i < sizeof products / sizeof products[0] && fnmatch(products[i], name, 0) != 0) {
        i++;
    }
    return i < sizeof products / sizeof products[0];
}

/* The row of this file, or of what has this hash where file is NULL; NULL where there is none. */
static const struct tmx_folder_row *row_of(const struct tmx_folder_rows *list, const char *file,
                                           const char *hash)
{
    const struct tmx_folder_row *w = list->row, *const end = list->row + list->n;
    while (w < end && strcmp(file ? w->file : w->hash, file ? file : hash) != 0) {
        w++;
    }
    return w < end ? w : NULL;
}

static bool is_input(const struct tmx_folder_row *w)
{
    return strcmp(w->status, "input") == 0;
}

static enum tmx_status list_read(struct tmx_folder_rows *list, const char *folder, struct tmx_err *err)
{
    const enum tmx_status st = tmx_folder_read(list, folder, err);
    return st || list->n > 0
               ? st
               : tmx_fail_at(err, TMX_EPARSE, folder, 0,
                             "no manifest.csv, or an empty one: no folder of `thermix run -o`, or the run "
                             "was killed; run it again");
}

enum tmx_status tmx_run_folder_check(const char *folder, bool *partial, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], hash[TMX_HASH_HEX] = "";
    struct tmx_folder_rows list;
    struct tmx_os_entry *entry = NULL;
    size_t n = 0;
    struct tmx_arena arena = {0};
    *partial = false;
    enum tmx_status st = list_read(&list, folder, err);
    st = st ? st : tmx_os_folder_read(folder, &arena, &entry, &n, err);
    for (size_t i = 0; !st && i < list.n + n; i++) { /* what is listed, then what is not */
        const bool listed = i < list.n;
        const char *name = listed ? list.row[i].file : entry[i - list.n].name;
        const struct tmx_folder_row *w = row_of(&list, name, NULL);
        if (!is_product(name) || listed != (w != NULL) || tmx_path_join(path, folder, name, NULL) != TMX_OK ||
            !tmx_os_exists(path)) {
            continue;
        }
        if (w && !*w->hash) {
            st = tmx_fail_at(err, TMX_EPARSE, folder, 0,
                             "the command that wrote this folder was stopped before its end; run it again");
            break;
        }
        st = tmx_hash_file(path, hash, err);
        if (!st && (!w || strcmp(w->hash, hash) != 0)) {
            st = tmx_fail_at(err, TMX_EPARSE, path, 0,
                             "not the file that this folder's run wrote (manifest.csv); run it again");
        }
        *partial = *partial || (!st && strcmp(w->status, "complete") != 0);
    }
    for (const struct tmx_folder_row *w = list.row; w < list.row + list.n && !st; w++) {
        if (*w->run && !is_input(w) && tmx_path_join(path, folder, w->file, NULL) == TMX_OK &&
            !tmx_os_exists(path)) {
            tmx_warn("%s: this folder's run wrote it (manifest.csv), and it is not there", path);
        }
    }
    tmx_folder_rows_finish(&list);
    tmx_arena_finish(&arena);
    return st;
}

/* What makes `run` another than the folder's, as far as the manifest shows it. */
static void name_change(const struct tmx_folder_rows *list, const struct tmx_run *run, char *text,
                        size_t size)
{
    bool noted = false;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        noted = noted || is_input(&list->row[i]);
    }
    for (size_t i = 0; noted && i < run->inputs.n_file; i++) {
        const struct tmx_input *in = &run->inputs.file[i];
        if (!row_of(list, NULL, in->hash)) {
            tmx_text_add(text, size, "%s%s", *text ? ", " : "", in->path);
        }
    }
    tmx_text_add(text, size, "%s",
                 *text   ? " changed since"
                 : noted ? "its files have not changed; another version of thermix or other keys made it"
                         : "a file that it reads or the version of thermix changed since");
}

enum tmx_status tmx_run_folder_compare(const struct tmx_run *run, const char *folder, char *change,
                                       size_t size, struct tmx_err *err)
{
    struct tmx_folder_rows list;
    const enum tmx_status st = list_read(&list, folder, err);
    size_t r = 0;
    change[0] = '\0';
    while (!st && r + 1 < list.n && !*list.row[r].run) {
        r++; /* a figure in the run's folder */
    }
    if (!st && strcmp(list.row[r].run, tmx_run_id(run)) != 0) {
        name_change(&list, run, change, size);
    }
    tmx_folder_rows_finish(&list);
    return st;
}
