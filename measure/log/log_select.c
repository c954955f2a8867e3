/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs and GPUs by patterns of their names. */
#include <string.h>

#include "measure/log/collect.h"

/* A star takes as few letters as it can; where the rest does not fit, the last one takes one more. */
static bool glob(const char *p, const char *end, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (p < end && *p == '*') {
            star = ++p;
            from = text;
        } else if (p < end && (*p == '?' || *p == *text)) {
            p++;
            text++;
        } else if (star) {
            p = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*') {
        p++;
    }
    return p == end;
}

bool tmx_pattern_match(const char *patterns, const char *text)
{
    for (const char *p = patterns; p;) {
        const char *end = strchr(p, ',');
        if (glob(p, end ? end : p + strlen(p), text)) {
            return true;
        }
        p = end ? end + 1 : NULL;
    }
    return false;
}

enum tmx_status tmx_measured_select(struct tmx_measured *m, const char *runs, const char *gpus,
                                    struct tmx_err *err)
{
    size_t n = 0;
    for (const char *p = runs; p;) { /* every pattern must find something: a typo is no empty selection */
        const char *end = strchr(p, ',');
        const char *stop = end ? end : p + strlen(p);
        bool any = false;
        for (size_t r = 0; r < m->n_run; r++) {
            any = any || glob(p, stop, m->run[r]);
        }
        if (!any) {
            return tmx_fail(err, TMX_ECONFIG, "no run is called \"%.*s\"; there is %s%s%s%s", (int)(stop - p),
                            p, m->run[0], m->n_run > 1 ? ", " : "", m->n_run > 1 ? m->run[1] : "",
                            m->n_run > 2 ? ", ..." : "");
        }
        p = end ? end + 1 : NULL;
    }
    for (size_t i = 0; i < m->n_series; i++) {
        struct tmx_series *s = &m->series[i];
        if ((runs && !tmx_pattern_match(runs, m->run[s->run])) ||
            (gpus && !tmx_pattern_match(gpus, m->gpu[s->gpu]))) {
            tmx_series_finish(s);
        } else {
            m->series[n++] = *s;
        }
    }
    m->n_series = n;
    return n ? TMX_OK
             : tmx_fail(err, TMX_ECONFIG, "no GPU is called \"%s\"; there is %s", gpus ? gpus : "",
                        m->gpu[0]);
}

const struct tmx_series *tmx_measured_find(const struct tmx_measured *m, size_t run, size_t gpu)
{
    for (size_t i = 0; i < m->n_series; i++) {
        if (m->series[i].run == run && m->series[i].gpu == gpu) {
            return &m->series[i];
        }
    }
    return NULL;
}
