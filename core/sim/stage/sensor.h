/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_SENSOR_H
#define TMX_CORE_SIM_STAGE_SENSOR_H

/* One temperature sensor per SM: what policies see of the true temperatures. */

#include "core/machine/machine.h"
#include "core/sim/sensor/models.h"

struct tmx_sensor_options {
    double period_s; /* between samples; a multiple of the tick. 0 in a configuration:
                        TMX_SENSOR_PERIOD_S in whole ticks */
    double
        power_window_s; /* what a log shows of the board's power is the mean over this; no policy sees it */
    void **of; /* [TMX_N_SENSOR] options of each model, as long as the sensor lives; NULL: none acts */
};
extern const struct tmx_opt tmx_sensor_opts[], tmx_sensor_log_opts[];

/* The rows of the group `sensor`, X(group, policies, rows), as a resolved configuration has them. */
#define TMX_SENSOR_ROWS_OF(X, name) X(sensor, NULL, tmx_sensor_##name##_opts)
#define TMX_SENSOR_ROWS(X)           \
    X(sensor, NULL, tmx_sensor_opts) \
    TMX_SENSOR_LIST(TMX_SENSOR_ROWS_OF, X) X(sensor, NULL, tmx_sensor_log_opts)

/* The group, which may be NULL; what the models have of it is in the arena. */
TMX_NODISCARD enum tmx_status tmx_sensor_open(struct tmx_sensor_options *o, struct tmx_arena *a,
                                              const struct tmx_setting *group, struct tmx_err *err);
void tmx_sensor_write(const struct tmx_sensor_options *o, struct tmx_writer *w);

/* Default period [s]: 2.5 to 5 ms are assumed for a GTX280; the paper does not say. */
#define TMX_SENSOR_PERIOD_S 0.005

struct tmx_sensor {
    uint64_t period, n_sample; /* period: ticks between samples */
    struct tmx_arena state;    /* what models keep */
    size_t n;
    struct tmx_sensor_acting {
        const struct tmx_sensor_model *does;
        struct tmx_sensing in; /* kept: [n_kept * n_sm] of all GPUs, one after another */
    } model[TMX_N_SENSOR];     /* [n] those that act */
    bool in_order;             /* random numbers come from one stream: spans are not read at the same time */
    bool needs_all;            /* a reading depends on samples before it, */
    double above_k;            /* else: it is above the truth by so much at most */
};

TMX_NODISCARD enum tmx_status tmx_sensor_create(struct tmx_sensor **s,
                                                const struct tmx_sensor_options *options,
                                                const struct tmx_machine *machine, double dt_s, uint64_t seed,
                                                struct tmx_err *err);
void tmx_sensor_destroy(struct tmx_sensor *s);

/* A sample: n_sample goes up, then every GPU once: temp_k [n_unit, K] -> sensed_k [n_sm, K], hottest_k
 * [n_gpu, K]. */
double tmx_sensor_memory_k(const struct tmx_sensor *s, double memory_k); /* a reading of a memory */
void tmx_sensor_read(struct tmx_sensor *s, const struct tmx_machine *machine, struct tmx_gpus span,
                     const double *temp_k, double *sensed_k, double *hottest_k);

/* What a board measures of itself beside its SMs' temperatures: the power it draws, the temperature of its
 * memory, the air it breathes. Policies see it in struct tmx_view. */

struct tmx_meter {
    size_t n_gpu;
    double *sum_w, *n_tick; /* since the last reading */
    double *board_w, *inlet_k, *memory_k;
    struct tmx_board_view *board; /* [n_gpu] */
    double *level;                /* speeds and voltages of all boards */
};

/* Before the first reading a board draws nothing and its air and memory are at 0 K. It lives in the
 * arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_meter *tmx_meter_take(struct tmx_arena *arena, const struct tmx_machine *machine);

/* The watts of n ticks of a span's GPUs, gpu_w [n_gpu, W]. */
void tmx_meter_add(struct tmx_meter *m, struct tmx_gpus span, const double *gpu_w, double n);

/* A reading of a span's boards: board watts as the mean since the last one, memory as the sensor has it from
 * temp_k [n_unit, K]. */
void tmx_meter_read(struct tmx_meter *m, const struct tmx_machine *machine, struct tmx_gpus span,
                    const double *temp_k, const double *power_w, const struct tmx_sensor *sensor);

/* Set the pointers of *view; they live as long as the meter. */
void tmx_meter_view(const struct tmx_meter *m, struct tmx_view *view);

#endif
