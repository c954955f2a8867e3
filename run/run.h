/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_RUN_H
#define TMX_RUN_RUN_H

/* One run: configuration -> simulation -> metrics. The only place that introduces thermal,
 * power and sched to one another. */

#include <stdio.h>

#include "base/cost.h"
#include "base/os.h"
#include "base/provenance.h"
#include "core/sim/sim.h"

struct tmx_catalog;
struct tmx_mix;
struct tmx_setting;
struct tmx_sets;

struct tmx_run;

/* What a run is made of besides its configuration; each may be absent. */
struct tmx_run_how {
    const char *group;                 /* the part of a file that configures it, as "base" of a suite's */
    const struct tmx_sets *sets;       /* changes to the file */
    const struct tmx_catalog *catalog; /* other policies than the built-in ones; outlives the run. With
                                          tmx_builtin_check no module is loaded: a warning names the policies
                                          that are therefore not checked */
    struct tmx_mix *mix; /* one that no file holds, where the configuration names none; the run owns it, also
                            after a failure */
    bool described; /* the same checks without the thermal model and the simulation: only tmx_run_resolved,
                       tmx_run_settings and tmx_run_id may be asked of it. A study names its runs this way */
};

/* Set up a run from a configuration file ("": an empty one) or a group (all keys: docs/formats.md). NULL
 * after an error; of tmx_run_load it stays (base/err.h) and is returned. The caller ends it with
 * tmx_run_destroy. */
enum tmx_status tmx_run_load(struct tmx_run **run, const char *path, const struct tmx_run_how *how,
                             struct tmx_err *err);
TMX_NODISCARD enum tmx_status tmx_run_create(struct tmx_run **run, const struct tmx_setting *root,
                                             const struct tmx_run_how *how, struct tmx_err *err);
void tmx_run_destroy(struct tmx_run *run); /* accepts NULL */

/* What the simulation will cost, the making of the thermal model left out. */
struct tmx_cost tmx_run_cost(const struct tmx_run *run);
/* The fully resolved configuration, every key with its value, and the text from which tmx_run_create makes
 * the same run. */
const struct tmx_setting *tmx_run_settings(const struct tmx_run *run);
const char *tmx_run_resolved(const struct tmx_run *run);
const char *tmx_run_keys(const struct tmx_run *run); /* the same without paths and comments */
/* What a run warns of goes to listeners (base/plausible.h) while it is set up, and with this mark into
 * the head of its resolved configuration. */
#define TMX_RUN_WARNING "# warning: "
/* Hash of the resolved configuration and of the files it names. */
const char *tmx_run_id(const struct tmx_run *run);

/* Run to the end; results stay readable after a failure. */
TMX_NODISCARD enum tmx_status tmx_run_execute(struct tmx_run *run, const struct tmx_observer *observer,
                                              struct tmx_err *err);
/* The warnings that tmx_run_execute has of a result, for runs that end another way. */
void tmx_run_warn_of_result(const struct tmx_run *run);

struct tmx_sim *tmx_run_sim(const struct tmx_run *run);
/* The thermal model of a GPU, for benches that step it alone. */
const struct tmx_sim_gpu_thermal *tmx_run_gpu_thermal(const struct tmx_run *run, size_t gpu);
/* The convection level with the fastest air of a GPU's cooler; SIZE_MAX where convection is constant. */
size_t tmx_run_fastest_air(const struct tmx_run *run, size_t gpu);
double tmx_run_tick_s(const struct tmx_run *run);
const char *tmx_run_mix_name(const struct tmx_run *run);
const char *tmx_run_policy_name(const struct tmx_run *run);
/* The preset and what differs from it: "BL with dtm dvfs, cta tcs". Returns buf. */
const char *tmx_run_policy_words(const struct tmx_run *run, char *buf, size_t size);

/* When a kernel arrived, on the clock of all that is reported: it begins at the end of the warm-up, and what
 * arrived during the warm-up is there at 0. */
double tmx_run_arrival_s(const struct tmx_run *run, const struct tmx_job *job);

/* What a run measures: a row each. Its number comes from value, or from part, which several rows share and
 * which reads the row to know whose it is. */
enum {
    TMX_NEEDS_DIES = 1,     /* with temperatures: no language model without heat */
    TMX_NEEDS_KERNELS = 2,  /* no language model */
    TMX_NEEDS_REQUESTS = 4, /* a language model, */
    TMX_NEEDS_ALONE = 8,    /* whose file has what slowdowns are relative to */
};
struct tmx_metric {
    const char *name; /* with its unit */
    const char *doc;
    unsigned needs; /* runs without one of these do not have it */
    double (*value)(const struct tmx_run *run);
    double (*part)(const struct tmx_run *run, const struct tmx_metric *metric);
    size_t what;   /* of part: which one, or where it is; */
    int of;        /* of whom; */
    double share;  /* which quantile */
    bool may_lack; /* NAN where the run is shorter than what it looks at */
};
extern const struct tmx_metric tmx_metrics[]; /* {0}-terminated */
double tmx_run_metric(const struct tmx_run *run, const struct tmx_metric *metric);
/* Is it a metric of this run's summary? */
bool tmx_run_has_metric(const struct tmx_run *run, const struct tmx_metric *metric);

/* Manners towards the program that calls the library. Every public function that computes,
 * reads or writes numbers stands between tmx_process_guard_enter and tmx_process_guard_leave, which set aside
 *
 * of the calling thread   locale and floating-point environment (base/os.h)
 * of the whole process    GSL's error handler (off)
 *
 * Leaving puts back what was there. What belongs to the process is set aside by the first call
 * that enters and put back by the last that leaves, whichever threads they are in. */

struct tmx_process_guard {
    struct tmx_fp_env thread;
};

void tmx_process_guard_enter(struct tmx_process_guard *host);
void tmx_process_guard_leave(const struct tmx_process_guard *host);

#endif
