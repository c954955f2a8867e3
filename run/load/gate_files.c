/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/load/gate_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/config.h"
#include "run/load/data.h"

const char *const tmx_gate_fits[] = {"convpg", "all", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_gate_chip, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_gate_chip, source, "", "where the numbers are from"),
    TMX_ROW_REAL(tmx_gate_chip, clock_hz, "Hz", 1e6, 1e11, NAN, "clock of the SM's issue"),
    {0},
};
static const struct tmx_opt leakage_opts[] = {
    TMX_ROW_REAL(tmx_gate_leakage, chip_w, "W", 0.001, 1000, NAN, "leakage of the chip"),
    TMX_ROW_REAL(tmx_gate_leakage, int_w, "W", 0, 1000, NAN, "of it: INT units"),
    TMX_ROW_REAL(tmx_gate_leakage, fp_w, "W", 0, 1000, NAN, "of it: FP units"),
    TMX_ROW_REAL(tmx_gate_leakage, sfu_w, "W", 0, 1000, 0, "of it: SFUs"),
    TMX_ROW_REAL(tmx_gate_leakage, static_share, "1", 0, 1, NAN, "leakage in total on-chip power"),
    {0},
};
static const char *const groups[] = {"sm", "gate", "leakage", "fit_convpg", "fit_all", NULL};

enum tmx_status tmx_gate_chip_load(struct tmx_gate_chip *c, const char *chip, const char *const *sets,
                                   size_t n_set, struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE], path[TMX_PATH_SIZE + 16];
    struct tmx_config *cfg = NULL;
    *c = (struct tmx_gate_chip){0};
    enum tmx_status st = tmx_data_find(TMX_DATA_CHIP, chip, folder, err);
    if (st) {
        return st;
    }
    snprintf(path, sizeof path, "%s/sm.cfg", folder);
    st = tmx_config_load(&cfg, path, sets, n_set, err);
    const struct tmx_setting *root = st ? NULL : tmx_config_root(cfg);
    st = st ? st : tmx_opt_read(root_opts, c, root, groups, err);
    st = st ? st : tmx_opt_read_group(tmx_sm_opts, &c->sm, root, "sm", NULL, err);
    st = st ? st : tmx_opt_read_group(tmx_gate_opts, &c->gate, root, "gate", NULL, err);
    st = st ? st : tmx_opt_read_group(leakage_opts, &c->leakage, root, "leakage", NULL, err);
    for (size_t i = 0; !st && i < TMX_GATE_FITS; i++) {
        char group[32];
        snprintf(group, sizeof group, "fit_%s", tmx_gate_fits[i]);
        st = tmx_opt_read_group(tmx_knob_opts, &c->fit[i], root, group, NULL, err);
    }
    tmx_config_close(cfg);
    return st;
}

/* The group of a kernel's file, or the name of the kernel whose group is meant (once: no chains). */
static enum tmx_status read_instructions(struct tmx_gate_kernel *k, const char *name, char *other,
                                         size_t size, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_config *cfg = NULL;
    const char *own_name = NULL;
    enum tmx_status st = tmx_data_find(TMX_DATA_KERNEL, name, path, err);
    st = st ? st : tmx_config_load(&cfg, path, NULL, 0, err);
    if (st) {
        return st;
    }
    const struct tmx_setting *group = tmx_config_find(cfg, "instructions");
    const char *text = group ? tmx_setting_text(group) : NULL;
    st = tmx_setting_word(tmx_config_root(cfg), "name", name, &own_name, err);
    snprintf(k->name, sizeof k->name, "%s", st ? name : own_name);
    if (st) {
        /* said */
    } else if (text && size > 0) {
        snprintf(other, size, "%s", text);
        st = tmx_setting_blame(group, tmx_data_find(TMX_DATA_KERNEL, other, path, err), err);
    } else if (text) {
        st = tmx_fail_setting(err, group, "instructions: kernel %s must have the group itself", k->name);
    } else {
        st = group
                 ? tmx_opt_read(tmx_instr_opts, &k->stats, group, NULL, err)
                 : tmx_fail_setting(err, tmx_config_root(cfg),
                                    "missing group \"instructions\": this kernel cannot run cycle by cycle");
        struct tmx_err why = {0};
        if (!st && tmx_instr_check(&k->stats, &why)) {
            st = tmx_fail_setting(err, group, "instructions: %s", why.msg);
        }
    }
    tmx_config_close(cfg);
    return st;
}

enum tmx_status tmx_gate_kernel_load(struct tmx_gate_kernel *k, const char *name, struct tmx_err *err)
{
    char other[sizeof k->name] = "";
    *k = (struct tmx_gate_kernel){0};
    const enum tmx_status st = read_instructions(k, name, other, sizeof other, err);
    if (st || !*other) {
        return st;
    }
    struct tmx_gate_kernel from = {0};
    const enum tmx_status found = read_instructions(&from, other, NULL, 0, err);
    k->stats = from.stats;
    return found;
}

enum tmx_status tmx_gate_kernel_stream(const struct tmx_gate_kernel *k, const struct tmx_stream_knobs *knobs,
                                       uint64_t seed, struct tmx_stream *s, struct tmx_err *err)
{
    for (const char *c = k->name; *c; c++) {
        seed = tmx_mix64(seed, (uint64_t)(unsigned char)*c, 1);
    }
    return tmx_stream_generate(s, &k->stats, knobs, seed, err);
}

double tmx_gate_chip_saved(const struct tmx_gate_leakage *l, double int_saved, double fp_saved)
{
    return l->static_share * (l->int_w * int_saved + l->fp_w * fp_saved) / l->chip_w;
}
