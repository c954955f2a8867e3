/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which unit of the floorplan is what: SMs and their order, memory, the parts of an SM. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/machine/chip.h"

enum { MAX_SM = 4096 };

/* SM number of a unit named <prefix><digits>[_part], or TMX_NO_SM. */
static int sm_number(const struct tmx_chip *c, const char *name)
{
    const size_t n = strlen(c->sm_prefix);
    if (strlen(name) <= n || !tmx_span_is((struct tmx_span){name, name + n}, c->sm_prefix) || name[n] < '0' ||
        name[n] > '9') {
        return TMX_NO_SM;
    }
    char *end;
    const long v = strtol(name + n, &end, 10);
    return (*end == '\0' || *end == '_') && v < MAX_SM ? (int)v : TMX_NO_SM;
}

/* Is the SM of this number in a list like "14,15,112-127"? text: already checked. */
static bool listed(const char *text, long number)
{
    while (*text) {
        char *end;
        const long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (number >= first && number <= last) {
            return true;
        }
        text = end + (*end == ',');
    }
    return false;
}

static enum tmx_status check_list(const struct tmx_chip *c, long n_name, struct tmx_err *err)
{
    for (const char *p = c->sms_off; *p;) {
        char *end;
        const bool digit = *p >= '0' && *p <= '9';
        const long first = strtol(p, &end, 10);
        const bool range = *end == '-' && end[1] >= '0' && end[1] <= '9';
        const long last = range ? strtol(end + 1, &end, 10) : first;
        if (!digit || last < first || last >= n_name || (*end != ',' && *end != '\0') ||
            (*end == ',' && !end[1])) {
            return tmx_fail(err, TMX_ECONFIG,
                            "sms_off = \"%s\" of chip %s: at \"%s\"; expected numbers of SMs, 0 to %ld, as "
                            "in 14,15,112-127",
                            c->sms_off, c->name, p, n_name - 1);
        }
        p = end + (*end == ',');
    }
    return TMX_OK;
}

/* The digits of a name that has the form of an SM's; NULL: it has another. */
static const char *sm_digits(const struct tmx_chip *c, const char *name, size_t *n_digit)
{
    const size_t n = strlen(c->sm_prefix);
    const bool like = strlen(name) > n && tmx_span_is((struct tmx_span){name, name + n}, c->sm_prefix);
    *n_digit = like ? strspn(name + n, "0123456789") : 0;
    return *n_digit > 0 && (!name[n + *n_digit] || name[n + *n_digit] == '_') ? name + n : NULL;
}

/* Names that have the form of an SM's are its, and one SM has one number: SM0 and SM00 are none of one chip.
 */
static enum tmx_status check_sm_names(const struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    const char *first[MAX_SM] = {NULL};
    for (size_t u = 0; u < fp->n_unit; u++) {
        size_t n = 0, n_other = 0;
        const char *name = fp->unit[u].name, *digits = sm_digits(c, name, &n);
        const int sm = c->sm_of_unit[u];
        if (digits && sm == TMX_NO_SM) {
            return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                               "unit \"%s\": expected an SM's number up to %d", name, MAX_SM - 1);
        }
        if (digits && !first[sm]) {
            first[sm] = name;
        } else if (digits) {
            const char *other = sm_digits(c, first[sm], &n_other);
            if (n != n_other || memcmp(digits, other, n) != 0) {
                return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                                   "units \"%s\" and \"%s\": one SM's number in two ways", first[sm], name);
            }
        }
    }
    return TMX_OK;
}

