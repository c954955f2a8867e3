/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows in the file's order -> series: values no GPU can have are refused, clocks are set right, holes part
 * runs, and a note reports each decision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

struct limit {
    double low, high;
    const char *hint;
};
static const struct limit limits[TMX_N_LOG_QUANTITY] = {
    [TMX_Q_TIME] = {-1e300, 1e300, ""},
    [TMX_Q_POWER] = {0, 5000, "milliwatts? call the column power_mw, or give its unit in brackets: [mW]"},
    [TMX_Q_TEMP] = {-40, 125,
                    "Fahrenheit or kelvin? call the column temp_f or temp_k, or give its unit in brackets"},
    [TMX_Q_RPM] = {0, 60000, "is this a fan's speed in rpm?"},
    [TMX_Q_FAN_PCT] = {0, 400, "is this a fan's speed in percent?"},
    [TMX_Q_INLET] = {-60, 90, "Fahrenheit or kelvin? call the column inlet_f or inlet_k"},
    [TMX_Q_CLOCK] = {0, 20000, "is this a clock in MHz?"},
    [TMX_Q_UTIL] = {0, 1e9, ""},
    [TMX_Q_MEM_TEMP] = {-40, 200, "Fahrenheit or kelvin?"},
    [TMX_Q_HOT_SPOT] = {-40, 200, "Fahrenheit or kelvin?"},
    [TMX_Q_VOLT] = {0, 1e6, ""},
};

unsigned tmx_collect_line(const struct tmx_collect *c, unsigned line)
{
    return c->line_of && line <= c->n_line ? c->line_of[line] : line;
}

void tmx_collect_row(struct tmx_collect *c, const struct tmx_row *row, struct tmx_span run,
                     const struct tmx_who *who)
{
    static const char zero[] = "0";
    struct tmx_row kept = *row;
    struct tmx_who of = *who;
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        if (q != TMX_Q_TIME && tmx_value_blank(row->q[q])) {
            kept.q[q] = NAN;
            c->blank_at = c->n_blank++ ? c->blank_at : row->line;
        } else if (row->q[q] < limits[q].low || row->q[q] > limits[q].high) {
            tmx_error_at(&c->err, TMX_ERANGE, c->text->name, row->line, "%s = %g is outside [%g, %g]: %s",
                         tmx_log_quantity_name((enum tmx_log_quantity)q), row->q[q], limits[q].low,
                         limits[q].high,
                         row->q[q] < limits[q].low ? "a reading that failed?" : limits[q].hint);
            return;
        }
    }
    struct tmx_span *const names[] = {&of.host, &of.gpu, &of.uuid, &of.part};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *names[i] = tmx_cell_empty(*names[i]) ? (struct tmx_span){zero, zero} : *names[i];
    }
    if (tmx_span_length(of.uuid) > 4 &&
        strncmp(of.uuid.begin, "MIG-", 4) == 0) { /* an instance's, no die's */
        of.part = of.part.begin < of.part.end ? of.part : of.uuid;
        of.uuid = (struct tmx_span){zero, zero};
    }
    if (of.gpu.begin == of.gpu.end) {
        of.gpu = of.uuid.begin < of.uuid.end ? of.uuid : (struct tmx_span){zero, zero + 1};
    }
    if (c->n_row == c->room) {
        const size_t room = c->room ? 2 * c->room : 1024;
        struct tmx_row *p = realloc(c->row, room * sizeof *p);
        if (!p) {
            tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, row->line, "out of memory");
            return;
        }
        c->row = p;
        c->room = room;
    }
    struct tmx_row *r = &c->row[c->n_row];
    *r = kept;
    if (c->n_part == 0) { /* the whole die is number 0 */
        tmx_log_intern(&c->arena, &c->part, &c->n_part, (struct tmx_span){zero, zero});
    }
    r->run = tmx_log_intern(&c->arena, &c->run, &c->n_run, run);
    r->gpu = tmx_log_who(&c->arena, &c->id, &c->n_gpu, &of);
    r->part = tmx_log_intern(&c->arena, &c->part, &c->n_part, of.part);
    if (r->run == (size_t)-1 || r->gpu == (size_t)-1 || r->part == (size_t)-1 || c->n_part == 0) {
        tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, row->line, "out of memory");
    } else if (!c->renamed && !tmx_span_is(of.gpu, c->id[r->gpu].label)) {
        c->renamed = true;
        tmx_measured_note(c->to,
                          "%s:%u: GPU %s is called %.*s here: one GPU, by its UUID or address on the bus",
                          c->text->name, row->line, c->id[r->gpu].label, TMX_SPAN_ARG(of.gpu));
    }
    c->n_row++;
}

