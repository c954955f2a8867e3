/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a column means: its words against the names a format knows, its unit against ours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <thermix/policy.h>

#include "measure/log/collect.h"

/* A clock beside a date has none. */
static const char *const names[TMX_COLUMN_CLOCK_TIME] = {
    "time_s", "power_w",    "temp_c", "fan_rpm", "fan_pct", "inlet_c", "clock_mhz", "util_pct",
    "hbm_c",  "hot_spot_c", "volt_v", "gpu",     "run",     "host",    "uuid",      "part"};

const char *tmx_log_quantity_name(enum tmx_log_quantity q)
{
    return names[q];
}

int tmx_column_by_name(struct tmx_span name)
{
    int q = TMX_COLUMN_CLOCK_TIME - 1;
    while (q >= 0 && !tmx_span_is(name, names[q])) {
        q--;
    }
    return q >= 0 ? q : TMX_COLUMN_UNUSED;
}

struct unit {
    unsigned quantities; /* bits: those it can belong to */
    double scale, shift; /* ours = scale * theirs + shift */
    const char *words;   /* between bars */
};

#define BIT(q)       (1u << TMX_Q_##q)
#define TEMPERATURES (BIT(TEMP) | BIT(INLET) | BIT(MEM_TEMP) | BIT(HOT_SPOT))
static const struct unit units[] = {
    {BIT(POWER), 1, 0, "w|watt|watts"},
    {BIT(POWER), 1e-3, 0, "mw"},
    {BIT(POWER), 1e-6, 0, "uw"},
    {BIT(POWER), 1e3, 0, "kw"},
    {TEMPERATURES, 1, 0, "c|degc|celsius|celsius_degree"},
    {TEMPERATURES, 5.0 / 9, -160.0 / 9, "f|degf|fahrenheit"},
    {TEMPERATURES, 1, -TMX_ZERO_C, "k|kelvin"},
    {TEMPERATURES, 1e-3, 0, "mc"},
    {BIT(RPM), 1, 0, "rpm"},
    {BIT(FAN_PCT) | BIT(UTIL), 1, 0, "pct|%|percent"},
    {BIT(TIME), 1, 0, "s|sec|secs|second|seconds"},
    {BIT(TIME), 1e-3, 0, "ms|msec|msecs|millis|millisecond|milliseconds"},
    {BIT(TIME), 1e-6, 0, "us|usec|usecs|micros|microsecond|microseconds"},
    {BIT(TIME), 1e-9, 0, "ns|nsec|nsecs|nanos|nanosecond|nanoseconds"},
    {BIT(TIME), 60, 0, "min|mins|minute|minutes"},
    {BIT(TIME), 3600, 0, "h|hr|hrs|hour|hours"},
    {BIT(TIME), 86400, 0, "days"},
    {BIT(CLOCK), 1, 0, "mhz"},
    {BIT(CLOCK), 1e3, 0, "ghz"},
    {BIT(CLOCK), 1e-3, 0, "khz"},
    {BIT(CLOCK), 1e-6, 0, "hz"},
    {BIT(VOLT), 1, 0, "v"},
    {BIT(VOLT), 1e-3, 0, "mv"},
};

/* The place of a word in "a|b; c": how many ";" are before it; -1: it is none of them. */
static int rank_of(const char *words, const char *word)
{
    const size_t n = strlen(word);
    int rank = 0;
    for (const char *p = words; n > 0 && *p; p += strspn(p, "|; ")) {
        const size_t length = strcspn(p, "|;");
        if (length == n && memcmp(p, word, n) == 0) {
            return rank;
        }
        p += length;
        rank += *p == ';';
    }
    return -1;
}

static const struct unit *unit_of(const char *word)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (rank_of(units[i].words, word) >= 0) {
            return &units[i];
        }
    }
    return NULL;
}

struct tmx_span tmx_span_trim(struct tmx_span s)
{
    while (s.begin < s.end && (*s.begin == ' ' || *s.begin == '\t' || *s.begin == '\r')) {
        s.begin++;
    }
    while (s.begin < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t' || s.end[-1] == '\r')) {
        s.end--;
    }
    if (s.end - s.begin >= 2 && *s.begin == '"' && s.end[-1] == '"') {
        s.begin++;
        s.end--;
        return tmx_span_trim(s);
    }
    return s;
}

