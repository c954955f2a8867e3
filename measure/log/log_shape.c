/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of another shape than a table: JSON (one document, one a line, or one behind another) and the blocks
 * of `nvidia-smi -q` become a table with tabs, answers of Prometheus become its text; the readers of tables
 * do the rest. What people log and no reader can use is refused by its name, with what to log instead.
 *
 * In JSON a row is an object that holds watts or degrees, with the members of objects inside it ({"value":
 * 40, "unit": "C"} is a cell) and the single values around it, as the time of all GPUs. Its GPU is a member
 * that names it, the key above it ("card0"), or its place in the list of a moment. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/os.h"
#include "base/provenance.h"
#include "measure/log/collect.h"

enum { MAX_DEPTH = 24 };

struct row { /* of the table to be: cells first .. first + n */
    size_t first, n;
    unsigned line;
};

struct cell {
    size_t name;
    char *text;
};

struct shape {
    const struct tmx_read_options *options;
    struct tmx_arena arena; /* of all but the text */
    char *name[TMX_MAX_COLUMN];
    size_t n_name, n_cell, n_row, n_document;
    struct cell *cell;
    struct row *row;
    FILE *out; /* text that takes the log's place: of Prometheus, as it is read, else a table */
    char *text;
    size_t n_text;
    unsigned *line; /* [n_line] of each line of Prometheus */
    size_t n_line;
    bool many;         /* documents: a list in one is a moment's */
    unsigned too_many; /* line of the first row with a name beyond TMX_MAX_COLUMN; 0: none */
};

/* Without what would end a cell. */
static char *plain(char *text)
{
    for (char *p = text; p && *p; p++) {
        *p = strchr("\t\r\n\"", *p) ? ' ' : *p;
    }
    return text;
}

/* ---- rows of a table to be ---- */

static void begin_row(struct shape *s, unsigned line)
{
    if (TMX_GROW(&s->arena, s->row, s->n_row)) {
        s->row[s->n_row++] = (struct row){s->n_cell, 0, line};
    }
}

/* The nearest value of a name counts: the row's own before what is around it. */
static void add_cell(struct shape *s, const char *name, const char *value, size_t n)
{
    struct row *r = s->n_row > 0 ? &s->row[s->n_row - 1] : NULL;
    size_t k = 0;
    while (k < s->n_name && strcmp(s->name[k], name) != 0) {
        k++;
    }
    for (size_t i = 0; r && i < r->n; i++) {
        r = s->cell[r->first + i].name == k ? NULL : r;
        if (!r) {
            return;
        }
    }
    if (r && k == TMX_MAX_COLUMN && s->too_many == 0) {
        s->too_many = r->line;
    }
    if (!r || k == TMX_MAX_COLUMN) {
        return;
    }
    if (k == s->n_name) {
        s->name[k] = tmx_arena_text(&s->arena, name);
        s->n_name += s->name[k] != NULL;
    }
    char *text = plain(tmx_arena_letters(&s->arena, value, n));
    if (text && TMX_GROW(&s->arena, s->cell, s->n_cell)) {
        s->cell[s->n_cell++] = (struct cell){k, text};
        r->n++;
    }
}

/* ---- JSON ---- */

struct level { /* objects around the one that is read */
    json_t *object;
    const struct level *up;
};

/* A single value as text; false for lists and objects of more than a value and its unit. */
static bool single(json_t *v, char *buf, size_t size)
{
    json_t *number = json_is_object(v) ? json_object_get(v, "value") : v,
           *unit = json_is_object(v) ? json_object_get(v, "unit") : NULL;
    if (json_is_object(number) || json_is_array(number) || !number) {
        return false;
    }
    if (json_is_string(number)) {
        snprintf(buf, size, "%s", json_string_value(number));
    } else if (json_is_integer(number)) {
        snprintf(buf, size, "%lld", (long long)json_integer_value(number));
    } else if (json_is_real(number)) {
        snprintf(buf, size, "%.15g", json_real_value(number));
    } else {
        snprintf(buf, size, "%s", json_is_true(number) ? "1" : json_is_false(number) ? "0" : "null");
    }
    if (json_is_string(unit) && json_string_length(unit) < 16) {
        snprintf(buf + strlen(buf), size - strlen(buf), " %s", json_string_value(unit));
    }
    return true;
}

