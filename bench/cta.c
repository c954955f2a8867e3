/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Epochs of the contention model per second on one core, and how far results move with the length of an
 * epoch.   cta [KERNEL...]      default: the ten benchmarks of paper 000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "run/cta.h"

static const char *const policies[] = {"all", "tcs", "htcs"};
enum { N_POLICY = 3, ROUNDS = 5 };

struct result {
    double seconds, energy_j;
};

static enum tmx_status run(const struct tmx_cta_chip *chip, const struct tmx_memory_program *program,
                           const char *policy, double epoch, struct tmx_cta_outcome *out, struct tmx_err *err)
{
    const struct tmx_cta_options o = {.epoch_cycles = epoch, .seed = 1};
    const struct tmx_memory_program *list[] = {program};
    return tmx_cta_run_as(chip, list, 1, policy, &o, NULL, out, err);
}

/* Best of some rounds over all policies at short epochs. */
static enum tmx_status speed(const struct tmx_cta_chip *chip, const struct tmx_memory_program *program,
                             struct tmx_cta_outcome *out, struct tmx_err *err)
{
    double best = 0, epochs = 0, solves = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double steps = 0, solved = 0;
        const double begin_s = tmx_os_cpu_s();
        for (int p = 0; p < N_POLICY; p++) {
            const enum tmx_status st = run(chip, program, policies[p], 256, out, err);
            if (st) {
                return st;
            }
            steps += (double)out->result.epochs;
            solved += (double)out->result.solves;
        }
        const double rate = steps / (tmx_os_cpu_s() - begin_s);
        if (rate > best) {
            best = rate;
            epochs = steps;
            solves = solved;
        }
    }
    printf("%-8s %8.2f M epochs/s  (%.0f epochs of 256 cycles, %.0f latency solutions)\n", program->name,
           1e-6 * best, epochs, solves);
    return TMX_OK;
}

/* Largest change of time and energy against epochs of 256 cycles, in percent. */
static enum tmx_status independence(const struct tmx_cta_chip *chip, const struct tmx_memory_program *program,
                                    struct tmx_cta_outcome *out, struct tmx_err *err)
{
    double worst = 0;
    for (int p = 0; p < N_POLICY; p++) {
        struct result first = {0};
        for (int epoch = 256; epoch <= 8192; epoch *= 2) {
            const enum tmx_status st = run(chip, program, policies[p], epoch, out, err);
            if (st) {
                return st;
            }
            const struct result now = {out->result.seconds, out->energy.total_j};
            first = epoch == 256 ? now : first;
            worst = fmax(worst, 100 * fabs(now.seconds / first.seconds - 1));
            worst = fmax(worst, 100 * fabs(now.energy_j / first.energy_j - 1));
        }
    }
    printf("%-8s %8.5f %% largest change of time or energy, epochs of 256 to 8192 cycles\n", program->name,
           worst);
    return TMX_OK;
}

int main(int argc, char **argv)
{
    static const char *const ten[] = {"MUM",      "LBM", "KMN", "BFS",      "PVC",
                                      "CONV_tcs", "BLK", "BP",  "BINO_tcs", "DXTC"};
    const char *const *name = argc > 1 ? (const char *const *)&argv[1] : ten;
    const int n = argc > 1 ? argc - 1 : 10;
    struct tmx_cta_chip chip;
    struct tmx_err err = {0};
    struct tmx_memory_program *program = calloc(1, sizeof *program);
    struct tmx_cta_outcome *out = calloc(1, sizeof *out);
    enum tmx_status st = program && out ? TMX_OK : tmx_fail(&err, TMX_ENOMEM, "bench");
    st = st ? st : tmx_cta_chip_load(&chip, "tcs28", NULL, &err);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < n && !st; i++) {
            st = tmx_cta_program_load(program, name[i], &chip, 1, NULL, &err);
            st = st ? st : !part ? speed(&chip, program, out, &err) : independence(&chip, program, out, &err);
        }
    }
    if (st) {
        fprintf(stderr, "cta: %s\n", err.msg);
    }
    free(program);
    free(out);
    return tmx_status_exit_code(st);
}
