#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "run/input/job_files.h"
#include "sched/job/group.h"
#include "study/table_out.h"

enum { KEY_NODE = 256, KEY_SET, KEY_TEMP, KEY_DECIDE, KEY_FORMAT, SETS_MAX = 64 };

struct args {
    const char *batch, *node, *format;
    const char *set[SETS_MAX];
    size_t n_set;
    double temp_c;
    bool decide, has_temp;
};

static const struct argp_option options[] = {
    {"decide", KEY_DECIDE, NULL, 0,
     "Print the decision, its margin and the best grouping instead of the times", 0},
    {"node", KEY_NODE, "NODE", 0, "Node's name or file (c1060)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "Override a key of the node, as in gpu.redistribution=greedy", 0},
    {"temp", KEY_TEMP, "DEGC", 0, "Chip temperature (the node's reference)", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "text, csv, markdown or json (text)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    char *end;
    switch (key) {
    case KEY_DECIDE:
        a->decide = true;
        return 0;
    case KEY_NODE:
        a->node = arg;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case KEY_SET:
        if (a->n_set == SETS_MAX) {
            argp_error(state, "more than %d --set", SETS_MAX);
        }
        a->set[a->n_set++] = arg;
        return 0;
    case KEY_TEMP:
        a->temp_c = strtod(arg, &end);
        a->has_temp = true;
        if (end == arg || *end || !(a->temp_c > -273.15 && a->temp_c < 1000)) {
            argp_error(state, "--temp %s: expected degrees Celsius", arg);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (a->batch) {
            argp_error(state, "one MIX at a time");
        }
        a->batch = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "missing MIX");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct tmx_column columns[] = {
    {"setup", TMX_COLUMN_TEXT, 0},
    {"time_s", TMX_COLUMN_REAL, 2},
    {"power_w", TMX_COLUMN_REAL, 1},
    {"energy_j", TMX_COLUMN_REAL, 0},
    {"measured_time_s", TMX_COLUMN_REAL, 1},
    {"measured_energy_j", TMX_COLUMN_REAL, 0},
    {"time_error_percent", TMX_COLUMN_REAL, 2},
    {"energy_error_percent", TMX_COLUMN_REAL, 2},
};

static void measured(struct tmx_table *t, double value)
{
    if (value > 0) {
        tmx_table_real(t, value);
    } else {
        tmx_table_empty(t);
    }
}

static void error_percent(struct tmx_table *t, double ours, double value)
{
    if (value > 0) {
        tmx_table_real(t, 100 * (ours / value - 1));
    } else {
        tmx_table_empty(t);
    }
}

static void row(struct tmx_table *t, const char *setup, const struct tmx_prediction *p, double time_s,
                double energy_j)
{
    tmx_table_text(t, setup);
    tmx_table_real(t, p->time_s);
    tmx_table_real(t, p->power_w);
    tmx_table_real(t, p->energy_j);
    measured(t, time_s);
    measured(t, energy_j);
    error_percent(t, p->time_s, time_s);
    error_percent(t, p->energy_j, energy_j);
}

static enum tmx_status print_times(const struct tmx_batch *b, const struct tmx_job_batch *j,
                                   const struct tmx_job_data *d, const struct args *a, enum tmx_format format,
                                   struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    struct tmx_prediction p;
    const struct tmx_template *tmpl = tmx_template_for(b, d->tmpl, d->n_tmpl);
    const struct tmx_job_measured *m = &j->measured;
    enum tmx_status st = tmx_table_create(&t, columns, sizeof columns / sizeof columns[0], err);
    if (st) {
        return st;
    }
    if (tmx_cpu_predict(b, &p)) {
        row(t, "cpu", &p, m->cpu_time_s, m->cpu_energy_j);
    }
    if (tmx_merge_predict(b, tmpl, false, a->temp_c, &p, NULL) == TMX_FITS) {
        row(t, "manual", &p, m->manual_time_s, m->manual_energy_j);
        (void)tmx_merge_predict(b, tmpl, true, a->temp_c, &p, NULL); /* the same merge fits */
        row(t, "dynamic", &p, m->dynamic_time_s, m->dynamic_energy_j);
    }
    tmx_serial_predict(b, a->temp_c, &p);
    row(t, "serial", &p, m->serial_time_s, m->serial_energy_j);
    st = tmx_table_write(t, format, stdout, err);
    tmx_table_destroy(t);
    return st;
}

static void print_grouping(const struct tmx_grouping *g, const struct tmx_job_data *d)
{
    printf("grouping: %s, %.0f J", g->exact ? "optimal" : "greedy", g->energy_j);
    if (!g->exact) {
        printf(" (no grouping can need less than %.0f J)", g->bound_j);
    }
    putchar('\n');
    for (size_t i = 0; i < g->n; i++) {
        printf("  %zu x %s:", g->group[i].times, tmx_choice_word(g->group[i].choice));
        for (size_t k = 0; k < d->n_kind; k++) {
            if (g->group[i].count[k] > 0) {
                printf(" %zu %s", g->group[i].count[k], d->kind[k].name);
            }
        }
        printf(", %.1f s, %.0f J each\n", g->group[i].time_s, g->group[i].energy_j);
    }
}

static void print_verdict(const struct tmx_verdict *v, const struct tmx_node *n)
{
    printf("decision: %s (%s)\n", tmx_choice_word(v->choice), v->sure ? "sure" : "the models cannot decide");
    if (v->obstacle) {
        printf("merge: impossible, %s\n", tmx_obstacle_text(v->obstacle));
    } else {
        printf("merge: template %s, %d block(s) per SM, %.1f s, %.0f J\n", v->tmpl->name, v->merge.slots,
               v->merge.time_s, v->merge.energy_j);
        printf("gain of the merge: %.1f %% of the energy of the best alternative, uncertainty +-%.1f %%\n",
               100 * v->gain, 100 * n->uncertainty);
    }
    printf("serial: %.1f s, %.0f J\n", v->serial.time_s, v->serial.energy_j);
    if (v->cpu_known) {
        printf("cpu: %.1f s, %.0f J\n", v->cpu.time_s, v->cpu.energy_j);
    } else {
        printf("cpu: not known for this mix\n");
    }
    if (isfinite(v->margin)) {
        printf("margin: the next best choice needs %.1f %% more energy\n", 100 * v->margin);
    }
}

static enum tmx_status decide(const struct tmx_batch *b, const struct tmx_job_batch *j,
                              const struct tmx_job_data *d, const struct args *a, struct tmx_err *err)
{
    struct tmx_verdict v;
    struct tmx_grouping g;
    struct tmx_group_limits l = {
        .temp_c = a->temp_c, .limit_c = INFINITY, .tau_s = 1, .use_cpu = true, .largest = 256};
    const struct tmx_job_measured *m = &j->measured;
    const struct tmx_prediction cpu = {.time_s = m->cpu_time_s, .energy_j = m->cpu_energy_j};
    for (size_t k = 0; k < d->n_kind; k++) {
        l.time_s[k] = INFINITY;
    }
    tmx_decide(b, d->tmpl, d->n_tmpl, m->cpu_energy_j > 0 ? &cpu : NULL, a->temp_c, &v);
    print_verdict(&v, &d->node);
    const enum tmx_status st = tmx_group_all(b, d->tmpl, d->n_tmpl, &l, 4096, &g, err);
    if (!st) {
        print_grouping(&g, d);
    }
    return st;
}

int tmx_cmd_consolidate(int argc, char **argv)
{
    static const struct argp parser = {options,
                                       parse,
                                       "MIX",
                                       "Predict time and energy of a MIX of instances (workloads/batches or "
                                       "a file) on the CPU, merged by hand, "
                                       "merged by the framework, and one after another; or decide.\v"
                                       "Example: thermix consolidate 1S+20B --decide",
                                       NULL,
                                       NULL,
                                       NULL};
    struct args a = {.node = "c1060", .format = "text"};
    struct tmx_job_data d;
    struct tmx_job_batch j;
    struct tmx_err err = {0};
    enum tmx_format format = TMX_FORMAT_TEXT;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_format_parse(a.format, &format, &err);
    st = st ? st : tmx_job_data_load(&d, a.node, a.set, a.n_set, &err);
    if (!st) {
        st = tmx_job_batch_load(&d, a.batch, &j, &err);
        const struct tmx_batch b = {&d.node, d.kind, d.n_kind, j.count};
        a.temp_c = a.has_temp ? a.temp_c : d.node.reference_c;
        if (!st) {
            st = a.decide ? decide(&b, &j, &d, &a, &err) : print_times(&b, &j, &d, &a, format, &err);
        }
        tmx_job_data_finish(&d);
    }
    return tmx_command_end("consolidate", st, &err);
}