bool tmx_span_same(struct tmx_span a, struct tmx_span b)
{
    return tmx_span_length(a) == tmx_span_length(b) && memcmp(a.begin, b.begin, tmx_span_length(a)) == 0;
}

bool tmx_span_has(struct tmx_span s, const char *word)
{
    const size_t n = strlen(word);
    bool found = false;
    for (const char *p = s.begin; !found && n <= tmx_span_length(s) && p + n <= s.end; p++) {
        found = memcmp(p, word, n) == 0;
    }
    return found;
}

/* Lower case, words joined by "_", bytes outside ASCII (the degree sign) left out. humps: elapsedSeconds is
 * two words. */
static void plain_words(struct tmx_span s, bool humps, char *buf, size_t size)
{
    size_t n = 0;
    bool gap = false;
    for (const char *p = s.begin; p < s.end && n + 2 < size; p++) {
        const bool capital = *p >= 'A' && *p <= 'Z';
        const char c = capital ? (char)(*p - 'A' + 'a') : *p;
        const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '%';
        gap = gap || (humps && capital && p > s.begin && p[-1] >= 'a' && p[-1] <= 'z');
        if (word) {
            if (gap && n > 0) {
                buf[n++] = '_';
            }
            buf[n++] = c;
        }
        gap = word ? false : gap || ((unsigned char)c < 0x80);
    }
    buf[n] = '\0';
}

static struct tmx_column_use with_unit(const struct tmx_alias *a, int rank, const char *unit)
{
    struct tmx_column_use use = {a->quantity, 1, 0, rank};
    const struct unit *u = unit_of(unit);
    u = u ? u : a->unit ? unit_of(a->unit) : NULL;
    if (a->quantity < TMX_N_LOG_QUANTITY && u) {
        if (!(u->quantities & 1u << a->quantity)) {
            /* "fan" in rpm and "fan" in percent are two quantities with one name */
            const bool fan = a->quantity == TMX_Q_RPM || a->quantity == TMX_Q_FAN_PCT;
            const int other = a->quantity == TMX_Q_RPM ? TMX_Q_FAN_PCT : TMX_Q_RPM;
            if (fan && u->quantities & 1u << other) {
                use.quantity = other;
            } else {
                return (struct tmx_column_use){TMX_COLUMN_UNUSED, 1, 0, 0};
            }
        }
        use.scale = u->scale;
        use.shift = u->shift;
    }
    return use;
}

/* Names that people give to what a log of any format may have: whose row it is. They come behind a format's
 * own. */
static const struct tmx_alias common[] = {
    TMX_NAMES(TMX_COLUMN_GPU, "gpu|gpu_id|gpu_index"),
    /* instance: of Prometheus, host:port */
    TMX_NAMES(TMX_COLUMN_HOST,
              "host|hostname|host_name; node|nodename|node_name|node_id; server|machine; instance"),
    TMX_NAMES(TMX_COLUMN_UUID, "uuid|gpu_uuid; serial|gpu_serial|serial_number"),
    /* gpu_i_id: MIG's GPU instance in DCGM's words; xcp: amd-smi */
    TMX_NAMES(TMX_COLUMN_PART,
              "gpu_i_id|gpu_instance_id|gpu_instance|gi_id|mig_id|mig_instance|xcp|partition_id|"
              "gpu_partition_id"),
    {0},
};

/* A time: words that say so ("epoch", "elapsed"), or nothing but a unit ("seconds"), beside words that only
 * say of which clock and since when. The last word may be its unit: time_ms. */
static bool is_time(const char *words, struct tmx_column_use *use)
{
    static const char core[] = "time|times|t|ts|timestamp|timestamps|stamp|epoch|unix|posix|unixtime|"
                               "unixtimestamp|date|datetime|elapsed|runtime|uptime|walltime|wallclock|utc",
                      beside[] = "relative|rel|since|in|of|at|wall|clock|gmt|local|iso|iso8601|log|query|"
                                 "sample|system|monotonic|mono|process|real|absolute",
                      since[] = "start|begin|beginning|boot";
    char buf[128];
    bool any = false, from = false;
    const struct unit *unit = NULL;
    snprintf(buf, sizeof buf, "%s", words);
    *use = (struct tmx_column_use){TMX_Q_TIME, 1, 0, 5};
    for (char *w = buf, *next; w; w = next) {
        next = strchr(w, '_');
        if (next) {
            *next++ = '\0';
        }
        const struct unit *u = unit_of(w);
        const bool is_unit = u && u->quantities & 1u << TMX_Q_TIME && (!next || !any);
        const bool is_core = rank_of(core, w) >= 0;
        if (!is_core && rank_of(beside, w) < 0 && !is_unit && !(from && rank_of(since, w) >= 0)) {
            return false;
        }
        any = any || is_core || (is_unit && w == buf && strcmp(w, "min") != 0 && strlen(w) > 1);
        from = from || strcmp(w, "since") == 0;
        unit = is_unit && !is_core ? u : unit;
    }
    use->scale = unit ? unit->scale : 1;
    return any;
}

