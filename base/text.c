/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum { MAX_NUMBER = 128 };

enum tmx_status tmx_text_clean(struct tmx_text_file *t, struct tmx_err *err)
{
    static const char utf8[] = "\xef\xbb\xbf", little[] = "\xff\xfe", big[] = "\xfe\xff";
    if (t->size >= 2 && (memcmp(t->data, little, 2) == 0 || memcmp(t->data, big, 2) == 0)) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, 1, "UTF-16 text; save the file as UTF-8");
    }
    if (t->size >= 3 && memcmp(t->data, utf8, 3) == 0) {
        t->size -= 3;
        memmove(t->data, t->data + 3, t->size + 1);
    }
    if (!memchr(t->data, '\n', t->size)) {
        for (char *c = t->data; (c = memchr(c, '\r', (size_t)(t->data + t->size - c)));) {
            *c = '\n';
        }
    }
    const char *nul = memchr(t->data, '\0', t->size);
    unsigned line = 1;
    for (const char *c = t->data; nul && c < nul; c++) {
        line += *c == '\n';
    }
    return !nul ? TMX_OK
                : tmx_fail_at(err, TMX_EPARSE, t->name, line,
                              "a NUL byte; expected a text file (UTF-16 without its mark?)");
}

enum tmx_status tmx_text_load(struct tmx_text_file *t, const char *path, struct tmx_err *err)
{
    *t = (struct tmx_text_file){0};
    enum tmx_status st = tmx_failed(err) ? err->code : tmx_text_load_bytes(t, path, err);
    st = st ? st : tmx_text_clean(t, err);
    if (st) {
        tmx_text_finish(t);
    }
    return st;
}

void tmx_text_finish(struct tmx_text_file *t)
{
    free(t->data);
    *t = (struct tmx_text_file){0};
}

bool tmx_lines_next(struct tmx_lines *l, const struct tmx_text_file *t)
{
    const char *end = t->data + t->size;
    const char *begin = l->next ? l->next : t->data;
    if (begin >= end) {
        return false;
    }
    const char *nl = memchr(begin, '\n', (size_t)(end - begin));
    l->next = nl ? nl + 1 : end;
    l->line = (struct tmx_span){begin, nl ? nl : end};
    if (l->line.end > begin && l->line.end[-1] == '\r') {
        l->line.end--;
    }
    l->number++;
    return true;
}

bool tmx_lines_next_filled(struct tmx_lines *l, const struct tmx_text_file *t)
{
    while (tmx_lines_next(l, t)) {
        struct tmx_span rest = l->line, field;
        if (tmx_span_field(&rest, &field) && field.begin[0] != '#') {
            return true;
        }
    }
    return false;
}

