/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "run/load/job_files.h"
#include "tests/fuzz/fuzz.h"

/* Nodes and batches of the job level: whichever the file is. */
void fuzz_reader(const char *path)
{
    static struct tmx_job_data node, data; /* large */
    static struct tmx_job_batch batch;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    if (tmx_job_data_load(&node, path, NULL, &err) == TMX_OK) {
        fuzz_check(node.n_tmpl <= TMX_TEMPLATE_MAX);
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_job_data_finish(&node);
    memset(&data, 0, sizeof data);
    fuzz_check(tmx_job_batch_load(&data, path, &batch, &err) == TMX_OK || err.msg[0]);
    tmx_job_data_finish(&data);
}
