/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/phases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/opt.h"

static const char *const axes[] = {"work", "time", NULL};
static const double MAX_W = 1000, MAX_S = 1e7;

struct head {
    int over;
    bool repeat;
    char file[256];
};
static const struct tmx_opt head_opts[] = {
    TMX_ROW_CHOICE(head, over, axes, "work",
                   "what `until` counts: share of the kernel's work, or seconds since its first block"),
    TMX_ROW_BOOL(head, repeat, 0, "over time: begin again after the last step"),
    TMX_ROW_TEXT(head, file, "",
                 "CSV with the columns until,power_w, in place of list; relative to the kernel"),
    {0},
};

struct step {
    double until, power_w;
};
static const struct tmx_opt step_opts[] = {
    TMX_ROW_REAL(step, until, "1 or s", 0, 1e7, NAN, "where the step ends"),
    TMX_ROW_REAL(step, power_w, "W", 0, 1000, NAN, "dynamic power of all SMs at the nominal clock"),
    {0},
};

/* Why a step cannot follow those before it; NULL: it can. */
static const char *wrong(const struct tmx_phases *p, const struct step *s)
{
    const double before = p->n > 0 ? p->until[p->n - 1] : 0;
    return p->n == TMX_MAX_PHASE  ? "more than 256 steps"
           : !(s->until > before) ? "until: expected more than the step before it, and than 0"
           : p->over == TMX_PHASE_WORK && s->until > 1 + 1e-12 ? "until: over work it ends at 1"
           : !(s->until <= MAX_S)                              ? "until: expected seconds up to 1e7"
           : !(s->power_w >= 0 && s->power_w <= MAX_W)         ? "power_w: expected 0 to 1000 W"
                                                               : NULL;
}

static void add(struct tmx_phases *p, const struct step *s)
{
    p->until[p->n] = s->until;
    p->power_w[p->n++] = s->power_w;
}

static enum tmx_status read_list(struct tmx_phases *p, const struct tmx_setting *list, struct tmx_err *err)
{
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *at = tmx_setting_at(list, i);
        struct step s = {0};
        const enum tmx_status st = tmx_opt_read(step_opts, &s, at, NULL, err);
        const char *why = st ? NULL : wrong(p, &s);
        if (st || why) {
            return st ? st : tmx_fail_setting(err, at, "phases: %s", why);
        }
        add(p, &s);
    }
    return TMX_OK;
}

static enum tmx_status read_file(struct tmx_phases *p, const char *path, struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    enum tmx_status st = tmx_csv_read_short(&csv, path, 2, err);
    const size_t until = st ? 0 : tmx_csv_column(&csv, "until"),
                 power = st ? 0 : tmx_csv_column(&csv, "power_w");
    if (!st && (until == csv.n_column || power == csv.n_column)) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 1, "expected a first line with until,power_w");
    }
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        struct step s = {NAN, NAN};
        const bool numbers =
            tmx_csv_real(&csv, r, until, &s.until) && tmx_csv_real(&csv, r, power, &s.power_w);
        const char *why = numbers ? wrong(p, &s) : "expected two numbers";
        if (why) {
            st = tmx_fail_at(err, TMX_EPARSE, path, csv.line[r], "phases: %s", why);
        } else {
            add(p, &s);
        }
    }
    tmx_csv_finish(&csv);
    return st;
}

enum tmx_status tmx_phases_read(struct tmx_phases *p, const struct tmx_setting *group,
                                const char *kernel_path, struct tmx_err *err)
{
    static const char *const also[] = {"list", NULL};
    const struct tmx_setting *list = tmx_setting_member(group, "list");
    const char *slash = strrchr(kernel_path, '/');
    struct head h = {0};
    char path[1280];
    *p = (struct tmx_phases){0};
    enum tmx_status st = tmx_opt_read(head_opts, &h, group, also, err);
    if (st) {
        return st;
    }
    if ((list != NULL) == (h.file[0] != '\0')) {
        return tmx_fail_setting(err, group,
                                "phases: expected either list = ( { until; power_w; }, ... ) or file");
    }
    p->over = h.over;
    p->repeat = h.repeat;
    snprintf(path, sizeof path, "%.*s%s", h.file[0] == '/' || !slash ? 0 : (int)(slash - kernel_path + 1),
             kernel_path, h.file);
    st = list ? read_list(p, list, err) : read_file(p, path, err);
    if (!st && (p->n == 0 || (p->over == TMX_PHASE_WORK && fabs(p->until[p->n - 1] - 1) > 1e-9))) {
        st = tmx_fail_setting(err, group, "phases: %s",
                              p->n == 0 ? "no step" : "over work the last step ends at 1");
    }
    if (!st && p->repeat && p->over != TMX_PHASE_TIME) {
        st = tmx_fail_setting(err, group, "phases: repeat does nothing over work");
    }
    for (size_t i = 0; i < p->n; i++) {
        p->mean_w += p->power_w[i] * (p->until[i] - (i > 0 ? p->until[i - 1] : 0)) / p->until[p->n - 1];
    }
    if (!st && !(p->mean_w > 0)) {
        st = tmx_fail_setting(err, group, "phases: all steps have no power");
    }
    return st;
}

double tmx_phases_at(const struct tmx_phases *p, double x)
{
    const double last = p->until[p->n - 1];
    size_t low = 0, high = p->n - 1; /* the first step that ends beyond x, or the last */
    x = p->repeat && x >= last ? fmod(x, last) : x;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (p->until[mid] > x) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return p->power_w[low];
}