enum { HAS_POWER = 1, HAS_TEMP = 2, HAS_GPU = 4, HAS_TIME = 8 };

/* What a name stands for in any format, or by the user's --column. */
static unsigned meaning(const struct shape *s, const char *key)
{
    static const struct {
        int quantity;
        unsigned bit;
        const char *word;
    } of[] = {{TMX_Q_POWER, HAS_POWER, "power_w="},
              {TMX_Q_TEMP, HAS_TEMP, "temp_c="},
              {TMX_COLUMN_GPU, HAS_GPU, "gpu="},
              {TMX_Q_TIME, HAS_TIME, "time_s="}};
    const struct tmx_span name = {key, key + strlen(key)};
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        bits |= tmx_column_is(name, of[i].quantity) ? of[i].bit : 0;
        for (size_t k = 0; s->options && s->options->column[k]; k++) {
            const char *wanted = s->options->column[k];
            const size_t n = strlen(of[i].word);
            bits |= strncmp(wanted, of[i].word, n) == 0 && strcmp(wanted + n, key) == 0 ? of[i].bit : 0;
        }
    }
    return bits;
}

/* The name of a member: its key, or with the key of its group, {"power": {"draw": 60}}, where that is what
 * means watts or degrees. */
static const char *name_of(const struct shape *s, const char *group, const char *key, char buf[192])
{
    snprintf(buf, 192, "%.90s %.90s", group, key);
    return group[0] && meaning(s, buf) & (HAS_POWER | HAS_TEMP) ? buf : key;
}

/* What an object holds, with the objects inside it. */
static unsigned holds(const struct shape *s, const char *group, json_t *object, int depth)
{
    const char *key;
    json_t *v;
    char text[32], name[192];
    unsigned bits = 0;
    json_object_foreach(object, key, v)
    {
        bits |= single(v, text, sizeof text)             ? meaning(s, name_of(s, group, key, name))
                : json_is_object(v) && depth < MAX_DEPTH ? holds(s, key, v, depth + 1)
                                                         : 0;
    }
    return bits;
}

/* "card0", "GPU 1", "gpu-2", "GPU[3]", "0", "GPU-3b6e...". */
static bool names_gpu(const char *key)
{
    const char *p = key;
    static const char *const words[] = {"card", "gpu", "device", "nvidia"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const struct tmx_span begin = {key, key + strlen(words[i])};
        if (strlen(key) > strlen(words[i]) && tmx_span_is(begin, words[i])) {
            p = begin.end;
        }
    }
    p += strspn(p, " _-[");
    const size_t digits = strspn(p, "0123456789");
    return (digits > 0 && strcmp(p + digits + (p[digits] == ']'), "") == 0) || strncmp(key, "GPU-", 4) == 0;
}

static void add_members(struct shape *s, const char *group, json_t *object, bool inside, int depth)
{
    const char *key;
    json_t *v;
    char text[512], name[192];
    json_object_foreach(object, key, v)
    {
        if (single(v, text, sizeof text)) {
            add_cell(s, name_of(s, group, key, name), text, strlen(text));
        } else if (inside && json_is_object(v) && depth < MAX_DEPTH) {
            add_members(s, key, v, true, depth + 1);
        }
    }
}

static void walk(struct shape *s, json_t *v, const struct level *up, const char *gpu, size_t place,
                 unsigned line, int depth)
{
    const struct level here = {v, up};
    const char *key;
    json_t *member;
    size_t i, keyed = 0, whole = 0;
    if (depth > MAX_DEPTH) {
        return;
    }
    if (json_is_array(v)) {
        json_array_foreach(v, i, member)
        {
            walk(s, member, up, NULL, i, line, depth + 1);
        }
        return;
    }
    if (!json_is_object(v)) {
        return;
    }
    json_object_foreach(v, key, member)
    {
        const bool inner = json_is_object(member) && !json_object_get(member, "value");
        keyed += inner && names_gpu(key);
        whole += inner && (holds(s, key, member, depth) & (HAS_POWER | HAS_TEMP)) == (HAS_POWER | HAS_TEMP);
    }
    const unsigned bits = holds(s, "", v, depth);
    if (keyed == 0 && whole < 2 && bits & (HAS_POWER | HAS_TEMP)) {
        begin_row(s, line);
        add_members(s, "", v, true, depth);
        for (const struct level *l = up; l; l = l->up) {
            add_members(s, "", l->object, false, depth);
        }
        char number[24];
        snprintf(number, sizeof number, "%zu", place);
        if (!(bits & HAS_GPU) && gpu) {
            add_cell(s, "gpu", gpu, strlen(gpu));
        } else if (!(bits & (HAS_GPU | HAS_TIME)) && place != SIZE_MAX && (s->many || up)) {
            add_cell(s, "gpu", number, strlen(number));
        }
        return;
    }
    json_object_foreach(v, key, member)
    {
        const bool its = keyed > 0 ? names_gpu(key) : whole >= 2;
        if (json_is_array(member) || (json_is_object(member) && (keyed == 0 || its))) {
            walk(s, member, &here, its ? key : NULL, SIZE_MAX, line, depth + 1);
        }
    }
}

