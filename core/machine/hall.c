/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Air in front of a rack is warmer at its top than at its bottom; node j of n stands at height (j + 1/2) / n,
 * 0 the bottom. Between the points of a profile the temperature is linear, outside it is the last point's. */
#include "core/machine/hall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/base/opt.h"

enum { MAX_RACKS = 4096, MAX_NODES = 4096, MAX_POINTS = 64 };

struct point {
    double height, inlet_c;
};
static const struct tmx_opt point_opts[] = {
    TMX_ROW_REAL(point, height, "1", 0, 1, NAN, "in the rack, 0 its bottom, 1 its top"),
    TMX_ROW_REAL(point, inlet_c, "degC", -100, 100, NAN, "air in front of the rack"),
    {0},
};

struct rack {
    char name[TMX_NAME];
    int count, nodes;
    struct point profile[MAX_POINTS];
    size_t n_point;
};
static const struct tmx_opt rack_opts[] = {
    TMX_ROW_TEXT(rack, name, NULL, "name"),
    TMX_ROW_INT(rack, count, "1", 1, MAX_RACKS, 1, "this many alike: NAME0, NAME1, ..."),
    TMX_ROW_INT(rack, nodes, "1", 1, MAX_NODES, 1, "nodes above each other"),
    {0},
};

static enum tmx_status read_profile(struct rack *r, const struct tmx_topology *t, const struct tmx_setting *e,
                                    struct tmx_err *err)
{
    const struct tmx_setting *list, *member = tmx_setting_member(e, "profile");
    enum tmx_status st = tmx_setting_list(e, "profile", member ? 1 : 0, MAX_POINTS, &list, err);
    if (!st && member && t->inlet_c <= -TMX_ZERO_C) {
        st = tmx_fail_setting(err, member, "profile: give inlet_c too, the room air it differs from");
    }
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *p = tmx_setting_at(list, i);
        st = tmx_opt_read(point_opts, &r->profile[i], p, NULL, err);
        if (!st && i > 0 && r->profile[i].height <= r->profile[i - 1].height) {
            st = tmx_fail_setting(err, p, "profile: height %g after %g; expected points from the bottom up",
                                  r->profile[i].height, r->profile[i - 1].height);
        }
    }
    r->n_point = tmx_setting_length(list);
    return st;
}

