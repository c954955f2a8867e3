/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/html_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "plots/base64.h"
#include "thermal/files/stack.h"
#include "thermal/portable.h"

enum { MAX_PATH = 1200, N_LEVEL = 5 };

static const double TOLERANCE_K = 5e-4; /* of the page's model: numbers agree within 1e-3 K */
static const double FASTEST = 0.5,
                    SLOWEST = 2;    /* sink to air at the ends of the fan's slider, of the run's */
static const double HEADROOM = 1.5; /* sliders reach this many times the run's highest power density */

struct chip {
    struct tmx_hotspot_config cfg;
    bool physical, fans; /* fans: the run had cooling of its own, which is not in the package's file */
    struct tmx_stack stack;
    double level_k_per_w[N_LEVEL];
    double *most_w; /* [n_unit] owned: where the sliders end */
};

/* Name of the two files' content. */
static enum tmx_status content(const char *config, const char *floorplan, bool physical,
                               char hex[TMX_HASH_HEX], struct tmx_err *err)
{
    const char *const path[] = {config, floorplan};
    struct tmx_hash *hash = NULL;
    enum tmx_status st = tmx_hash_create(&hash, err);
    for (size_t i = 0; i < 2 && !st; i++) {
        struct tmx_text_file text;
        st = tmx_text_load(&text, path[i], err);
        if (!st) {
            tmx_hash_add(hash, text.data, text.size);
        }
        tmx_text_finish(&text);
    }
    if (!st) {
        tmx_hash_add_text(hash, physical ? "physical" : "hotspot");
        tmx_hash_hex(hash, hex);
    }
    tmx_hash_destroy(hash);
    return st;
}

static enum tmx_status read_resolved(const char *dir, struct chip *c, struct tmx_err *err)
{
    char path[MAX_PATH];
    struct tmx_config *cfg = NULL;
    const char *network = "hotspot", *topology = "";
    snprintf(path, sizeof path, "%s/resolved.cfg", dir);
    enum tmx_status st = tmx_config_open(&cfg, path, err);
    st = st ? st : tmx_setting_word(tmx_config_root(cfg), "network", network, &network, err);
    st = st ? st : tmx_setting_word(tmx_config_root(cfg), "topology", topology, &topology, err);
    c->physical = !st && strcmp(network, "physical") == 0;
    c->fans = !st && topology[0] != '\0';
    tmx_config_close(cfg);
    return st;
}

static enum tmx_status read_chip(struct chip *c, const char *config, const char *floorplan,
                                 const struct tmx_history *h, struct tmx_err *err)
{
    const struct tmx_stack_options options = {.network =
                                                  c->physical ? TMX_NETWORK_PHYSICAL : TMX_NETWORK_HOTSPOT};
    const size_t n = h->floorplan.n_unit;
    tmx_hotspot_config_init(&c->cfg);
    enum tmx_status st = tmx_hotspot_config_set(&c->cfg, "f", floorplan, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    st = st ? st : tmx_hotspot_config_read(&c->cfg, config, TMX_HOTSPOT_CONFIG, err);
    st = st ? st : tmx_stack_create(&c->cfg, &options, NULL, &c->stack, err);
    if (!st && tmx_thermal_spec_units(&c->stack.spec) != n) {
        return tmx_fail_at(err, TMX_EUNSUPPORTED, config, 0, "%zu blocks take power, %zu are drawn",
                           tmx_thermal_spec_units(&c->stack.spec), n);
    }
    c->most_w = st ? NULL : calloc(n, sizeof *c->most_w);
    if (!st && !c->most_w) {
        return tmx_fail(err, TMX_ENOMEM, "%zu units", n);
    }
    double densest = 1e4; /* [W/m2] so that the sliders of an idle run move */
    for (size_t i = 0; !st && i < h->n_frame * n; i++) {
        densest = fmax(densest, h->unit_w[i] / tmx_unit_area_m2(&h->floorplan.unit[i % n]));
    }
    for (size_t u = 0; !st && u < n; u++) {
        c->most_w[u] = HEADROOM * densest * tmx_unit_area_m2(&h->floorplan.unit[u]);
    }
    for (size_t l = 0; !st && l < N_LEVEL; l++) {
        const double step = log(FASTEST / SLOWEST) * (double)l / (N_LEVEL - 1);
        c->level_k_per_w[l] = c->stack.spec.package.r_convec_k_per_w * SLOWEST * exp(step);
    }
    c->level_k_per_w[N_LEVEL / 2] = c->stack.spec.package.r_convec_k_per_w; /* to the last bit */
    c->stack.spec.r_convec_levels = c->level_k_per_w;
    c->stack.spec.n_level = N_LEVEL;
    c->stack.spec.power_density_w_per_m2 = HEADROOM * densest;
    return st;
}

/* Numbers as little-endian 32-bit floats, in base64. */
static json_t *floats(const double *v, size_t n)
{
    unsigned char *bytes = malloc(4 * n);
    char *text = NULL;
    for (size_t i = 0; bytes && i < n; i++) {
        const float f = (float)v[i];
        unsigned bits;
        memcpy(&bits, &f, sizeof bits);
        for (size_t b = 0; b < 4; b++) {
            bytes[4 * i + b] = (unsigned char)(bits >> 8 * b);
        }
    }
    text = bytes ? tmx_base64(bytes, 4 * n) : NULL;
    json_t *j = text ? json_string(text) : NULL;
    free(bytes);
    free(text);
    return j;
}

static json_t *reals(const double *v, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(a, json_real(v[i]));
    }
    return a;
}