/* ---- answers of Prometheus ---- */

static void add_sample(struct shape *s, const char *labels, json_t *time, double unit, json_t *value,
                       unsigned line)
{
    char text[64];
    if (json_is_number(time) && single(value, text, sizeof text) && TMX_GROW(&s->arena, s->line, s->n_line)) {
        fprintf(s->out, "%s %s %.0f\n", labels, text, 1000 * unit * json_number_value(time));
        s->line[s->n_line++] = line;
    }
}

/* One series, {"metric": {labels}, "values": [[s, "v"], ...]}, or of an export {"values": [], "timestamps":
 * [ms, ...]}. */
static void add_series(struct shape *s, json_t *series, unsigned line)
{
    json_t *metric = json_object_get(series, "metric"), *values = json_object_get(series, "values"),
           *times = json_object_get(series, "timestamps"), *one = json_object_get(series, "value"), *v;
    const char *name = json_string_value(json_object_get(metric, "__name__")), *key;
    size_t i, size = (name ? strlen(name) : 0) + sizeof "{}";
    json_object_foreach(metric, key, v)
    {
        size += strlen(key) + json_string_length(v) + sizeof "=\"\",";
    }
    char *labels = tmx_arena_take(&s->arena, size, 1);
    if (!labels) {
        return;
    }
    snprintf(labels, size, "%s{", name ? name : "");
    json_object_foreach(metric, key, v)
    {
        if (json_is_string(v) && strcmp(key, "__name__") != 0 && !strpbrk(json_string_value(v), "\"\n\\")) {
            tmx_text_add(labels, size, "%s=\"%s\",", key, json_string_value(v));
        }
    }
    tmx_text_add(labels, size, "}");
    json_array_foreach(values, i, v)
    {
        if (times) {
            add_sample(s, labels, json_array_get(times, i), 1e-3, v, line);
        } else {
            add_sample(s, labels, json_array_get(v, 0), 1, json_array_get(v, 1), line);
        }
    }
    if (json_is_array(one)) {
        add_sample(s, labels, json_array_get(one, 0), 1, json_array_get(one, 1), line);
    }
}

static void read_json(struct tmx_collect *c, struct shape *s, const struct tmx_text_file *t)
{
    const char *p = t->data, *end = t->data + t->size;
    unsigned line = 1;
    while (!s->arena.failed) {
        for (; p < end && strchr(" \t\r\n,", *p); p++) { /* a list without brackets, too */
            line += *p == '\n';
        }
        if (p >= end) {
            return;
        }
        json_error_t fault;
        json_t *document = json_loadb(p, (size_t)(end - p), JSON_DISABLE_EOF_CHECK, &fault);
        if (!document) {
            const unsigned at = line + (fault.line > 0 ? (unsigned)fault.line - 1 : 0);
            const bool cut =
                p + fault.position >= end || json_error_code(&fault) == json_error_premature_end_of_input;
            if (cut && s->n_document > 0) {
                tmx_collect_note(c, line, "the last document is cut short: dropped");
            } else {
                tmx_collect_error(c, at, "begins as JSON, but is none: %s", fault.text);
            }
            return;
        }
        const char *next = p + fault.position;
        s->many = s->many || next + strspn(next, " \t\r\n,") < end;
        json_t *result = json_object_get(json_object_get(document, "data"), "result"), *v;
        size_t i;
        json_array_foreach(result, i, v) /* an answer of Prometheus */
        {
            add_series(s, v, line);
        }
        if (json_is_object(json_object_get(document, "metric"))) { /* one of its series */
            add_series(s, document, line);
        } else if (!json_is_array(result)) {
            walk(s, document, NULL, NULL, SIZE_MAX, line, 0);
        }
        json_decref(document);
        s->n_document++;
        for (; p < next; p++) {
            line += *p == '\n';
        }
    }
}

