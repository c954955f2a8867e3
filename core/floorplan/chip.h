/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_FLOORPLAN_CHIP_H
#define TMX_CORE_FLOORPLAN_CHIP_H

/* One kind of GPU chip: its SMs on the floorplan, its clocks, its power budget. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/opt.h"
#include "core/floorplan/floorplan.h"

/* The units of paper 003, equation 1. */
enum tmx_part { TMX_INT, TMX_FP, TMX_SFU, TMX_ALU, TMX_FDS, TMX_REG, TMX_CACHE, TMX_SHM, TMX_N_PART };
extern const char *const tmx_part_names[]; /* [TMX_N_PART + 1], NULL-terminated */

struct tmx_sm_limits { /* what one SM holds at most */
    int threads;
    int blocks;
    int registers;
    int shared_bytes;
};

enum { TMX_MAX_LEVEL = 160, TMX_NO_SM = -1 };

struct tmx_clock_level { /* one voltage/frequency setting; level 0 is the fastest */
    double volt_v;
    double freq_hz;
};

/* Dynamic power of a kernel at another level of V and f, relative to the nominal one. */
enum tmx_dvfs_power {
    TMX_DVFS_V2F, /* V^2 f */
    TMX_DVFS_F,   /* f: power follows the rate of accesses alone, as in paper 003's equation 1, which has no V
                   */
};

enum tmx_leakage_form { TMX_LEAK_EXPONENTIAL, TMX_LEAK_QUADRATIC, TMX_LEAK_LIAO, TMX_LEAK_NONE };

struct tmx_chip_power {
    double baseline_w; /* constant, in the non-SM area */
    double leakage_w;  /* whole chip at leakage_ref_c and the nominal voltage */
    double leakage_ref_c;
    int leakage_form;         /* enum tmx_leakage_form */
    double leakage_exp_per_k; /* exponential: exp(x (T - ref)) */
    double leakage_c1_per_k;  /* quadratic about 45 degC: 1 + c1 dT + c2 dT^2 */
    double leakage_c2_per_k2;
    double leakage_sm_share;           /* of the leakage in SM area; negative: by area */
    double baseline_sm_share;          /* of the baseline in SM area */
    int dvfs_power;                    /* enum tmx_dvfs_power */
    double volt_knee_hz, volt_per_ghz; /* volts stand still below, rise by above; 0: as the levels say */
    bool dvfs_leakage;                 /* leakage follows V */
    double transition_s;               /* stall at a change of level */
    double transition_j;               /* energy of a change of level */
    double max_power_w[TMX_N_PART];    /* per SM, equation 1 */
};

struct tmx_chip_board { /* what its maker states of the board it is sold on; 0: nothing stated */
    double power_w;     /* power limit as sold */
    double power_min_w; /* the least it can be set to */
    double other_w;     /* of the board, beside the chip: regulators, memory that is no unit, fan */
    double loss;        /* of the board's power, lost in regulators */
    double target_c;    /* temperature it keeps */
    double slowdown_c;  /* half the clock from here on */
    double shutdown_c;
    double memory_c;       /* of its memory */
    double memory_k_per_w; /* from the base of a stack, a unit of the floorplan, to its sensor, by its own
                              watts */
};

enum { TMX_MAX_CHIP_PART = 16 };

/* Units outside the SMs whose names begin alike, and what they get of watts; shared out by area among them.
 */
struct tmx_chip_part {
    char prefix[16];
    double l2, dram; /* of the kernels' l2_w and dram_w */
    double baseline; /* of the chip's baseline_w; what no part gets goes as baseline_sm_share says */
    bool memory;     /* stacks that the board's memory sensor reads */
    bool die;        /* shares what goes by area: leakage, the rest of the baseline */
};

/* How GPUs of one kind differ: of leakage, dynamic power and sink the standard deviation of the logarithm, of
 * the air before a GPU that of the temperature. All 0: they are alike. */
struct tmx_chip_spread {
    double leakage, dynamic, sink, inlet_k;
    int seed; /* of the draws; -1: the run's */
};
extern const struct tmx_opt tmx_spread_opts[];
struct tmx_chip_draw { /* of one GPU: factors, and kelvins on top of its inlet air */
    double leakage, dynamic, sink, inlet_k;
};