/* The SMs that work get numbers without gaps, in the order of their names'. */
static enum tmx_status number_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    size_t n_name = 0;
    for (size_t u = 0; u < fp->n_unit; u++) {
        c->sm_of_unit[u] = sm_number(c, fp->unit[u].name);
        n_name = c->sm_of_unit[u] >= (int)n_name ? (size_t)c->sm_of_unit[u] + 1 : n_name;
    }
    enum tmx_status st = check_sm_names(c, err);
    if (st) {
        return st;
    }
    if (n_name == 0 || n_name > fp->n_unit) {
        return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                           "no complete set of units %s0, %s1, ... for the SMs", c->sm_prefix, c->sm_prefix);
    }
    st = check_list(c, (long)n_name, err);
    if (st) {
        return st;
    }
    c->sm_name = calloc(n_name, sizeof *c->sm_name);
    int *index = calloc(n_name, sizeof *index);
    if (!c->sm_name || !index) {
        free(index);
        return tmx_fail(err, TMX_ENOMEM, "chip of %zu SMs", n_name);
    }
    for (size_t k = 0; k < n_name; k++) {
        const bool off = listed(c->sms_off, (long)k);
        index[k] = off ? TMX_NO_SM : (int)c->n_sm;
        c->sm_name[c->n_sm] = (int)k;
        c->n_sm += !off;
    }
    for (size_t u = 0; u < fp->n_unit; u++) {
        const int name = c->sm_of_unit[u];
        c->sm_of_unit[u] = name == TMX_NO_SM ? TMX_NO_SM : index[name];
        c->is_off[u] = name != TMX_NO_SM && c->sm_of_unit[u] == TMX_NO_SM;
    }
    free(index);
    return c->n_sm > 0 ? TMX_OK : tmx_fail(err, TMX_ECONFIG, "sms_off: every SM of chip %s is off", c->name);
}

static enum tmx_status find_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    const enum tmx_status st = number_sms(c, err);
    if (st) {
        return st;
    }
    c->unit_of_sm = calloc(c->n_sm, sizeof *c->unit_of_sm);
    c->hot_order = calloc(c->n_sm, sizeof *c->hot_order);
    if (!c->unit_of_sm || !c->hot_order) {
        return tmx_fail(err, TMX_ENOMEM, "chip of %zu SMs", c->n_sm);
    }
    c->sms_in_row = true;
    for (size_t sm = 0; sm < c->n_sm; sm++) {
        double area_m2 = 0;
        size_t first = fp->n_unit;
        for (size_t u = fp->n_unit; u-- > 0;) {
            if (c->sm_of_unit[u] == (int)sm) {
                area_m2 += tmx_unit_area_m2(&fp->unit[u]);
                first = u;
            }
        }
        if (first == fp->n_unit) {
            return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                               "SM unit %s%d is missing (the chip has %s0 to %s%d)", c->sm_prefix,
                               c->sm_name[sm], c->sm_prefix, c->sm_prefix, c->sm_name[c->n_sm - 1]);
        }
        c->unit_of_sm[sm] = first;
        for (size_t u = first; u < fp->n_unit; u++) {
            if (c->sm_of_unit[u] == (int)sm) {
                c->part_share[u] = tmx_unit_area_m2(&fp->unit[u]) / area_m2;
                c->sms_in_row = c->sms_in_row && u == c->unit_of_sm[0] + sm;
            }
        }
    }
    return TMX_OK;
}

static const struct tmx_chip_part *part_of(const struct tmx_chip *c, size_t unit)
{
    const char *name = c->floorplan.unit[unit].name;
    for (size_t i = 0; i < c->n_part; i++) {
        const size_t n = strlen(c->part[i].prefix);
        if (strlen(name) >= n && tmx_span_is((struct tmx_span){name, name + n}, c->part[i].prefix)) {
            return &c->part[i];
        }
    }
    return NULL;
}

/* Shares of the units outside the SMs, by area within each part. */
static enum tmx_status find_parts(struct tmx_chip *c, struct tmx_err *err)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    double area_m2[TMX_MAX_CHIP_PART] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t u = 0; u < fp->n_unit; u++) {
            const struct tmx_chip_part *p = part_of(c, u);
            if (!p || c->sm_of_unit[u] != TMX_NO_SM || c->is_off[u]) {
                continue;
            }
            const double a = tmx_unit_area_m2(&fp->unit[u]);
            if (pass == 0) {
                area_m2[p - c->part] += a;
                continue;
            }
            const double share = a / area_m2[p - c->part];
            c->off_die[u] = !p->die;
            if (p->memory) {
                c->memory_unit[c->n_memory++] = u;
            }
            c->l2_share[u] = share * p->l2;
            c->dram_share[u] = share * p->dram;
            c->baseline_share[u] = share * p->baseline;
        }
    }
    for (size_t i = 0; i < c->n_part; i++) {
        if (area_m2[i] == 0) {
            return tmx_fail_at(err, TMX_ECONFIG, fp->source, 0,
                               "units of chip %s: no unit outside the SMs begins with \"%s\"", c->name,
                               c->part[i].prefix);
        }
    }
    return TMX_OK;
}