/* ---- rows of one run and GPU, in the file's order ---- */

struct stretch {
    struct tmx_row **row; /* [n] */
    size_t n, repeated, back;
    unsigned repeated_at, back_at; /* lines of the first */
};

/* ---- rows of one moment ---- */

static int by_time(const void *a, const void *b)
{
    const struct tmx_row *x = *(struct tmx_row *const *)a, *y = *(struct tmx_row *const *)b;
    const double s = x->q[TMX_Q_TIME], t = y->q[TMX_Q_TIME];
    return s != t ? (s > t) - (s < t) : (x > y) - (x < y); /* the file's order */
}

/* Parts of a die: rows of one moment, each of another part, from `first` on. Returns their end. */
static size_t round_end(const struct stretch *s, size_t first, bool has_time)
{
    size_t end = first + 1;
    for (; end < s->n; end++) {
        bool again = has_time && s->row[end]->q[TMX_Q_TIME] != s->row[first]->q[TMX_Q_TIME];
        for (size_t k = first; k < end && !again; k++) {
            again = s->row[k]->part == s->row[end]->part;
        }
        if (again) {
            break;
        }
    }
    return end;
}

/* MIG instances and partitions share their die. What DCGM gives as an instance's watts, degrees and clocks is
 * the GPU's (NVIDIA/dcgm-exporter issues 257 and 317: the rows of a GPU agree to 0.2 %), and amd-smi's socket
 * power is the socket's, of its first partition's row: such rows repeat one number. Watts that differ by more
 * than a tenth in most moments are the parts' own, and add up; else a moment has the parts' mean. */
static void fold_parts(struct tmx_collect *c, struct stretch *s, const char *who)
{
    static const double REPEATS = 0.1;
    size_t several = 0, differ = 0, most = 0, n = 0;
    double worst = 0;
    for (size_t i = 0, end; i < s->n; i = end) {
        end = round_end(s, i, c->has_time);
        most = end - i > most ? end - i : most;
        double low = INFINITY, high = -INFINITY;
        size_t there = 0; /* parts with watts of their own */
        for (size_t k = i; k < end; k++) {
            if (s->row[k]->part > 0 && !isnan(s->row[k]->q[TMX_Q_POWER])) {
                low = fmin(low, s->row[k]->q[TMX_Q_POWER]);
                high = fmax(high, s->row[k]->q[TMX_Q_POWER]);
                there++;
            }
        }
        if (there > 1) {
            several++;
            differ += high - low > REPEATS * high;
            worst = fmax(worst, high > 0 ? 1 - low / high : 0);
        }
    }
    const bool sum = 2 * differ > several;
    for (size_t i = 0, end; i < s->n; i = end) {
        end = round_end(s, i, c->has_time);
        for (int q = TMX_Q_TIME + 1; q < TMX_N_LOG_QUANTITY; q++) { /* the die's own value, else the parts' */
            double whole = NAN, total = 0;
            size_t there = 0;
            for (size_t k = i; k < end; k++) {
                const bool here = !isnan(s->row[k]->q[q]);
                whole = here && s->row[k]->part == 0 ? s->row[k]->q[q] : whole;
                total += here ? s->row[k]->q[q] : 0;
                there += here;
            }
            const double parts = sum && q == TMX_Q_POWER ? total : total / (double)there;
            s->row[i]->q[q] = !isnan(whole) ? whole : there > 0 ? parts : NAN;
        }
        s->row[n++] = s->row[i];
    }
    if (most > 1) {
        tmx_collect_note(c, s->row[0]->line,
                         "%s has rows of %zu parts (MIG instances, partitions) that share one die: "
                         "one row a moment; their watts %s",
                         who, most,
                         several == 0 ? "are in one row"
                         : sum        ? "differ and are summed"
                                      : "repeat the die's, so that their mean counts once");
        if (several > 0 && !sum && worst > REPEATS) {
            tmx_collect_note(c, s->row[0]->line,
                             "%s: the watts of its parts differ by up to %.0f %% in a moment", who,
                             100 * worst);
        }
    }
    s->n = n;
}

