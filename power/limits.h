/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_POWER_LIMITS_H
#define TMX_POWER_LIMITS_H

/* A card from what loads do under power limits: rows of limit, speed (or time) and mean watts.
 *
 *   busy at clock f (1: the top one)   P(f) = F (1 - s + s V) + D V^2 f,   V = v below the knee, straight
 *                                      to 1 at the top
 *   under a limit                      the largest f <= 1 with P(f) <= limit
 *
 * A share w of a load's time at the top clock waits for what no clock shortens, and draws F + h D:
 * time = ((1 - w) / f + w) / A.
 *
 * Of the card: F, the knee, v, h; of each load: A, D, w. Least squares of speeds and watts, in percent;
 * errors by leaving out one load after another. s is assumed (leakage's part of the floor). */

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/table.h"

struct tmx_limit_row {
    size_t load;
    double limit_w, speed, power_w;
};
struct tmx_limit_rows {               /* release with tmx_limit_rows_finish */
    struct tmx_arena arena;           /* of the arrays and names */
    char **load;                      /* [n_load] names */
    struct tmx_limit_row *row;        /* [n_row] */
    size_t n_load, n_row, n_left_out; /* rows above the limit, which the card does not keep, and of loads with
                                         fewer than three others */
    double most_w;                    /* the highest limit */
};

/* Columns limit_w (or power_limit), speed, or time_s (or time_per_epoch), and power_w (or average_power); all
 * others name the load. only: loads whose names contain it; NULL: all. TMX_EIO, TMX_EPARSE with the line. */
TMX_NODISCARD enum tmx_status tmx_limit_rows_load(struct tmx_limit_rows *r, const char *path,
                                                  const char *only, struct tmx_err *err);
void tmx_limit_rows_finish(struct tmx_limit_rows *r); /* accepts zeroed memory */

enum { TMX_LIMIT_FLOOR, TMX_LIMIT_KNEE, TMX_LIMIT_VOLT, TMX_LIMIT_WAIT, TMX_N_LIMIT };
struct tmx_limit_load {
    double speed, dynamic_w, waits; /* at the top clock */
};
struct tmx_limit_fit {         /* release with tmx_limit_fit_finish */
    double card[TMX_N_LIMIT];  /* W; shares: of the top clock, of the top volts, of a load's dynamic watts */
    double error[TMX_N_LIMIT]; /* one standard deviation */
    struct tmx_limit_load *load; /* [n_load] */
    double speed_pct, power_pct; /* rms of the residuals */
};

/* TMX_EPARSE: fewer than three loads, or fewer rows than what is fitted. */
TMX_NODISCARD enum tmx_status tmx_limit_fit(const struct tmx_limit_rows *r, struct tmx_limit_fit *fit,
                                            struct tmx_err *err);
void tmx_limit_fit_finish(struct tmx_limit_fit *fit); /* accepts zeroed memory */

/* What the law gives under a limit: speed relative to the load's at the top clock, watts. */
struct tmx_limit_point {
    double speed, power_w;
};
struct tmx_limit_point tmx_limit_at(const double card[TMX_N_LIMIT], const struct tmx_limit_load *load,
                                    double limit_w);

struct tmx_table *tmx_limit_card_table(const struct tmx_limit_fit *fit);
struct tmx_table *tmx_limit_row_table(const struct tmx_limit_rows *r, const struct tmx_limit_fit *fit);
/* Write dir/chip.cfg, die.flp, package.config: the card as a chip of one unit with a top clock of clock_hz.
 */
TMX_NODISCARD enum tmx_status tmx_limit_chip(const struct tmx_limit_rows *r, const struct tmx_limit_fit *fit,
                                             double clock_hz, const char *dir, struct tmx_err *err);

#endif
