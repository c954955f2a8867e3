/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topology files: cards, fans, GPUs, air and links, each error with its line. */
#include "core/machine/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"

enum { MAX_PARTS = 4096 }; /* of one list of a topology */

static const char *const convections[] = {"fit", "package", NULL};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_topology, name, NULL, "name"),
    TMX_ROW_TEXT(tmx_topology, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_topology, source, "", "where the numbers are from"),
    {.key = "link",
     .type = TMX_OPT_TEXT,
     .offset = offsetof(struct tmx_topology, link_name),
     .unit = "1",
     .max = TMX_NAME,
     .def_text = "",
     .doc = "technology that joins the GPUs, one of links"},
    TMX_ROW_REAL(tmx_topology, inlet_c, "degC", -300, 200, -300,
                 "room air; -300: the ambient of the chip's package file"),
    TMX_ROW_INT(tmx_topology, nodes, "1", 1, 1024, 1, "this many equal nodes, independent of each other"),
    {0},
};
static const char *const root_lists[] = {"cards", "fans", "gpus", "air", "links", NULL};

static const struct tmx_opt card_opts[] = {
    TMX_ROW_TEXT(tmx_card, name, NULL, "name"),
    TMX_ROW_CHOICE(tmx_card, convection, convections, "fit",
                   "sink to air: a + b rpm^-fit_exponent, or the fan and fins of the package file"),
    TMX_ROW_REAL(tmx_card, fit_a_k_per_w, "K/W", 0, 10, 0.05, "a of the fit"),
    TMX_ROW_REAL(tmx_card, fit_b_k_per_w, "K/W", 0, 1e30, 111, "b of the fit, K/W at 1 rpm"),
    TMX_ROW_REAL(tmx_card, fit_exponent, "1", 0.05, 20, 0.8, "exponent of the fit: a + b rpm^-exponent"),
    TMX_ROW_REAL(tmx_card, still_k_per_w, "K/W", 1e-3, 100, 0.8, "sink to air with all fans stopped"),
    TMX_ROW_REAL(tmx_card, still_flow_m3_per_s, "m3/s", 1e-6, 10, 1e-3,
                 "air past the card with all fans stopped"),
    TMX_ROW_INT(tmx_card, levels, "1", 2, TMX_MAX_FAN_LEVELS, 32,
                "steps of the convection, stopped included"),
    {0},
};

struct named_fan {
    struct tmx_fan fan;
    char name[TMX_NAME], card[TMX_NAME];
};
static const struct tmx_opt fan_opts[] = {
    TMX_ROW_TEXT(named_fan, name, NULL, "name"),
    TMX_ROW_TEXT(named_fan, card, NULL, "card it sits on"),
    {0},
};
static const struct tmx_opt fan_numbers[] = {
    TMX_ROW_REAL(tmx_fan, min_rpm, "rpm", 0, 1e5, NAN, "slowest speed it turns at"),
    TMX_ROW_REAL(tmx_fan, max_rpm, "rpm", 1, 1e5, NAN, "full speed"),
    TMX_ROW_REAL(tmx_fan, power_w, "W", 0, 1000, NAN, "electrical power at full speed"),
    TMX_ROW_REAL(tmx_fan, flow_m3_per_s, "m3/s", 1e-6, 10, NAN, "air at full speed"),
    TMX_ROW_REAL(tmx_fan, noise_dba, "dBA", 0, 200, 45, "noise at full speed"),
    {0},
};
static const char *const fan_name_keys[] = {"name", "card", "curve", NULL};
static const char *const fan_number_keys[] = {"min_rpm",   "max_rpm", "power_w", "flow_m3_per_s",
                                              "noise_dba", "curve",   NULL};
static const struct tmx_opt point_opts[] = {
    TMX_ROW_REAL(tmx_fan_point, temp_c, "degC", -100, 300, NAN, "hottest chip of the card"),
    TMX_ROW_REAL(tmx_fan_point, speed, "1", 0, 1, NAN, "of max_rpm"),
    {0},
};

struct named_gpu {
    char name[TMX_NAME], chip[256], card[TMX_NAME];
    double power_cap_w;
};
static const struct tmx_opt gpu_opts[] = {
    TMX_ROW_TEXT(named_gpu, name, NULL, "name"),
    TMX_ROW_TEXT(named_gpu, chip, NULL, "chip: a folder of floorplans/, or a path to one"),
    TMX_ROW_TEXT(named_gpu, card, NULL, "card it sits on"),
    TMX_ROW_REAL(named_gpu, power_cap_w, "W", 0, 1e5, 0,
                 "its board's power limit; 0: as the chip's board is sold"),
    {0},
};