/* ---- nvidia-smi -q ---- */

/* "    GPU Power Readings" over "        Average Power Draw    : 60.00 W": a name of both, "GPU Power
 * Readings Average Power Draw"; "GPU 00000000:01:00.0" begins a row, "Timestamp" is of all that follow. */
static void read_q(struct shape *s, const struct tmx_text_file *t)
{
    struct tmx_lines l = {0};
    char section[96] = "", name[256], time[64] = "";
    size_t deep = 0; /* blanks in front of the section */
    while (tmx_lines_next(&l, t) && !s->arena.failed) {
        const struct tmx_span line = tmx_span_trim(l.line);
        const size_t blanks = (size_t)(line.begin - l.line.begin);
        const char *colon = line.begin;
        while (colon < line.end && !(colon[0] == ':' && colon > line.begin && colon[-1] == ' ')) {
            colon++;
        }
        const struct tmx_span key = tmx_span_trim((struct tmx_span){line.begin, colon}),
                              value = tmx_span_trim(
                                  (struct tmx_span){colon < line.end ? colon + 1 : line.end, line.end});
        if (line.begin == line.end) {
            continue;
        }
        if (colon == line.end && blanks == 0 && strncmp(line.begin, "GPU ", 4) == 0) {
            begin_row(s, l.number);
            add_cell(s, "gpu", line.begin + 4, tmx_span_length(line) - 4);
            add_cell(s, "timestamp", time, strlen(time));
            section[0] = '\0';
        } else if (colon == line.end) {
            snprintf(section, sizeof section, "%.*s", TMX_SPAN_ARG(line));
            deep = blanks;
        } else if (tmx_span_is(key, "Timestamp") && blanks == 0) {
            snprintf(time, sizeof time, "%.*s", TMX_SPAN_ARG(value));
        } else if (blanks > 0) {
            snprintf(name, sizeof name, "%s%s%.*s", blanks > deep ? section : "", blanks > deep ? " " : "",
                     TMX_SPAN_ARG(key));
            add_cell(s, name, value.begin, tmx_span_length(value));
        }
    }
}

/* ---- the whole ---- */

/* What is no log that can be read: a piece of its begin, what it is, what to do. */
static const struct {
    const char *mark, *is, *instead;
} strange[] = {
    {"<?xml", "XML, as of `nvidia-smi -q -x`", "leave out -x, or log nvidia-smi --query-gpu"},
    {"<!DOCTYPE", "XML or HTML", "export a table (CSV) or JSON"},
    {"<nvidia_smi_log", "XML, as of `nvidia-smi -q -x`", "leave out -x, or log nvidia-smi --query-gpu"},
    {"| NVIDIA-SMI", "the table that nvidia-smi prints for people", "log nvidia-smi --query-gpu"},
    {"ROCm System Management Interface", "the table that rocm-smi prints for people",
     "log rocm-smi --showpower --showtemp --csv (or --json)"},
    {"GR3D_FREQ", "tegrastats", "make a table of it: time_s,power_w,temp_c"},
};
static const char nvidia_hint[] = "=timestamp,index,power.draw,temperature.gpu --format=csv -lms 500";

