/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_SWEEP_H
#define TMX_STUDY_SWEEP_H

/* A parameter study: axes over configuration keys -> an ordered list of points, each a
 * set of key=value assignments on one base configuration. Pure: starts nothing. The
 * file format is in docs/formats.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/opt.h"
#include "base/table.h"

enum { TMX_SWEEP_TEXT = 512, TMX_SWEEP_MAX_POINTS = 10000000 };

enum tmx_sample {
    TMX_SAMPLE_GRID,   /* every combination; the last axis moves fastest */
    TMX_SAMPLE_RANDOM, /* independent and uniform */
    TMX_SAMPLE_LATIN,  /* Latin hypercube: each axis cut into n strata, one point in each */
    TMX_SAMPLE_SOBOL,  /* Sobol sequence (GSL quasi-random) */
    TMX_SAMPLE_INDICES /* Saltelli's design for Sobol indices: for each of n base points
                          A, B and one A with axis i taken from B for every axis i */
};

struct tmx_axis {
    char **key; /* [n_key] several keys move together */
    size_t n_key;
    struct tmx_scalar *value; /* [n_value * n_key] */
    size_t n_value;
    bool interval; /* from..to, continuous unless the study is a grid */
    bool log, whole;
    double from, to;
    unsigned line;
};

struct tmx_rule {              /* a point is kept when left <relation> right */
    struct tmx_scalar side[2]; /* of TEXT: a key */
    const char *relation;
    unsigned line;
};

struct tmx_sweep {
    char file[TMX_SWEEP_TEXT];
    char name[64], doc[256];
    char base[TMX_SWEEP_TEXT]; /* run configuration, as given */
    char path[TMX_SWEEP_TEXT]; /* the same as a file: beside the study, or of `thermix list runs` */
    struct tmx_config *cfg;    /* the file; texts of values are its */
    struct tmx_sets sets;      /* fixed, on the base */
    struct tmx_axis *axis;     /* [n_axis] */
    size_t n_axis;
    struct tmx_rule *rule; /* [n_rule] */
    size_t n_rule;
    int method;      /* enum tmx_sample */
    size_t n_sample; /* base points of a sampled study */
    uint64_t seed;
    char **key; /* [n_key] all keys in axis order, then the seed of repetitions */
    size_t n_key;
    struct tmx_scalar *value; /* [n_point * n_key] owned */
    size_t n_point;
    struct tmx_arena arena; /* of all but the points */
};

/* Read the file and build the points. Errors, all with file:line: unknown key, axis
 * without values, key on two axes, constraint that keeps no point, too many points. */
TMX_NODISCARD enum tmx_status tmx_sweep_load(struct tmx_sweep *s, const char *path, struct tmx_err *err);
/* The points of a group { seed; sample; axes; constraints; } of another file; `also` are its other members.
 */
struct tmx_setting;
TMX_NODISCARD enum tmx_status tmx_sweep_read(struct tmx_sweep *s, const struct tmx_setting *group,
                                             const char *const *also, struct tmx_err *err);
void tmx_sweep_finish(struct tmx_sweep *s); /* accepts zeroed memory */

/* Of one key at one point. */
struct tmx_scalar tmx_sweep_value(const struct tmx_sweep *s, size_t point, size_t key);
/* Line of the axis that a key is on; 1 for that of the repetitions. */
unsigned tmx_sweep_line(const struct tmx_sweep *s, size_t key);
/* What there is to run of it; valid as long as the sweep. */
struct tmx_runs;
void tmx_sweep_runs(const struct tmx_sweep *s, struct tmx_runs *runs);

/* Every point as a row: its number and the values of its keys; NULL: no memory. */
struct tmx_table *tmx_sweep_table(const struct tmx_sweep *s);

extern const struct tmx_keys tmx_study_keys[]; /* of a study */

#endif
