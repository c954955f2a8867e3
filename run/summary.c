/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"

#include "core/base/os.h"

enum tmx_status tmx_run_summary(const struct tmx_run *run, struct tmx_table **out, struct tmx_err *err)
{
    struct tmx_column columns[64] = {{"run", TMX_COLUMN_TEXT, 0},
                                     {"mix", TMX_COLUMN_TEXT, 0},
                                     {"policy", TMX_COLUMN_TEXT, 0},
                                     {"status", TMX_COLUMN_TEXT, 0}};
    size_t n = 4;
    for (const struct tmx_metric *k = tmx_metrics; k->name; k++) {
        columns[n++] = (struct tmx_column){k->name, TMX_COLUMN_REAL, 3};
    }
    const enum tmx_status st = tmx_table_create(out, columns, n, err);
    if (st) {
        return st;
    }
    tmx_table_text(*out, tmx_run_id(run));
    tmx_table_text(*out, tmx_run_mix_name(run));
    tmx_table_text(*out, tmx_run_policy_name(run));
    tmx_table_text(*out, tmx_run_status(run));
    for (const struct tmx_metric *k = tmx_metrics; k->name; k++) {
        tmx_table_real(*out, k->value(run));
    }
    return TMX_OK;
}

enum tmx_status tmx_run_kernels(const struct tmx_run *run, struct tmx_table **out, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"kernel", TMX_COLUMN_TEXT, 0},    {"arrival_s", TMX_COLUMN_REAL, 3},
        {"started_s", TMX_COLUMN_REAL, 3}, {"finished_s", TMX_COLUMN_REAL, 3},
        {"blocks", TMX_COLUMN_INT, 0},     {"blocks_retired", TMX_COLUMN_INT, 0},
        {"dynamic_j", TMX_COLUMN_REAL, 1}, {"pdi_w", TMX_COLUMN_REAL, 3},
    };
    const struct tmx_sim *sim = tmx_run_sim_const(run);
    const struct tmx_machine *m = tmx_sim_machine(sim);
    const enum tmx_status st = tmx_table_create(out, columns, sizeof columns / sizeof columns[0], err);
    for (size_t j = 0; !st && j < m->n_job; j++) {
        const struct tmx_job *job = &m->job[j];
        const struct tmx_job_blocks b = tmx_job_blocks(job, 0);
        tmx_table_text(*out, job->kernel->name);
        tmx_table_real(*out, tmx_run_arrival_s(run, job));
        job->started_s >= 0 ? tmx_table_real(*out, job->started_s) : tmx_table_empty(*out);
        job->finished_s >= 0 ? tmx_table_real(*out, job->finished_s) : tmx_table_empty(*out);
        tmx_table_int(*out, (int64_t)b.total);
        tmx_table_int(*out, (int64_t)b.retired);
        tmx_table_real(*out, tmx_sim_recorder(sim)->job_j[j]);
        tmx_table_real(*out, job->pdi_w);
    }
    return st;
}

/* A file of the folder: text, or a table as CSV. */
static enum tmx_status save(const char *folder, const char *name, const char *text,
                            const struct tmx_table *table, struct tmx_err *err)
{
    char path[1024];
    struct tmx_output o = {0};
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        return tmx_fail_at(err, TMX_EIO, folder, 0, "folder name too long");
    }
    enum tmx_status st = tmx_output_open(&o, path, err);
    if (!st && text) {
        fputs(text, o.file);
    } else if (!st) {
        st = tmx_table_write_csv(table, o.file, err);
    }
    st = st ? st : tmx_output_commit(&o, err);
    tmx_output_discard(&o);
    return st;
}

enum tmx_status tmx_run_save_resolved(const struct tmx_run *run, const char *folder, struct tmx_err *err)
{
    const enum tmx_status st = tmx_run_folder_clear(folder, err);
    return st ? st : save(folder, "resolved.cfg", tmx_run_resolved(run), NULL, err);
}

enum tmx_status tmx_run_save_tables(const struct tmx_run *run, const char *folder, struct tmx_err *err)
{
    struct tmx_table *summary = NULL, *kernels = NULL;
    enum tmx_status st = tmx_run_summary(run, &summary, err);
    st = st ? st : tmx_run_kernels(run, &kernels, err);
    st = st ? st : save(folder, "summary.csv", NULL, summary, err);
    st = st ? st : save(folder, "kernels.csv", NULL, kernels, err);
    st = st ? st : tmx_run_folder_seal(run, folder, err);
    tmx_table_destroy(summary);
    tmx_table_destroy(kernels);
    return st;
}
