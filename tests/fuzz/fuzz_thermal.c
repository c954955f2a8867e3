/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Floorplans, traces and the files of HotSpot and 3D-ICE. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "core/floorplan/floorplan.h"
#include "tests/fuzz/fuzz.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/files/hotspot_lcf.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/files/ice.h"

enum { SMALL = 200 }; /* the check is quadratic */

void fuzz_flp(const char *path)
{
    struct tmx_floorplan fp, again;
    struct tmx_tiling tiling;
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size = 0;
    if (tmx_flp_read(path, &fp, &err) == TMX_OK && fp.n_unit < SMALL) {
        const enum tmx_status tight = tmx_floorplan_check(&fp, 0, &err),
                              loose = tmx_floorplan_check(&fp, 1, &err);
        fuzz_check(tight != TMX_OK || loose == TMX_OK);
        fuzz_check(tmx_floorplan_tiling(&fp, &tiling, &err) == TMX_OK);
        fuzz_check(isfinite(tiling.die_m2) && tiling.gap_m2 >= 0 && tiling.overlap_m2 >= 0);
        FILE *f = open_memstream(&text, &size);
        fuzz_check(f);
        tmx_flp_print(&fp, "again", f);
        fclose(f);
        err = (struct tmx_err){0}; /* of a check */
        fuzz_check(tmx_flp_read(fuzz_file(text, size), &again, &err) == TMX_OK);
        fuzz_check(again.n_unit == fp.n_unit);
        for (size_t i = 0; i < fp.n_unit; i++) {
            fuzz_check(strcmp(fp.unit[i].name, again.unit[i].name) == 0 &&
                       fp.unit[i].w_m == again.unit[i].w_m);
        }
        tmx_floorplan_finish(&again);
        free(text);
    }
    tmx_floorplan_finish(&fp);
}

void fuzz_trace(const char *path)
{
    struct tmx_trace t;
    struct tmx_err err = {0};
    bool npy;
    if (fuzz_reads(tmx_trace_read_any(path, &t, &npy, &err), &err)) {
        fuzz_check(t.n_row > 0 && t.n_column > 0);
        fuzz_check(tmx_trace_find(&t, t.name[0]) == 0);
        for (size_t i = 0; i < t.n_row * t.n_column; i++) {
            fuzz_check(isfinite(t.value[i]));
        }
    }
    tmx_trace_finish(&t);
}

void fuzz_hotspot_config(const char *path)
{
    struct tmx_hotspot_config cfg, again;
    struct tmx_err err = {0};
    char *text = NULL;
    size_t size = 0;
    tmx_hotspot_config_init(&cfg);
    tmx_hotspot_config_init(&again);
    if (tmx_hotspot_config_read(&cfg, path, TMX_HOTSPOT_CONFIG, &err) != TMX_OK) {
        fuzz_check(err.msg[0]);
        return;
    }
    FILE *f = open_memstream(&text, &size);
    fuzz_check(f);
    tmx_hotspot_config_print(&cfg, f);
    fclose(f);
    fuzz_check(tmx_hotspot_config_read(&again, fuzz_file(text, size), TMX_HOTSPOT_CONFIG, &err) == TMX_OK);
    fuzz_check(again.t_chip == cfg.t_chip && again.grid_rows == cfg.grid_rows &&
               again.fan.rpm == cfg.fan.rpm);
    free(text);
}

void fuzz_materials(const char *path)
{
    struct tmx_materials m;
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_materials_read(path, &m, &err), &err)) {
        for (size_t i = 0; i < m.n; i++) {
            fuzz_check(tmx_materials_find(&m, m.item[i].name) == &m.item[i]);
            fuzz_check(m.item[i].k_w_per_mk > 0 && m.item[i].p_j_per_m3k > 0);
        }
    }
    tmx_materials_finish(&m);
}

void fuzz_lcf(const char *path)
{
    struct tmx_material silicon = {.name = "silicon", .k_w_per_mk = 130, .p_j_per_m3k = 1.63e6};
    const struct tmx_materials materials = {.item = &silicon, .n = 1};
    struct tmx_lcf lcf;
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_lcf_read(path, &materials, &lcf, &err), &err)) {
        fuzz_check(lcf.n_layer > 0);
        for (size_t l = 0; l < lcf.n_layer; l++) {
            fuzz_check(lcf.layer[l].given && lcf.layer[l].l.thickness_m > 0 &&
                       lcf.layer[l].part[0].floorplan[0]);
            fuzz_check(lcf.layer[l].l.k_w_per_mk > 0.0099 && lcf.layer[l].l.k_w_per_mk < 5001);
        }
    }
    tmx_lcf_finish(&lcf);
}

/* A .steady file for two blocks on silicon and interface. */
void fuzz_temps(const char *path)
{
    char a[] = "A", b[] = "B";
    struct tmx_unit unit[] = {
        {.name = a, .w_m = 2e-3, .h_m = 4e-3, .heat_capacity_j_per_m3k = NAN},
        {.name = b, .x_m = 2e-3, .w_m = 2e-3, .h_m = 4e-3, .heat_capacity_j_per_m3k = NAN}};
    struct tmx_floorplan fp = {.unit = unit, .n_unit = 2};
    struct tmx_layer layer[] = {{.floorplan = &fp, .dissipates = true}, {.floorplan = &fp}};
    struct tmx_stack stack = {.floorplan = &fp,
                              .layer = layer,
                              .spec = {.layer = layer, .n_layer = 2, .rows = 4, .cols = 4, .init_k = 300}};
    static struct tmx_temps
        t; /* made once: it is most of the work, and a reader may be given one that was used */
    struct tmx_err err = {0};
    fuzz_check(t.n_layer > 0 || tmx_temps_init(&t, &stack, &err) == TMX_OK);
    if (fuzz_reads(tmx_temps_read(path, &t, &err), &err)) {
        for (size_t i = 0; i < t.first[t.n_layer]; i++) {
            fuzz_check(t.block_k[i] >= 200 && t.block_k[i] <= 5000);
        }
        tmx_temps_limit(&t, false, 350);
    }
}

void fuzz_ice(const char *path)
{
    struct tmx_floorplan fp = {0};
    struct tmx_err err = {0};
    (void)tmx_ice_is(path, false);
    (void)tmx_ice_is(path, true);
    if (fuzz_reads(tmx_ice_read_flp(path, &fp, NULL, NULL, &err), &err)) {
        for (size_t i = 0; i < fp.n_unit; i++) {
            fuzz_check(isfinite(fp.unit[i].x_m) && isfinite(fp.unit[i].w_m));
        }
    }
    tmx_floorplan_finish(&fp);
}

/* 3D-ICE's stacks, without the floorplans they name. */
void fuzz_ice_stack(const char *path)
{
    struct tmx_ice_stack s = {0};
    struct tmx_err err = {0};
    if (fuzz_reads(tmx_ice_stack_read(&s, path, &err), &err)) {
        fuzz_check(s.n_placed <= TMX_ICE_MAX_STACK && s.n_kind <= TMX_ICE_MAX_KIND);
        fuzz_check(isfinite(s.length_m) && isfinite(s.width_m) && isfinite(s.init_k));
    }
    tmx_ice_stack_finish(&s);
}