bool tmx_span_field(struct tmx_span *rest, struct tmx_span *field)
{
    const char *p = rest->begin;
    while (p < rest->end && isspace((unsigned char)*p)) {
        p++;
    }
    field->begin = p;
    while (p < rest->end && !isspace((unsigned char)*p)) {
        p++;
    }
    field->end = p;
    rest->begin = p;
    return field->end > field->begin;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool tmx_span_cell(struct tmx_span *rest, struct tmx_span *cell)
{
    if (!rest->begin) {
        return false;
    }
    const char *comma = memchr(rest->begin, ',', (size_t)(rest->end - rest->begin));
    *cell = (struct tmx_span){rest->begin, comma ? comma : rest->end};
    rest->begin = comma ? comma + 1 : NULL;
    while (cell->begin < cell->end && is_blank(*cell->begin)) {
        cell->begin++;
    }
    while (cell->begin < cell->end && is_blank(cell->end[-1])) {
        cell->end--;
    }
    return true;
}

bool tmx_span_is_cells(struct tmx_span line)
{
    struct tmx_span rest = line, field;
    size_t cells = 0, fields = 0;
    while (tmx_span_cell(&rest, &field)) {
        cells++;
    }
    while (tmx_span_field(&line, &field)) {
        fields++;
    }
    return cells > 1 && cells > fields - (fields == cells); /* "a, b" has as many of both */
}

const char *tmx_text_kind(const struct tmx_text_file *t, const char *separators)
{
    struct tmx_lines lines = {0};
    if (!t->data || !tmx_lines_next_filled(&lines, t)) {
        return NULL;
    }
    struct tmx_span line = lines.line;
    while (is_blank(*line.begin)) {
        line.begin++;
    }
    const size_t n = tmx_span_length(line);
    const bool list = *line.begin == '[' && (n == 1 || strchr("[{\" 0123456789-", line.begin[1]));
    return *line.begin == '{' || list                               ? "JSON"
           : *line.begin == '<'                                     ? "XML or HTML"
           : n > 9 && memcmp(line.begin, "UnitName,", 9) == 0       ? "a CSV of PACT"
           : n > 9 && memcmp(line.begin, "Layer,Flo", 9) == 0       ? "a CSV of PACT"
           : *line.begin == '-'                                     ? NULL
           : !strchr(separators, '|') && memchr(line.begin, '|', n) ? "of columns between bars (|)"
           : !strchr(separators, ';') && memchr(line.begin, ';', n) ? "of columns between semicolons"
           : !strchr(separators, ',') && tmx_span_is_cells(line)    ? "of columns between commas (CSV)"
                                                                    : NULL;
}

enum tmx_status tmx_text_locate(enum tmx_status st, const struct tmx_text_file *t, const char *separators,
                                const char *expected, struct tmx_err *err)
{
    const char *kind = st && tmx_status_exit_code(st) == 2 ? tmx_text_kind(t, separators) : NULL;
    return kind ? tmx_fail_at(err, st, t->name, 1, "is %s; expected %s", kind, expected) : st;
}

size_t tmx_span_length(struct tmx_span s)
{
    return (size_t)(s.end - s.begin);
}

char *tmx_span_dup(struct tmx_span s)
{
    const size_t n = tmx_span_length(s);
    char *p = malloc(n + 1);
    if (p) {
        memcpy(p, s.begin, n);
        p[n] = '\0';
    }
    return p;
}

char *tmx_text_dup(const char *s)
{
    return tmx_span_dup((struct tmx_span){s, s + strlen(s)});
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

bool tmx_span_is(struct tmx_span s, const char *word)
{
    for (; s.begin < s.end && *word; s.begin++, word++) {
        if (lower(*s.begin) != lower(*word)) {
            return false;
        }
    }
    return s.begin == s.end && !*word;
}

bool tmx_span_copy(struct tmx_span s, char *buf, size_t size)
{
    const size_t n = tmx_span_length(s);
    if (n < size) {
        memcpy(buf, s.begin, n);
        buf[n] = '\0';
    }
    return n < size;
}

bool tmx_text_ends(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

const char *tmx_text_behind(const char *s, char letter)
{
    const char *last = strrchr(s, letter);
    return last ? last + 1 : s;
}

bool tmx_text_real(const char *s, double *v)
{
    return tmx_span_real((struct tmx_span){s, s + strlen(s)}, v);
}

int tmx_real_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int tmx_text_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int tmx_word_compare(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) - lower(*b);
}

/* A plain number of at most 15 digits and a power of ten of at most 22 is one exact division or product,
 * rounded once, as strtod rounds. False: left to strtod. */
static bool plain_real(struct tmx_span s, double *v)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MAX_DIGITS = 15, MAX_POWER = 22 };
    const char *p = s.begin;
    const bool minus = p < s.end && *p == '-';
    uint64_t whole = 0;
    int n = 0, behind = 0;
    p += minus;
    for (; p < s.end && *p >= '0' && *p <= '9'; p++, n++) {
        whole = 10 * whole + (uint64_t)(*p - '0');
    }
    if (p < s.end && *p == '.') {
        for (p++; p < s.end && *p >= '0' && *p <= '9'; p++, n++, behind++) {
            whole = 10 * whole + (uint64_t)(*p - '0');
        }
    }
    if (p != s.end || n == 0 || n > MAX_DIGITS || behind > MAX_POWER) {
        return false;
    }
    *v = (double)whole / power[behind];
    *v = minus ? -*v : *v;
    return true;
}

bool tmx_span_real(struct tmx_span s, double *v)
{
    if (plain_real(s, v)) {
        return true;
    }
    char buf[MAX_NUMBER];
    if (!tmx_span_copy(s, buf, sizeof buf) || !buf[0] || buf[strspn(buf, "0123456789+-.eE")]) {
        return false;
    }
    char *end;
    const double x = strtod(buf, &end);
    if (*end || end == buf || !isfinite(x)) {
        return false;
    }
    *v = x;
    return true;
}