/* ---- times ---- */

/* Of a quantity between rows that are `lag` apart: times that rise, or what the others change by. */
static double median_step(struct tmx_row *const *row, size_t n, enum tmx_log_quantity q, size_t lag)
{
    double *d = malloc((n + 1) * sizeof *d), v = 0;
    size_t m = 0;
    for (size_t i = lag; d && i < n; i++) {
        const double step = row[i]->q[q] - row[i - lag]->q[q];
        if (q == TMX_Q_TIME ? step > 0 : !isnan(step)) {
            d[m++] = fabs(step);
        }
    }
    if (m > 0) {
        qsort(d, m, sizeof *d, tmx_real_compare);
        v = d[m / 2];
    }
    free(d);
    return v;
}

/* How many GPUs the rows seem to be of by turns: most neighbours are at least 3 K or 30 W apart (`apart`, in
 * `unit`), and each row follows the one that many before it four times as closely. 0: the rows are of one. */
static size_t by_turns(struct tmx_row *const *row, size_t n, double *apart, const char **unit)
{
    enum { MOST = 16 };
    for (int power = 0; power < 2; power++) {
        const enum tmx_log_quantity q = power ? TMX_Q_POWER : TMX_Q_TEMP;
        *unit = power ? "W" : "K";
        *apart = median_step(row, n, q, 1);
        for (size_t lag = 2; *apart >= (power ? 30 : 3) && lag <= MOST && 4 * lag <= n; lag++) {
            if (4 * median_step(row, n, q, lag) <= *apart) {
                return lag;
            }
        }
    }
    return 0;
}

/* Clocks that jump: an hour back, less a few steps, is daylight saving, a day back midnight of a log
 * without dates, a little back is dropped; further back, and holes, begin a new part. part[i]: of row i;
 * times rise within a part. Returns the number of rows kept. */
static size_t order_in_time(struct tmx_collect *c, struct stretch *s, const char *who, size_t *part)
{
    static const double DAY_S = 86400;
    const double step = median_step(s->row, s->n, TMX_Q_TIME, 1), hole = fmax(20 * step, 5);
    double shift = 0;
    size_t n = 0, now = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct tmx_row *r = s->row[i];
        r->q[TMX_Q_TIME] += shift;
        const double d = n ? r->q[TMX_Q_TIME] - s->row[n - 1]->q[TMX_Q_TIME] : 1;
        if (d == 0) { /* the last of equal times */
            s->repeated_at = s->repeated++ ? s->repeated_at : r->line;
            s->row[n - 1] = r;
            continue;
        }
        const bool midnight = d < -7200 && r->q[TMX_Q_TIME] - shift < DAY_S; /* of times without a date */
        const double turn = midnight ? DAY_S : 3600;
        if (d < 0 && d + turn > 0 && d + turn <= fmax(60, 5 * step)) {
            tmx_collect_note(c, r->line, "the clock goes back %s: %s goes on without it",
                             midnight ? "a day (midnight?)" : "an hour (daylight saving?)", who);
            shift += turn;
            r->q[TMX_Q_TIME] += turn;
        } else if (d < 0 && d > -fmax(2, 3 * step)) {
            s->back_at = s->back++ ? s->back_at : r->line;
            r->q[TMX_Q_TIME] -= shift;
            continue;
        } else if (d < 0) {
            const bool stamp = r->q[TMX_Q_TIME] > 1e8 && r->q[TMX_Q_TIME] >= s->row[0]->q[TMX_Q_TIME];
            tmx_collect_note(c, r->line, "the clock goes back by %.0f s: a new run begins%s", -d,
                             stamp ? " (a second host? a column host tells its GPUs apart)" : "");
            now++;
        } else if (n && d > hole && fabs(d - 3600) <= fmax(60, 5 * step)) {
            tmx_collect_note(c, r->line, "the clock jumps an hour (daylight saving?): a new run begins");
            now++;
        } else if (n && d > hole) {
            tmx_collect_note(c, r->line, "a gap of %.1f s (the step is %.3g s): a new run begins", d, step);
            now++;
        }
        s->row[n] = r;
        part[n++] = now;
    }
    return n;
}