/* NULL without memory. */
static json_t *as_json(const struct chip *c, const struct tmx_portable *p, const char *id)
{
    const size_t k = p->n_mode, n = p->n_unit;
    return json_pack("{s:s, s:b, s:b, s:i, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "id", id, "physical", c->physical, "fans", c->fans, "modes", (int)k, "ambient_k",
                     c->stack.spec.ambient_k, "init_k", c->stack.spec.init_k, "interval_s",
                     c->cfg.sampling_intvl, "error_k", p->error_k, "r_convec",
                     reals(c->level_k_per_w, N_LEVEL), "most_w", reals(c->most_w, n), "rate",
                     floats(p->rate, N_LEVEL * k), "vector", floats(p->vector, N_LEVEL * k * k), "back",
                     floats(p->back, N_LEVEL * k * k), "in", floats(p->in, n * k), "out",
                     floats(p->out, n * k), "direct", floats(p->direct, n * n), "one", floats(p->one, k));
}

static enum tmx_status add(json_t *models, struct chip *c, const char *config, const char *floorplan,
                           const struct tmx_history *h, const char *id, struct tmx_err *err)
{
    struct tmx_portable p = {0};
    enum tmx_status st = read_chip(c, config, floorplan, h, err);
    st = st ? st : tmx_portable_init(&p, &c->stack.spec, TOLERANCE_K, c->most_w, err);
    if (!st && json_array_append_new(models, as_json(c, &p, id))) { /* refuses NULL */
        st = tmx_fail(err, TMX_ENOMEM, "model of the page");
    }
    tmx_portable_finish(&p);
    return st;
}

enum tmx_status tmx_page_model(json_t *models, const char *dir, const struct tmx_history *h, size_t *which,
                               struct tmx_err *err)
{
    struct chip chip = {0};
    char config[MAX_PATH], floorplan[MAX_PATH], id[TMX_HASH_HEX];
    snprintf(config, sizeof config, "%s/thermal.config", dir);
    snprintf(floorplan, sizeof floorplan, "%s/%s", dir, h->floorplan_file);
    enum tmx_status st = read_resolved(dir, &chip, err);
    st = st ? st : content(config, floorplan, chip.physical, id, err);
    *which = 0;
    for (; !st && *which < json_array_size(models); ++*which) {
        const json_t *have = json_object_get(json_array_get(models, *which), "id");
        if (strcmp(json_string_value(have), id) == 0) {
            return TMX_OK;
        }
    }
    st = st ? st : add(models, &chip, config, floorplan, h, id, err);
    tmx_stack_finish(&chip.stack);
    free(chip.most_w);
    return st;
}