static size_t cluster_of(const struct tmx_chip *c, size_t sm)
{
    return (size_t)(c->sm_name[sm] / c->sms_per_cluster);
}

/* False: all of its SMs are off. */
static bool cluster_centre(const struct tmx_chip *c, size_t cluster, double *x_m, double *y_m)
{
    size_t n = 0;
    *x_m = *y_m = 0;
    for (size_t sm = 0; sm < c->n_sm; sm++) {
        if (cluster_of(c, sm) != cluster) {
            continue;
        }
        n++;
        const struct tmx_unit *u = &c->floorplan.unit[c->unit_of_sm[sm]];
        *x_m += u->x_m + u->w_m / 2;
        *y_m += u->y_m + u->h_m / 2;
    }
    *x_m /= (double)n;
    *y_m /= (double)n;
    return n > 0;
}

/* Take the cluster that scores best: nearest to a die corner not yet served, then
 * farthest from all taken; ties go to the lower index. */
static size_t next_cluster(const double *x, const double *y, const bool *taken, size_t n, size_t n_taken,
                           double w, double h)
{
    const double corner_x[] = {0, w, 0, w}, corner_y[] = {0, 0, h, h};
    size_t best = n;
    double best_score = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double score = INFINITY;
        if (taken[i]) {
            continue;
        }
        if (n_taken < 4) {
            score = -hypot(x[i] - corner_x[n_taken], y[i] - corner_y[n_taken]);
        } else {
            for (size_t j = 0; j < n; j++) {
                const double d = hypot(x[i] - x[j], y[i] - y[j]); /* NAN: all off */
                score = taken[j] && d < score ? d : score;
            }
        }
        if (score > best_score + 1e-12) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static enum tmx_status order_sms(struct tmx_chip *c, struct tmx_err *err)
{
    const size_t n = cluster_of(c, c->n_sm - 1) + 1;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    bool *taken = calloc(n, sizeof *taken);
    enum tmx_status st = TMX_OK;
    size_t filled = 0, n_off = 0;
    if (!x || !y || !taken) {
        st = tmx_fail(err, TMX_ENOMEM, "chip of %zu SMs", c->n_sm);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        taken[i] = !cluster_centre(c, i, &x[i], &y[i]);
        n_off += taken[i];
    }
    for (size_t k = 0; k < n - n_off; k++) {
        const size_t i = next_cluster(x, y, taken, n, k, tmx_floorplan_width_m(&c->floorplan),
                                      tmx_floorplan_height_m(&c->floorplan));
        taken[i] = true;
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            if (cluster_of(c, sm) == i) {
                c->hot_order[filled++] = sm;
            }
        }
    }
out:
    free(x);
    free(y);
    free(taken);
    return st;
}

enum tmx_status tmx_chip_attach(struct tmx_chip *c, struct tmx_floorplan *fp, struct tmx_err *err)
{
    c->floorplan = *fp;
    *fp = (struct tmx_floorplan){0};
    c->sm_of_unit = calloc(c->floorplan.n_unit, sizeof *c->sm_of_unit);
    c->memory_unit = calloc(c->floorplan.n_unit, sizeof *c->memory_unit);
    bool **const flags[] = {&c->is_off, &c->off_die};
    double **const shares[] = {&c->part_share, &c->l2_share, &c->dram_share, &c->baseline_share};
    bool ok = c->sm_of_unit && c->memory_unit;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        *flags[i] = calloc(c->floorplan.n_unit, sizeof **flags[i]);
        ok = ok && *flags[i];
    }
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        *shares[i] = calloc(c->floorplan.n_unit, sizeof **shares[i]);
        ok = ok && *shares[i];
    }
    if (!ok) {
        return tmx_fail(err, TMX_ENOMEM, "chip of %zu units", c->floorplan.n_unit);
    }
    enum tmx_status st = find_sms(c, err);
    st = st ? st : find_parts(c, err);
    if (!st && c->sm_power_reference_sms == 0) {
        c->sm_power_reference_sms = (double)c->n_sm;
    }
    return st ? st : order_sms(c, err);
}