/* Line of the first row without this quantity. */
static unsigned first_without(struct tmx_row *const *row, size_t n, enum tmx_log_quantity q)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(row[i]->q[q])) {
            return row[i]->line;
        }
    }
    return 0;
}

/* Values a GPU can have but hardly does, and rows that look like two GPUs': said with their line, not
 * refused. */

/* How temperature goes with power, -1 to 1; a lag weakens it, and turns no sign. */
static double correlation(const struct tmx_series *s)
{
    double n = 0, p = 0, t = 0, pp = 0, tt = 0, pt = 0;
    for (size_t i = 0; s->q[TMX_Q_TEMP] && i < s->n; i++) {
        const double x = s->q[TMX_Q_POWER][i], y = s->q[TMX_Q_TEMP][i];
        if (!isnan(y)) {
            const double dx = x - p, dy = y - t;
            n += 1;
            p += dx / n;
            t += dy / n;
            pp += dx * (x - p);
            tt += dy * (y - t);
            pt += dx * (y - t);
        }
    }
    return pp > 0 && tt > 0 ? pt / sqrt(pp * tt) : 0;
}

static void doubt_series(const struct tmx_collect *c, const struct tmx_series *s, const char *who)
{
    const struct tmx_read_options *o = c->options;
    bool chosen = false; /* a fan in percent as rpm, as docs/measure.md says */
    for (size_t i = 0; o && i < sizeof o->column / sizeof o->column[0] && o->column[i]; i++) {
        chosen = chosen || strncmp(o->column[i], "fan_rpm=", 8) == 0;
    }
    const struct tmx_range p = tmx_range_of(s->q[TMX_Q_POWER], s->n),
                           t = tmx_range_of(s->q[TMX_Q_TEMP], s->n), f = tmx_range_of(s->q[TMX_Q_RPM], s->n),
                           in = tmx_range_of(s->q[TMX_Q_INLET], s->n);
    if (s->step_s < 1e-3) {
        tmx_collect_note(c, s->line[0],
                         "the rows of %s are %.3g s apart: days, as spreadsheets write dates? call the "
                         "column time_days",
                         who, s->step_s);
    }
    if (p.high < 1) {
        tmx_collect_note(c, s->line[p.at_high],
                         "%s never draws more than %g W: kilowatts? call the column power_kw", who, p.high);
    } else if (p.high - p.low < 1) {
        tmx_collect_note(c, s->line[0], "%s draws %g W in every row: a calibration needs steps of load", who,
                         p.low);
    }
    size_t first = 0, n_dead = 0;
    for (size_t i = s->n; i-- > 0 && p.high >= 1;) {
        const bool dead = s->q[TMX_Q_POWER][i] < 1;
        n_dead += dead;
        first = dead ? i : first;
    }
    if (n_dead > 0) {
        tmx_collect_note(c, s->line[first], "%s draws less than 1 W in %zu rows: readings that failed?", who,
                         n_dead);
    }
    if (p.high - p.low > 40 && t.high - t.low > 5 && correlation(s) < -0.5) {
        tmx_collect_note(c, s->line[0],
                         "the temperature of %s falls where its power rises: a margin to a limit "
                         "(TLIMIT), or another GPU's?",
                         who);
    }
    if (t.high > 110) {
        tmx_collect_note(c, s->line[t.at_high],
                         "%s is at %g degC, hotter than where boards shut down: Fahrenheit? call the "
                         "column temp_f",
                         who, t.high);
    }
    if (t.low <= 0) {
        tmx_collect_note(c, s->line[t.at_low], "%s is at %g degC: a reading that failed?", who, t.low);
    } else if (t.high == t.low && p.high - p.low > 40) {
        tmx_collect_note(c, s->line[0],
                         "%s stays at %g degC while its power changes by %g W: a sensor that hangs?", who,
                         t.low, p.high - p.low);
    }
    if (!chosen && f.high > 0 && f.high <= 100) {
        tmx_collect_note(c, s->line[f.at_high],
                         "the fan of %s turns at most %g times a minute: percent? call the column fan_pct",
                         who, f.high);
    }
    if (in.high > 55) {
        tmx_collect_note(c, s->line[in.at_high],
                         "%s breathes air of %g degC: Fahrenheit? call the column inlet_f", who, in.high);
    }
}

