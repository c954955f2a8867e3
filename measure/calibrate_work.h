/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_CALIBRATE_WORK_H
#define TMX_MEASURE_CALIBRATE_WORK_H

/* What the steps of a calibration share: the model as it grows, ways back, and trials of its parts. */

#include "measure/calibrate.h"

struct tmx_cal_work {
    struct tmx_calibration *c;
    const struct tmx_measured *log;
    const struct tmx_calibrate_options *options;
    const struct tmx_log *say;
    bool sink_shared;
    double sink_near; /* the GPUs' sinks differ a little from this [K/W]; 0: each for itself */
    bool c_apart;     /* a capacity for each sink, near c_near [J/K] */
    double c_near;
    bool die, kase, chassis, preheat, lag, exponent, base;
    bool
        *offset_identified; /* [n_gpu] owned: the log tells the GPU's offset, nothing else is held about it */
};

struct tmx_cal_range {
    double low, high;
};

struct tmx_cal_range tmx_cal_range(const struct tmx_measured *log, enum tmx_log_quantity q,
                                   int gpu); /* gpu < 0: all */

struct tmx_cal_state { /* of the model, to go back to */
    struct tmx_rc model;
    struct tmx_rc_gpu *gpu;
    double *ambient_c, rms_k;
};

TMX_NODISCARD enum tmx_status tmx_cal_save(const struct tmx_cal_work *w, struct tmx_cal_state *s,
                                           struct tmx_err *err);
void tmx_cal_go_back(struct tmx_cal_work *w, const struct tmx_cal_state *s);
void tmx_cal_state_finish(struct tmx_cal_state *s);

/* Fit the structure as its flags stand. */
TMX_NODISCARD enum tmx_status tmx_cal_refit(struct tmx_cal_work *w, bool errors, struct tmx_err *err);
/* Let go of what is assumed of the offsets that the log tells by itself, hold it for the others; refit where
 * that changes. */
TMX_NODISCARD enum tmx_status tmx_cal_judge_offsets(struct tmx_cal_work *w, struct tmx_err *err);
/* The first parameter of a kind; NULL when the structure has none. */
struct tmx_fit_parameter *tmx_cal_parameter(struct tmx_cal_work *w, enum tmx_fit_kind kind);
void tmx_cal_leave_out(struct tmx_cal_work *w, const char *name, const char *why);
/* Is the value told: its 95 % interval narrower than itself, and away from 0? p may be NULL. */
bool tmx_cal_identified(const struct tmx_fit_parameter *p);

struct tmx_cal_trial {
    bool *flag;
    enum tmx_fit_kind kinds[2];
    size_t n_kind;
    double *value[2]; /* of the model, start values below */
    double start[3][2];
    size_t n_start;
    double gain; /* the rms must fall by this share */
    const char *name, *why;
};

TMX_NODISCARD enum tmx_status tmx_cal_try(struct tmx_cal_work *w, const struct tmx_cal_trial *t,
                                          struct tmx_err *err);

TMX_NODISCARD enum tmx_status tmx_cal_first_guess(struct tmx_cal_work *w, struct tmx_err *err);

/* Two rows when the GPUs' resistances fall into two groups set well apart. Cooler ones are taken to be in
 * front; their order then decides which feeds which, as equal loads do not separate the air paths. */
void tmx_cal_find_air(struct tmx_cal_work *w);
TMX_NODISCARD enum tmx_status tmx_cal_give_air(struct tmx_cal_work *w, struct tmx_err *err);
void tmx_cal_print_air(struct tmx_calibration *c);
double tmx_cal_static_k_per_w(const struct tmx_rc *m, size_t g, double rpm);

/* The error of every run under a fit to the others. */
TMX_NODISCARD enum tmx_status tmx_cal_leave_one_out(struct tmx_cal_work *w, struct tmx_err *err);
/* The error on the part of the time that was not fitted. */
TMX_NODISCARD enum tmx_status tmx_cal_judge_rest(struct tmx_cal_work *w, struct tmx_err *err);

#endif
