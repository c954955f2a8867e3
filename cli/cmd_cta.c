/* thermix cta: kernels on a chip under CTA policies. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/os.h"
#include "run/cta_core.h"
#include "run/input/data.h"
#include "study/cta_table.h"
#include "study/table_out.h"

enum {
    MAX_KERNEL = 64,
    MAX_POLICY = 16,
    MAX_SET = 64,
    KEY_FORMAT = 256,
    KEY_CORE,
    KEY_SET,
    KEY_EPOCH,
    KEY_SEED,
    KEY_TOGETHER
};

struct args {
    const char *kernel[MAX_KERNEL];
    size_t n_kernel;
    const char *policies, *chip, *out_dir, *format;
    const char *set[MAX_SET];
    size_t n_set;
    struct tmx_cta_options options;
    int core; /* enum tmx_core_source; -1: the chip's */
    bool together;
};

static const struct argp_option options[] = {
    {"policy", 'p', "LIST", 0,
     "CTA policies, separated by commas: all, tcs, htcs, tcs_share, static_optimal, apsa; options in "
     "brackets: "
     "tcs(throttling=false,threshold=1.5) (all,tcs)",
     0},
    {"chip", 'c', "CHIP", 0, "chip (tcs28)", 0},
    {"out", 'o', "DIR", 0, "write table.csv, timeline.csv (cores over time) and launches.csv into DIR", 0},
    {"together", KEY_TOGETHER, NULL, 0,
     "the kernels wait side by side: a policy may lend cores of the first to the next (tcs_share)", 0},
    {"core", KEY_CORE, "SOURCE", 0,
     "per-core parameters ipc1, cpi1, mlp: given by the kernel's group memory, or sm_cycle: measured by "
     "running its instructions cycle by cycle; prints both side by side, with -o into core.csv (memory.core "
     "of the chip, without comparison)",
     0},
    {"epoch", KEY_EPOCH, "CYCLES", 0, "length of an epoch (2048)", 0},
    {"seed", KEY_SEED, "N", 0, "of the block lengths (1)", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "override a key of the chip, as memory.mshr=64 or energy.sm_scaling=log",
     0},
    {"format", KEY_FORMAT, "FORMAT", 0, "text, csv, markdown or json (text)", 0},
    {0},
};

static double number(struct argp_state *state, const char *option, const char *text, double min, double max)
{
    char *end;
    const double v = strtod(text, &end);
    if (end == text || *end || !(v >= min && v <= max)) {
        argp_error(state, "--%s %s: expected a number from %g to %g", option, text, min, max);
    }
    return v;
}

static int core_source(struct argp_state *state, const char *text)
{
    for (int i = 0; tmx_core_sources[i]; i++) {
        if (strcmp(text, tmx_core_sources[i]) == 0) {
            return i;
        }
    }
    argp_error(state, "--core %s: expected given or sm_cycle", text);
    return -1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case 'p':
        a->policies = arg;
        return 0;
    case 'c':
        a->chip = arg;
        return 0;
    case 'o':
        a->out_dir = arg;
        return 0;
    case KEY_TOGETHER:
        a->together = true;
        return 0;
    case KEY_CORE:
        a->core = core_source(state, arg);
        return 0;
    case KEY_EPOCH:
        a->options.epoch_cycles = number(state, "epoch", arg, 1, 1e9);
        return 0;
    case KEY_SEED:
        a->options.seed = (uint64_t)number(state, "seed", arg, 0, 1e15);
        return 0;
    case KEY_SET:
        if (a->n_set == MAX_SET) {
            argp_error(state, "more than %d --set", MAX_SET);
        }
        a->set[a->n_set++] = arg;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->n_kernel == MAX_KERNEL) {
            argp_error(state, "more than %d kernels", MAX_KERNEL);
        }
        a->kernel[a->n_kernel++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (a->n_kernel == 0) {
            argp_error(state, "expected the names of kernels");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum tmx_status load_programs(const struct args *a, const struct tmx_cta_chip *chip,
                                     struct tmx_memory_program *program, struct tmx_table *compare,
                                     struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t k = 0; k < a->n_kernel && !st; k++) {
        st = tmx_cta_program_load(&program[k], a->kernel[k], chip, compare, err);
    }
    return st;
}

static enum tmx_status parse_policies(const struct args *a, struct tmx_cta_policy_spec *p, size_t *n,
                                      struct tmx_err *err)
{
    char word[256];
    size_t length = 0;
    int depth = 0;
    for (const char *c = a->policies;; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c && (*c != ',' || depth > 0)) {
            if (length + 1 == sizeof word) {
                return tmx_fail(err, TMX_ECONFIG, "--policy: a word is too long");
            }
            word[length++] = *c;
            continue;
        }
        word[length] = '\0';
        length = 0;
        if (*n == MAX_POLICY) {
            return tmx_fail(err, TMX_ECONFIG, "--policy: more than %d", MAX_POLICY);
        }
        const enum tmx_status st = tmx_cta_policy_parse(word, &p[*n], err);
        *n += !st;
        if (st || !*c) {
            return st;
        }
    }
}