/* Loggers write the GPUs one after the other, then wait: short steps between long ones. */
static bool come_in_bursts(const double *t, size_t n)
{
    double *d = n > 8 ? malloc((n - 1) * sizeof *d) : NULL;
    if (!d) {
        return false;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        d[i] = t[i + 1] - t[i];
    }
    qsort(d, n - 1, sizeof *d, tmx_real_compare);
    const double full = d[(n - 1) * 95 / 100];
    free(d);
    size_t shorts = 0, longs = 0, followed = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double step = t[i + 1] - t[i];
        shorts += step < 0.1 * full ? 1u : 0u;
        longs += step > 0.5 * full ? 1u : 0u;
        followed += step > 0.5 * full && i + 2 < n && t[i + 2] - t[i + 1] < 0.1 * full ? 1u : 0u;
    }
    return (double)(shorts + longs) > 0.95 * (double)(n - 1) && (double)shorts > 0.45 * (double)(n - 1) &&
           (double)followed > 0.9 * (double)longs - 1;
}

/* Rows of one part -> a series of *m. */
static void add_series(struct tmx_collect *c, struct tmx_row *const *row, size_t n, size_t run, size_t gpu,
                       const char *who)
{
    struct tmx_measured *m = c->to;
    struct tmx_series s = {.run = run, .gpu = gpu, .n = n};
    size_t there[TMX_N_LOG_QUANTITY] = {0}, last = n;
    for (size_t i = 0; i < n * TMX_N_LOG_QUANTITY; i++) {
        there[i / n] += isnan(row[i % n]->q[i / n]) ? 0u : 1u;
    }
    const size_t temps = there[TMX_Q_TEMP], filled = n - there[TMX_Q_POWER];
    if (there[TMX_Q_POWER] == 0 || temps < 3 || n < 4) {
        tmx_collect_note(c, row[0]->line, "%s has %zu rows with a temperature%s: left out", who, temps,
                         there[TMX_Q_POWER] > 0 ? "" : " and none with power");
        return;
    }
    for (int q = 0; q < TMX_N_LOG_QUANTITY; q++) {
        if (there[q] > 0) {
            TMX_TAKE(&m->arena, s.q[q], n);
        }
        for (size_t i = 0; s.q[q] && i < n; i++) {
            s.q[q][i] = row[i]->q[q];
        }
    }
    TMX_TAKE(&m->arena, s.line, n);
    for (size_t i = 0; s.line && i < n; i++) {
        s.line[i] = row[i]->line;
    }
    if (!TMX_GROW(&m->arena, m->series, m->n_series)) {
        tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, 0, "out of memory");
        return;
    }
    double *p = s.q[TMX_Q_POWER], *t = s.q[TMX_Q_TIME];
    for (size_t i = 0; i < n; i++) { /* missing power is drawn straight, at the ends it is the next one's */
        for (size_t k = last == n ? 0 : last + 1; k < i && !isnan(p[i]); k++) {
            p[k] = last == n ? p[i] : p[last] + (p[i] - p[last]) * (t[k] - t[last]) / (t[i] - t[last]);
        }
        last = isnan(p[i]) ? last : i;
    }
    for (size_t k = last + 1; k < n; k++) {
        p[k] = p[last];
    }
    s.step_s = median_step(row, n, TMX_Q_TIME, 1);
    if (filled > 0) {
        tmx_collect_note(c, first_without(row, n, TMX_Q_POWER),
                         "%s: %zu of %zu rows have no power: drawn straight between the others", who, filled,
                         n);
    }
    if (temps < n) {
        tmx_collect_note(c, first_without(row, n, TMX_Q_TEMP), "%s: %zu of %zu rows have no temperature", who,
                         n - temps, n);
    }
    doubt_series(c, &s, who);
    if (!c->has_gpu && come_in_bursts(s.q[TMX_Q_TIME], n)) {
        tmx_collect_note(c, s.line[0],
                         "rows come in bursts and no column names the GPU of a row: two GPUs "
                         "mixed? Log the column index too");
    }
    m->series[m->n_series++] = s;
}