static const struct tmx_alias *find(const struct tmx_alias *aliases, const char *name, int *rank)
{
    for (size_t list = 0; list < 2; list++) {
        for (const struct tmx_alias *a = list ? common : aliases; a->names; a++) {
            if ((*rank = rank_of(a->names, name)) >= 0) {
                *rank += list && a->quantity == TMX_COLUMN_GPU ? 4 : 0;
                return a;
            }
        }
    }
    return NULL;
}

struct tmx_column_use tmx_column_named(struct tmx_span name, struct tmx_span unit,
                                       const struct tmx_alias *aliases)
{
    char words[128], unit_word[32];
    struct tmx_column_use use = {TMX_COLUMN_UNUSED, 1, 0, 0};
    int rank;
    plain_words(unit, false, unit_word, sizeof unit_word);
    for (int humps = 0; humps < 2; humps++) { /* powerDraw: as it is, then as two words */
        plain_words(name, humps, words, sizeof words);
        const struct tmx_alias *a = find(aliases, words, &rank);
        if (a) {
            return with_unit(a, rank, unit_word);
        }
        char *last = strrchr(words, '_');
        if (last && unit_of(last + 1)) { /* power_mw */
            *last = '\0';
            a = find(aliases, words, &rank);
            if (a) {
                return with_unit(a, rank, last + 1);
            }
            *last = '_';
        }
        const struct unit *u = unit_of(unit_word);
        if (is_time(words, &use)) {
            use.scale = u && u->quantities & 1u << TMX_Q_TIME ? u->scale : use.scale;
            return use;
        }
    }
    return (struct tmx_column_use){TMX_COLUMN_UNUSED, 1, 0, 0};
}

/* "power [mW]": the name, and the unit in its brackets. */
static struct tmx_span split_unit(struct tmx_span header, struct tmx_span *unit)
{
    struct tmx_span s = tmx_span_trim(header);
    *unit = (struct tmx_span){s.end, s.end};
    if (s.end > s.begin && (s.end[-1] == ']' || s.end[-1] == ')')) {
        const char open = s.end[-1] == ']' ? '[' : '(';
        const char *p = s.end - 1;
        while (p > s.begin && *p != open) {
            p--;
        }
        if (*p == open) {
            *unit = (struct tmx_span){p + 1, s.end - 1};
            s.end = p;
        }
    }
    return s;
}

struct tmx_column_use tmx_column_of(struct tmx_span header, const struct tmx_alias *aliases)
{
    struct tmx_span unit;
    const struct tmx_span name = split_unit(header, &unit);
    return tmx_column_named(name, unit, aliases);
}

void tmx_column_unit(struct tmx_span header, int q, struct tmx_column_use *use)
{
    char words[128], unit_word[32];
    struct tmx_span unit;
    plain_words(split_unit(header, &unit), true, words, sizeof words);
    plain_words(unit, false, unit_word, sizeof unit_word);
    const char *last = strrchr(words, '_');
    const struct unit *u = unit_of(unit_word);
    u = u ? u : unit_of(last ? last + 1 : words);
    if (q < TMX_N_LOG_QUANTITY && u && u->quantities & 1u << q) {
        use->scale = u->scale;
        use->shift = u->shift;
    }
}

/* A column that names its GPU: "gpu.0.temp", "run-1 - system/gpu.0.powerWatts", "GPU 1 power". The group of
 * its run and GPU is made when it is new. */
