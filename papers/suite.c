/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/suite.h"

#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/os.h"
#include "run/input/data.h"

const struct tmx_suite_kind tmx_suite_kinds[] = {
    {"tabs", "mixes x policies on a chip with thermal feedback (paper 003)", tmx_suite_tabs},
    {"consolidation", "tables and figures of paper 004", tmx_suite_consolidation},
    {"consolidation_day", "a day of users under policies of the job level", tmx_suite_consolidation_day},
    {"warped_gates", "unit gating of 18 benchmarks on one SM (paper 001)", tmx_suite_warped_gates},
    {"tcs", "tables and figures of paper 000: cores under TCS and hTCS", tmx_suite_tcs},
    {"apsa", "tables and figures of paper 002: cores and clocks under ApSA", tmx_suite_apsa},
    {0},
};

static enum tmx_status save(const struct tmx_table *t, const char *dir, const char *name, struct tmx_err *err)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}

enum tmx_status tmx_suite_journal(const struct tmx_suite_call *call, char path[TMX_PATH_SIZE],
                                  struct tmx_err *err)
{
    path[0] = '\0';
    if (!call->out_dir || call->check) {
        return TMX_OK;
    }
    if (snprintf(path, TMX_PATH_SIZE, "%s/runs.journal", call->out_dir) >= TMX_PATH_SIZE) {
        return tmx_fail(err, TMX_EIO, "%s: path too long", call->out_dir);
    }
    return tmx_os_mkdirs(call->out_dir, err);
}

enum tmx_status tmx_suite_write(const struct tmx_suite_call *call, const struct tmx_table *table,
                                const struct tmx_table *paper, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (call->out_dir) {
        st = tmx_os_mkdirs(call->out_dir, err);
        st = st ? st : save(table, call->out_dir, "table.csv", err);
        if (!st && paper) {
            st = save(paper, call->out_dir, "paper.csv", err);
        }
    }
    if (st) {
        return st;
    }
    return call->format == TMX_FORMAT_TEXT ? tmx_table_write_brief(table, stdout, err)
                                           : tmx_table_save(table, call->format, "-", err);
}

enum tmx_status tmx_suite_run(struct tmx_suite_call *call, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_SUITE, call->name, path, err);
    if (st) {
        return st;
    }
    st = tmx_config_load(&cfg, path, call->set, call->n_set, err);
    if (!st) {
        const struct tmx_setting *kind = tmx_config_find(cfg, "kind");
        const char *word = kind ? tmx_setting_text(kind) : NULL;
        const struct tmx_suite_kind *k = tmx_suite_kinds;
        while (word && k->kind && strcmp(k->kind, word) != 0) {
            k++;
        }
        if (!word || !k->kind) {
            st = tmx_fail_at(err, TMX_ECONFIG, path, kind ? tmx_setting_line(kind) : 0,
                             "kind: expected the suite's kind, such as \"%s\"", tmx_suite_kinds[0].kind);
        } else {
            call->path = path;
            call->root = tmx_config_root(cfg);
            st = k->run(call, err);
        }
    }
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_suite_save(const struct tmx_suite_call *call, const struct tmx_table *table,
                               const char *name, struct tmx_err *err)
{
    const enum tmx_status st = call->out_dir ? tmx_os_mkdirs(call->out_dir, err) : TMX_OK;
    return st || !call->out_dir ? st : save(table, call->out_dir, name, err);
}
