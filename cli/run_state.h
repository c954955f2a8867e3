#ifndef TMX_CLI_RUN_STATE_H
#define TMX_CLI_RUN_STATE_H

/* What a run owns; private to cli/run*.c. */

#include "cli/data.h"
#include "cli/run.h"
#include "cli/run_options.h"
#include "core/machine/mix.h"
#include "thermal/stack.h"

struct tmx_run {
    struct tmx_run_options options;
    struct tmx_chip chip;
    char package_path[2 * TMX_PATH_SIZE], floorplan_path[2 * TMX_PATH_SIZE];
    struct tmx_mix mix;
    char mix_path[TMX_PATH_SIZE];
    struct tmx_kernel *kernel; /* [n_kernel] */
    char (*kernel_file)[64];   /* [n_kernel] as named in the mix */
    size_t n_kernel;
    struct tmx_job *job;       /* [mix.n_entry] */
    struct tmx_run_jobs *jobs; /* NULL: no job level */
    struct tmx_hotspot_config package;
    struct tmx_stack stack;
    struct {
        const struct tmx_thermal_ops *ops;
        void *options, *model;
    } thermal;
    const struct tmx_chip **chip_of_gpu;        /* [gpus] */
    struct tmx_sim_gpu_thermal *thermal_of_gpu; /* [gpus] */
    struct tmx_sim_spec sim_spec;
    struct tmx_sim *sim;
    char *resolved; /* text */
    char id[TMX_HASH_HEX];
};

/* In run_resolved.c; before the simulation takes the policies' states over. */
void tmx_run_write_resolved(const struct tmx_run *r, FILE *out);

#endif
