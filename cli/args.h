/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_ARGS_H
#define TMX_CLI_ARGS_H

/* A command as data: its options are rows of one table. From the rows come the parser (argp), `--help`, the
 * man page and what a shell completes; parsing fills the command's own struct. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "study/table_out.h"

enum tmx_arg_type {
    TMX_ARG_END,   /* the last row: {0} */
    TMX_ARG_GROUP, /* no option: doc is the heading of the rows below it */
    TMX_ARG_FLAG,  /* bool, true when given */
    TMX_ARG_TEXT,  /* const char *, NULL when not given */
    TMX_ARG_TEXTS, /* struct tmx_texts, may be given again; several rows may add to one field */
    TMX_ARG_SETS,  /* struct tmx_sets of KEY=VALUE, likewise */
    TMX_ARG_LIST,  /* struct tmx_texts of the words between commas; commas in brackets do not split */
    TMX_ARG_INTS,  /* struct tmx_ints in [min, max], of the numbers between commas */
    TMX_ARG_INT,   /* long in [min, max]; 0 when not given */
    TMX_ARG_REAL,  /* double in [min, max]; NAN when not given */
    TMX_ARG_WORD,  /* int, the word's index in words; -1 when not given */
};

/* What a word may be, for the shell's completion. */
enum tmx_names {
    TMX_NAMES_NONE,
    TMX_NAMES_FILE,
    TMX_NAMES_FOLDER,
    TMX_NAMES_RUN, /* these five also complete to files */
    TMX_NAMES_SUITE,
    TMX_NAMES_MIX,
    TMX_NAMES_CHIP,
    TMX_NAMES_DATA, /* any of the kinds of data */
    TMX_NAMES_KERNEL,
    TMX_NAMES_SYSTEM,
    TMX_NAMES_BATCH,
    TMX_NAMES_NODE,
    TMX_NAMES_PRESET, /* policies of all levels, as key `policy` takes them */
    TMX_NAMES_GATE,
    TMX_NAMES_CTA,
    TMX_NAMES_SETTING, /* key=value of a run's configuration */
    TMX_NAMES_METRIC,
    TMX_NAMES_COMMAND,
    TMX_NAMES_WORDS, /* the row's or the command's own words */
};

struct tmx_texts { /* in the arena of the parse */
    union {
        const char **own;
        const char *const *text; /* [n] */
    };
    size_t n;
};

struct tmx_ints { /* likewise */
    int *v;       /* [n] */
    size_t n;
};

struct tmx_print { /* how a command prints its table: --format, --columns */
    int format;    /* enum tmx_format */
    struct tmx_texts columns;
};

struct tmx_arg {
    const char *name; /* long, without dashes */
    char letter;      /* 0: none */
    enum tmx_arg_type type;
    size_t offset;     /* of the field in the command's struct */
    const char *value; /* "DIR", in help; NULL for FLAG, and for WORD, which shows its words */
    const char *doc;
    const char *def;          /* as it would be typed; NULL: none */
    double min, max;          /* INT, INTS, REAL */
    const char *const *words; /* WORD: NULL-terminated */
    const char *prefix;       /* SETS: before each; NULL: nothing */
    /* What makes it count, words; else it is an error. NULL: nothing. */
    const char *of;    /* first operands, of one of which it is */
    const char *needs; /* one or two options, one of which is given too */
    const char *apart; /* options, none of which is given */
    enum tmx_names names;
};

#define TMX_ARG_FIELD(s, field) .offset = offsetof(struct s, field)
/* A row: the command's struct and field, enum tmx_arg_type without its prefix, long and short name (0: none),
 * then what else it needs, as .doc = "...". */
#define TMX_ARG(s, field, type_, name_, letter_, ...)                                                       \
    {                                                                                                       \
        .name = (name_), .letter = (letter_), .type = TMX_ARG_##type_, TMX_ARG_FIELD(s, field), __VA_ARGS__ \
    }

/* Rows that many commands have. */
#define TMX_ARG_FORMAT_IF(s, field, ...)                                                    \
    TMX_ARG(s, field, WORD, "format", 0, .words = tmx_formats, .def = "table", __VA_ARGS__, \
            .doc = "how the table is printed")
#define TMX_ARG_FORMAT(s, field) TMX_ARG_FORMAT_IF(s, field, .of = NULL)
#define TMX_ARG_COLUMNS(s, field, ...)                                                                      \
    TMX_ARG(                                                                                                \
        s, field, LIST, "columns", 0, .value = "NAME,...|all", __VA_ARGS__,                                 \
        .doc =                                                                                              \
            "print these columns (without it: all, and on a terminal those that are not empty or zero and " \
            "that fit)")
