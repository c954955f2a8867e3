#include "run/summary.h"

enum tmx_status tmx_run_summary(const struct tmx_run *run, struct tmx_table **out, struct tmx_err *err)
{
    struct tmx_column columns[64] = {
        {"run", TMX_COLUMN_TEXT, 0}, {"mix", TMX_COLUMN_TEXT, 0}, {"policy", TMX_COLUMN_TEXT, 0}};
    size_t n = 3;
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
        tmx_table_real(*out, job->arrival_s);
        job->started_s >= 0 ? tmx_table_real(*out, job->started_s) : tmx_table_empty(*out);
        job->finished_s >= 0 ? tmx_table_real(*out, job->finished_s) : tmx_table_empty(*out);
        tmx_table_int(*out, (int64_t)b.total);
        tmx_table_int(*out, (int64_t)b.retired);
        tmx_table_real(*out, tmx_sim_recorder(sim)->job_j[j]);
        tmx_table_real(*out, job->pdi_w);
    }
    return st;
}