struct named_air {
    char from[TMX_NAME], to[TMX_NAME];
    double fraction;
};
static const struct tmx_opt air_opts[] = {
    TMX_ROW_TEXT(named_air, from, NULL, "GPU upstream"),
    TMX_ROW_TEXT(named_air, to, NULL, "GPU downstream"),
    TMX_ROW_REAL(named_air, fraction, "1", 0, 1, NAN, "of the upstream GPU's outlet air"),
    {0},
};

static const struct tmx_opt link_opts[] = {
    TMX_ROW_TEXT(tmx_link, name, NULL, "name"),
    TMX_ROW_REAL(tmx_link, bandwidth_gb_per_s, "GB/s", 0, 1e5, NAN, "usable in one direction; 0: unlimited"),
    TMX_ROW_REAL(tmx_link, latency_us, "us", 0, 1e5, NAN, "of one access from inside a kernel"),
    {0},
};

/* A list of the root with at least `least` elements; *n its length. */
static enum tmx_status list_of(const struct tmx_setting *root, const char *key, size_t least, size_t *n,
                               const struct tmx_setting **list, struct tmx_err *err)
{
    const enum tmx_status st = tmx_setting_list(root, key, least, MAX_PARTS, list, err);
    *n = tmx_setting_length(*list);
    return st;
}

static size_t find_card(const struct tmx_topology *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_card && strcmp(t->card[i].name, name) != 0) {
        i++;
    }
    return i;
}

static size_t find_gpu(const struct tmx_topology *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_gpu && strcmp(t->gpu[i].name, name) != 0) {
        i++;
    }
    return i;
}

static enum tmx_status read_cards(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    size_t n;
    enum tmx_status st = list_of(root, "cards", 1, &n, &list, err);
    t->card = st ? NULL : calloc(n, sizeof *t->card);
    if (!st && !t->card) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu cards", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_opt_read(card_opts, &t->card[i], e, NULL, err);
        if (!st && find_card(t, t->card[i].name) < t->n_card) {
            st = tmx_fail_setting(err, e, "two cards are called \"%s\"", t->card[i].name);
        }
        t->n_card = i + 1;
    }
    return st;
}

/* Members of a card must stand together: the i-th thing joins card `card`. */
static enum tmx_status join_card(const struct tmx_topology *t, const struct tmx_setting *e, const char *what,
                                 const char *name, size_t i, size_t card, size_t *first, size_t *count,
                                 struct tmx_err *err)
{
    if (card == t->n_card) {
        return tmx_fail_setting(err, e, "%s %s without a card: there is no such card", what, name);
    }
    if (*count > 0 && *first + *count != i) {
        return tmx_fail_setting(err, e, "%s %s: the %ss of one card must follow each other", what, name,
                                what);
    }
    *first = *count ? *first : i;
    ++*count;
    return TMX_OK;
}

static enum tmx_status read_gpus(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    size_t n;
    enum tmx_status st = list_of(root, "gpus", 1, &n, &list, err);
    t->gpu = st ? NULL : calloc(n, sizeof *t->gpu);
    if (!st && !t->gpu) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu GPUs", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct named_gpu g;
        st = tmx_opt_read(gpu_opts, &g, e, NULL, err);
        if (st) {
            return st;
        }
        const size_t card = find_card(t, g.card);
        struct tmx_card *c = &t->card[card < t->n_card ? card : 0];
        if (find_gpu(t, g.name) < t->n_gpu) {
            return tmx_fail_setting(err, e, "two GPUs are called \"%s\"", g.name);
        }
        st = join_card(t, e, "GPU", g.name, i, card, &c->gpu0, &c->n_gpu, err);
        memcpy(t->gpu[i].name, g.name, sizeof g.name);
        memcpy(t->gpu[i].chip, g.chip, sizeof g.chip);
        t->gpu[i].card = card;
        t->gpu[i].power_cap_w = g.power_cap_w;
        t->n_gpu = i + 1;
    }
    return st;
}

static enum tmx_status read_curve(struct tmx_fan *fan, const struct tmx_setting *e, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st =
        tmx_setting_list(e, "curve", tmx_setting_member(e, "curve") ? 1 : 0, TMX_MAX_CURVE, &list, err);
    const size_t n = tmx_setting_length(list);
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *p = tmx_setting_at(list, i);
        st = tmx_opt_read(point_opts, &fan->curve[i], p, NULL, err);
        if (st) {
            return st;
        }
        if (i > 0 && (fan->curve[i].temp_c <= fan->curve[i - 1].temp_c ||
                      fan->curve[i].speed < fan->curve[i - 1].speed)) {
            return tmx_fail_setting(err, p, "fan curve is not monotone: %g degC %g after %g degC %g",
                                    fan->curve[i].temp_c, fan->curve[i].speed, fan->curve[i - 1].temp_c,
                                    fan->curve[i - 1].speed);
        }
    }
    fan->n_curve = n;
    return st;
}