struct tmx_chip {
    char name[64];
    char doc[256];
    char source[512];
    char confidence[256];          /* what a reader of results must know; "": nothing */
    char floorplan_file[256];      /* relative to the chip's folder */
    char package_file[256];        /* HotSpot .config */
    char sm_prefix[16];            /* floorplan units <prefix><number> are SMs */
    int sms_per_cluster;           /* SMs of one TPC (GPC) */
    double sm_power_reference_sms; /* number of SMs over which a kernel's sm_power_w is spread */
    double kernel_power_scale;     /* kernel powers of the reference chip times this */
    double kernel_time_scale;      /* kernels' block lifetimes on the reference chip times this */
    double step_hz;            /* between the levels made of the curve in `levels`; 0: as they are given */
    double static_reference_w; /* static_w of a kernel under which the chip leaks leakage_w; 0: unheeded */
    char sms_off[256];         /* numbers of SMs that are fused off: "14,15,112-127" */
    double nominal_hz;         /* clock of kernels' watts and times; 0: the fastest */
    struct tmx_sm_limits limits;
    struct tmx_chip_power power;
    struct tmx_chip_board board;
    struct tmx_chip_spread spread; /* measured between GPUs of this kind, for `spread = "CHIP"` */
    struct tmx_chip_part part[TMX_MAX_CHIP_PART];
    size_t n_part;
    struct tmx_clock_level level[TMX_MAX_LEVEL];
    size_t n_level, nominal;        /* nominal: the level that kernels' watts and times are given at */
    struct tmx_floorplan floorplan; /* owned */
    size_t n_sm;
    int *sm_of_unit; /* [n_unit] SM index or TMX_NO_SM; SMs that are off have none, the others' are without
                        gaps */
    int *sm_name;    /* [n_sm] number in the names of its units */
    bool *is_off;    /* [n_unit] of an SM that is fused off: it draws nothing */
    bool *off_die;   /* [n_unit] beside the die: gets nothing that goes by area */
    double *l2_share, *dram_share, *baseline_share; /* [n_unit] of the watts that the parts get */
    size_t *unit_of_sm;                             /* [n_sm] the first unit of the SM: its sensor */
    size_t n_memory, *memory_unit; /* [n_memory] stacks of memory, whose hottest the board's sensor reads */
    bool sms_in_row;               /* the units of SMs 0, 1, ... follow one another, one each */
    double *part_share;            /* [n_unit] share of its SM's dynamic power; 0 elsewhere */
    size_t *hot_order;      /* [n_sm] SMs in the order they take hot blocks: whole corner clusters first, then
                               the clusters farthest from those taken */
    struct tmx_arena arena; /* of these arrays */
};

/* Group `limits` of a chip's file. Returns TMX_OK or TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_sm_limits_read(struct tmx_sm_limits *limits, const struct tmx_setting *chip,
                                                 struct tmx_err *err);

/* Read chip.cfg (sets: overrides of its keys). The floorplan is attached later with
 * tmx_chip_attach. Errors: TMX_EIO, TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_chip_load(struct tmx_chip *c, const char *path,
                                            const struct tmx_setting *overrides, struct tmx_err *err);

/* Take over *fp (zeroed afterwards) and find the SMs in it. Fails when an SM number is
 * missing or the chip has none. */
TMX_NODISCARD enum tmx_status tmx_chip_attach(struct tmx_chip *c, struct tmx_floorplan *fp,
                                              struct tmx_err *err);

/* The chip of a folder with its own floorplan, which nothing overrides. *c: overwritten; finish it, also
 * after failure. */
TMX_NODISCARD enum tmx_status tmx_chip_open(struct tmx_chip *c, const char *folder, struct tmx_err *err);

void tmx_chip_finish(struct tmx_chip *c);

/* Speed and voltage of a level relative to the nominal one. */
double tmx_chip_speed(const struct tmx_chip *c, size_t level);
double tmx_chip_volt(const struct tmx_chip *c, size_t level);

/* Temperature of an SM [K], the mean over its units by area; unit_k [n_unit]. */
double tmx_chip_parts_k(const struct tmx_chip *c, size_t sm, const double *unit_k); /* of several units */
static inline double tmx_chip_sm_k(const struct tmx_chip *c, size_t sm, const double *unit_k)
{
    const size_t first = c->unit_of_sm[sm];
    return c->part_share[first] >= 1 ? unit_k[first] : tmx_chip_parts_k(c, sm, unit_k);
}

/* What a board draws while its chip's units draw chip_w. */
double tmx_chip_board_w(const struct tmx_chip *c, double chip_w);

/* The board's memory sensor: the hottest stack, whose sensor is above its base by memory_k_per_w times its
 * watts; temp_k and power_w are of the chip's units. NAN: no stack in the floorplan. */
double tmx_chip_memory_k(const struct tmx_chip *c, const double *temp_k, const double *power_w);

/* Write the chip's resolved power settings as a group. */
struct tmx_writer;
void tmx_chip_write_power(const struct tmx_chip *c, const char *key, struct tmx_writer *w);

/* Order order[0..n) = 0..n-1 by key ascending, ties by index. Allocates nothing; n is a chip's SMs. */
void tmx_rank_ascending(const double *key, size_t n, size_t *order);

extern const struct tmx_keys tmx_chip_keys[]; /* of a chip, but for the groups of other models */

#endif
