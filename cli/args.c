/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to argp and to a command's struct. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"

#include <argp.h>
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/load/data.h"

enum { FIRST_KEY = 256, MAX_DOC = 1024, EXAMPLE_WIDTH = 78 };
#define PAIRS_HEADING "Written -key value, names ignore case"

enum { MOST_ARGS = 64 };

struct parser {
    const struct tmx_command *command;
    void *args;
    struct tmx_arena *arena; /* of lists */
    bool given[MOST_ARGS];   /* the rows of the command line */
};

static void *field(const struct tmx_arg *a, void *args)
{
    return (char *)args + a->offset;
}

static void add_text(struct tmx_texts *t, struct tmx_arena *arena, const char *text)
{
    if (TMX_GROW(arena, t->own, t->n)) {
        t->own[t->n++] = text;
    }
}

/* The words between commas; text in brackets is not split. */
static void read_list(struct tmx_texts *t, struct tmx_arena *arena, const char *text, struct tmx_err *err)
{
    const char *begin = text;
    int depth = 0;
    *t = (struct tmx_texts){.n = 0};
    for (const char *c = text; c == text || c[-1]; c++) {
        depth += (*c == '(') - (*c == ')');
        if (!*c || (*c == ',' && depth == 0)) {
            const char *word = tmx_arena_letters(arena, begin, (size_t)(c - begin));
            if (c == begin) {
                tmx_error(err, TMX_ECONFIG, "an empty word in \"%s\"", text);
            } else if (word && tmx_names_find(word, t->text, t->n) < t->n) {
                tmx_error(err, TMX_ECONFIG, "%s is given twice in \"%s\"", word, text);
            }
            add_text(t, arena, word);
            begin = c + 1;
        }
    }
}

static double number(const struct tmx_arg *a, const char *text, struct tmx_err *err)
{
    double v;
    const bool whole = a->type != TMX_ARG_REAL;
    const bool celsius = a->value && (strcmp(a->value, "C") == 0 || strcmp(a->value, "T") == 0);
    if ((tmx_text_real(text, &v) || (celsius && tmx_celsius_read(text, &v))) && v >= a->min && v <= a->max &&
        (!whole || v == floor(v))) {
        return v;
    }
    tmx_error(err, TMX_ECONFIG, "--%s %s: expected a %snumber from %.10g to %.10g", a->name, text,
              whole ? "whole " : "", a->min, a->max);
    return 0;
}

/* The numbers between commas, in place of those that are there. */
static void set_ints(const struct tmx_arg *a, const char *text, struct tmx_ints *to, struct tmx_arena *arena,
                     struct tmx_err *err)
{
    struct tmx_texts words;
    read_list(&words, arena, text, err);
    to->n = TMX_TAKE(arena, to->v, words.n) ? words.n : 0;
    for (size_t i = 0; i < to->n; i++) {
        to->v[i] = (int)number(a, words.text[i], err);
    }
}

