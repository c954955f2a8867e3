/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_COLLECT_H
#define TMX_MEASURE_COLLECT_H

/* What the readers of the formats fill: rows in the file's order, and the names of their columns. */

#include "base/text.h"
#include "measure/log/measured.h"

struct tmx_row {
    double q[TMX_N_LOG_QUANTITY]; /* NAN: missing */
    size_t run, gpu;              /* index of the name, of the die */
    size_t part;                  /* index of its name: a part of the die; 0: the whole die */
    unsigned line;
};

/* Whose row it is. A die is a host's GPU of one label and UUID; a part is a MIG instance or a partition. */
struct tmx_who {
    struct tmx_span host, gpu, uuid, part;
};

struct tmx_collect {
    const struct tmx_text_file *text;
    const struct tmx_read_options *options;
    struct tmx_row *row;
    size_t n_row, room;
    struct tmx_arena arena; /* of what the reader needs for itself */
    char **run, **part;     /* names; part[0] is "" */
    struct tmx_gpu_id *id;  /* [n_gpu] */
    size_t n_run, n_gpu, n_part;
    struct tmx_measured *to; /* notes and columns go here */
    bool has_time, has_gpu, renamed;
    bool scattered;    /* a row's quantities come one by one: rows of one time are one row */
    unsigned *line_of; /* [n_line + 1] the file's line of each line of the text; NULL: the same */
    size_t n_line;
    size_t n_blank;                             /* cells that hold a code for "no value" */
    size_t n_header;                            /* repeated lines of names */
    size_t n_secondary;                         /* rows of dies whose watts are another die's */
    unsigned blank_at, header_at, secondary_at; /* lines of the first */
    struct tmx_err err;                         /* the first stays: readers do nothing more */
};
/* What is wrong at a line of the file. */
#define tmx_collect_error(c, line, ...) \
    tmx_error_at(&(c)->err, TMX_EPARSE, (c)->text->name, (line), __VA_ARGS__)
/* What is odd there. */
void tmx_collect_note(const struct tmx_collect *c, unsigned line, const char *fmt, ...) TMX_PRINTF(3, 4);

/* A column: which quantity, and the factor and shift from its unit to ours. */
struct tmx_column_use {
    int quantity; /* enum tmx_log_quantity, or one of the below */
    double scale, shift;
    int rank; /* of several columns of a quantity the lowest is taken */
};
enum {
    TMX_COLUMN_UNUSED = -1,
    TMX_COLUMN_GPU = TMX_N_LOG_QUANTITY,
    TMX_COLUMN_RUN,
    TMX_COLUMN_HOST,
    TMX_COLUMN_UUID,
    TMX_COLUMN_PART,
    TMX_COLUMN_CLOCK_TIME,
    TMX_N_COLUMN_USE
};
/* Is it a quantity other than the time? */
static inline bool tmx_is_reading(int quantity)
{
    return quantity > TMX_Q_TIME && quantity < TMX_N_LOG_QUANTITY;
}

/* Names of a quantity's columns: lower case, words joined by "_", without unit; "|" parts those that are as
 * good, ";" and a blank the ones before from worse ones. */
struct tmx_alias {
    int quantity;
    const char *names;
    const char *unit; /* of the numbers when the header has none; NULL: the quantity's own */
};
#define TMX_NAMES(quantity, names) \
    {                              \
        (quantity), (names), NULL  \
    }

/* A tool, a row of log_formats.c. The first whose signature the log's first line has reads it. */
struct tmx_log_format {
    const char *name;              /* "nvidia-smi --query-gpu" */
    const char *signature;         /* "a|b&c": a or b, and c; NULL: a function there knows */
    const struct tmx_alias *names; /* of its columns, for read; end with {0} */
    void (*read)(struct tmx_collect *c, const struct tmx_alias *names);
};
extern const struct tmx_log_format tmx_log_formats[]; /* {0} ends; the last but it takes what is left */
/* head is the text's first line that is not blank. */
const struct tmx_log_format *tmx_log_format_of(struct tmx_span head, const struct tmx_text_file *text);

/* The unit in a header, "power [mW]", "power_mw", of the quantity q: factor and shift into *use. */
void tmx_column_unit(struct tmx_span header, int q, struct tmx_column_use *use);
/* What the column of this header cell means. aliases end with {0}. */
struct tmx_column_use tmx_column_of(struct tmx_span header, const struct tmx_alias *aliases);
/* The same with the unit given apart. */
struct tmx_column_use tmx_column_named(struct tmx_span name, struct tmx_span unit,
                                       const struct tmx_alias *aliases);

/* What --column calls a quantity, or whose row it is; TMX_COLUMN_UNUSED: nothing. */
int tmx_column_by_name(struct tmx_span name);
/* Does any format give this name to the quantity? */
bool tmx_column_is(struct tmx_span name, int quantity);

/* A cell as a number in the quantity's unit: "123.4 W", "[N/A]" (NAN, true), "2025/01/07 12:00:00.5" for
 * a time. False: it is neither a number nor a word for "no value". comma: decimal comma. */