/* The name of a run in *m: the log's own, or the file's. */
static size_t run_name(struct tmx_collect *c, const char *name, size_t part, size_t first)
{
    static const char *const ends[] = {"csv", "gz", "txt", "log", "tsv", "prom", "json", "jsonl", "ndjson"};
    enum { N_END = sizeof ends / sizeof ends[0] };
    char buf[512], stem[256];
    snprintf(stem, sizeof stem, "%s", tmx_text_behind(c->text->name, '/'));
    for (size_t n = strlen(stem); n > 0; n--) { /* without .csv.gz and the like */
        if (stem[n - 1] == '.' && tmx_names_find(stem + n, ends, N_END) < N_END) {
            stem[n - 1] = '\0';
        }
    }
    snprintf(buf, sizeof buf, "%s", name[0] ? name : strcmp(stem, "-") == 0 ? "stdin" : stem);
    for (size_t i = 0, again = 2; i < first; i++) { /* a run of an earlier file has this name */
        if (strcmp(c->to->run[i], buf) == 0) {
            snprintf(buf, sizeof buf, "%s%s%s", stem, name[0] ? ":" : "", name);
            if (!name[0] || again > 2) {
                tmx_text_add(buf, sizeof buf, ":%zu", again);
            }
            again++;
            i = (size_t)-1; /* nor may another have the new one */
        }
    }
    if (part > 0) {
        tmx_text_add(buf, sizeof buf, "#%zu", part + 1);
    }
    return tmx_log_intern(&c->to->arena, &c->to->run, &c->to->n_run,
                          (struct tmx_span){buf, buf + strlen(buf)});
}

static void add_stretch(struct tmx_collect *c, struct stretch *s, size_t run, size_t gpu, size_t first_run)
{
    char who[256];
    struct tmx_measured *m = c->to;
    const struct tmx_gpu_id *id = &c->id[gpu];
    bool parts = false, hosts = false;
    for (size_t i = 0; i < c->n_gpu; i++) {
        hosts = hosts || strcmp(c->id[i].host, id->host) != 0;
    }
    snprintf(who, sizeof who, "%s%s%s%s%sGPU %s", c->run[run][0] ? "run " : "", c->run[run],
             c->run[run][0] ? ", " : "", hosts ? id->host : "", hosts && id->host[0] ? ", " : "", id->label);
    for (size_t i = 0; i < s->n; i++) {
        parts = parts || s->row[i]->part > 0;
    }
    if (c->scattered && c->has_time) { /* quantities of one moment that come on lines of their own: one row */
        size_t n = 0;
        qsort(s->row, s->n, sizeof(struct tmx_row *), by_time);
        for (size_t i = 0; i < s->n; i++) {
            struct tmx_row *r = s->row[i], *into = NULL;
            for (size_t k = n; k-- > 0 && !into && s->row[k]->q[TMX_Q_TIME] == r->q[TMX_Q_TIME];) {
                into = s->row[k]->part == r->part ? s->row[k] : NULL;
            }
            for (int q = TMX_Q_TIME + 1; into && q < TMX_N_LOG_QUANTITY;
                 q++) { /* a second value: a row again */
                into = isnan(into->q[q]) || isnan(r->q[q]) ? into : NULL;
            }
            for (int q = TMX_Q_TIME + 1; into && q < TMX_N_LOG_QUANTITY; q++) {
                into->q[q] = isnan(into->q[q]) ? r->q[q] : into->q[q];
            }
            if (!into) {
                s->row[n++] = r;
            }
        }
        s->n = n;
    }
    size_t later = 0;
    for (size_t i = 1; i < s->n; i++) {
        later += s->row[i]->q[TMX_Q_TIME] > s->row[i - 1]->q[TMX_Q_TIME];
    }
    if (10 * later < s->n && s->row[s->n - 1]->q[TMX_Q_TIME] < s->row[0]->q[TMX_Q_TIME]) {
        tmx_collect_note(c, s->row[0]->line, "%s: the newest row comes first: read from the end", who);
        for (size_t i = 0, k = s->n - 1; i < k; i++, k--) { /* of an export */
            struct tmx_row *const r = s->row[i];
            s->row[i] = s->row[k];
            s->row[k] = r;
        }
    }
    if (parts) {
        fold_parts(c, s, who);
    }
    double apart;
    const char *unit;
    const size_t all = s->n, mixed = by_turns(s->row, all, &apart, &unit);
    size_t *part;
    if (!TMX_TAKE(&c->arena, part, s->n + 1)) {
        tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, 0, "out of memory");
        return;
    }
    s->n = order_in_time(c, s, who, part);
    if (!c->has_gpu && s->repeated > all / 3) {
        tmx_collect_error(c, s->row[0]->line,
                          "%zu of %zu time stamps occur twice and no column names the GPU of a row: two GPUs "
                          "mixed? Log the column index too",
                          s->repeated, all);
    } else if (s->repeated > all / 3 && mixed > 0) {
        tmx_collect_error(
            c, s->row[0]->line,
            "%s: %zu of %zu time stamps occur twice, with values %g %s apart: %zu hosts mixed? A "
            "column host tells their GPUs apart",
            who, s->repeated, all, apart, unit, mixed);
    } else if (s->repeated > 0) {
        tmx_collect_note(c, s->repeated_at, "%s: %zu repeated time stamps: the last row of each is kept", who,
                         s->repeated);
    }
    if (c->has_gpu && mixed > 0) {
        tmx_collect_note(c, s->row[0]->line,
                         "%s: neighbouring rows are %g %s apart, each follows the one %zu before it: "
                         "%zu hosts mixed? A column host tells their GPUs apart",
                         who, apart, unit, mixed, mixed);
    }
    if (s->back > 0) {
        tmx_collect_note(c, s->back_at, "%s: %zu rows are earlier than the row above them: dropped", who,
                         s->back);
    }
    for (size_t i = 0; !c->err.code && i < s->n;) {
        size_t end = i;
        while (end < s->n && part[end] == part[i]) {
            end++;
        }
        const size_t r = run_name(c, c->run[run], part[i], first_run);
        const struct tmx_who of = {{id->host, id->host + strlen(id->host)},
                                   {id->label, id->label + strlen(id->label)},
                                   {id->uuid, id->uuid + strlen(id->uuid)},
                                   {"", ""}};
        const size_t g = tmx_log_who(&m->arena, &m->id, &m->n_id, &of);
        if (r == (size_t)-1 || g == (size_t)-1) {
            tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, 0, "out of memory");
        } else {
            add_series(c, &s->row[i], end - i, r, g, who);
        }
        i = end;
    }
}

