/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AccelWattch's kernels on our V100: chip watts of the power model beside the source's sum and the board's.
 */
#include "measure/validate_watts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/base/csv.h"
#include "core/machine/floorplan_file.h"
#include "power/power.h"
#include "run/load/data.h"

static enum tmx_status open_chip(struct tmx_chip *c, struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE], path[2 * TMX_PATH_SIZE];
    struct tmx_floorplan fp = {0};
    enum tmx_status st = tmx_data_find(TMX_DATA_CHIP, "v100", folder, err);
    if (st) {
        return st;
    }
    snprintf(path, sizeof path, "%s/chip.cfg", folder);
    st = tmx_chip_load(c, path, NULL, err);
    snprintf(path, sizeof path, "%s/%s", folder, c->floorplan_file);
    st = st ? st : tmx_flp_read(path, &fp, err);
    st = st ? st : tmx_chip_attach(c, &fp, err);
    tmx_floorplan_finish(&fp);
    return st;
}

/* The kernel's file of a row, "backprop-rodinia-3.1_k1" -> aw_backprop_k1: without the suite's name and
 * signs. */
static void file_of(const char *kernel, char name[64])
{
    static const char *const drop[] = {"-rodinia-3.1", "parboil-", "+", "-"};
    snprintf(name, 64, "aw_%s", kernel);
    for (size_t i = 0; i < sizeof drop / sizeof drop[0]; i++) {
        for (char *at; (at = strstr(name, drop[i])) != NULL;) {
            memmove(at, at + strlen(drop[i]), strlen(at + strlen(drop[i])) + 1);
        }
    }
}

/* Watts of all units while the kernel fills the chip, at the nominal clock and the leakage's temperature. */
static enum tmx_status chip_w(const struct tmx_chip *c, const char *kernel, double *watts,
                              struct tmx_err *err)
{
    const struct tmx_power_ops *ops = tmx_power_models[0];
    const bool leakage = true;
    const size_t n = c->floorplan.n_unit;
    char path[TMX_PATH_SIZE];
    struct tmx_kernel k;
    struct tmx_job job;
    struct tmx_machine *m = NULL;
    void *model = NULL;
    double *block = calloc(8 * n + TMX_WAYS + 1, sizeof *block);
    enum tmx_status st =
        block ? tmx_data_find(TMX_DATA_KERNEL, kernel, path, err) : tmx_fail(err, TMX_ENOMEM, "%zu units", n);
    st = st ? st : tmx_kernel_load(&k, path, err);
    st = st ? st : tmx_job_init(&job, &k, c, 1, err);
    const struct tmx_machine_spec spec = {
        .chip = &c, .n_gpu = 1, .job = &job, .n_job = 1, .dt_s = 1e-3, .gain = 1};
    st = st ? st : tmx_machine_create(&m, &spec, err);
    st = st ? st : ops->create(&leakage, m, &model, err);
    if (!st) {
        struct tmx_frame f = {.n_gpu = 1, .n_sm = c->n_sm, .n_unit = n};
        double **const arrays[] = {&f.asleep,  &f.unpowered,  &f.dynamic_w, &f.leakage_w,
                                   &f.saved_w, &f.baseline_w, &f.power_w,   &f.temp_k};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
            *arrays[i] = block + i * n;
        }
        f.way_w = block + 8 * n;
        f.transition_w = f.way_w + TMX_WAYS;
        for (size_t u = 0; u < n; u++) {
            f.temp_k[u] = c->power.leakage_ref_c + TMX_ZERO_C;
        }
        m->gpu[0].run[0] = 0;
        m->gpu[0].n_run = 1;
        m->job[0].state = TMX_JOB_RUNNING;
        m->speed[0] = m->volt[0] = m->volt2[0] = 1; /* the nominal level */
        for (size_t sm = 0; sm < c->n_sm; sm++) {
            m->busy[sm] = 1;
        }
        st = ops->eval(model, m, tmx_machine_all(m), &f);
        *watts = 0;
        for (size_t u = 0; u < n; u++) {
            *watts += f.power_w[u];
        }
        *watts = tmx_chip_board_w(c, *watts);
    }
    if (model) {
        ops->destroy(model);
    }
    tmx_machine_destroy(m);
    free(block);
    return st;
}

enum tmx_status tmx_validate_watts(struct tmx_watts_check *w, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv csv = {0};
    struct tmx_chip chip = {0};
    *w = (struct tmx_watts_check){0};
    enum tmx_status st = tmx_data_file("workloads/measured/accelwattch_volta_kernels.csv", path, err);
    st = st ? st : tmx_csv_read(&csv, path, err);
    st = st ? st : open_chip(&chip, err);
    const size_t total = st ? 0 : tmx_csv_column(&csv, "sim_total_W"),
                 board = st ? 0 : tmx_csv_column(&csv, "measured_W");
    if (!st && (total == csv.n_column || board == csv.n_column || csv.n_row == 0)) {
        st = tmx_fail_at(err, TMX_EPARSE, csv.source, 1, "expected columns sim_total_W and measured_W");
    }
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        char name[64];
        double all, is, ours = 0;
        if (!tmx_csv_real(&csv, r, total, &all) || !tmx_csv_real(&csv, r, board, &is)) {
            st = tmx_fail_at(err, TMX_EPARSE, csv.source, csv.line[r], "a total without a value");
            break;
        }
        file_of(tmx_csv_cell(&csv, r, 2), name);
        st = chip_w(&chip, name, &ours, err);
        w->off_w = fmax(w->off_w, fabs(ours - all));
        w->mape_pct += 100 * fabs(ours / is - 1) / (double)csv.n_row;
        w->n_kernel++;
    }
    tmx_chip_finish(&chip);
    tmx_csv_finish(&csv);
    return st;
}