static enum tmx_status read_fans(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    size_t n;
    enum tmx_status st = list_of(root, "fans", 1, &n, &list, err);
    t->fan = st ? NULL : calloc(n, sizeof *t->fan);
    if (!st && !t->fan) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu fans", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct named_fan f = {0};
        st = tmx_opt_read(fan_opts, &f, e, fan_number_keys, err);
        st = st ? st : tmx_opt_read(fan_numbers, &f.fan, e, fan_name_keys, err);
        st = st ? st : read_curve(&f.fan, e, err);
        if (st) {
            return st;
        }
        if (f.fan.min_rpm > f.fan.max_rpm) {
            return tmx_fail_setting(err, e, "fan %s: min_rpm is above max_rpm", f.name);
        }
        const size_t card = find_card(t, f.card);
        struct tmx_card *c = &t->card[card < t->n_card ? card : 0];
        st = join_card(t, e, "fan", f.name, i, card, &c->fan0, &c->n_fan, err);
        memcpy(f.fan.name, f.name, sizeof f.name);
        f.fan.card = card;
        t->fan[i] = f.fan;
        t->n_fan = i + 1;
    }
    return st;
}

static enum tmx_status read_air(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    size_t n;
    enum tmx_status st = list_of(root, "air", 0, &n, &list, err);
    t->air = st ? NULL : calloc(n + 1, sizeof *t->air);
    if (!st && !t->air) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu air paths", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        struct named_air a;
        st = tmx_opt_read(air_opts, &a, e, NULL, err);
        if (st) {
            return st;
        }
        struct tmx_air *air = &t->air[i];
        *air = (struct tmx_air){find_gpu(t, a.from), find_gpu(t, a.to), a.fraction};
        if (air->from == t->n_gpu || air->to == t->n_gpu) {
            return tmx_fail_setting(err, e, "air: there is no GPU \"%s\"",
                                    air->from == t->n_gpu ? a.from : a.to);
        }
        double out = 0;
        for (size_t k = 0; k <= i; k++) {
            out += t->air[k].from == air->from ? t->air[k].fraction : 0;
        }
        if (out > 1 + 1e-9) {
            return tmx_fail_setting(err, e, "air: more than all of GPU %s's outlet air is handed on", a.from);
        }
        t->n_air = i + 1;
    }
    return st;
}

/* Order the GPUs so that air flows forward only; a path that cannot be ordered closes a loop. */
static enum tmx_status order_air(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    size_t *inflow = calloc(t->n_gpu, sizeof *inflow), n = 0;
    t->upstream_first = calloc(t->n_gpu, sizeof *t->upstream_first);
    if (!inflow || !t->upstream_first) {
        free(inflow);
        return tmx_fail(err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
    }
    for (size_t a = 0; a < t->n_air; a++) {
        inflow[t->air[a].to]++;
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        if (inflow[g] == 0) {
            t->upstream_first[n++] = g;
        }
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t a = 0; a < t->n_air; a++) {
            if (t->air[a].from == t->upstream_first[k] && --inflow[t->air[a].to] == 0) {
                t->upstream_first[n++] = t->air[a].to;
            }
        }
    }
    enum tmx_status st = TMX_OK;
    for (size_t a = 0; !st && a < t->n_air && n < t->n_gpu; a++) {
        if (inflow[t->air[a].to] > 0 && inflow[t->air[a].from] > 0) {
            const struct tmx_setting *list = tmx_setting_member(root, "air");
            st = tmx_fail_setting(err, tmx_setting_at(list, a), "air flows in a loop through GPUs %s and %s",
                                  t->gpu[t->air[a].from].name, t->gpu[t->air[a].to].name);
        }
    }
    free(inflow);
    return st;
}