static double inlet_c(const struct rack *r, double height)
{
    const struct point *p = r->profile;
    size_t i = 0;
    while (i < r->n_point && p[i].height < height) {
        i++;
    }
    if (i == 0 || i == r->n_point) {
        return p[i ? i - 1 : 0].inlet_c;
    }
    const double w = (height - p[i - 1].height) / (p[i].height - p[i - 1].height);
    return p[i - 1].inlet_c + w * (p[i].inlet_c - p[i - 1].inlet_c);
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

/* Copies behind each other, with their indices moved on. */
static enum tmx_status repeat(struct tmx_topology *t, size_t times, struct tmx_err *err)
{
    const size_t nc = t->n_card, nf = t->n_fan, ng = t->n_gpu, na = t->n_air;
    t->card = grow(t->card, nc, times, sizeof *t->card);
    t->fan = grow(t->fan, nf, times, sizeof *t->fan);
    t->gpu = grow(t->gpu, ng, times, sizeof *t->gpu);
    t->air = grow(t->air, na, times, sizeof *t->air);
    t->upstream_first = grow(t->upstream_first, ng, times, sizeof *t->upstream_first);
    if (!t->card || !t->fan || !t->gpu || !t->air || !t->upstream_first) {
        return tmx_fail(err, TMX_ENOMEM, "%zu nodes", times);
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

/* Sort the paths by where they lead; of one GPU they keep their order. */
static enum tmx_status index_air(struct tmx_topology *t, struct tmx_err *err)
{
    struct tmx_air *sorted = calloc(t->n_air + 1, sizeof *sorted);
    t->air0 = calloc(t->n_gpu + 2, sizeof *t->air0);
    if (!sorted || !t->air0) {
        free(sorted);
        return tmx_fail(err, TMX_ENOMEM, "%zu air paths", t->n_air);
    }
    for (size_t a = 0; a < t->n_air; a++) {
        t->air0[t->air[a].to + 2]++;
    }
    for (size_t g = 2; g < t->n_gpu + 2; g++) {
        t->air0[g] += t->air0[g - 1];
    }
    for (size_t a = 0; a < t->n_air; a++) { /* air0[g + 1] moves from the first of g to behind its last */
        sorted[t->air0[t->air[a].to + 1]++] = t->air[a];
    }
    free(t->air);
    t->air = sorted;
    return TMX_OK;
}

/* Where a rack's nodes stand in the arrays of the hall, and in one node. */
struct place {
    size_t node0, n_card, n_fan, n_gpu;
};

static enum tmx_status rename_part(char name[TMX_NAME], const char *before, const struct tmx_setting *e,
                                   struct tmx_err *err)
{
    char text[3 * TMX_NAME];
    const int n = snprintf(text, sizeof text, "%s.%s", before, name);
    if (n >= TMX_NAME) {
        return tmx_fail_setting(err, e, "\"%s\" is a longer name than %d letters", text, TMX_NAME - 1);
    }
    memcpy(name, text, (size_t)n + 1);
    return TMX_OK;
}

/* Names and inlet air of the nodes of one rack of the file. */
static enum tmx_status fill_rack(struct tmx_topology *t, const struct rack *r, const struct place *at,
                                 const struct tmx_setting *e, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    const size_t n = (size_t)r->count * (size_t)r->nodes;
    for (size_t i = 0; i < n && !st; i++) {
        const size_t k = at->node0 + i, rack = i / (size_t)r->nodes, node = i % (size_t)r->nodes;
        char before[2 * TMX_NAME], number[24] = "";
        if (r->count > 1) {
            snprintf(number, sizeof number, "%zu", rack);
        }
        snprintf(before, sizeof before, "%s%s.node%zu", r->name, number, node);
        for (size_t c = k * at->n_card; c < (k + 1) * at->n_card && !st; c++) {
            st = rename_part(t->card[c].name, before, e, err);
        }
        for (size_t f = k * at->n_fan; f < (k + 1) * at->n_fan && !st; f++) {
            st = rename_part(t->fan[f].name, before, e, err);
        }
        for (size_t g = k * at->n_gpu; g < (k + 1) * at->n_gpu && !st; g++) {
            st = rename_part(t->gpu[g].name, before, e, err);
            if (r->n_point > 0) {
                t->inlet_above_k[g] = inlet_c(r, ((double)node + 0.5) / (double)r->nodes) - t->inlet_c;
            }
        }
    }
    return st;
}

static enum tmx_status too_many(const struct tmx_setting *e, const struct tmx_topology *t, size_t n_node,
                                struct tmx_err *err)
{
    return n_node * t->n_gpu <= TMX_HALL_MAX_GPUS
               ? TMX_OK
               : tmx_fail_setting(err, e, "%zu nodes of %zu GPUs; at most %d GPUs", n_node, t->n_gpu,
                                  TMX_HALL_MAX_GPUS);
}

static enum tmx_status read_racks(const struct tmx_topology *t, const struct tmx_setting *list,
                                  struct rack *rack, size_t *n_node, bool *profiles, struct tmx_err *err)
{
    static const char *const also[] = {"profile", NULL};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < tmx_setting_length(list) && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_opt_read(rack_opts, &rack[i], e, also, err);
        st = st ? st : read_profile(&rack[i], t, e, err);
        for (size_t k = 0; k < i && !st; k++) {
            if (strcmp(rack[k].name, rack[i].name) == 0) {
                st = tmx_fail_setting(err, e, "two racks are called \"%s\"", rack[i].name);
            }
        }
        if (!st) {
            *n_node += (size_t)rack[i].count * (size_t)rack[i].nodes;
            *profiles = *profiles || rack[i].n_point > 0;
            st = too_many(e, t, *n_node, err);
        }
    }
    return st;
}

static enum tmx_status build_racks(struct tmx_topology *t, const struct tmx_setting *list, struct rack *rack,
                                   struct tmx_err *err)
{
    struct place at = {.n_card = t->n_card, .n_fan = t->n_fan, .n_gpu = t->n_gpu};
    size_t n_node = 0;
    bool profiles = false;
    enum tmx_status st = read_racks(t, list, rack, &n_node, &profiles, err);
    st = st ? st : repeat(t, n_node, err);
    if (!st && profiles) {
        t->inlet_above_k = calloc(t->n_gpu, sizeof *t->inlet_above_k);
        st = t->inlet_above_k ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
    }
    t->nodes = (int)n_node;
    for (size_t i = 0; i < tmx_setting_length(list) && !st; i++) {
        st = fill_rack(t, &rack[i], &at, tmx_setting_at(list, i), err);
        at.node0 += (size_t)rack[i].count * (size_t)rack[i].nodes;
        t->n_rack += (size_t)rack[i].count;
    }
    return st;
}

enum tmx_status tmx_hall_build(struct tmx_topology *t, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *nodes = tmx_setting_member(root, "nodes"), *racks, *member;
    member = tmx_setting_member(root, "racks");
    enum tmx_status st = tmx_setting_list(root, "racks", member ? 1 : 0, MAX_RACKS, &racks, err);
    if (!st && member && nodes) {
        st = tmx_fail_setting(err, nodes, "nodes and racks: the racks say how many nodes there are");
    }
    if (!st && member) {
        struct rack *rack = calloc(tmx_setting_length(racks), sizeof *rack);
        st = rack ? build_racks(t, racks, rack, err) : tmx_fail(err, TMX_ENOMEM, "racks");
        free(rack);
    } else if (!st) {
        st = too_many(nodes ? nodes : root, t, (size_t)t->nodes, err);
        st = st ? st : repeat(t, (size_t)t->nodes, err); /* also of one: arrays become as small as they may */
    }
    return st ? st : index_air(t, err);
}