static enum tmx_status run_all(const struct args *a, const struct tmx_cta_chip *chip,
                               const struct tmx_memory_program *program,
                               const struct tmx_cta_policy_spec *policy, size_t n_policy,
                               struct tmx_cta_report *report, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const size_t n = a->together ? 1 : a->n_kernel;
    for (size_t k = 0; k < n && !st; k++) {
        const struct tmx_memory_program *list[MAX_KERNEL];
        const size_t n_list = a->together ? a->n_kernel : 1;
        for (size_t i = 0; i < n_list; i++) {
            list[i] = &program[k + i];
        }
        st = tmx_cta_report_kernel(report, chip, list, n_list, policy, n_policy, &a->options, err);
    }
    return st;
}

static enum tmx_status print(const struct args *a, const struct tmx_table *cores,
                             const struct tmx_cta_report *report, struct tmx_err *err)
{
    enum tmx_format format = TMX_FORMAT_TEXT;
    char path[TMX_PATH_SIZE];
    enum tmx_status st = a->format ? tmx_format_parse(a->format, &format, err) : TMX_OK;
    const bool for_people = format == TMX_FORMAT_TEXT || format == TMX_FORMAT_MARKDOWN;
    if (cores && for_people && !st) { /* for programs: one table, this one in core.csv */
        st = tmx_table_write(cores, format, stdout, err);
        printf("\n");
    }
    st = st ? st : tmx_table_write(report->table, format, stdout, err);
    st = st || !a->out_dir ? st : tmx_cta_report_save(report, a->out_dir, err);
    if (st || !a->out_dir || !cores) {
        return st;
    }
    if (snprintf(path, sizeof path, "%s/core.csv", a->out_dir) >= (int)sizeof path) {
        return tmx_fail(err, TMX_EIO, "%s: path too long", a->out_dir);
    }
    return tmx_table_save(cores, TMX_FORMAT_CSV, path, err);
}

int tmx_cmd_cta(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "KERNEL...",
        .doc =
            "How many cores should work for a kernel? Runs each kernel on a chip, epoch by epoch, under CTA "
            "policies and compares performance, energy and memory latency with all cores at work.\v"
            "Example:\n  thermix cta MUM LBM BLK --policy all,tcs,htcs\n"
            "  thermix cta MUM KMN --together --policy tcs,tcs_share\n"
            "  thermix cta MUM --core sm_cycle\n"
            "cores: what the policy settled for (launches weighted by time); optimal_cores: the smallest "
            "energy-delay product; latency_ratio: all cores over one."};
    struct args a = {
        .policies = "all,tcs", .chip = "tcs28", .options = {.epoch_cycles = 2048, .seed = 1}, .core = -1};
    struct tmx_cta_policy_spec policy[MAX_POLICY] = {{0}};
    struct tmx_cta_report report = {0};
    struct tmx_table *cores = NULL;
    struct tmx_cta_chip chip;
    struct tmx_err err = {0};
    size_t n_policy = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    struct tmx_memory_program *program = calloc(a.n_kernel, sizeof *program);
    enum tmx_status st = program ? TMX_OK : tmx_fail(&err, TMX_ENOMEM, "%zu kernels", a.n_kernel);
    st = st ? st : tmx_cta_chip_load(&chip, a.chip, a.set, a.n_set, &err);
    if (!st && a.core >= 0) {
        chip.memory.core = a.core;
    }
    st = st || a.core < 0 ? st : tmx_cta_core_table(&cores, &err);
    st = st ? st : load_programs(&a, &chip, program, cores, &err);
    st = st ? st : parse_policies(&a, policy, &n_policy, &err);
    st = st ? st : tmx_cta_report_create(&report, a.out_dir != NULL, &err);
    st = st ? st : run_all(&a, &chip, program, policy, n_policy, &report, &err);
    st = st ? st : print(&a, cores, &report, &err);
    tmx_cta_report_finish(&report);
    tmx_table_destroy(cores);
    for (size_t p = 0; p < n_policy; p++) {
        tmx_cta_policy_finish(&policy[p]);
    }
    free(program);
    return tmx_command_end("cta", st, &err);
}
