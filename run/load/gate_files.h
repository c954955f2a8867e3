/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_LOAD_GATE_FILES_H
#define TMX_RUN_LOAD_GATE_FILES_H

/* Files of unit gating: the SM of a chip (floorplans/CHIP/sm.cfg) and the kernels' `instructions`. */

#include "base/opt.h"
#include "kernels/profile.h"
#include "kernels/stream.h"

struct tmx_sets;

struct tmx_gate_leakage {              /* who leaks; group `leakage` */
    double chip_w, int_w, fp_w, sfu_w; /* whole chip and its execution units, at one temperature */
    double static_share;               /* of total on-chip power that is leakage */
};

enum { TMX_GATE_FITS = 2, TMX_GATE_KERNELS = 64 };
extern const char *const tmx_gate_fits[]; /* "convpg", "all", NULL: groups fit_convpg, fit_all */

struct tmx_gate_chip {
    char doc[256], source[512];
    struct tmx_sm_params sm;
    struct tmx_gate_params gate;
    struct tmx_gate_leakage leakage;
    struct tmx_stream_knobs fit[TMX_GATE_FITS];
    double clock_hz;
};

struct tmx_gate_kernel {
    char name[64];
    struct tmx_instr_stats stats;
};

/* The SM of a chip by name; sets are overrides such as "gate.break_even_cycles=9" or "sm.active=16".
 * Errors: TMX_EIO, TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_gate_chip_load(struct tmx_gate_chip *c, const char *chip,
                                                 const struct tmx_sets *sets, struct tmx_err *err);

/* The kernel by name or file. `instructions` is a group, or the name of another kernel whose group
 * describes this one as well. A kernel without it: TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_gate_kernel_load(struct tmx_gate_kernel *k, const char *name,
                                                   struct tmx_err *err);

/* Draw the kernel's instruction stream (tmx_stream_generate). Every kernel draws for itself: with one seed
 * for all of them their bodies would err together. */
TMX_NODISCARD enum tmx_status tmx_gate_kernel_stream(const struct tmx_gate_kernel *k,
                                                     const struct tmx_stream_knobs *knobs, uint64_t seed,
                                                     struct tmx_stream *s, struct tmx_err *err);

/* On-chip power saved [1]: static_share * (int_w * int_saved + fp_w * fp_saved) / chip_w (WG 7.3). */
double tmx_gate_chip_saved(const struct tmx_gate_leakage *l, double int_saved, double fp_saved);

/* Group `code` of a kernel's file: programs read off its compiled source (kernels/stream.h), in place of
 * statistics. */

enum { TMX_GATE_CODES = 8 }; /* kernels of one benchmark at most */

struct tmx_gate_code {
    char name[64], source[256];
    int warps, warps_per_block;                                       /* resident; of one thread block */
    int blocks;                                                       /* one SM's share of a launch */
    double miss, lines, latency_cycles, latency_variation, bandwidth; /* as struct tmx_memory */
    struct tmx_stream stream; /* owned; its seed is the caller's to set */
};

/* The kernels of the benchmark `kernel` (name or file); *n of them. A file without the group: TMX_ECONFIG.
 * Release each with tmx_gate_code_finish. */
TMX_NODISCARD enum tmx_status tmx_gate_code_load(const char *kernel,
                                                 struct tmx_gate_code code[TMX_GATE_CODES], size_t *n,
                                                 struct tmx_err *err);
void tmx_gate_code_finish(struct tmx_gate_code *c); /* accepts zeroed memory */

extern const struct tmx_keys tmx_sm_keys[]; /* of sm.cfg */

extern const struct tmx_keys tmx_code_kernel_keys[]; /* of a kernel */

#endif
