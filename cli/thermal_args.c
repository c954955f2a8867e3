#define _POSIX_C_SOURCE 200809L
#include "cli/thermal_args.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum { MAX_NAME = 64, MAX_NAMES = 32 };
enum {
    METHOD = 256,
    SCHEME,
    PRECISION,
    MODES,
    TOLERANCE,
    NO_CACHE,
    ALLOW_GAPS,
    COMPAT,
    VERIFY,
    QUIET,
    VERBOSE,
    MAX_MEMORY,
    VERSION
};

static const char *const methods[] = {"auto", "reduced", "grid", "hotspot", NULL}; /* enum tmx_trace_method */
static const char *const schemes[] = {"exact", "be", NULL};                        /* enum tmx_trace_scheme */

static const struct argp_option options[] = {
    {"method", METHOD, "auto|reduced|grid|hotspot", 0,
     "What computes transients: the reduced model, the full grid, whichever of them costs less (auto, the "
     "default; -v says which and why), or HotSpot's own library where this program was built with one "
     "(HOTSPOT_ROOT). Steady states are always the full grid's",
     0},
    {"max-memory", MAX_MEMORY, "MB", 0,
     "auto takes no reduced model whose set-up needs more than this (default 1000)", 0},
    {"scheme", SCHEME, "exact|be", 0,
     "Exact for constant power within a row (default), or one backward-Euler step a row as HotSpot (full "
     "grid)",
     0},
    {"precision", PRECISION, "N", 0, "Decimals of written temperatures (default 2, as HotSpot)", 0},
    {"modes", MODES, "N", 0, "Number of modes of the reduced model; 0, the default: what the tolerance needs",
     0},
    {"tolerance", TOLERANCE, "K", 0, "Error the reduced model may have at a block [K]", 0},
    {"no-cache", NO_CACHE, NULL, 0, "Neither read nor write the cache of reduced models", 0},
    {"allow-gaps", ALLOW_GAPS, NULL, 0, "Accept floorplans that leave parts of the die without a block", 0},
    {"hotspot-compat", COMPAT, NULL, 0,
     "HotSpot's defaults where ours differ: grid_map_mode center, exchanged lateral resistances, cold partly "
     "covered cells at the start, no leakage in transients",
     0},
    {"verify-with", VERIFY, "PATH", 0,
     "Run the HotSpot program at PATH on the same files and print the differences", 0},
    {"quiet", QUIET, NULL, 0, "No notes on standard error; warnings and errors stay", 0},
    {"verbose", VERBOSE, NULL, 0, "(also -v) Say what was chosen, and why", 0},
    {"version", VERSION, NULL, 0, "Print the version", -1},
    {0},
};

static const char doc[] = "Temperatures of a chip from a power trace, with HotSpot's options and files."
                          "\vExample:\n"
                          "  thermix thermal -c chip.config -f chip.flp -p power.ptrace -o temps.ttrace "
                          "-steady_file chip.steady\n\n"
                          "Without -o only the steady state of the mean power is computed. A command line "
                          "option beats the same one in "
                          "the config file; names ignore case. Files: docs/formats.md.";

static error_t option(int key, char *arg, struct argp_state *state);

static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_EXTRA) {
        return (char *)(uintptr_t)text; /* NOLINT(performance-no-int-to-ptr): argp lacks the const */
    }
    char *buf = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buf, &size);
    if (!out) {
        return NULL;
    }
    fputs("HotSpot options, `-name value` here or in the config file:\n", out);
    fputs("  -c FILE                  config file\n", out);
    for (const struct tmx_opt *o = tmx_hotspot_opts; o->key; o++) {
        fprintf(out, "  -%-23s %s", o->key, o->doc);
        if (o->type == TMX_OPT_REAL || o->type == TMX_OPT_INT) {
            fprintf(out, " [%s], default %g", o->unit, o->def);
        } else if (o->type == TMX_OPT_CHOICE) {
            fprintf(out, ", default %s", o->def_text);
        }
        fputc('\n', out);
    }
    fclose(out);
    return buf;
}

static const struct argp argp = {options, option, NULL, doc, NULL, help_filter, NULL};

struct parse {
    struct thermal_args *args;
    struct tmx_err *err;
    enum tmx_status st;
};

static enum tmx_status bad_value(struct parse *p, const char *name, const char *value, const char *want)
{
    return tmx_fail_at(p->err, TMX_ECONFIG, "command line", 0, "--%s \"%.60s\": expected %s", name, value,
                       want);
}