static void group_column(struct tmx_columns *t, size_t i, const struct tmx_alias *aliases)
{
    static const char word[] = "gpu";
    const struct tmx_span s = tmx_span_trim(t->name[i]);
    const char *begin = s.begin, *p = s.begin, *run_end = s.begin;
    char rest[160];
    for (const char *c = s.begin; c + 2 < s.end; c++) { /* "run-1 - system/gpu.0.temp" */
        run_end = run_end == s.begin && c[0] == ' ' && c[1] == '-' && c[2] == ' ' ? c : run_end;
        begin = *c == '/' || (*c == '-' && c[1] == ' ') ? c + 1 : begin;
    }
    for (p = begin; p + 3 < s.end; p++) {
        size_t k = 0;
        while (k < 3 && (p[k] | 0x20) == word[k]) {
            k++;
        }
        const char *number = p + 3;
        while (number < s.end && strchr(" ._-:#[", *number)) {
            number++;
        }
        const char *end = number;
        while (end < s.end && *end >= '0' && *end <= '9') {
            end++;
        }
        if (k < 3 || end == number || end - number > 4 ||
            (p > begin && ((p[-1] | 0x20) >= 'a' && (p[-1] | 0x20) <= 'z'))) {
            continue;
        }
        const char *behind = end + (end < s.end && *end == ']');
        snprintf(rest, sizeof rest, "%.*s %.*s", (int)(p - begin), begin, (int)(s.end - behind), behind);
        const struct tmx_span all = {rest, rest + strlen(rest)};
        const struct tmx_column_use use = tmx_column_of(all, aliases);
        const struct tmx_span gpu = {number, end}, run = {s.begin, run_end};
        size_t w = 1;
        while (w <= t->n_wide &&
               !(tmx_span_same(t->wide_gpu[w], gpu) && tmx_span_same(t->wide_run[w], run))) {
            w++;
        }
        if (tmx_is_reading(use.quantity) && w <= TMX_MAX_WIDE) {
            t->wide_gpu[w] = gpu;
            t->wide_run[w] = run;
            t->n_wide = w > t->n_wide ? w : t->n_wide;
            t->use[i] = use;
            t->group[i] = w;
        }
        return;
    }
}

void tmx_columns_group(struct tmx_columns *t, const struct tmx_alias *aliases)
{
    bool power = false, temp = false;
    for (size_t i = 0; i < t->n; i++) {
        if (t->use[i].quantity == TMX_COLUMN_UNUSED) {
            group_column(t, i, aliases);
        }
        power = power || (t->group[i] && t->use[i].quantity == TMX_Q_POWER);
        temp = temp || (t->group[i] && t->use[i].quantity == TMX_Q_TEMP);
    }
    for (size_t i = 0; (!power || !temp) && i < t->n; i++) { /* not a table of this kind */
        t->use[i].quantity = t->group[i] ? TMX_COLUMN_UNUSED : t->use[i].quantity;
        t->group[i] = t->n_wide = 0;
    }
}

