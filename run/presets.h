/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_PRESETS_H
#define TMX_RUN_PRESETS_H

/* Named compositions of policies, one per level: the policies of a paper's figures. */
struct tmx_preset {
    const char *name;
    const char *place, *mix, *dtm, *tb;
    const char *doc;
};
extern const struct tmx_preset tmx_presets[]; /* {0}-terminated */

const struct tmx_preset *tmx_preset_find(const char *name); /* NULL when there is none */

#endif