const char *tmx_span_real_fault(struct tmx_span s)
{
    const char *p = s.begin;
    bool digits = tmx_span_length(s) > 0, comma = false;
    for (; p < s.end; p++) {
        comma = comma || *p == ',';
        digits = digits && (*p == ',' || strchr("0123456789+-.eE", *p));
    }
    if (digits && comma) {
        return "has a decimal comma; write a point";
    }
    static const char *const special[] = {"nan",  "-nan", "+nan",     "inf",
                                          "-inf", "+inf", "infinity", "-infinity"};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (tmx_span_is(s, special[i])) {
            return "is not a finite number";
        }
    }
    char buf[MAX_NUMBER], *end = buf;
    if (digits && tmx_span_copy(s, buf, sizeof buf) && !isfinite(strtod(buf, &end)) && !*end) {
        return "is too large for a number";
    }
    return "is not a number";
}

/* n digits at *p, moved on; -1 when there are other letters. */
static int digits(const char **p, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        if ((*p)[i] < '0' || (*p)[i] > '9') {
            return -1;
        }
        v = 10 * v + ((*p)[i] - '0');
    }
    *p += n;
    return v;
}

static bool one_of(const char **p, const char *letters)
{
    const bool is = **p && strchr(letters, **p);
    *p += is;
    return is;
}

/* What is behind the time of day: a zone or nothing. */
static bool read_zone(const char *p, struct tmx_moment *m)
{
    p += *p == ' ';
    m->zoned = *p != '\0';
    m->zone_min = 0;
    if (!m->zoned || strcmp(p, "Z") == 0 || strcmp(p, "UTC") == 0) {
        return true;
    }
    const int sign = *p == '-' ? -1 : 1;
    if (!one_of(&p, "+-")) {
        return false;
    }
    const int hours = digits(&p, 2);
    const bool colon = one_of(&p, ":");
    const int minutes = *p || colon ? digits(&p, 2) : 0;
    m->zone_min = sign * (60 * hours + minutes);
    return hours >= 0 && hours <= 14 && minutes >= 0 && minutes <= 59 && !*p;
}

/* Two digits of a number from low to high, and one of these letters behind them. */
static bool two_digits(const char **p, int low, int high, const char *letters, int *v)
{
    *v = digits(p, 2);
    return *v >= low && *v <= high && one_of(p, letters);
}

bool tmx_moment_read(const char *text, struct tmx_moment *m)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    const char *p = text;
    int month = 0, day = 0, hour = 0, minute = 0;
    const int year = digits(&p, 4), past = year - 1,
              leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1970 || !one_of(&p, "-") || !two_digits(&p, 1, 12, "-", &month) ||
        !two_digits(&p, 1, before[month] - before[month - 1] + (leap && month == 2), " T", &day) ||
        !two_digits(&p, 0, 23, ":", &hour) || !two_digits(&p, 0, 59, ":", &minute)) {
        return false;
    }
    const char *from = p;
    const int second = digits(&p, 2);
    if (one_of(&p, ".")) {
        p += strspn(p, "0123456789");
    }
    m->day = 365L * past + past / 4 - past / 100 + past / 400 + before[month - 1] + (leap && month > 2) + day;
    return second >= 0 && second <= 60 && tmx_span_real((struct tmx_span){from, p}, &m->s) &&
           (m->s += hour * 3600 + minute * 60, read_zone(p, m));
}

double tmx_moment_since(const struct tmx_moment *m, const struct tmx_moment *from)
{
    return 86400.0 * (double)(m->day - from->day) + m->s - from->s;
}

bool tmx_celsius_read(const char *text, double *celsius)
{
    size_t n = strlen(text);
    const bool kelvin = n >= 2 && text[n - 1] == 'K';
    if (n < 2 || (text[n - 1] != 'C' && !kelvin)) {
        return false;
    }
    n -= n > 4 && strcmp(text + n - 4, "degC") == 0 ? 4 : 1;
    if (!tmx_span_real((struct tmx_span){text, text + n}, celsius)) {
        return false;
    }
    *celsius = kelvin ? tmx_real_round(*celsius - 273.15, 12) : *celsius;
    return true;
}

/* A number of few decimals, as most that people write are: m / 10^k, rounded once, is what reading its digits
 * gives, and 15 digits of it are those of m. False: it is none, or %g would write a power of ten. */