/* The rows as a table with tabs, or the text of Prometheus, in place of the log's. False without memory. */
static bool replace(struct tmx_collect *c, struct shape *s, struct tmx_text_file *t)
{
    const bool table = s->n_row > 0;
    c->n_line = table ? s->n_row + 1 : s->n_line;
    if (!TMX_TAKE(&c->arena, c->line_of, c->n_line + 1) || s->arena.failed) {
        return false;
    }
    for (size_t i = 1; i <= c->n_line; i++) {
        c->line_of[i] = !table ? s->line[i - 1] : s->row[i > 1 ? i - 2 : 0].line;
    }
    if (table) {
        rewind(s->out);
    }
    for (size_t k = 0; table && k < s->n_name; k++) {
        fprintf(s->out, "%s%c", plain(s->name[k]), k + 1 < s->n_name ? '\t' : '\n');
    }
    for (const struct row *r = s->row; r < s->row + s->n_row; r++) {
        const char *at[TMX_MAX_COLUMN] = {NULL};
        for (const struct cell *of = s->cell + r->first; of < s->cell + r->first + r->n; of++) {
            at[of->name] = of->text;
        }
        for (size_t k = 0; k < s->n_name; k++) {
            fprintf(s->out, "%s%c", at[k] && at[k][0] ? at[k] : "-", k + 1 < s->n_name ? '\t' : '\n');
        }
    }
    const bool wrote = !ferror(s->out), ok = fclose(s->out) == 0 && wrote;
    s->out = NULL;
    if (ok) {
        free(t->data);
        t->data = s->text;
        t->size = s->n_text;
        s->text = NULL;
    }
    return ok;
}

void tmx_log_reshape(struct tmx_collect *c, struct tmx_text_file *t)
{
    const char *p = t->data + strspn(t->data, " \t\r\n");
    const bool json = *p == '{' || (*p == '[' && strchr(" \t\r\n[{", p[1])),
               q = !json && strstr(t->data, "==NVSMI LOG==");
    char head[1501];
    snprintf(head, sizeof head, "%s", t->data);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        if (strstr(head, strange[i].mark)) {
            tmx_collect_error(c, 1, "%s: no log that is read; %s%s", strange[i].is, strange[i].instead,
                              strstr(strange[i].instead, "--query-gpu") ? nvidia_hint : "");
        }
    }
    if (c->err.code || (!json && !q)) {
        return;
    }
    struct shape *s = calloc(1, sizeof *s);
    if (!s || !(s->out = open_memstream(&s->text, &s->n_text))) {
        tmx_error(&c->err, TMX_ENOMEM, "a log's shape");
        free(s);
        return;
    }
    s->options = c->options;
    if (json) {
        read_json(c, s, t);
    } else {
        read_q(s, t);
    }
    if (s->n_row == 0 && s->n_line == 0 && !s->arena.failed) {
        tmx_collect_error(c, 1,
                          "%s without an object that holds watts or degrees by a known name; --column "
                          "power_w=NAME, --column temp_c=NAME name them",
                          json ? "JSON" : "nvidia-smi -q");
    } else if (s->too_many > 0) {
        tmx_collect_error(c, s->too_many, "more than %d names of values", TMX_MAX_COLUMN);
    }
    if (!c->err.code && json) {
        tmx_measured_note(c->to, "%s is JSON: %zu document%s, %zu row%s", t->name, s->n_document,
                          tmx_plural(s->n_document), s->n_row + s->n_line, tmx_plural(s->n_row + s->n_line));
    }
    if (!c->err.code && !replace(c, s, t)) {
        tmx_error_at(&c->err, TMX_ENOMEM, t->name, 0, "out of memory");
    }
    if (s->out) {
        fclose(s->out);
    }
    tmx_arena_finish(&s->arena);
    free(s->text);
    free(s);
}

/* ---- a log's bytes as text: gzip by zlib, UTF-16 (as Windows writes it) to UTF-8, no byte order mark ----
 */

enum { CHUNK = 1 << 16 };
static const size_t MOST = (size_t)1 << 29; /* a log of half a gigabyte is a mistake, or a gzip bomb */

static enum tmx_status slurp(gzFile in, struct tmx_text_file *t, struct tmx_err *err)
{
    size_t room = 0;
    for (;;) {
        if (room - t->size < CHUNK + 2) {
            room = room ? 2 * room : 4 * (size_t)CHUNK;
            char *data = realloc(t->data, room);
            if (!data || t->size > MOST) {
                t->data = data ? data : t->data;
                return data ? tmx_fail_at(err, TMX_EPARSE, t->name, 0, "more than %zu MB of text", MOST >> 20)
                            : tmx_fail_at(err, TMX_ENOMEM, t->name, 0, "out of memory");
            }
            t->data = data;
        }
        const int n = gzread(in, t->data + t->size, CHUNK);
        if (n < 0) {
            int code;
            const char *why = gzerror(in, &code);
            return tmx_fail_at(err, code == Z_ERRNO ? TMX_EIO : TMX_EPARSE, t->name, 0, "cannot read: %s",
                               code == Z_ERRNO ? strerror(errno) : why);
        }
        if (n == 0) {
            break;
        }
        t->size += (size_t)n;
    }
    t->data[t->size] = '\0';
    return TMX_OK;
}

