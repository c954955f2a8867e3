/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/floorplan/chip.h"
#include "kernels/memory.h"
#include "power/chip_energy.h"
#include "tests/fuzz/fuzz.h"

/* A chip's file, by each of its readers. */
void fuzz_reader(const char *path)
{
    struct tmx_chip chip = {0};
    struct tmx_memory_chip memory = {0};
    struct tmx_chip_energy energy = {0};
    struct tmx_err err = {0};
    fuzz_check(tmx_chip_load(&chip, path, NULL, &err) == TMX_OK || err.msg[0]);
    tmx_chip_finish(&chip);
    fuzz_check(tmx_memory_chip_load(&memory, path, NULL, &err) == TMX_OK || err.msg[0]);
    fuzz_check(tmx_chip_energy_load(&energy, path, NULL, &err) == TMX_OK || err.msg[0]);
}