static bool print_decimal(char *buf, double v)
{
    static const double power[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    enum { MOST = sizeof power / sizeof power[0] };
    const double a = fabs(v);
    double m = 0;
    size_t k = 0;
    while (k < MOST && a >= 1e-4 && a < 1e9 && (m = floor(a * power[k] + 0.5)) / power[k] != a) {
        k++;
    }
    if (k == MOST || !(a >= 1e-4 && a < 1e9)) {
        return false;
    }
    char digits[TMX_REAL_SIZE];
    size_t n = 0;
    for (uint64_t left = (uint64_t)m; left > 0 || n <= k; left /= 10) {
        digits[n++] = (char)('0' + left % 10);
    }
    *buf = '-';
    buf += v < 0;
    while (n > 0) {
        *buf++ = digits[--n];
        if (n == k && k > 0) {
            *buf++ = '.';
        }
    }
    *buf = '\0';
    return true;
}

const char *tmx_real_print(char buf[TMX_REAL_SIZE], double v)
{
    bool equal = print_decimal(buf, v);
    for (int digits = 15; digits <= 17 && !equal; digits++) {
        snprintf(buf, TMX_REAL_SIZE, "%.*g", digits, v);
        equal = strtod(buf, NULL) == v;
    }
    return buf;
}

double tmx_real_round(double v, int digits)
{
    char buf[TMX_REAL_SIZE];
    const int n = snprintf(buf, sizeof buf, "%.*e", digits - 1, v);
    double near = v;
    return tmx_span_real((struct tmx_span){buf, buf + n}, &near) ? near : v;
}

size_t tmx_utf8_length(const char *p, const char *end)
{
    const unsigned char c = (unsigned char)*p;
    const size_t n = c < 0x80                ? 1
                     : c >= 0xc2 && c < 0xe0 ? 2
                     : c >= 0xe0 && c < 0xf0 ? 3
                     : c >= 0xf0 && c < 0xf5 ? 4
                                             : 0;
    if (n == 0 || (size_t)(end - p) < n) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const unsigned char second = n > 1 ? (unsigned char)p[1] : 0;
    const bool overlong = (c == 0xe0 && second < 0xa0) || (c == 0xf0 && second < 0x90);
    const bool beyond = (c == 0xed && second >= 0xa0) || (c == 0xf4 && second >= 0x90);
    return overlong || beyond ? 0 : n;
}

enum tmx_status tmx_utf8_check(const char *data, size_t size, const char *name, struct tmx_err *err)
{
    unsigned line = 1;
    for (const char *p = data; p < data + size;) {
        const size_t n = tmx_utf8_length(p, data + size);
        if (n == 0) {
            return tmx_fail_at(err, TMX_ECONFIG, name, line, "byte 0x%02x is not UTF-8", (unsigned char)*p);
        }
        line += *p == '\n';
        p += n;
    }
    return TMX_OK;
}

size_t tmx_text_letters(const char *s)
{
    size_t n = 0;
    for (; *s; s++) {
        n += ((unsigned char)*s & 0xC0U) != 0x80U;
    }
    return n;
}

void tmx_text_wrap(const char *s, size_t indent, size_t width, FILE *out)
{
    size_t used = indent;
    bool begun = false; /* the line */
    while (*s) {
        char word[256];
        size_t n = strcspn(s, " ");
        if (indent + 8 <= width && width < 2 * indent &&
            n > width - indent) { /* a narrow column breaks words */
            for (n = width - indent; ((unsigned char)s[n] & 0xc0) == 0x80; n--) {
            }
        }
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), s);
        tmx_text_visible(word, sizeof word);
        const size_t letters = tmx_text_letters(word);
        if (begun && width > 0 && used + 1 + letters > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
            begun = false;
        }
        tmx_print_visible(out, "%s%.*s", begun ? " " : "", (int)n, s);
        used += letters + begun;
        begun = true;
        s += n;
        s += strspn(s, " ");
    }
    fputc('\n', out);
}

/* How much of a line fits: up to a blank outside quotes, all of it where there is none. */
static size_t fitting(const char *s, size_t n, size_t width)
{
    size_t end = n;
    char quote = '\0';
    for (size_t i = 0; i < n && n > width; i++) {
        if (quote ? s[i] == quote : s[i] == '"' || s[i] == '\'') {
            quote = quote ? '\0' : s[i];
        }
        if (!quote && s[i] == ' ' && i > 0 && (i + 2 <= width || end == n)) {
            end = i; /* and the backslash behind it */
        }
    }
    return end;
}