static size_t put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* UTF-16 with its mark; halves of surrogate pairs become three bytes each, which no name here needs. */
static enum tmx_status from_utf16(struct tmx_text_file *t, bool big, struct tmx_err *err)
{
    char *text = malloc(t->size / 2 * 3 + 1);
    size_t n = 0;
    if (!text) {
        return tmx_fail_at(err, TMX_ENOMEM, t->name, 0, "out of memory");
    }
    for (size_t i = 2; i + 1 < t->size; i += 2) {
        const unsigned a = (unsigned char)t->data[i], b = (unsigned char)t->data[i + 1];
        n += put_utf8(text + n, big ? a << 8 | b : b << 8 | a);
    }
    text[n] = '\0';
    free(t->data);
    t->data = text;
    t->size = n;
    return TMX_OK;
}

/* Where UTF-16 ends and 8-bit text begins, as when another program appends to a log of PowerShell: units of
 * two ASCII bytes each, digits among them. The size when it does not. */
static size_t end_of_utf16(const struct tmx_text_file *t)
{
    enum { RUN = 16 };
    size_t n = 0, digits = 0;
    for (size_t i = 2; i + 1 < t->size; i += 2) {
        const unsigned char a = (unsigned char)t->data[i], b = (unsigned char)t->data[i + 1];
        const bool ascii = a >= '\t' && a < 0x7F && b >= '\t' && b < 0x7F;
        n = ascii ? n + 1 : 0;
        digits = ascii ? digits + (a >= '0' && a <= '9') + (b >= '0' && b <= '9') : 0;
        if (n == RUN && digits >= RUN / 2) {
            return i + 2 - 2 * (size_t)RUN;
        }
        n = n == RUN ? 0 : n;
        digits = n == 0 ? 0 : digits;
    }
    return t->size;
}

enum tmx_status tmx_log_decode(struct tmx_text_file *t, struct tmx_measured *m, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const unsigned char *b = (const unsigned char *)t->data;
    if (t->size >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF))) {
        tmx_measured_note(m, "%s is UTF-16 text, as Windows PowerShell writes it: read as such", t->name);
        const bool big = b[0] == 0xFE;
        const size_t end = end_of_utf16(t);
        unsigned line = 1;
        for (size_t i = 2; i + 1 < end; i += 2) {
            line += t->data[i + big] == '\n' && t->data[i + !big] == '\0';
        }
        st = end == t->size
                 ? TMX_OK
                 : tmx_fail_at(err, TMX_EPARSE, t->name, line,
                               "UTF-16 text up to here, then 8-bit text: two programs wrote into one "
                               "file; make one encoding of it");
        st = st ? st : from_utf16(t, b[0] == 0xFE, err);
    }
    if (!st && memchr(t->data, '\r', t->size) && !memchr(t->data, '\n', t->size)) {
        tmx_measured_note(m, "%s: its lines end in carriage returns: read as such", t->name);
    }
    return st ? st : tmx_text_clean(t, err);
}

enum tmx_status tmx_log_text(struct tmx_text_file *t, const char *path, struct tmx_measured *m,
                             struct tmx_err *err)
{
    *t = (struct tmx_text_file){0};
    snprintf(t->name, sizeof t->name, "%s", path);
    errno = 0;
    FILE *file = NULL; /* no FIFO, no endless device */
    enum tmx_status st = tmx_input_open(&file, path, err);
    if (st) {
        return st;
    }
    const int fd = file == stdin ? 0 : dup(fileno(file));
    gzFile in = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    if (file != stdin) {
        fclose(file);
    }
    if (!in) {
        if (fd > 0) {
            close(fd);
        }
        return tmx_fail_at(err, TMX_EIO, path, 0, "cannot open: %s",
                           errno ? strerror(errno) : "out of memory");
    }
    st = slurp(in, t, err);
    const int closed = gzclose(in);
    if (!st && closed == Z_BUF_ERROR) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 0, "the gzip file is cut short");
    }
    if (!st) {
        tmx_provenance_note(path, t->data, t->size);
    }
    return st ? st : tmx_log_decode(t, m, err);
}