bool tmx_cell_value(const struct tmx_column_use *use, struct tmx_span cell, bool comma, double *v);
/* Is it a word for "no value": "N/A", "[Unknown Error]", "N/A (Secondary die)"? */
bool tmx_cell_empty(struct tmx_span cell);
/* Does a number stand for "no value": the blanks of DCGM and NVML? Of quantities other than time. */
bool tmx_value_blank(double v);

/* Seconds since 1970, or as they are; stamps: "2025/01/07 12:34:56.7", "2025-01-07T12:34:56Z",
 * "20250107 12:34:56", "Tue Jan  7 12:34:56 2025", "07.01.2025 12:34:56", "12:34:56". */
bool tmx_time_parse(struct tmx_span s, double *seconds);

/* Trim blanks and one pair of double quotes. */
struct tmx_span tmx_span_trim(struct tmx_span s);
bool tmx_span_same(struct tmx_span a, struct tmx_span b); /* the same letters */
/* Does the word, in these letters, stand anywhere in s? */
bool tmx_span_has(struct tmx_span s, const char *word);

enum { TMX_MAX_COLUMN = 512, TMX_MAX_WIDE = TMX_MAX_COLUMN };

/* The columns of a table and what is taken from each. */
struct tmx_columns {
    char separator; /* NUL: blanks */
    bool entity;    /* dcgmi: the GPU is two words, "GPU 0" */
    size_t n;
    struct tmx_span name[TMX_MAX_COLUMN];
    struct tmx_column_use use[TMX_MAX_COLUMN];
    size_t values[TMX_MAX_COLUMN]; /* cells that hold a value */
    size_t group[TMX_MAX_COLUMN];  /* from 1, of columns that name their GPU, "gpu.0.temp"; 0: others */
    struct tmx_span wide_run[1 + TMX_MAX_WIDE], wide_gpu[1 + TMX_MAX_WIDE];
    size_t n_wide;                                   /* groups but 0 */
    size_t from[1 + TMX_MAX_WIDE][TMX_N_COLUMN_USE]; /* the column that each group takes; n: none */
};
/* Columns of a wide table, which name their GPUs: their groups. */
void tmx_columns_group(struct tmx_columns *t, const struct tmx_alias *aliases);
/* Of several columns of a quantity the one of the lowest rank that holds values. */
void tmx_columns_choose(struct tmx_columns *t);
/* Which column each quantity came from, and those without use. */
void tmx_columns_say(const struct tmx_columns *t, struct tmx_measured *m);

/* Index of a name in a list, added when new; (size_t)-1 without memory. */
size_t tmx_log_intern(struct tmx_arena *a, char ***list, size_t *n, struct tmx_span s);

void tmx_collect_row(struct tmx_collect *c, const struct tmx_row *row, struct tmx_span run,
                     const struct tmx_who *who);
/* The file's line of a line of the text that is read. */
unsigned tmx_collect_line(const struct tmx_collect *c, unsigned line);
/* Index of a GPU in a list, added when new: labels are equal, hosts and UUIDs are or are not known.
 * (size_t)-1 without memory. */
size_t tmx_log_who(struct tmx_arena *a, struct tmx_gpu_id **list, size_t *n, const struct tmx_who *who);
/* Names of the GPUs from who they are, and their order by the numbers in them. */
void tmx_measured_name_gpus(struct tmx_measured *m, struct tmx_err *err);
void tmx_measured_warn(struct tmx_measured *m, const char *fmt, ...) TMX_PRINTF(2, 3);
void tmx_measured_note(struct tmx_measured *m, const char *fmt, ...) TMX_PRINTF(2, 3);
void tmx_measured_column(struct tmx_measured *m, enum tmx_log_quantity q, struct tmx_span name);
void tmx_measured_unused(struct tmx_measured *m, struct tmx_span name);

/* Tables with a separator: the reader behind the formats whose header names the columns. */
void tmx_read_table(struct tmx_collect *c, const struct tmx_alias *aliases);
/* Tables whose columns are set apart by blanks, with lines "# name name ..." and "# unit unit ..." that are
 * repeated on every screen: nvidia-smi dmon and dcgmi dmon. */
void tmx_read_blank_table(struct tmx_collect *c, const struct tmx_alias *aliases);

/* What an exporter of metrics serves: names, labels in braces, values. */
bool tmx_is_prometheus(const struct tmx_text_file *text);
void tmx_read_prometheus(struct tmx_collect *c, const struct tmx_alias *names);

/* Rows -> series. */
void tmx_collect_series(struct tmx_collect *c);

/* A text of another shape (JSON, blocks of nvidia-smi -q) as a table, with the lines it comes from; what is
 * no log that can be read is refused by its name. */
void tmx_log_reshape(struct tmx_collect *c, struct tmx_text_file *t);

/* The file at path as text: gzip unpacked, UTF-16 and byte order marks taken away. */
TMX_NODISCARD enum tmx_status tmx_log_text(struct tmx_text_file *t, const char *path, struct tmx_measured *m,
                                           struct tmx_err *err);
/* The same from memory (fuzzing). */
TMX_NODISCARD enum tmx_status tmx_log_decode(struct tmx_text_file *t, struct tmx_measured *m,
                                             struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_measured_parse(struct tmx_measured *m, struct tmx_text_file *t,
                                                 const struct tmx_read_options *options, struct tmx_err *err);

#endif
