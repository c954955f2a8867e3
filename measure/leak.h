/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_LEAK_H
#define TMX_MEASURE_LEAK_H

/* How much more a GPU draws for the same work when it is warmer: d ln P / dT.
 *
 * Equal work is one stretch of load in which the fan's speed changes, or runs that the user declares equal
 * (--same-work). ln P = a(GPU, work) + leak T by least squares over the rows of the settled part; the
 * standard error is the jackknife over eighths of each stretch or over stretches, whichever is more, and the
 * rounding of the sensor. Where the work is not equal power moves temperature, not the reverse: P that
 * wanders by more than 1.5 % at one temperature, or rises by more than 0.8 %/K, gives no slope. A power limit
 * holds P whatever T is: the slope is then 0 within its error, and not reported. */

#include "measure/log/measured.h"

struct tmx_leak {
    double per_k, error; /* NAN: no equal work at temperatures set apart */
    double low_c, high_c, mean_w;
    size_t n_stretch, n_row;
    bool identified;
    char why[160]; /* when it is not identified: what would show it */
};

/* same_work: "RUNS;RUNS": the runs of a group (patterns, with commas between) do the same work; NULL: none
 * said. TMX_ECONFIG where a group matches fewer than two runs, TMX_ENOMEM. */
TMX_NODISCARD enum tmx_status tmx_leak_slope(struct tmx_leak *leak, const struct tmx_measured *log,
                                             const char *same_work, struct tmx_err *err);

#endif