static enum tmx_status number(struct parse *p, const char *name, const char *value, double min, double max,
                              const char *want, double *v)
{
    const struct tmx_span span = {value, value + strlen(value)};
    return tmx_span_real(span, v) && *v >= min && *v <= max ? TMX_OK : bad_value(p, name, value, want);
}

/* Which of words (NULL-terminated) value is. */
static enum tmx_status word(struct parse *p, const char *name, const char *value, const char *const *words,
                            int *which)
{
    char want[MAX_NAME] = "";
    size_t used = 0;
    for (*which = 0; words[*which]; (*which)++) {
        if (strcmp(value, words[*which]) == 0) {
            return TMX_OK;
        }
        used +=
            (size_t)snprintf(want + used, sizeof want - used, "%s%s", *which ? " or " : "", words[*which]);
    }
    return bad_value(p, name, value, want);
}

static enum tmx_status count(struct parse *p, const char *name, const char *value, double max,
                             const char *want, int *n)
{
    double v = 0;
    const enum tmx_status st = number(p, name, value, 0, max, want, &v);
    *n = (int)v;
    return st || v == floor(v) ? st : bad_value(p, name, value, want);
}

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    struct tmx_trace_options *a = &p->args->run;
    double v = 0;
    int which = 0;
    switch (key) {
    case METHOD:
        p->st = word(p, "method", arg, methods, &which);
        a->method = (enum tmx_trace_method)which;
        break;
    case SCHEME:
        p->st = word(p, "scheme", arg, schemes, &which);
        a->scheme = (enum tmx_trace_scheme)which;
        break;
    case PRECISION:
        p->st = count(p, "precision", arg, 15, "decimals, 0 .. 15", &a->precision);
        break;
    case TOLERANCE:
        p->st = number(p, "tolerance", arg, 1e-6, 1, "kelvins, 1e-6 .. 1", &v);
        a->tolerance_k = v;
        break;
    case MODES:
        p->st = count(p, "modes", arg, 100000, "a number of modes, 0 .. 100000", &a->modes);
        break;
    case NO_CACHE:
        a->no_cache = true;
        break;
    case ALLOW_GAPS:
        a->allow_gaps = true;
        break;
    case COMPAT:
        a->hotspot_compat = true;
        break;
    case VERIFY:
        snprintf(a->verify_with, sizeof a->verify_with, "%s", arg);
        break;
    case QUIET:
        p->args->quiet = true;
        break;
    case VERBOSE:
        p->args->verbose = true;
        break;
    case MAX_MEMORY:
        p->st = number(p, "max-memory", arg, 1, 1e9, "megabytes, 1 or more", &a->max_memory_mb);
        break;
    case VERSION:
        printf("thermix %s\n", TMX_VERSION);
        exit(0);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return p->st ? EINVAL : 0;
}

static const struct argp_option *own_option(const char *name)
{
    static const struct argp_option help[] = {{"help", 'h', NULL, 0, NULL, 0},
                                              {"usage", 'u', NULL, 0, NULL, 0}};
    for (const struct argp_option *o = options; o->name; o++) {
        if (tmx_word_compare(o->name, name) == 0) {
            return o;
        }
    }
    for (size_t i = 0; i < sizeof help / sizeof help[0]; i++) {
        if (strcmp(help[i].name, name) == 0) {
            return &help[i];
        }
    }
    return NULL;
}

static enum tmx_status unknown(const char *arg, const char *name, struct tmx_err *err)
{
    const char *names[MAX_NAMES] = {NULL};
    size_t n = 0;
    for (const struct argp_option *o = options; o->name && n < MAX_NAMES - 1; o++) {
        names[n++] = o->name;
    }
    const char *theirs = tmx_hotspot_config_nearest(name);
    if (theirs) {
        names[n++] = theirs;
    }
    const char *near = tmx_nearest(name, names, n);
    return tmx_fail_at(err, TMX_ECONFIG, "command line", 0, "unknown option \"%.60s\"%s%s%s%s", arg,
                       near ? ", did you mean \"" : "", near ? (near == theirs ? "-" : "--") : "",
                       near ? near : "", near ? "\"?" : "; see `thermix thermal --help`");
}

/* The value of argv[*i], either after its '=' or the next argument; a word that looks like an option is none.
 */
