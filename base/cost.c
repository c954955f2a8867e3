/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cost.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/text.h"

static const double MINUTES = 10, MEMORY_SHARE = 0.75;

/* A bound from the environment; what is no number above 0 is not taken for one. */
static double bound(const char *name, double usual)
{
    const char *text = getenv(name);
    double v;
    return text && tmx_text_real(text, &v) && v > 0 ? v : usual;
}

void tmx_cost_time(double seconds, char *buf, size_t size)
{
    static const struct {
        double above_s, unit_s;
        const char *unit;
    } rows[] = {{2 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {100, 60, "min"}, {0, 1, "s"}};
    size_t i = 0;
    while (seconds < rows[i].above_s) {
        i++;
    }
    snprintf(buf, size, "%.2g %s", seconds / rows[i].unit_s, rows[i].unit);
}

enum tmx_status tmx_cost_check(struct tmx_cost cost, struct tmx_err *err, const char *fmt, ...)
{
    const double minutes = bound("THERMIX_MAX_MINUTES", MINUTES);
    const double memory = tmx_os_memory_bytes();
    const double bytes = 1e9 * bound("THERMIX_MAX_GB", MEMORY_SHARE * memory / 1e9);
    char what[400], time[40];
    va_list ap;
    if (cost.seconds <= 60 * minutes && cost.bytes <= bytes) {
        return TMX_OK;
    }
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (cost.bytes > bytes) {
        return tmx_fail(
            err, TMX_ERANGE,
            "%s: needs about %.2g GB of memory, and %.2g GB may be used here; --max-gb %.0f allows it", what,
            cost.bytes / 1e9, bytes / 1e9, ceil(1.5 * cost.bytes / 1e9));
    }
    tmx_cost_time(cost.seconds, time, sizeof time);
    return tmx_fail(err, TMX_ERANGE,
                    "%s: needs about %s of computing, more than %g min; --max-minutes %.0f allows it", what,
                    time, minutes, ceil(3 * cost.seconds / 60));
}