void tmx_columns_choose(struct tmx_columns *t)
{
    for (size_t k = 0; k <= t->n_wide; k++) {
        for (int q = 0; q < TMX_N_COLUMN_USE; q++) {
            t->from[k][q] = t->n;
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        const int q = t->use[i].quantity;
        size_t *at = q == TMX_COLUMN_UNUSED ? NULL : &t->from[t->group[i]][q];
        const bool empty = tmx_is_reading(q) && t->values[i] == 0;
        if (at && !empty && (*at == t->n || t->use[i].rank < t->use[*at].rank)) {
            *at = i;
        }
    }
    if (t->from[0][TMX_COLUMN_GPU] == t->n) { /* its only name */
        t->from[0][TMX_COLUMN_GPU] = t->from[0][TMX_COLUMN_UUID];
        t->from[0][TMX_COLUMN_UUID] = t->n;
    }
}

void tmx_columns_say(const struct tmx_columns *t, struct tmx_measured *m)
{
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        const size_t from = t->n_wide > 0 && t->from[1][q] < t->n ? t->from[1][q] : t->from[0][q];
        if (from < t->n) {
            tmx_measured_column(m, (enum tmx_log_quantity)q, tmx_span_trim(t->name[from]));
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        const int q = t->use[i].quantity;
        const size_t from = tmx_is_reading(q) || q == TMX_Q_TIME ? t->from[t->group[i]][q] : i;
        if (q == TMX_COLUMN_UNUSED || from != i) {
            tmx_measured_unused(m, tmx_span_trim(t->name[i]));
        }
        if (from != i && from < t->n && q > TMX_Q_TIME && q <= TMX_Q_INLET && t->values[i] > 0 &&
            t->use[i].rank == t->use[from].rank) {
            const struct tmx_span taken = tmx_span_trim(t->name[from]), left = tmx_span_trim(t->name[i]);
            tmx_measured_warn(m, "\"%.*s\" is taken for %s, \"%.*s\" may be it: --column %s=NAME takes one",
                              TMX_SPAN_ARG(taken), names[q], TMX_SPAN_ARG(left), names[q]);
        }
    }
}

bool tmx_cell_empty(struct tmx_span cell)
{
    static const char *const words[] = {"-",
                                        "--",
                                        "NA",
                                        "nan",
                                        "null",
                                        "none",
                                        "ERR!",
                                        "unknown",
                                        "Not Supported",
                                        "undefined",
                                        "not available",
                                        "missing",
                                        "n.a."};
    const struct tmx_span s = tmx_span_trim(cell);
    const size_t n = tmx_span_length(s);
    /* "[N/A]", "[Unknown Error]", "[GPU requires reset]"; "N/A (Secondary die)"; "<<<NOT_SUPPORTED>>>" */
    bool empty = n == 0 || (n >= 3 && tmx_span_is((struct tmx_span){s.begin, s.begin + 3}, "N/A")) ||
                 (n >= 6 && strncmp(s.begin, "<<<", 3) == 0);
    if (!empty && n >= 2 && *s.begin == '[' && s.end[-1] == ']') {
        empty = true;
        for (const char *p = s.begin; p < s.end; p++) {
            empty = empty && !(*p >= '0' && *p <= '9');
        }
    }
    for (size_t i = 0; !empty && i < sizeof words / sizeof words[0]; i++) {
        empty = tmx_span_is(s, words[i]);
    }
    return empty;
}

/* DCGM's blanks (dcgm_structs.h: DCGM_INT32_BLANK, DCGM_INT64_BLANK, DCGM_FP64_BLANK and up to 15 more, of
 * which not found, not supported and not permitted are used), all ones of NVML and amd-smi in 16, 32 and 64
 * bits. */
bool tmx_value_blank(double v)
{
    static const struct {
        double low, high;
    } blanks[] = {{65535, 65535},
                  {2147483632.0, 2147483647.0},
                  {4294967295.0, 4294967295.0},
                  {140737488355328.0, 140737488355343.0},
                  {9.2233720368547e18, 9.2233720368548e18},
                  {1.8446744073709e19, 1.8446744073710e19}};
    bool blank = false;
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        blank = blank || (v >= blanks[i].low && v <= blanks[i].high);
    }
    return blank;
}

bool tmx_cell_value(const struct tmx_column_use *use, struct tmx_span cell, bool comma, double *v)
{
    struct tmx_span s = tmx_span_trim(cell);
    char buf[64];
    if (tmx_cell_empty(s)) {
        *v = NAN;
        return true;
    }
    if (use->quantity == TMX_Q_TIME || use->quantity == TMX_COLUMN_CLOCK_TIME) {
        if (!tmx_span_real(s, v) && tmx_time_parse(s, v)) {
            return true; /* a stamp has no unit */
        }
    }
    const char *end = s.begin;
    while (end < s.end && strchr("+-.0123456789eE", *end)) {
        end++;
    }
    if (comma && end < s.end && *end == ',') {
        if (!tmx_span_copy(s, buf, sizeof buf)) {
            return false;
        }
        buf[end - s.begin] = '.';
        const char *rest = buf + (end - s.begin) + 1;
        while (*rest >= '0' && *rest <= '9') {
            rest++;
        }
        const struct tmx_span whole = {buf, rest};
        s = (struct tmx_span){rest, buf + strlen(buf)};
        if (!tmx_span_real(whole, v)) {
            return false;
        }
    } else {
        const struct tmx_span number = {s.begin, end};
        s.begin = end;
        if (!tmx_span_real(number, v)) {
            return false;
        }
    }
    double scale = use->scale, shift = use->shift;
    s = tmx_span_trim(s);
    if (s.begin < s.end) { /* "123.4 W": the cell's own unit wins */
        char word[16];
        plain_words(s, false, word, sizeof word);
        const struct unit *u = unit_of(word);
        if (!u || use->quantity >= TMX_N_LOG_QUANTITY) {
            return false;
        }
        /* --column fan_rpm=NAME of a log that knows percent only: a fan's law needs ratios of speeds */
        const bool share = use->rank < 0 && use->quantity == TMX_Q_RPM && u->quantities & 1u << TMX_Q_FAN_PCT;
        if (!(u->quantities & 1u << use->quantity) && !share) {
            return false;
        }
        scale = u->scale;
        shift = u->shift;
    }
    *v = tmx_value_blank(*v) && use->quantity != TMX_Q_TIME ? *v : scale * *v + shift;
    return isfinite(*v);
}

