/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chips, workloads, nodes, programs of an SM, runs and studies. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "core/floorplan/chip.h"
#include "core/topology/topology.h"
#include "core/workload/kernel.h"
#include "core/workload/mix.h"
#include "kernels/memory.h"
#include "kernels/stream.h"
#include "power/chip_energy.h"
#include "run/load/gate_files.h"
#include "run/load/job_files.h"
#include "run/run.h"
#include "study/results.h"
#include "study/sweep.h"
#include "tests/fuzz/fuzz.h"

/* A chip's file, by each of its readers. */
void fuzz_chip(const char *path)
{
    struct tmx_chip chip = {0};
    struct tmx_memory_chip memory = {0};
    struct tmx_chip_energy energy = {0};
    struct tmx_err err = {0};
    (void)fuzz_reads(tmx_chip_load(&chip, path, NULL, &err), &err);
    tmx_chip_finish(&chip);
    (void)fuzz_reads(tmx_memory_chip_load(&memory, path, NULL, &err), &err);
    (void)fuzz_reads(tmx_chip_energy_load(&energy, path, NULL, &err), &err);
}

/* Nodes: every GPU and fan is on a card, and air flows forward. */
void fuzz_topology(const char *path)
{
    struct tmx_topology t = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_topology_load(&t, path, &err), &err)) {
        fuzz_check(t.n_gpu > 0 && t.n_card > 0);
        for (size_t g = 0; g < t.n_gpu; g++) {
            fuzz_check(t.gpu[g].card < t.n_card && t.upstream_first[g] < t.n_gpu);
        }
        for (size_t f = 0; f < t.n_fan; f++) {
            fuzz_check(t.fan[f].card < t.n_card && isfinite(tmx_fan_power_w(&t.fan[f], t.fan[f].max_rpm)));
        }
        for (size_t a = 0; a < t.n_air; a++) {
            fuzz_check(t.air[a].from < t.n_gpu && t.air[a].to < t.n_gpu);
        }
    }
    tmx_topology_finish(&t);
}

/* Workloads, listed or drawn: in the order in which they arrive. */
void fuzz_mix(const char *path)
{
    struct tmx_mix mix = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_mix_load(&mix, path, 1, &err), &err)) {
        for (size_t i = 0; i < mix.n_entry; i++) {
            fuzz_check(isfinite(mix.entry[i].arrival_s) && mix.entry[i].work_s >= 0);
            fuzz_check(i == 0 || mix.entry[i].arrival_s >= mix.entry[i - 1].arrival_s);
        }
    }
    tmx_mix_finish(&mix);
}

/* The table of a workload that is read from one. */
void fuzz_arrivals(const char *path)
{
    struct tmx_mix mix = {0};
    struct tmx_err err = {0};
    char text[700], real[512];
    const bool absolute = path[0] == '/';
    snprintf(real, sizeof real, "%.500s", path);
    fuzz_check(absolute); /* the mix that names it stands elsewhere */
    snprintf(text, sizeof text, "name = \"m\"; arrivals = { process = \"trace\"; file = \"%s\"; };", real);
    if (fuzz_reads(tmx_mix_load(&mix, fuzz_file(text, strlen(text)), 1, &err), &err)) {
        for (size_t i = 0; i < mix.n_entry; i++) {
            fuzz_check(isfinite(mix.entry[i].arrival_s) && mix.entry[i].work_s >= 0 &&
                       mix.entry[i].kernel[0]);
            fuzz_check(i == 0 || mix.entry[i].arrival_s >= mix.entry[i - 1].arrival_s);
        }
    }
    tmx_mix_finish(&mix);
}

void fuzz_kernel(const char *path)
{
    struct tmx_kernel kernel;
    struct tmx_err err = {0};
    (void)fuzz_reads(tmx_kernel_load(&kernel, path, &err), &err);
}

/* What a kernel's file says for an SM's and a chip's cycles: groups instructions, code and memory. */
void fuzz_program(const char *path)
{
    static const struct tmx_memory_chip chip = {.profile = "any"};
    static struct tmx_memory_program program;
    struct tmx_gate_kernel kernel;
    struct tmx_gate_code code[TMX_GATE_CODES];
    size_t n = 0;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    (void)fuzz_reads(tmx_gate_kernel_load(&kernel, path, &err), &err);
    (void)fuzz_reads(tmx_gate_code_load(path, code, &n, &err), &err);
    while (n > 0) {
        tmx_gate_code_finish(&code[--n]);
    }
    if (fuzz_reads(tmx_memory_program_load(&program, path, &chip, &err), &err)) {
        fuzz_check(program.n > 0 && program.n <= TMX_MAX_LAUNCH);
    }
}