/* Both, of a struct tmx_print called print, and where they count: .of or .apart. */
#define TMX_ARG_TABLE_IF(s, ...) \
    TMX_ARG_FORMAT_IF(s, print.format, __VA_ARGS__), TMX_ARG_COLUMNS(s, print.columns, __VA_ARGS__)
#define TMX_ARG_TABLE(s) TMX_ARG_TABLE_IF(s, .of = NULL)
#define TMX_ARG_SET(s, field, prefix_)                                                                       \
    TMX_ARG(s, field, SETS, "set", 0, .value = "KEY=VALUE", .prefix = (prefix_), .names = TMX_NAMES_SETTING, \
            .doc = "override a key, such as tick_s=0.01 or dtm.policy=dvfs; may be repeated")
#define TMX_ARG_QUIET(s, field) TMX_ARG(s, field, FLAG, "quiet", 'q', .doc = "print no progress")
#define TMX_ARG_ALL(s, field)         \
    TMX_ARG(s, field, FLAG, "all", 0, \
            .doc = "also use a study's runs of earlier inputs, which are left out otherwise")
#define TMX_ARG_JOBS(s, field)                                               \
    TMX_ARG(s, field, INT, "jobs", 'j', .value = "N", .min = 1, .max = 1024, \
            .doc = "run N tasks at a time (without it: one per processor)")
/* A file for the table, standard output without it. */
#define TMX_ARG_TABLE_TO(s, field, doc_)                                                         \
    TMX_ARG(s, field, TEXT, "output", 'o', .value = "FILE", .def = "-", .names = TMX_NAMES_FILE, \
            .doc = (doc_))

struct tmx_command {
    const char *name, *summary; /* one line of `thermix --help` */
    const char *doc;            /* what it does, in sentences */
    const char *notes;          /* more, below the options; may be NULL */
    const char *examples;       /* lines, as typed */
    const struct tmx_arg *args;
    const struct tmx_opt
        *pairs;           /* NULL, or options written `-key value` (`thermix thermal`), read by parse */
    const char *operands; /* "CONFIG", "KERNEL..."; NULL: none */
    size_t operand;       /* offset of a struct tmx_texts that takes them */
    size_t min_operand, max_operand;
    const char *which;                /* asked when there are too few */
    const char *const *operand_words; /* NULL, or what the first may be: checked, helped, completed */
    enum tmx_names operand_names;
    bool keeps;  /* what it sets up is kept in the cache: one that cannot be used is worth a warning */
    size_t size; /* of the struct that run is given */
    /* In place of tmx_args_parse; NULL: that. The errors of both stay (base/err.h). */
    void (*parse)(const struct tmx_command *c, int argc, char **argv, void *args, struct tmx_arena *arena,
                  struct tmx_err *err);
    void (*run)(void *args, struct tmx_err *err);
};

/* A command's own names, the same in every file: struct s, rows[] and run(). */
#define TMX_RUNS(s) .args = rows, .size = sizeof(struct s), .run = run
/* From least to most operands into a field of struct s; the word for them in help, enum tmx_names without its
 * prefix, and what is asked when there are too few. */
#define TMX_OPERANDS(s, field, least, most, text, kind, which_)                                              \
    .operands = (text), .operand = offsetof(struct s, field), .min_operand = (least), .max_operand = (most), \
    .operand_names = TMX_NAMES_##kind, .which = (which_)

/* Fill args (zeroed, c->size bytes) with the defaults, then from the command line; lists are in the arena,
 * texts those of argv. A mistake ends the program with what was expected and code 2; --help, --usage end it
 * with 0. */
void tmx_args_parse(const struct tmx_command *c, int argc, char **argv, void *args, struct tmx_arena *arena,
                    struct tmx_err *err);

/* Print to standard error how the command (NULL: the program) failed, if it did; the exit code. */
int tmx_command_end(const char *command, const struct tmx_err *err);
/* Parse, run, say on standard error what failed: the exit code. */
int tmx_command_main(const struct tmx_command *c, int argc, char **argv);

/* Print the table to a file, or, where path is "-", to standard output as the screen says (NULL: all of it).
 * The second lets go of the table, whatever happens. */
void tmx_print(const struct tmx_table *t, const struct tmx_print *p, const char *path,
               const struct tmx_screen *screen, struct tmx_err *err);
void tmx_print_end(struct tmx_table *t, const struct tmx_print *p, const char *path,
                   const struct tmx_screen *screen, struct tmx_err *err);

/* What --help prints, on standard output; ends the program. */
void tmx_args_help(const struct tmx_command *c);
/* The page of section 1. */
void tmx_args_man(const struct tmx_command *c, FILE *out);

/* What can follow words[0..n), the last of which (may be "") is being typed; one candidate a line. A line
 * ":files" or ":folders" asks the shell for these; what ends in '=' or '.' goes on without a blank. */
void tmx_complete(const char *const *words, size_t n, FILE *out);

#endif