/* ---- time stamps ---- */

/* Digits at *p, moved on, into *v; false of fewer than least. */
static bool digits(const char **p, int least, int most, int *v)
{
    int n = 0;
    for (*v = 0; n < most && **p >= '0' && **p <= '9'; n++) {
        *v = 10 * *v + *(*p)++ - '0';
    }
    return n >= least;
}

static bool skip(const char **p, const char *any)
{
    const bool is = **p && strchr(any, **p);
    *p += is;
    return is;
}

/* The date in front of a stamp: year first, with / - . or packed; day first with points; or as ctime and date
 * print it, month and day in front and the year behind, which *end is then the begin of. */
static bool date_of(const char **p, int *year, int *month, int *day, const char **end)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    const char *from = *p;
    if ((*from | 0x20) >= 'a' && (*from | 0x20) <= 'z') {
        const char *name = strlen(from) > 8 ? from + 4 : "   ", *last = strrchr(from, ' ');
        for (*month = 1; *month < 13; ++*month) {
            const char *of = &months[3 * (*month - 1)];
            if ((name[0] | 0x20) == of[0] && (name[1] | 0x20) == of[1] && (name[2] | 0x20) == of[2]) {
                break;
            }
        }
        *p = name + 3;
        *p += *month < 13 ? strspn(*p, " ") : 0;
        *end = last ? last : from;
        from = *end + 1;
        return *month < 13 && digits(p, 1, 2, day) && last && digits(&from, 4, 4, year) && !*from;
    }
    if (digits(p, 4, 4, year)) {
        const bool apart = skip(p, "/-.");
        const int least = apart ? 1 : 2;
        return digits(p, least, 2, month) && (!apart || skip(p, "/-.")) && digits(p, least, 2, day);
    }
    *p = from;
    return digits(p, 1, 2, day) && skip(p, ".") && digits(p, 1, 2, month) && skip(p, ".") &&
           digits(p, 4, 4, year);
}

bool tmx_time_parse(struct tmx_span s, double *seconds)
{
    enum { DAY_1970 = 719163 };
    char buf[48], text[64];
    struct tmx_moment m;
    int year = 1970, month = 1, day = 1, hour = 0;
    if (tmx_span_real(s, seconds)) {
        return true;
    }
    if (!tmx_span_copy(s, buf, sizeof buf) || !buf[0]) {
        return false;
    }
    const char *p = buf, *end = NULL;
    const bool dated = !digits(&p, 1, 2, &hour) || *p != ':';
    p = buf;
    if (dated && (!date_of(&p, &year, &month, &day, &end) || !skip(&p, "T ") || year >= 2200)) {
        return false;
    }
    p += strspn(p, " ");
    if (!digits(&p, 1, 2, &hour)) {
        return false;
    }
    size_t n = end ? strcspn(p, " ")
                   : strlen(p); /* of ctime's zone nothing: one a log, times count from its begin */
    const size_t clock = strspn(p, ":0123456789.,");
    if (clock < n && (strcmp(p + clock, "z") == 0 || strcmp(p + clock + (p[clock] == ' '), "GMT") == 0)) {
        n = clock; /* as no zone */
    }
    snprintf(text, sizeof text, "%04d-%02d-%02d %02d%.*s", year, month, day, hour, (int)n, p);
    for (char *c = text; *c; c++) {
        *c = *c == ',' ? '.' : *c;
    }
    if (!tmx_moment_read(text, &m) || (!dated && m.zoned)) {
        return false;
    }
    *seconds = 86400.0 * (double)(m.day - DAY_1970) + m.s - 60.0 * m.zone_min;
    return true;
}