/* A program of group `code`, as the whole file. */
void fuzz_code(const char *path)
{
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    if (fuzz_reads(tmx_code_append(&s, t.data, &err), &err)) {
        fuzz_check(s.n_program == 1 && s.n_instr > 0 && s.program[0].count == s.n_instr);
        for (size_t i = 0; i < s.n_instr; i++) {
            fuzz_check(s.instr[i].dest < s.n_register && s.instr[i].source[0] < s.n_register);
        }
    }
    tmx_stream_finish(&s);
    tmx_text_finish(&t);
}

/* Instruction traces of one SM. */
void fuzz_instructions(const char *path)
{
    static const struct tmx_memory memory = {
        .miss = 0.4, .latency_cycles = 300, .latency_variation = 0.3, .bandwidth = 0.1, .lines = 1.5};
    struct tmx_stream s = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_trace_file_read(&s, path, &memory, 1, &err), &err)) {
        fuzz_check(s.warps > 0 && s.warps_per_block > 0 && s.warps % s.warps_per_block == 0);
        tmx_stream_finish(&s);
    }
}

void fuzz_accelsim(const char *path)
{
    struct tmx_err err = {0};
    FILE *out = fopen("/dev/null", "wb");
    fuzz_check(out);
    (void)fuzz_reads(tmx_trace_from_accelsim(path, 48, out, &err), &err);
    fclose(out);
}

/* Nodes and batches of the job level: whichever the file is. */
void fuzz_jobs(const char *path)
{
    static struct tmx_job_data node, data; /* large */
    static struct tmx_job_batch batch;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    if (fuzz_reads(tmx_job_data_load(&node, path, NULL, &err), &err)) {
        fuzz_check(node.n_tmpl <= TMX_TEMPLATE_MAX);
    }
    tmx_job_data_finish(&node);
    memset(&data, 0, sizeof data);
    (void)fuzz_reads(tmx_job_batch_load(&data, path, &batch, &err), &err);
    tmx_job_data_finish(&data);
}

/* A run's configuration with all that it names, short of the thermal model. Every refusal has a message. */
void fuzz_run(const char *path)
{
    struct tmx_config *cfg = NULL;
    struct tmx_run *run = NULL;
    struct tmx_err err = {0};
    setenv("THERMIX_DATA", TMX_FUZZ_DATA, 0);
    setenv("THERMIX_CACHE_MIB", "0", 0);
    setenv("THERMIX_MAX_MINUTES", "0.005", 0); /* nothing that takes long is begun */
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, &err);
    st = st ? st : tmx_run_create(&run, tmx_config_root(cfg), &(struct tmx_run_how){.described = true}, &err);
    fuzz_check(st ? err.msg[0] != 0 : tmx_run_id(run)[0] != 0);
    tmx_run_destroy(run);
    tmx_config_close(cfg);
}

/* Studies: every point has a value for every key. */
void fuzz_study(const char *path)
{
    struct tmx_sweep s = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_sweep_load(&s, path, &err), &err)) {
        for (size_t p = 0; p < s.n_point; p++) {
            for (size_t k = 0; k < s.n_key; k++) {
                char text[TMX_REAL_SIZE];
                fuzz_check(tmx_scalar_plain(tmx_sweep_value(&s, p, k), text) != NULL);
            }
        }
    }
    tmx_sweep_finish(&s);
}

/* Databases of studies, of any program. */
void fuzz_database(const char *path)
{
    for (int which = TMX_RESULTS_POINTS; which <= TMX_RESULTS_ALL; which++) {
        struct tmx_result_set set = {0};
        struct tmx_err err = {0};
        if (fuzz_reads(tmx_results_load(&set, path, (enum tmx_results_which)which, &err), &err)) {
            for (size_t p = 0; p < set.n_point; p++) {
                fuzz_check(set.run_of_point[p] <= set.n_run);
            }
        }
        tmx_result_set_finish(&set);
    }
}