static int by_run_and_gpu(const void *a, const void *b)
{
    const struct tmx_series *x = a, *y = b;
    return x->run != y->run ? (x->run > y->run) - (x->run < y->run) : (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

void tmx_collect_series(struct tmx_collect *c)
{
    struct tmx_measured *m = c->to;
    const size_t first = m->n_series, first_run = m->n_run;
    const double step_s = c->options ? c->options->step_s : 0;
    double first_s = INFINITY, *next;
    struct tmx_row **row;
    size_t *begin, n_timed = 0;
    unsigned timeless = 0;
    if (c->n_row == 0) {
        tmx_collect_error(c, 1, "no rows after the header");
        return;
    }
    if (c->n_run * c->n_gpu > 1u << 20 || c->n_run * c->n_gpu * c->n_part > 1u << 22) {
        tmx_collect_error(c, c->row[0].line, "%zu runs and %zu GPUs: is this column a name?", c->n_run,
                          c->n_gpu);
        return;
    }
    TMX_TAKE(&c->arena, row, c->n_row);
    TMX_TAKE(&c->arena, next, c->has_time ? 0 : c->n_run * c->n_gpu * c->n_part + 1);
    if (!TMX_TAKE(&c->arena, begin, c->n_run * c->n_gpu + 1)) {
        tmx_error_at(&c->err, TMX_ENOMEM, c->text->name, 0, "out of memory");
        return;
    }
    for (size_t i = 0; i < c->n_row && !c->has_time; i++) { /* one step apart, of each run, GPU and part */
        struct tmx_row *r = &c->row[i];
        double *t = &next[(r->run * c->n_gpu + r->gpu) * c->n_part + r->part];
        r->q[TMX_Q_TIME] = *t;
        *t += step_s > 0 ? step_s : 1;
    }
    if (!c->has_time && !(step_s > 0)) {
        tmx_measured_warn(m,
                          "%s: no time stamps: rows are taken to be 1 s apart; --step gives another step, "
                          "--column time_s=NAME a column of times",
                          c->text->name);
    }
    for (size_t i = 0; i < c->n_row && c->has_time; i++) { /* rows without a time say nothing */
        if (isnan(c->row[i].q[TMX_Q_TIME])) {
            timeless = timeless ? timeless : c->row[i].line;
        } else {
            first_s = fmin(first_s, c->row[i].q[TMX_Q_TIME]);
            c->row[n_timed++] = c->row[i];
        }
    }
    if (c->has_time && n_timed < c->n_row) {
        tmx_collect_note(c, timeless, "%zu of %zu rows have no time: dropped", c->n_row - n_timed, c->n_row);
        c->n_row = n_timed;
    }
    if (c->n_row > 0 && first_s > 1e11 && isfinite(first_s)) {
        /* seconds since 1970 have ten digits; longer numbers count parts of one */
        const double unit = first_s < 1e14 ? 1e-3 : first_s < 1e17 ? 1e-6 : 1e-9;
        if (first_s * unit > 4.2e9) {
            tmx_collect_error(c, c->row[0].line,
                              "a time of %.0f is in no unit of seconds since 1970: a date without marks? "
                              "write it as 2025-01-07 12:34:56",
                              first_s);
        }
        for (size_t i = 0; i < c->n_row; i++) {
            c->row[i].q[TMX_Q_TIME] *= unit;
        }
        tmx_collect_note(c, c->row[0].line, "times of %.4g are no seconds: taken as %s since 1970", first_s,
                         unit > 1e-4   ? "milliseconds"
                         : unit > 1e-7 ? "microseconds"
                                       : "nanoseconds");
    }
    if (c->has_time && step_s > 0) {
        tmx_measured_warn(m, "%s has times: --step does nothing", c->text->name);
    }
    /* counting sort by run and GPU; the file's order stays inside each */
    for (size_t i = 0; i < c->n_row; i++) {
        begin[c->row[i].run * c->n_gpu + c->row[i].gpu + 1]++;
    }
    for (size_t k = 0; k < c->n_run * c->n_gpu; k++) {
        begin[k + 1] += begin[k];
    }
    for (size_t i = c->n_row; i-- > 0;) {
        row[--begin[c->row[i].run * c->n_gpu + c->row[i].gpu + 1]] = &c->row[i];
    }
    for (size_t k = 0; !c->err.code && k < c->n_run * c->n_gpu; k++) {
        const size_t from = begin[k + 1], to = k + 1 < c->n_run * c->n_gpu ? begin[k + 2] : c->n_row;
        if (to > from) {
            add_stretch(c, &(struct stretch){.row = row + from, .n = to - from}, k / c->n_gpu, k % c->n_gpu,
                        first_run);
        }
    }
    if (m->n_series == first) {
        tmx_collect_error(c, c->row[0].line, "no GPU has four rows with power and temperature");
    }
    if (c->n_blank > 0) {
        tmx_collect_note(c, c->blank_at,
                         "%zu value%s the code of DCGM, NVML or amd-smi for \"no value\": missing",
                         c->n_blank, c->n_blank > 1 ? "s are" : " is");
    }
    if (!c->err.code) {
        tmx_measured_name_gpus(m, &c->err);
        const bool unknown = !c->id[0].host[0] && !c->id[0].uuid[0]; /* two hosts have a GPU 0 each */
        for (size_t i = 0; i < first && unknown; i++) {
            if (m->series[i].gpu == m->series[first].gpu) {
                tmx_collect_note(
                    c, c->row[0].line,
                    "GPU %s is taken for that of the log before: no column gives its host or UUID",
                    m->gpu[m->series[i].gpu]);
                break;
            }
        }
        qsort(m->series, m->n_series, sizeof *m->series, by_run_and_gpu);
        for (size_t i = first, end; i < m->n_series;
             i = end) { /* times count from the first row of each run */
            double begin_s = INFINITY;
            for (end = i; end < m->n_series && m->series[end].run == m->series[i].run; end++) {
                begin_s = fmin(begin_s, m->series[end].q[TMX_Q_TIME][0]);
            }
            for (struct tmx_series *of = &m->series[i]; of < &m->series[end]; of++) {
                of->begin_s = begin_s;
                for (size_t k = 0; k < of->n; k++) {
                    of->q[TMX_Q_TIME][k] -= begin_s;
                }
            }
        }
    }
}