/* Its place among the words; -1: it is none of them, which is an error. */
static int word(const struct tmx_arg *a, const char *text, struct tmx_err *err)
{
    char list[400] = "";
    size_t n = 0;
    for (; a->words[n]; n++) {
        if (strcmp(a->words[n], text) == 0) {
            return (int)n;
        }
    }
    const char *near = tmx_suggest_nearest(text, a->words, n);
    for (size_t i = 0; i < n; i++) {
        tmx_text_add(list, sizeof list, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", a->words[i]);
    }
    tmx_error(err, TMX_ECONFIG, "--%s %s: expected %s%s%s%s", a->name, text, list,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return -1;
}

/* Of what is no list of --set or texts the last one counts, and it beats the default. */
static void set(const struct parser *p, const struct tmx_arg *a, const char *text, struct tmx_err *err)
{
    void *to = field(a, p->args);
    switch (a->type) {
    case TMX_ARG_FLAG:
        *(bool *)to = true;
        break;
    case TMX_ARG_TEXT:
        *(const char **)to = text;
        break;
    case TMX_ARG_TEXTS:
        add_text(to, p->arena, text);
        break;
    case TMX_ARG_SETS:
        tmx_sets_add(to, a->prefix ? a->prefix : "", text, NULL, 0, err);
        break;
    case TMX_ARG_LIST:
        read_list(to, p->arena, text, err);
        break;
    case TMX_ARG_INTS:
        set_ints(a, text, to, p->arena, err);
        break;
    case TMX_ARG_INT:
        *(long *)to = (long)number(a, text, err);
        break;
    case TMX_ARG_REAL:
        *(double *)to = number(a, text, err);
        break;
    case TMX_ARG_WORD:
        *(int *)to = word(a, text, err);
        break;
    case TMX_ARG_END:
    case TMX_ARG_GROUP:
        break;
    }
}

static void set_defaults(const struct parser *p, struct tmx_err *err)
{
    for (const struct tmx_arg *a = p->command->args; a->type; a++) {
        if (a->def) {
            set(p, a, a->def, err);
        } else if (a->type == TMX_ARG_REAL) {
            *(double *)field(a, p->args) = NAN;
        } else if (a->type == TMX_ARG_WORD) {
            *(int *)field(a, p->args) = -1;
        }
    }
}

/* The first option that has one of these names and is given; NULL: none. */
static const char *given_of(const struct parser *p, const char *names)
{
    for (size_t i = 0; names && p->command->args[i].type; i++) {
        const char *name = p->command->args[i].name;
        if (p->given[i] && name && tmx_words_have(names, name)) {
            return name;
        }
    }
    return NULL;
}

/* Options that do nothing with what else is given. */
static void check_given(const struct parser *p, const char *verb, const struct argp_state *state)
{
    for (size_t i = 0; p->command->args[i].type; i++) {
        const struct tmx_arg *a = &p->command->args[i];
        const char *other = given_of(p, a->apart);
        if (p->given[i] && a->of && !tmx_words_have(a->of, verb)) {
            argp_error(state, "--%s does nothing%s%s: it is of %s", a->name, verb[0] ? " in " : "", verb,
                       a->of);
        } else if (p->given[i] && other) {
            argp_error(state, "--%s does nothing beside --%s", a->name, other);
        } else if (p->given[i] && a->needs && !given_of(p, a->needs)) {
            const size_t first = strcspn(a->needs, " ");
            argp_error(state, "--%s does nothing without --%.*s%s%s", a->name, (int)first, a->needs,
                       a->needs[first] ? " or --" : "", a->needs[first] ? a->needs + first + 1 : "");
        }
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct parser *p = state->input;
    const struct tmx_command *c = p->command;
    struct tmx_err err = {0};
    if (key == ARGP_KEY_ARG) {
        struct tmx_texts *to = c->operands ? (void *)((char *)p->args + c->operand) : NULL;
        if (!to || to->n >= c->max_operand) {
            argp_error(state, "unexpected argument \"%s\": expected %s", arg,
                       c->operands ? c->operands : "no more");
            return 0;
        }
        char path[TMX_PATH_SIZE]; /* of thermix's data by its path there, where the current folder has none */
        const bool shipped = strchr(arg, '/') && arg[0] != '/' && arg[0] != '.' && !tmx_os_exists(arg) &&
                             tmx_data_file(arg, path, NULL) == TMX_OK;
        add_text(to, p->arena, shipped ? tmx_arena_text(p->arena, path) : arg);
        return 0;
    }
    if (key == ARGP_KEY_END) {
        const struct tmx_texts *given = (const void *)((char *)p->args + c->operand);
        const struct tmx_arg first = {.name = "", .words = c->operand_words};
        const size_t n = c->operands ? given->n : 0;
        if (n < c->min_operand) {
            argp_error(state, "%s", c->which ? c->which : "too few arguments");
        } else if (n > 0 && c->operand_words && word(&first, given->text[0], &err) < 0) {
            argp_error(state, "%s", err.msg + 3); /* without the dashes: it is no option */
        }
        check_given(p,
                    n > 0              ? given->text[0]
                    : c->operand_words ? c->operand_words[0] /* the default */
                                       : "",
                    state);
        return 0;
    }
    for (size_t i = 0; c->args[i].type; i++) {
        const struct tmx_arg *a = &c->args[i];
        if (a->name && key == (a->letter ? a->letter : FIRST_KEY + (int)i)) {
            p->given[i] = true;
            set(p, a, arg, &err);
            if (err.code) {
                char text[1100];
                tmx_err_format(&err, text, sizeof text);
                argp_error(state, "%s", text);
            }
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

/* Of a row written `-key value`. */
static void describe_pair(const struct tmx_opt *o, char *buf, size_t size)
{
    snprintf(buf, size, "%s", o->doc);
    if (o->type == TMX_OPT_REAL || o->type == TMX_OPT_INT) {
        tmx_text_add(buf, size, " [%s], default %g", o->unit, o->def);
    } else if (o->type == TMX_OPT_CHOICE) {
        tmx_text_add(buf, size, ", default %s", o->def_text);
    }
}

/* An option's sentence with its bounds and default. */
static void describe(const struct tmx_arg *a, char *buf, size_t size)
{
    const bool bounds = a->type == TMX_ARG_INT || a->type == TMX_ARG_INTS || a->type == TMX_ARG_REAL;
    snprintf(buf, size, "%s%s", a->doc, bounds || a->def ? " (" : "");
    if (bounds) {
        tmx_text_add(buf, size, "%.10g to %.10g%s", a->min, a->max, a->def ? "; " : ")");
    }
    if (a->def) {
        tmx_text_add(buf, size, "default %s)", a->def);
    }
}

/* "DIR", or the words; "" for a flag. */
static void value_of(const struct tmx_arg *a, char *buf, size_t size)
{
    buf[0] = '\0';
    if (a->type == TMX_ARG_WORD && !a->value) {
        for (size_t i = 0; a->words[i]; i++) {
            tmx_text_add(buf, size, "%s%s", i ? "|" : "", a->words[i]);
        }
    } else if (a->type != TMX_ARG_FLAG) {
        snprintf(buf, size, "%s", a->value ? a->value : "VALUE");
    }
}

/* The rows as argp wants them, in an arena. */
static struct argp_option *make_options(const struct tmx_command *c, struct tmx_arena *arena)
{
    struct argp_option *option;
    char buf[MAX_DOC];
    int group = 0;
    size_t n = 0, n_pair = 0;
    while (c->args[n].type) {
        n++;
    }
    tmx_assert(n < MOST_ARGS);
    while (c->pairs && c->pairs[n_pair].key) {
        n_pair++;
    }
    if (!TMX_TAKE(arena, option, n + n_pair + 2)) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tmx_arg *a = &c->args[i];
        struct argp_option *o = &option[i];
        if (a->type == TMX_ARG_GROUP) {
            *o = (struct argp_option){.doc = a->doc, .group = ++group};
            continue;
        }
        value_of(a, buf, sizeof buf);
        *o = (struct argp_option){
            .name = a->name, .key = a->letter ? a->letter : FIRST_KEY + (int)i, .group = group};
        o->arg = buf[0] ? tmx_arena_text(arena, buf) : NULL;
        describe(a, buf, sizeof buf);
        o->doc = tmx_arena_text(arena, buf);
    }
    if (n_pair) {
        option[n] = (struct argp_option){.doc = PAIRS_HEADING ":", .group = ++group};
    }
    for (size_t i = 0; i < n_pair; i++) {
        snprintf(buf, sizeof buf, "-%s", c->pairs[i].key);
        option[n + 1 + i] =
            (struct argp_option){.name = tmx_arena_text(arena, buf), .flags = OPTION_DOC, .group = group};
        describe_pair(&c->pairs[i], buf, sizeof buf);
        option[n + 1 + i].doc = tmx_arena_text(arena, buf);
    }
    return option;
}

void tmx_args_parse(const struct tmx_command *c, int argc, char **argv, void *args, struct tmx_arena *arena,
                    struct tmx_err *err)
{
    struct parser p = {.command = c, .args = args, .arena = arena};
    char *doc = NULL;
    size_t size = 0;
    if (args) {
        set_defaults(&p, err);
    }
    const struct argp_option *option = make_options(c, arena);
    FILE *out = open_memstream(&doc, &size);
    if (out) {
        fprintf(out, "%s\v", c->doc);
        fprintf(out, "%s%s", c->notes ? c->notes : "", c->notes && c->examples ? "\n\n" : "");
        if (c->examples) {
            fputs("Example:\n", out);
            tmx_text_commands(c->examples, 2, EXAMPLE_WIDTH, out);
        }
        fclose(out);
    } else {
        tmx_error(err, TMX_ENOMEM, "out of memory");
    }
    tmx_arena_check(arena, err);
    if (!err->code) {
        const struct argp argp = {option, parse, c->operands, doc, NULL, NULL, NULL};
        argp_parse(&argp, argc, argv, 0, NULL, &p); /* ends the program on a mistake and after --help */
    }
    free(doc);
    tmx_arena_check(arena, err);
}

/* Doubts about inputs and results on the screen, each once: a study reads one file for many points. */
struct screen {
    const char *command;
    uint64_t seen[64];
    size_t n;
};

static void show_warning(void *to, const char *text)
{
    struct screen *s = to;
    uint64_t hash = 14695981039346656037u;
    for (const char *c = text; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->seen[i] == hash) {
            return;
        }
    }
    if (s->n < sizeof s->seen / sizeof s->seen[0]) {
        s->seen[s->n++] = hash;
        tmx_print_visible(stderr, "thermix %s: warning: %s\n", s->command, text);
    }
}

int tmx_command_end(const char *command, const struct tmx_err *err)
{
    char text[2048];
    tmx_err_format(err, text, sizeof text);
    if (err->code && err->file[0]) {
        fprintf(stderr, "%s\n", text); /* file:line: ... stands first, as editors want it */
    } else if (err->code) {
        fprintf(stderr, "thermix%s%s: %s\n", command ? " " : "", command ? command : "", text);
    }
    return tmx_status_exit_code(err->code);
}

static struct tmx_folders folders; /* of the command; a signal's handler sees it */
static pid_t shown_by;             /* what it forks draws and says nothing */

/* Its action is the default again. */
static void end_by(int signal_number)
{
    static const char line[] = "\nthermix: stopped by a signal\n";
    const size_t skip = !tmx_os_is_terminal(stderr); /* there a line of progress may be open */
    (void)!(shown_by == getpid() && write(STDERR_FILENO, line + skip, sizeof line - 1 - skip));
    raise(signal_number);
}

/* Before a folder's list has begun the command just ends; then it ends before its next file, or at once at a
 * second signal. */
static void on_ending(int signal_number)
{
    folders.stop = signal_number;
    if (!folders.writing) {
        end_by(signal_number);
    }
}

static void say_waiting(double at_most_s)
{
    fprintf(stderr, "thermix: another process makes the same thermal model: waiting for it, at most %.0f s\n",
            at_most_s);
}

/* A set-up may take a minute, and comes before the first line of progress. */
static void show_making(bool done)
{
    static const char line[] = "making a thermal model, which the cache keeps";
    if (shown_by == getpid() && tmx_os_is_terminal(stderr)) {
        fprintf(stderr, done ? "\r%*s\r" : "\r%*s", (int)sizeof line - 1, done ? "" : line);
    }
}

int tmx_command_main(const struct tmx_command *c, int argc, char **argv)
{
    struct tmx_err err = {0};
    struct screen screen = {.command = c->name};
    struct tmx_warn_listener listener = {.line = show_warning, .to = &screen};
    tmx_warn_begin(&listener);
    bool quiet = false;
    struct tmx_arena arena = {0};
    void *args = tmx_arena_take(&arena, c->size, 1);
    tmx_arena_check(&arena, &err);
    if (args) {
        (c->parse ? c->parse : tmx_args_parse)(c, argc, argv, args, &arena, &err);
    }
    for (const struct tmx_arg *a = c->args; !err.code && a->type; a++) {
        if (a->letter == 'o' && a->type == TMX_ARG_TEXT && strcmp(a->value, "FILE") == 0) {
            const char *path = *(const char **)field(a, args); /* a folder cannot become a file */
            (void)(path && tmx_output_possible(path, &err));
        }
        quiet = quiet ||
                (a->type == TMX_ARG_FLAG && strcmp(a->name, "quiet") == 0 && *(const bool *)field(a, args));
    }
    tmx_cache_on_wait(say_waiting);
    shown_by = getpid();
    tmx_cache_on_making(quiet ? NULL : show_making);
    struct tmx_err unusable = {0};
    if (!err.code && c->keeps && tmx_cache_usable(NULL, &unusable)) { /* slower, and no failure */
        char text[1100];
        tmx_err_format(&unusable, text, sizeof text);
        fprintf(stderr,
                "thermix %s: warning: thermal models are computed again because the cache cannot be used: "
                "%s\nTHERMIX_CACHE_MIB=0 switches the cache and this warning off\n",
                c->name, text);
    }
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    folders = (struct tmx_folders){.command = c->name, .say = stderr};
    tmx_folders_begin(&folders);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        const struct sigaction act = {.sa_handler = on_ending, .sa_flags = (int)SA_RESETHAND};
        struct sigaction before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(ending[i], &act, NULL);
        }
    }
    if (!err.code) {
        c->run(args, &err);
    }
    (void)!tmx_folders_end(&folders, err.code, &err);
    if (folders.stop) {
        end_by(folders.stop);
    }
    const int code = tmx_command_end(c->name, &err);
    tmx_warn_end(&listener);
    for (const struct tmx_arg *a = c->args; args && a->type; a++) {
        if (a->type == TMX_ARG_SETS) {
            tmx_sets_finish(field(a, args));
        }
    }
    tmx_arena_finish(&arena);
    return code;
}

void tmx_print(const struct tmx_table *t, const struct tmx_print *p, const char *path,
               const struct tmx_screen *o, struct tmx_err *err)
{
    const enum tmx_format format = (enum tmx_format)p->format;
    if (o && strcmp(path, "-") == 0) {
        struct tmx_screen screen = *o;
        screen.column = p->columns.text;
        screen.n_column = p->columns.n;
        tmx_table_show(t, format, &screen, err);
    } else {
        tmx_table_save_columns(t, format, path, p->columns.text, p->columns.n, err);
    }
}

void tmx_print_end(struct tmx_table *t, const struct tmx_print *p, const char *path,
                   const struct tmx_screen *o, struct tmx_err *err)
{
    tmx_print(t, p, path, o, err);
    tmx_table_destroy(t);
}

void tmx_args_help(const struct tmx_command *c)
{
    char name[64], help[] = "--help";
    char *argv[] = {name, help, NULL};
    struct tmx_err err = {0};
    struct tmx_arena arena = {0};
    snprintf(name, sizeof name, "thermix %s", c->name);
    tmx_args_parse(c, 2, argv, NULL, &arena, &err); /* prints and ends the program */
}

/* Text in a man page: a backslash and a leading dot mean something there. */
static void put_roff(const char *text, FILE *out)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\') {
            fputs("\\e", out);
        } else if (*c == '-') {
            fputs("\\-", out);
        } else if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n')) {
            fprintf(out, "\\&%c", *c);
        } else {
            fputc(*c, out);
        }
    }
}

