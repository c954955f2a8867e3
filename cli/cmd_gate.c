/* thermix gate: unit gating of kernels on one SM, cycle by cycle. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/os.h"
#include "core/micro/trace_accelsim.h"
#include "core/micro/trace_file.h"
#include "papers/gate_fit.h"
#include "sched/gate/gate.h"
#include "study/gate_runs.h"

enum { MAX_LIST = 32, MAX_SET = 64, DEFAULT_BUDGET = 300000, EXPORT_BLOCKS = 16 };
enum {
    KEY_BET = 256,
    KEY_WAKEUP,
    KEY_FIT,
    KEY_TUNE,
    KEY_SEED,
    KEY_FORMAT,
    KEY_SET,
    KEY_CHIP,
    KEY_TRACE,
    KEY_CONVERT,
    KEY_EXPORT
};

struct args {
    const char *kernel[TMX_GATE_KERNELS], *set[MAX_SET], *policy[MAX_LIST];
    size_t n_kernel, n_set, n_policy;
    int bet[MAX_LIST], wakeup[MAX_LIST];
    size_t n_bet, n_wakeup;
    const char *chip, *out, *trace, *convert, *export;
    size_t fit;
    int tune; /* index of a fit, -1: no tuning */
    uint64_t seed, budget;
    bool has_budget, quiet;
    unsigned n_worker;
    enum tmx_format format;
};

static const struct argp_option options[] = {
    {"policy", 'p', "LIST", 0, "policies, as in convpg,warped_gates (default: all)", 0},
    {"bet", KEY_BET, "LIST", 0, "break-even times [cycles], as in 9,14,19,24 (default: the chip's, 14)", 0},
    {"wakeup", KEY_WAKEUP, "LIST", 0, "wake-up times [cycles], as in 3,6,9 (default: the chip's, 3)", 0},
    {"instructions", 'n', "N", 0, "warp instructions a run (default 300000; a trace: all of it)", 0},
    {"seed", KEY_SEED, "N", 0, "seed of the instruction streams (default 1)", 0},
    {"fit", KEY_FIT, "WORD", 0, "which fit of the free knobs: convpg or all (default all)", 0},
    {"tune", KEY_TUNE, "WORD", 0, "fit the knobs again over KERNEL... and print them: convpg or all", 0},
    {"chip", KEY_CHIP, "NAME", 0, "whose SM, floorplans/NAME/sm.cfg (default gtx480)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "override a key of sm.cfg, as in gate.gate_sfu=true; may be repeated",
     0},
    {"trace", KEY_TRACE, "FILE", 0, "run this instruction trace; KERNEL says how memory answers", 0},
    {"convert", KEY_CONVERT, "FILE", 0, "convert an Accel-Sim kernel trace (.traceg) to --out and stop", 0},
    {"export", KEY_EXPORT, "FILE", 0, "write KERNEL's first 16 thread blocks as a trace and stop", 0},
    {"out", 'o', "DIR", 0, "write table.csv into DIR (with --convert: the file to write)", 0},
    {"jobs", 'j', "N", 0, "kernels at a time (default: one a processor)", 0},
    {"format", KEY_FORMAT, "WORD", 0, "text, csv, markdown or json (default text)", 0},
    {"quiet", 'q', NULL, 0, "print no progress", 0},
    {0},
};

static uint64_t number(const char *arg, uint64_t low, uint64_t high, const char *what,
                       struct argp_state *state)
{
    char *end;
    const unsigned long long v = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || v < low || v > high) {
        argp_error(state, "%s %s: expected a number from %" PRIu64 " to %" PRIu64, what, arg, low, high);
    }
    return v;
}

static size_t cycles_list(char *arg, int list[MAX_LIST], const char *what, struct argp_state *state)
{
    size_t n = 0;
    for (char *word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
        if (n == MAX_LIST) {
            argp_error(state, "%s: more than %d values", what, MAX_LIST);
            return n;
        }
        list[n++] = (int)number(word, 1, 1000, what, state);
    }
    return n;
}

static size_t fit_index(const char *word, const char *what, struct argp_state *state)
{
    for (size_t i = 0; i < TMX_GATE_FITS; i++) {
        if (strcmp(word, tmx_gate_fits[i]) == 0) {
            return i;
        }
    }
    argp_error(state, "%s %s: expected convpg or all", what, word);
    return 0;
}

static void policy_list(struct args *a, char *arg, struct argp_state *state)
{
    a->n_policy = 0;
    for (char *word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
        if (!tmx_gate_find(word)) {
            argp_error(state, "--policy: unknown policy \"%s\"; `thermix list policies` names them", word);
        } else if (a->n_policy < MAX_LIST) {
            a->policy[a->n_policy++] = word;
        }
    }
}

