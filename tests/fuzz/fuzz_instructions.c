/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "kernels/stream.h"

/* Instruction traces of one SM. */
void fuzz_reader(const char *path)
{
    static const struct tmx_memory memory = {
        .miss = 0.4, .latency_cycles = 300, .latency_variation = 0.3, .bandwidth = 0.1, .lines = 1.5};
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    if (tmx_trace_file_read(&s, path, &memory, 1, &err) == TMX_OK) {
        fuzz_check(s.warps > 0 && s.warps_per_block > 0 && s.warps % s.warps_per_block == 0);
        tmx_stream_finish(&s);
    } else {
        fuzz_check(err.msg[0]);
    }
}