/* Sort the paths by where they lead. */
static enum tmx_status index_air(struct tmx_topology *t, struct tmx_err *err)
{
    struct tmx_air *sorted = calloc(t->n_air + 1, sizeof *sorted);
    size_t n = 0;
    t->air0 = calloc(t->n_gpu + 1, sizeof *t->air0);
    if (!sorted || !t->air0) {
        free(sorted);
        return tmx_fail(err, TMX_ENOMEM, "%zu air paths", t->n_air);
    }
    for (size_t g = 0; g < t->n_gpu; g++) {
        t->air0[g] = n;
        for (size_t a = 0; a < t->n_air; a++) {
            if (t->air[a].to == g) {
                sorted[n++] = t->air[a];
            }
        }
    }
    t->air0[t->n_gpu] = n;
    free(t->air);
    t->air = sorted;
    return TMX_OK;
}

static enum tmx_status read_links(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list;
    size_t n;
    enum tmx_status st = list_of(root, "links", 0, &n, &list, err);
    t->link = st ? NULL : calloc(n + 1, sizeof *t->link);
    if (!st && !t->link) {
        st = tmx_fail(err, TMX_ENOMEM, "%zu links", n);
    }
    for (size_t i = 0; !st && i < n; i++) {
        st = tmx_opt_read(link_opts, &t->link[i], tmx_setting_at(list, i), NULL, err);
        t->n_link = i + 1;
    }
    if (!st && t->link_name[0] && !tmx_topology_link(t, t->link_name)) {
        const struct tmx_setting *s = tmx_setting_member(root, "link");
        st = tmx_fail_setting(err, s, "link = \"%s\": not one of links", t->link_name);
    }
    return st;
}

static enum tmx_status check_cards(const struct tmx_topology *t, const struct tmx_setting *root,
                                   struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(root, "cards");
    for (size_t c = 0; c < t->n_card; c++) {
        if (t->card[c].n_gpu == 0 || t->card[c].n_fan == 0) {
            return tmx_fail_setting(err, tmx_setting_at(list, c), "card %s has no %s", t->card[c].name,
                                    t->card[c].n_gpu ? "fan" : "GPU");
        }
    }
    return TMX_OK;
}

static void *grow(void *old, size_t n, size_t times, size_t size)
{
    char *p = calloc(n * times + 1, size);
    for (size_t i = 0; p && i < times; i++) {
        memcpy(p + i * n * size, old, n * size);
    }
    free(old);
    return p;
}

/* nodes > 1: copies behind each other, with their indices moved on. */
static enum tmx_status repeat(struct tmx_topology *t, struct tmx_err *err)
{
    const size_t times = (size_t)t->nodes, nc = t->n_card, nf = t->n_fan, ng = t->n_gpu, na = t->n_air;
    if (times == 1) {
        return TMX_OK;
    }
    t->card = grow(t->card, nc, times, sizeof *t->card);
    t->fan = grow(t->fan, nf, times, sizeof *t->fan);
    t->gpu = grow(t->gpu, ng, times, sizeof *t->gpu);
    t->air = grow(t->air, na, times, sizeof *t->air);
    t->upstream_first = grow(t->upstream_first, ng, times, sizeof *t->upstream_first);
    if (!t->card || !t->fan || !t->gpu || !t->air || !t->upstream_first) {
        return tmx_fail(err, TMX_ENOMEM, "%d nodes", t->nodes);
    }
    for (size_t i = 1; i < times; i++) {
        for (size_t c = i * nc; c < (i + 1) * nc; c++) {
            t->card[c].gpu0 += i * ng;
            t->card[c].fan0 += i * nf;
        }
        for (size_t f = i * nf; f < (i + 1) * nf; f++) {
            t->fan[f].card += i * nc;
        }
        for (size_t g = i * ng; g < (i + 1) * ng; g++) {
            t->gpu[g].card += i * nc;
            t->upstream_first[g] += i * ng;
        }
        for (size_t a = i * na; a < (i + 1) * na; a++) {
            t->air[a].from += i * ng;
            t->air[a].to += i * ng;
        }
    }
    t->n_card *= times;
    t->n_fan *= times;
    t->n_gpu *= times;
    t->n_air *= times;
    return TMX_OK;
}

enum tmx_status tmx_topology_load(struct tmx_topology *t, const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    *t = (struct tmx_topology){0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, err);
    if (!st) {
        const struct tmx_setting *root = tmx_config_root(cfg);
        st = tmx_opt_read(root_opts, t, root, root_lists, err);
        st = st ? st : read_cards(t, root, err);
        st = st ? st : read_gpus(t, root, err);
        st = st ? st : read_fans(t, root, err);
        st = st ? st : check_cards(t, root, err);
        st = st ? st : read_air(t, root, err);
        st = st ? st : order_air(t, root, err);
        st = st ? st : read_links(t, root, err);
        st = st ? st : repeat(t, err);
        st = st ? st : index_air(t, err);
    }
    tmx_config_close(cfg);
    return st;
}