static error_t parse_more(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    struct tmx_err err = {0};
    switch (key) {
    case KEY_CHIP:
        a->chip = arg;
        return 0;
    case KEY_SET:
        if (a->n_set == MAX_SET) {
            argp_error(state, "more than %d --set", MAX_SET);
        } else {
            a->set[a->n_set++] = arg;
        }
        return 0;
    case KEY_TRACE:
        a->trace = arg;
        return 0;
    case KEY_CONVERT:
        a->convert = arg;
        return 0;
    case KEY_EXPORT:
        a->export = arg;
        return 0;
    case KEY_FORMAT:
        if (tmx_format_parse(arg, &a->format, &err)) {
            argp_error(state, "--format: %s", err.msg);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (a->n_kernel == TMX_GATE_KERNELS) {
            argp_error(state, "more than %d kernels", TMX_GATE_KERNELS);
        } else {
            a->kernel[a->n_kernel++] = arg;
        }
        return 0;
    case ARGP_KEY_END:
        if (a->n_kernel == 0 && !a->convert) {
            argp_error(state, "which kernel? `thermix list kernels` names them");
        }
        if ((a->trace || a->export) && a->n_kernel != 1) {
            argp_error(state, "--trace and --export take one kernel");
        }
        if (a->convert && !a->out) {
            argp_error(state, "--convert needs --out FILE");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case 'p':
        policy_list(a, arg, state);
        return 0;
    case KEY_BET:
        a->n_bet = cycles_list(arg, a->bet, "--bet", state);
        return 0;
    case KEY_WAKEUP:
        a->n_wakeup = cycles_list(arg, a->wakeup, "--wakeup", state);
        return 0;
    case 'n':
        a->budget = number(arg, 1, 1000000000, "--instructions", state);
        a->has_budget = true;
        return 0;
    case KEY_SEED:
        a->seed = number(arg, 0, UINT32_MAX, "--seed", state);
        return 0;
    case KEY_FIT:
        a->fit = fit_index(arg, "--fit", state);
        return 0;
    case KEY_TUNE:
        a->tune = (int)fit_index(arg, "--tune", state);
        return 0;
    case 'o':
        a->out = arg;
        return 0;
    case 'j':
        a->n_worker = (unsigned)number(arg, 1, 1024, "--jobs", state);
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    default:
        return parse_more(key, arg, state);
    }
}

static enum tmx_status convert(const struct args *a, struct tmx_err *err)
{
    struct tmx_output out;
    enum tmx_status st = tmx_output_open(&out, a->out, err);
    if (st) {
        return st;
    }
    st = tmx_trace_from_accelsim(a->convert, TMX_MAX_WARPS, out.file, err);
    st = st ? st : tmx_output_commit(&out, err);
    tmx_output_discard(&out);
    return st;
}

static enum tmx_status export(const struct args *a, const struct tmx_gate_chip *chip,
                              const struct tmx_gate_kernel *kernel, struct tmx_err *err) {
    struct tmx_output out; struct tmx_stream s;
    enum tmx_status st = tmx_stream_generate(&s, &kernel->stats, &chip->fit[a->fit], a->seed, err);
    if (st){return st;}
st = tmx_output_open(&out, a->export, err);
if (!st) {
    tmx_trace_file_write(&s, EXPORT_BLOCKS, out.file);
    st = tmx_output_commit(&out, err);
    tmx_output_discard(&out);
}
tmx_stream_finish(&s);
return st;
}

/* Policy "none" first, then every policy at every pair of times. */
static enum tmx_status make_cases(const struct args *a, const struct tmx_gate_params *gate,
                                  struct tmx_gate_case *c, size_t *n, struct tmx_err *err)
{
    const int *bet = a->n_bet ? a->bet : &gate->break_even_cycles;
    const int *wakeup = a->n_wakeup ? a->wakeup : &gate->wakeup_cycles;
    const size_t n_bet = a->n_bet ? a->n_bet : 1, n_wakeup = a->n_wakeup ? a->n_wakeup : 1;
    c[0] = (struct tmx_gate_case){tmx_gate_find("none"), bet[0], wakeup[0]};
    *n = 1;
    for (size_t i = 0; i < (a->n_policy ? a->n_policy : MAX_LIST); i++) {
        const struct tmx_gate_policy *p = a->n_policy ? tmx_gate_find(a->policy[i]) : tmx_gate_policies[i];
        if (!p) {
            break;
        }
        for (size_t k = 0; p->wake != TMX_WAKE_NO_GATING && k < n_bet * n_wakeup; k++) {
            if (*n == TMX_GATE_CASES) {
                return tmx_fail(err, TMX_ERANGE, "more than %d combinations of policies and times",
                                TMX_GATE_CASES);
            }
            c[(*n)++] = (struct tmx_gate_case){p, bet[k / n_wakeup], wakeup[k % n_wakeup]};
        }
    }
    return TMX_OK;
}

static enum tmx_status write_table(const struct args *a, const struct tmx_table *t, struct tmx_err *err)
{
    char path[1024];
    enum tmx_status st = TMX_OK;
    if (a->out) {
        snprintf(path, sizeof path, "%s/table.csv", a->out);
        st = tmx_os_mkdirs(a->out, err);
        st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
    }
    return st ? st : tmx_table_save(t, a->format, "-", err);
}

static enum tmx_status measure(const struct args *a, const struct tmx_gate_chip *chip,
                               const struct tmx_gate_kernel *kernel, struct tmx_err *err)
{
    struct tmx_gate_case cases[TMX_GATE_CASES];
    struct tmx_stream trace = {0};
    struct tmx_table *t = NULL;
    struct tmx_sm_result *result = NULL;
    struct tmx_gate_plan plan = {.chip = chip,
                                 .kernel = kernel,
                                 .n_kernel = a->n_kernel,
                                 .gate = cases,
                                 .first_fit = a->fit,
                                 .n_fit = 1,
                                 .seed = a->seed,
                                 .budget = a->budget,
                                 .n_worker = a->n_worker,
                                 .quiet = a->quiet};
    enum tmx_status st = make_cases(a, &chip->gate, cases, &plan.n_case, err);
    if (!st && a->trace) {
        const struct tmx_instr_stats *k = &kernel->stats;
        const struct tmx_memory memory = {k->miss, k->latency_cycles, k->latency_variation, k->bandwidth,
                                          k->lines};
        st = tmx_trace_file_read(&trace, a->trace, &memory, a->seed, err);
        plan.trace = &trace;
        plan.budget = a->has_budget ? a->budget : UINT64_MAX;
    }
    if (!st) {
        result = calloc(a->n_kernel * plan.n_case + 1, sizeof *result);
        st = result ? tmx_gate_run(&plan, result, err) : tmx_fail(err, TMX_ENOMEM, "results");
    }
    st = st ? st : tmx_gate_table(&plan, result, &t, err);
    st = st ? st : write_table(a, t, err);
    tmx_table_destroy(t);
    free(result);
    tmx_stream_finish(&trace);
    return st;
}

static enum tmx_status run(const struct args *a, struct tmx_err *err)
{
    struct tmx_gate_chip chip;
    if (a->convert) {
        return convert(a, err);
    }
    struct tmx_gate_kernel *kernel = calloc(a->n_kernel + 1, sizeof *kernel);
    if (!kernel) {
        return tmx_fail(err, TMX_ENOMEM, "kernels");
    }
    enum tmx_status st = tmx_gate_chip_load(&chip, a->chip, a->set, a->n_set, err);
    for (size_t i = 0; !st && i < a->n_kernel; i++) {
        st = tmx_gate_kernel_load(&kernel[i], a->kernel[i], err);
    }
    if (!st && a->export) {
        st = export(a, &chip, kernel, err);
    } else if (!st && a->tune >= 0) {
        st = tmx_gate_tune(&chip, kernel, a->n_kernel, (size_t)a->tune, a->seed, stdout, err);
    } else if (!st) {
        st = measure(a, &chip, kernel, err);
    }
    free(kernel);
    return st;
}

int tmx_cmd_gate(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "KERNEL...",
        "Unit gating of kernels on one SM, cycle by cycle: static energy saved, slowdown, idle periods."
        "\vExample: thermix gate hotspot cutcp --policy convpg,warped_gates --bet 9,14,19,24\n"
        "         thermix gate hotspot --wakeup 3,6,9 -o out/hotspot\n"
        "         thermix gate --convert kernel-1.traceg -o kernel-1.trace\n"
        "         thermix gate hotspot --trace kernel-1.trace",
        NULL,
        NULL,
        NULL};
    struct args a = {.chip = "gtx480", .fit = 1, .tune = -1, .seed = 1, .budget = DEFAULT_BUDGET};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    const enum tmx_status st = run(&a, &err);
    return tmx_command_end("gate", st, &err);
}