void tmx_text_commands(const char *lines, size_t indent, size_t width, FILE *out)
{
    enum { FURTHER = 6 };
    while (*lines) {
        size_t n = strcspn(lines, "\n"), in = indent;
        while (n > 0) {
            const size_t some = fitting(lines, n, width > in ? width - in : 1);
            fprintf(out, "%*s%.*s%s\n", (int)in, "", (int)some, lines, some < n ? " \\" : "");
            const size_t next = some < n ? some + 1 : n;
            lines += next;
            n -= next;
            in = indent + FURTHER;
        }
        lines += *lines == '\n';
    }
}

enum { MAX_WORD = 63 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 2];
    const size_t la = strlen(a), lb = strlen(b);
    if (la > MAX_WORD || lb > MAX_WORD) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t diag = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            const size_t up = row[j];
            const size_t one = (up < row[j - 1] ? up : row[j - 1]) + 1,
                         change = diag + (a[i - 1] != b[j - 1]);
            row[j] = one < change ? one : change;
            diag = up;
        }
    }
    return row[lb];
}

bool tmx_words_have(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at++) {
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) {
            return true;
        }
    }
    return false;
}

size_t tmx_names_find(const char *word, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], word) != 0) {
        i++;
    }
    return i;
}

const char *tmx_suggest_nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t best_d = strlen(word) / 3 + 2;
    const size_t length = strlen(word);
    for (size_t i = 0; i < n; i++) {
        /* the unit alone is missing: "tick" means "tick_s" */
        const bool begins = length > 2 && strncmp(names[i], word, length) == 0 && names[i][length] == '_';
        const size_t d = begins ? 1 : edit_distance(word, names[i]);
        if (d < best_d) {
            best = names[i];
            best_d = d;
        }
    }
    return best;
}

const char *tmx_names_list(char *text, size_t size, const char *const *names, size_t n)
{
    static const char more[] = ", ...";
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t room = size - used - (i + 1 < n ? sizeof more - 1 : 0);
        const size_t want = strlen(names[i]) + (i ? 2 : 0);
        if (want >= room) {
            snprintf(text + used, size - used, "%s", i ? more : "...");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    }
    return text;
}

const char *tmx_suggest(char hint[TMX_HINT_SIZE], const char *word, const char *const *names, size_t n)
{
    static const char there[] = "; there is ";
    const char *near = tmx_suggest_nearest(word, names, n);
    hint[0] = '\0';
    if (near) {
        snprintf(hint, TMX_HINT_SIZE, ", did you mean \"%s\"?", near);
    } else if (n > 0) {
        memcpy(hint, there, sizeof there);
        tmx_names_list(hint + sizeof there - 1, TMX_HINT_SIZE - sizeof there + 1, names, n);
    }
    return hint;
}

/* ---- files that files name ---- */

/* Length of the folder before the file's own name, with its slash; 0: the current one. */
static size_t folder_length(const char *from, const char *name)
{
    const char *slash = from && strncmp(from, "--", 2) != 0 && name[0] != '/' ? strrchr(from, '/') : NULL;
    return slash ? (size_t)(slash + 1 - from) : 0;
}

/* "./x" in "a/b.cfg" is a/x. */
static const char *bare(const char *name, size_t folder)
{
    while (folder > 0 && strncmp(name, "./", 2) == 0 && name[2] != '/') {
        name += 2;
    }
    return name;
}

bool tmx_beside(const char *from, const char *name, char *path, size_t size)
{
    const size_t n = folder_length(from, name);
    const int length = snprintf(path, size, "%.*s%s", (int)n, n ? from : "", bare(name, n));
    const bool fits = length >= 0 && (size_t)length < size;
    if (fits && tmx_os_exists(path)) {
        return true;
    }
    return n > 0 && tmx_os_exists(name) &&
           tmx_span_copy((struct tmx_span){name, name + strlen(name)}, path, size);
}

const char *tmx_beside_places(const char *from, const char *name, char *buf, size_t size)
{
    const size_t n = folder_length(from, name);
    snprintf(buf, size, "%.*s%s%s%s", (int)n, n ? from : "", bare(name, n), n ? ", " : "", n ? name : "");
    return buf;
}

const char *tmx_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

void tmx_text_add(char *text, size_t size, const char *fmt, ...)
{
    const size_t n = strlen(text);
    va_list list;
    va_start(list, fmt);
    vsnprintf(text + n, size - n, fmt, list);
    va_end(list);
}
