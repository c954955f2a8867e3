#include "papers/suite.h"

#include <stdio.h>

#include "core/base/os.h"

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
