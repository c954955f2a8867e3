/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_PAPERS_CONSOLIDATION_H
#define TMX_PAPERS_CONSOLIDATION_H

/* Private to the suite of paper 004: what is run, and its numbers by name. */

#include "papers/suite.h"
#include "papers/values.h"
#include "power/regress.h"
#include "run/load/job_files.h"

enum { TMX_CONSOLIDATION_BATCHES = 32 };

struct tmx_consolidation {
    struct tmx_job_data data;
    struct tmx_job_batch batch[TMX_CONSOLIDATION_BATCHES]; /* [n_batch] */
    size_t n_batch;
    struct tmx_power_fit fit; /* of the events, from the training table; owned */
    double base_w;            /* system power with no event: fitted to the calibrated batches */
};

/* Instances that a value or a row speaks of. */
struct tmx_instances {
    size_t count[TMX_KIND_MAX];
    size_t kind;                       /* of a single instance */
    const struct tmx_job_batch *batch; /* NULL: instances of one kind */
};

enum tmx_setup {
    TMX_SETUP_CPU,
    TMX_SETUP_MANUAL,
    TMX_SETUP_DYNAMIC,
    TMX_SETUP_SERIAL,
    TMX_SETUP_SINGLE,
    TMX_SETUP_EVENTS,
    TMX_SETUPS
};
extern const char *const tmx_setups[]; /* "cpu", "manual", "dynamic", "serial", "single", "events", NULL */

/* What the models say of a setup; false where they have nothing. */
bool tmx_consolidation_predict(const struct tmx_consolidation *s, const struct tmx_instances *i,
                               enum tmx_setup setup, struct tmx_prediction *p);
/* What the paper measured, from the batch's or the kernel's file; 0: not printed. */
double tmx_consolidation_measured_s(const struct tmx_consolidation *s, const struct tmx_instances *i,
                                    enum tmx_setup setup);
double tmx_consolidation_measured_j(const struct tmx_consolidation *s, const struct tmx_instances *i,
                                    enum tmx_setup setup);

/* Instances by name: a batch, "search:table5" alone, "9 encryption:table1". Reads kinds that are new. */
TMX_NODISCARD enum tmx_status tmx_consolidation_find(struct tmx_consolidation *s, const char *name,
                                                     struct tmx_instances *i, struct tmx_err *err);

/* Fit base_w; after fit. */
void tmx_consolidation_fit_base(struct tmx_consolidation *s);

/* For `values`. */
enum tmx_status tmx_consolidation_check(void *ctx, const struct tmx_pick *p, const struct tmx_setting *at,
                                        struct tmx_err *err);
double tmx_consolidation_number(void *ctx, const struct tmx_pick *p, size_t seed);

#endif