static void man_option(const struct tmx_arg *a, FILE *out)
{
    char buf[MAX_DOC];
    if (a->type == TMX_ARG_GROUP) {
        fputs(".SS ", out);
        put_roff(a->doc, out);
        fputc('\n', out);
        return;
    }
    value_of(a, buf, sizeof buf);
    fputs(".TP\n", out);
    if (a->letter) {
        fprintf(out, "\\fB\\-%c\\fR%s\\fI", a->letter, buf[0] ? " " : "");
        put_roff(buf, out);
        fputs("\\fR, ", out);
    }
    fputs("\\fB\\-\\-", out);
    put_roff(a->name, out);
    fprintf(out, "\\fR%s\\fI", buf[0] ? "=" : "");
    put_roff(buf, out);
    fputs("\\fR\n", out);
    describe(a, buf, sizeof buf);
    put_roff(buf, out);
    fputc('\n', out);
}

static void man_pair(const struct tmx_opt *o, FILE *out)
{
    char buf[MAX_DOC];
    fputs(".TP\n\\fB\\-", out);
    put_roff(o->key, out);
    fputs("\\fR \\fIVALUE\\fR\n", out);
    describe_pair(o, buf, sizeof buf);
    put_roff(buf, out);
    fputc('\n', out);
}

void tmx_args_man(const struct tmx_command *c, FILE *out)
{
    fputs(".TH THERMIX-", out);
    for (const char *l = c->name; *l; l++) {
        fputc(toupper((unsigned char)*l), out);
    }
    fprintf(out, " 1 \"\" \"thermix %s\" \"thermix\"\n.SH NAME\nthermix\\-%s \\- ", TMX_VERSION, c->name);
    put_roff(c->summary, out);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBthermix %s\\fR [\\fIOPTION\\fR...]%s\\fI", c->name,
            c->operands ? " " : "");
    put_roff(c->operands ? c->operands : "", out);
    fputs("\\fR\n.SH DESCRIPTION\n", out);
    put_roff(c->doc, out);
    fputs("\n.SH OPTIONS\n", out);
    for (const struct tmx_arg *a = c->args; a->type; a++) {
        man_option(a, out);
    }
    fputs(".TP\n\\fB\\-\\-help\\fR, \\fB\\-\\-usage\\fR\nprint help, or a line of it\n", out);
    if (c->pairs) {
        fputs(".SS " PAIRS_HEADING "\n", out);
    }
    for (const struct tmx_opt *o = c->pairs; o && o->key; o++) {
        man_pair(o, out);
    }
    if (c->notes) {
        fputs(".SH NOTES\n", out);
        put_roff(c->notes, out);
        fputc('\n', out);
    }
    if (c->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        char *lines = NULL;
        size_t size = 0;
        FILE *folded = open_memstream(&lines, &size);
        if (folded) {
            tmx_text_commands(c->examples, 0, EXAMPLE_WIDTH - 6, folded); /* man indents them */
            fclose(folded);
            put_roff(lines, out);
        }
        free(lines);
        fputs(".fi\n", out);
    }
    fputs(".SH EXIT STATUS\n0 ok, 1 failed, 2 bad input.\n"
          ".SH SEE ALSO\n\\fBthermix\\fR(1)\n",
          out);
}