static const char *value_of(int argc, char **argv, int *i)
{
    const char *eq = strchr(argv[*i], '=');
    if (eq) {
        return eq + 1;
    }
    if (*i + 1 >= argc) {
        return NULL;
    }
    const char *next = argv[*i + 1];
    if (next[0] == '-' && (isalpha((unsigned char)next[1]) || next[1] == '-')) {
        return NULL;
    }
    ++*i;
    return next;
}

struct split {
    char **own; /* [argc + 1] arguments left for argp, each owned */
    int n_own;
    const char *config;
};

static enum tmx_status keep_own(struct split *s, const char *name, const char *value, struct tmx_err *err)
{
    const size_t size = strlen(name) + (value ? strlen(value) : 0) + 4;
    char *arg = malloc(size);
    if (!arg) {
        return tmx_fail(err, TMX_ENOMEM, "command line");
    }
    snprintf(arg, size, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    s->own[s->n_own++] = arg;
    return TMX_OK;
}

/* One argument: a HotSpot pair goes into cfg, an option of ours is kept for argp. */
static enum tmx_status split_one(int argc, char **argv, int *i, struct split *s,
                                 struct tmx_hotspot_config *cfg, struct tmx_err *err)
{
    char name[MAX_NAME];
    const char *arg = argv[*i], *begin = arg + (arg[0] == '-') + (arg[0] == '-' && arg[1] == '-');
    const struct tmx_span span = {begin, begin + strcspn(begin, "=")};
    if (begin == arg || begin == span.end) {
        return tmx_fail_at(err, TMX_ECONFIG, "command line", 0, "\"%.60s\": expected an option, -name value",
                           arg);
    }
    if (!tmx_span_copy(span, name, sizeof name)) {
        return unknown(arg, arg, err);
    }
    const bool config = tmx_word_compare(name, "c") == 0,
               short_help = !strcmp(arg, "-h") || !strcmp(arg, "-?");
    if (short_help || strcmp(arg, "-v") == 0) {
        return keep_own(s, short_help ? "help" : "verbose", NULL, err);
    }
    const struct argp_option *own = own_option(name);
    if (!config && !own && !tmx_hotspot_config_knows(name)) {
        return unknown(arg, name, err);
    }
    if (own && !own->arg) {
        return keep_own(s, own->name, NULL, err);
    }
    const char *value = value_of(argc, argv, i);
    if (!value || !*value) {
        return tmx_fail_at(err, TMX_ECONFIG, "command line", 0, "option \"%s\" has no value", arg);
    }
    if (config) {
        s->config = s->config ? s->config : value;
        return TMX_OK;
    }
    return own ? keep_own(s, own->name, value, err)
               : tmx_hotspot_config_set(cfg, name, value, TMX_HOTSPOT_COMMAND_LINE, 0, err);
}

static enum tmx_status read_files(struct tmx_hotspot_config *cfg, const char *config, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (config && tmx_word_compare(config, "(null)") != 0) {
        st = tmx_hotspot_config_read(cfg, config, TMX_HOTSPOT_CONFIG, err);
    }
    if (!st && cfg->package_model_used && cfg->package_config_file[0]) {
        st = tmx_hotspot_config_read(cfg, cfg->package_config_file, TMX_HOTSPOT_PACKAGE, err);
    }
    return st;
}

enum tmx_status tmx_thermal_args_parse(int argc, char **argv, struct thermal_args *args, struct tmx_err *err)
{
    struct split s = {.own = calloc((size_t)argc + 1, sizeof *s.own), .n_own = 1};
    struct parse p = {.args = args, .err = err};
    *args = (struct thermal_args){.run = {.precision = 2, .max_memory_mb = 1000}};
    tmx_hotspot_config_init(&args->run.cfg);
    if (!s.own) {
        return tmx_fail(err, TMX_ENOMEM, "command line");
    }
    s.own[0] = argv[0];
    enum tmx_status st = TMX_OK;
    for (int i = 1; !st && i < argc; i++) {
        st = split_one(argc, argv, &i, &s, &args->run.cfg, err);
    }
    if (!st) {
        const error_t failed = argp_parse(&argp, s.n_own, s.own, 0, NULL, &p);
        st =
            failed && !p.st ? tmx_fail_at(err, TMX_ECONFIG, "command line", 0, "%s", strerror(failed)) : p.st;
    }
    st = st ? st : read_files(&args->run.cfg, s.config, err);
    for (int i = 1; i < s.n_own; i++) {
        free(s.own[i]);
    }
    free(s.own);
    return st;
}
