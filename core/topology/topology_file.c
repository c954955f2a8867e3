/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topology files: cards, fans, GPUs, air and links, each error with its line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/curve.h"
#include "base/opt.h"
#include "base/setting.h"
#include "core/topology/topology.h"

/* Many nodes: what a topology file says of one is repeated, node behind node, rack behind rack. */

enum { TMX_HALL_MAX_GPUS = 65536 };

enum { MAX_PARTS = 4096 }; /* of one kind in a node */
#define MAX_FIT_ERROR 0.1  /* of a fan's points; assumed */

static const char *const convections[] = {"fit", "package", "plate", "channels", NULL};

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
    TMX_ROW_REAL(tmx_topology, inlet_rise_k_per_s, "K/s", -10, 10, 0,
                 "room air warms by this from the end of the warm-up on"),
    TMX_ROW_INT(tmx_topology, nodes, "1", 1, 1024, 1, "this many equal nodes, independent of each other"),
    {0},
};

struct fit_point {
    double rpm, k_per_w;
};

struct counted_card {
    struct tmx_card card; /* first: the rows of tmx_card fit */
    int count;
    struct fit_point point[TMX_MAX_FAN_POINTS];
    size_t n_point;
};
static const struct tmx_opt card_opts[] = {
    TMX_ROW_INT(counted_card, count, "1", 1, MAX_PARTS, 1, "number of equal copies: NAME0, NAME1, ..."),
    TMX_ROW_TEXT(tmx_card, name, NULL, "name"),
    TMX_ROW_CHOICE(tmx_card, convection, convections, "fit",
                   "sink to air: a + b rpm^-fit_exponent, the fan and fins of the package file, its cold "
                   "plate, or its layers of channels, the fans being pumps"),
    TMX_ROW_REAL(tmx_card, fit_a_k_per_w, "K/W", 0, 10, 0.05, "a of the fit"),
    TMX_ROW_REAL(tmx_card, fit_b_k_per_w, "K/W", 0, 1e30, 111, "b of the fit, K/W at 1 rpm"),
    TMX_ROW_REAL(tmx_card, fit_exponent, "1", 0.05, 20, 0.8, "exponent of the fit: a + b rpm^-exponent"),
    TMX_ROW_REAL(tmx_card, still_k_per_w, "K/W", 1e-3, 100, 0.8, "sink to air with all fans stopped"),
    TMX_ROW_REAL(
        tmx_card, still_flow_m3_per_s, "m3/s", 1e-6, 10, 1e-3,
        "air past the card with all fans stopped; coolant in channels: at most a thousandth of full flow"),
    TMX_ROW_REAL(tmx_card, coolant_j_per_m3k, "J/(m3 K)", 1, 1e9, 1.059 * 1007,
                 "heat capacity of what flows past: air at 45 degC, water 4.146e6"),
    TMX_ROW_INT(tmx_card, levels, "1", 2, TMX_MAX_FAN_LEVELS, 32,
                "number of convection levels, including stopped fans"),
    {0},
};

static const struct tmx_opt fit_point_opts[] = {
    TMX_ROW_REAL(fit_point, rpm, "rpm", 1, 1e5, NAN, "mean speed of the card's fans"),
    TMX_ROW_REAL(fit_point, k_per_w, "K/W", 1e-6, 100, NAN, "sink to air at this speed"),
    {0},
};
static const struct tmx_keys card_inner[] = {
    {TMX_KEYS_LIST(counted_card, "points", point, n_point, fit_point_opts, 2, TMX_MAX_FAN_POINTS),
     .optional = true},
    {0},
};

struct part { /* a fan or a GPU of the file */
    union {   /* first: their rows fit; both begin with a name */
        struct tmx_fan fan;
        struct tmx_topology_gpu gpu;
    };
    char card[TMX_NAME];
    int count;
};
static const struct tmx_opt fan_opts[] = {
    TMX_ROW_TEXT(tmx_fan, name, NULL, "name"),
    TMX_ROW_TEXT(part, card, NULL, "card it sits on; of a card with count: on each"),
    TMX_ROW_INT(part, count, "1", 1, MAX_PARTS, 1, "number of equal copies on the card"),
    TMX_ROW_REAL(tmx_fan, min_rpm, "rpm", 0, 1e5, NAN, "slowest speed it turns at"),
    TMX_ROW_REAL(tmx_fan, max_rpm, "rpm", 1, 1e5, NAN, "full speed"),
    TMX_ROW_REAL(tmx_fan, power_w, "W", 0, 1000, NAN, "electrical power at full speed"),
    TMX_ROW_REAL(
        tmx_fan, heat_share, "1", 0, 1, 1,
        "share of the fan's power that heats the air of its card's GPUs; the rest leaves behind them"),
    TMX_ROW_REAL(tmx_fan, flow_m3_per_s, "m3/s", 1e-12, 10, NAN, "air or coolant at full speed"),
    TMX_ROW_REAL(tmx_fan, efficiency, "1", 0.01, 1, 1,
                 "of a pump of channels: pressure drop times flow, of the watts it takes for them"),
    TMX_ROW_REAL(tmx_fan, noise_dba, "dBA", 0, 200, 45, "noise at full speed; 0: unknown"),
    TMX_ROW_BOOL(tmx_fan, stand_in, 0,
                 "stand-in for fans that were not measured; its speed appears in no table"),
    {0},
};
static const struct tmx_opt point_opts[] = {
    TMX_ROW_REAL(tmx_fan_point, temp_c, "degC", -100, 300, NAN, "hottest chip of the card"),
    TMX_ROW_REAL(tmx_fan_point, speed, "1", 0, 1, NAN, "of max_rpm"),
    {0},
};

static const struct tmx_keys fan_inner[] = {
    {TMX_KEYS_LIST(tmx_fan, "curve", curve, n_curve, point_opts, 1, TMX_MAX_CURVE), .optional = true,
     .rises = "temp_c"},
    {0},
};

static const struct tmx_opt gpu_opts[] = {
    TMX_ROW_TEXT(tmx_topology_gpu, name, NULL, "name"),
    TMX_ROW_NAME(tmx_topology_gpu, chip, NULL, "chip: a folder of floorplans/, or a path to one"),
    TMX_ROW_TEXT(part, card, NULL, "card it sits on; of a card with count: on each"),
    TMX_ROW_INT(part, count, "1", 1, MAX_PARTS, 1, "number of equal copies on the card"),
    TMX_ROW_REAL(tmx_topology_gpu, power_cap_w, "W", 0, 1e5, 0,
                 "its board's power limit; 0: as the chip's board is sold"),
    TMX_ROW_REAL(tmx_topology_gpu, inlet_above_k, "K", -60, 60, 0,
                 "the air in front of it, or what its sensor shows, above inlet_c"),
    {0},
};

struct named_air {
    char from[TMX_NAME], to[TMX_NAME];
    double fraction, heat_w;
    int count;
};
static const struct tmx_opt air_opts[] = {
    TMX_ROW_TEXT(named_air, from, NULL, "GPU upstream"),
    TMX_ROW_TEXT(named_air, to, NULL, "GPU downstream"),
    TMX_ROW_REAL(named_air, fraction, "1", 0, 1, NAN, "of the upstream GPU's outlet air"),
    TMX_ROW_REAL(named_air, heat_w, "W", 0, 1e5, 0, "heat that other parts on the way add to the air"),
    TMX_ROW_INT(named_air, count, "1", 1, MAX_PARTS, 1, "this many paths, each between the next GPUs"),
    {0},
};

static const struct tmx_opt link_opts[] = {
    TMX_ROW_TEXT(tmx_link, name, NULL, "name"),
    TMX_ROW_REAL(tmx_link, bandwidth_gb_per_s, "GB/s", 0, 1e5, NAN, "usable in one direction; 0: unlimited"),
    TMX_ROW_REAL(tmx_link, latency_us, "us", 0, 1e5, NAN, "of one access from inside a kernel"),
    {0},
};

static const struct tmx_opt host_opts[] = {
    TMX_ROW_REAL(tmx_host, idle_w, "W", 0, 1e5, 0, "of a node beside GPUs and fans, always"),
    TMX_ROW_REAL(tmx_host, active_w, "W", 0, 1e5, 0, "on top while all its GPUs work"),
    {0},
};
static const struct tmx_opt supply_opts[] = {
    TMX_ROW_REAL(tmx_supply_point, load_w, "W", 0, 1e6, NAN, "behind the supply of a node"),
    TMX_ROW_REAL(tmx_supply_point, efficiency, "1", 0.1, 1, NAN, "of the supply at this load"),
    {0},
};
static const struct tmx_keys host_inner[] = {
    {TMX_KEYS_LIST(tmx_host, "supply", supply, n_supply, supply_opts, 0, TMX_MAX_SUPPLY), .rises = "load_w"},
    {0},
};

enum { MAX_RACKS = 4096, MAX_NODES = 4096, MAX_POINTS = 64 };

struct point {
    double height, inlet_c;
};
static const struct tmx_opt profile_point_opts[] = {
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
    TMX_ROW_INT(rack, count, "1", 1, MAX_RACKS, 1, "number of equal copies: NAME0, NAME1, ..."),
    TMX_ROW_INT(rack, nodes, "1", 1, MAX_NODES, 1, "nodes above each other"),
    {0},
};
static const struct tmx_keys rack_inner[] = {
    {TMX_KEYS_LIST(rack, "profile", profile, n_point, profile_point_opts, 1, MAX_POINTS), .optional = true,
     .rises = "height"},
    {0},
};

struct file { /* as it is written */
    struct tmx_topology t;
    struct counted_card *card;
    struct part *fan, *gpu;
    struct named_air *air;
    struct rack *rack;
    size_t n_card, n_fan, n_gpu, n_air, n_rack;
};
static const struct tmx_keys root_inner[] = {
    {TMX_KEYS_LIST(file, "cards", card, n_card, card_opts, 1, MAX_PARTS), .inner = card_inner, .owned = true},
    {TMX_KEYS_LIST(file, "fans", fan, n_fan, fan_opts, 1, MAX_PARTS), .inner = fan_inner, .owned = true},
    {TMX_KEYS_LIST(file, "gpus", gpu, n_gpu, gpu_opts, 1, MAX_PARTS), .owned = true},
    {TMX_KEYS_LIST(file, "air", air, n_air, air_opts, 0, MAX_PARTS), .owned = true},
    {TMX_KEYS_LIST(file, "links", t.link, t.n_link, link_opts, 0, MAX_PARTS), .owned = true, .name = "name"},
    {TMX_KEYS_LIST(file, "racks", rack, n_rack, rack_opts, 1, MAX_RACKS), .inner = rack_inner, .owned = true,
     .optional = true, .name = "name"},
    {.group = "host", .opts = host_opts, .inner = host_inner, .offset = offsetof(struct file, t.host)},
    TMX_KEYS("spread", NULL),
    {0},
};
const struct tmx_keys tmx_topology_keys[] = {{.group = "", .opts = root_opts, .inner = root_inner}, {0}};

/* A card of the file: one, or count alike. */
struct pattern {
    char name[TMX_NAME];
    size_t card0, n;
};

struct reader {
    struct tmx_topology *t;
    const struct file *file;
    const struct tmx_setting *root;
    struct pattern *pattern; /* [n_pattern] */
    size_t n_pattern;
    size_t *air_entry; /* [n_air] the element of the file that a path is from */
    struct tmx_arena scratch;
    struct tmx_err err;
};

static size_t find_gpu(const struct tmx_topology *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_gpu && strcmp(t->gpu[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* The cards that a name means: all of a pattern, or one. n 0: none. */
static struct pattern find_pattern(const struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_pattern; i++) {
        if (strcmp(r->pattern[i].name, name) == 0) {
            return r->pattern[i];
        }
    }
    size_t card = 0;
    while (card < r->t->n_card && strcmp(r->t->card[card].name, name) != 0) {
        card++;
    }
    return (struct pattern){.card0 = card, .n = card < r->t->n_card};
}

/* NAME, or among several NAME and its number. */
static void number_name(char name[TMX_NAME], const char *base, size_t i, size_t n,
                        const struct tmx_setting *e, struct tmx_err *err)
{
    char number[24] = "";
    if (n > 1) {
        snprintf(number, sizeof number, "%zu", i);
    }
    if (snprintf(name, TMX_NAME, "%s%s", base, number) >= TMX_NAME) {
        tmx_error_setting(err, e, "name \"%s\" is too long with its number", base);
    }
}

/* a and b >= 0 of a + b rpm^-exponent with the least sum of squares of relative errors at the points; returns
 * that sum. */
static double fit_line(const struct fit_point *p, size_t n, double exponent, double *a, double *b)
{
    double uu = 0, ux = 0, xx = 0, u = 0, x = 0, sum = 0; /* 1/k and rpm^-m/k against 1 */
    for (size_t i = 0; i < n; i++) {
        const double w = 1 / p[i].k_per_w, v = pow(p[i].rpm / p[0].rpm, -exponent) / p[i].k_per_w;
        uu += w * w;
        ux += w * v;
        xx += v * v;
        u += w;
        x += v;
    }
    const double det = uu * xx - ux * ux;
    *a = det > 1e-12 * uu * xx ? (u * xx - x * ux) / det : 0;
    *a = fmax(*a, 0);
    *b = fmax((x - *a * ux) / xx, 0);
    for (size_t i = 0; i < n; i++) {
        const double e = (*a + *b * pow(p[i].rpm / p[0].rpm, -exponent)) / p[i].k_per_w - 1;
        sum += e * e;
    }
    *b *= pow(p[0].rpm, exponent);
    return sum;
}

/* The points of a card's data sheet: two give a and b at the file's exponent, more give the exponent, too. */
static void fit_card(const struct counted_card *of, struct tmx_card *c, const struct tmx_setting *e,
                     struct tmx_err *err)
{
    const struct fit_point *p = of->point;
    const struct tmx_setting *list = tmx_setting_member(e, "points"),
                             *given = tmx_setting_member(e, "fit_a_k_per_w");
    const size_t n = of->n_point;
    const struct tmx_setting *idle =
        tmx_opt_given(card_opts, of, "fit_a_k_per_w fit_b_k_per_w fit_exponent", e);
    if (idle && c->convection != TMX_CONVECTION_FIT) {
        tmx_error_setting(err, idle, "card %s: %s belongs to convection = \"fit\"", c->name,
                          tmx_setting_name(idle));
    }
    given = given ? given : tmx_setting_member(e, "fit_b_k_per_w");
    given = given || n == 2 ? given : tmx_setting_member(e, "fit_exponent");
    if (n == 0) {
        return;
    }
    if (given || c->convection != TMX_CONVECTION_FIT) {
        tmx_error_setting(err, given ? given : list,
                          given ? "card %s: %s follows from the points; give one of them"
                                : "card %s: points belong to convection = \"fit\"",
                          c->name, given ? tmx_setting_name(given) : "");
    }
    for (size_t i = 1; i < n; i++) {
        if (p[i].rpm <= p[i - 1].rpm || p[i].k_per_w >= p[i - 1].k_per_w) {
            tmx_error_setting(err, tmx_setting_at(list, i),
                              "card %s: %g rpm with %g K/W after %g rpm with %g K/W: the speed must rise and "
                              "the resistance fall",
                              c->name, p[i].rpm, p[i].k_per_w, p[i - 1].rpm, p[i - 1].k_per_w);
        }
    }
    double low = n > 2 ? 0.05 : c->fit_exponent, high = n > 2 ? 4 : c->fit_exponent, a, b;
    for (int i = 0; i < 100 && high - low > 1e-9; i++) { /* thirds: the sum has one valley */
        const double third = (high - low) / 3;
        const bool left = fit_line(p, n, low + third, &a, &b) < fit_line(p, n, high - third, &a, &b);
        low += left ? 0 : third;
        high -= left ? third : 0;
    }
    c->fit_exponent = (low + high) / 2;
    (void)fit_line(p, n, c->fit_exponent, &c->fit_a_k_per_w, &c->fit_b_k_per_w);
    c->n_point = n;
    c->fit_error = 0;
    for (size_t i = 0; i < n; i++) {
        const double off =
            (c->fit_a_k_per_w + c->fit_b_k_per_w * pow(p[i].rpm, -c->fit_exponent)) / p[i].k_per_w - 1;
        if (fabs(off) >= fabs(c->fit_error)) {
            c->fit_error = off;
            c->fit_error_rpm = p[i].rpm;
        }
    }
    if (fabs(c->fit_error) > MAX_FIT_ERROR) {
        tmx_error_setting(err, list,
                          "card %s: the points do not follow a + b rpm^-m: the best fit, %.4g + %.4g "
                          "rpm^-%.3g K/W, is %.0f %% off at %g rpm; leave out points that fans do not reach",
                          c->name, c->fit_a_k_per_w, c->fit_b_k_per_w, c->fit_exponent, 100 * c->fit_error,
                          c->fit_error_rpm);
    }
}

static void add_cards(struct reader *r)
{
    struct tmx_topology *t = r->t;
    for (size_t i = 0; !r->err.code && i < r->file->n_card; i++) {
        const struct tmx_setting *e = tmx_setting_at(tmx_setting_member(r->root, "cards"), i);
        const struct counted_card *of = &r->file->card[i];
        struct tmx_card c = of->card;
        struct pattern p = {.card0 = t->n_card};
        memcpy(p.name, c.name, sizeof p.name);
        fit_card(of, &c, e, &r->err);
        if (of->count > 1 && find_pattern(r, p.name).n > 0) {
            tmx_error_setting(&r->err, e, "two cards are called \"%s\"", p.name);
        }
        for (; !r->err.code && p.n < (size_t)of->count; p.n++) {
            number_name(c.name, p.name, p.n, (size_t)of->count, e, &r->err);
            if (t->n_card == MAX_PARTS) {
                tmx_error_setting(&r->err, e, "more than %d cards in one node", MAX_PARTS);
            } else if (find_pattern(r, c.name).n > 0) {
                tmx_error_setting(&r->err, e, "two cards are called \"%s\"", c.name);
            } else {
                t->card[t->n_card++] = c;
            }
        }
        r->pattern[r->n_pattern++] = p;
    }
}

/* Members of a card must stand together: the i-th of its kind joins it. */
static void join_card(const struct tmx_setting *e, const char *what, const char *name, size_t i,
                      size_t *first, size_t *count, struct tmx_err *err)
{
    if (*count > 0 && *first + *count != i) {
        tmx_error_setting(err, e, "%s %s: the %ss of one card must follow each other", what, name, what);
    }
    *first = *count ? *first : i;
    ++*count;
}

static void add_fan(struct reader *r, const struct part *part, const char *name, size_t card,
                    const struct tmx_setting *e)
{
    struct tmx_fan *f = &r->t->fan[r->t->n_fan];
    *f = part->fan;
    const struct tmx_fan_point *p = f->curve;
    for (size_t i = 1; i < f->n_curve; i++) {
        if (p[i].speed < p[i - 1].speed) {
            tmx_error_setting(&r->err, tmx_setting_at(tmx_setting_member(e, "curve"), i),
                              "fan curve is not monotone: %g degC %g after %g degC %g", p[i].temp_c,
                              p[i].speed, p[i - 1].temp_c, p[i - 1].speed);
        }
    }
    if (f->efficiency != 1 && r->t->card[card].convection != TMX_CONVECTION_CHANNELS) {
        tmx_error_setting(&r->err, e, "fan %s: efficiency is of a pump of channels", f->name);
    }
    if (f->min_rpm > f->max_rpm) {
        tmx_error_setting(&r->err, e, "fan %s: min_rpm is above max_rpm", f->name);
    }
    join_card(e, "fan", name, r->t->n_fan++, &r->t->card[card].fan0, &r->t->card[card].n_fan, &r->err);
    f->card = card;
    memcpy(f->name, name, TMX_NAME);
}

static void add_gpu(struct reader *r, const struct part *part, const char *name, size_t card,
                    const struct tmx_setting *e)
{
    struct tmx_topology_gpu *g = &r->t->gpu[r->t->n_gpu];
    if (find_gpu(r->t, name) < r->t->n_gpu) {
        tmx_error_setting(&r->err, e, "two GPUs are called \"%s\"", name);
    }
    join_card(e, "GPU", name, r->t->n_gpu++, &r->t->card[card].gpu0, &r->t->card[card].n_gpu, &r->err);
    *g = part->gpu;
    memcpy(g->name, name, TMX_NAME);
    g->file = tmx_setting_file(e);
    g->line = tmx_setting_line(e);
    g->card = card;
}

/* Entries that follow one another and name the same card or cards: on each, all of them in their order. */
static void add_parts(struct reader *r, bool fans)
{
    const struct tmx_setting *list = tmx_setting_member(r->root, fans ? "fans" : "gpus");
    const struct part *part = fans ? r->file->fan : r->file->gpu;
    const size_t n = fans ? r->file->n_fan : r->file->n_gpu, *n_all = fans ? &r->t->n_fan : &r->t->n_gpu;
    for (size_t first = 0, end; !r->err.code && first < n; first = end) {
        const struct pattern p = find_pattern(r, part[first].card);
        for (end = first + 1; end < n && strcmp(part[end].card, part[first].card) == 0; end++) {
        }
        if (p.n == 0) {
            tmx_error_setting(&r->err, tmx_setting_at(list, first),
                              "%s %s without a card: there is no such card", fans ? "fan" : "GPU",
                              part[first].fan.name);
        }
        for (size_t k = 0; k < p.n * (end - first); k++) {
            const size_t c = k / (end - first), i = first + k % (end - first), count = (size_t)part[i].count;
            const struct tmx_setting *e = tmx_setting_at(list, i);
            for (size_t j = c * count; j < (c + 1) * count && !r->err.code; j++) {
                char name[TMX_NAME] = "";
                if (*n_all == MAX_PARTS) {
                    tmx_error_setting(&r->err, e, "more than %d %s in one node", MAX_PARTS,
                                      fans ? "fans" : "GPUs");
                    return;
                }
                number_name(name, part[i].fan.name, j, p.n * count, e, &r->err);
                if (!r->err.code) {
                    (fans ? add_fan : add_gpu)(r, &part[i], name, p.card0 + c, e);
                }
            }
        }
    }
}

static void add_paths(struct reader *r)
{
    struct tmx_topology *t = r->t;
    for (size_t i = 0; !r->err.code && i < r->file->n_air; i++) {
        const struct tmx_setting *e = tmx_setting_at(tmx_setting_member(r->root, "air"), i);
        const struct named_air *a = &r->file->air[i];
        const size_t from = find_gpu(t, a->from), to = find_gpu(t, a->to), last = (size_t)a->count - 1;
        if (from == t->n_gpu || to == t->n_gpu) {
            tmx_error_setting(&r->err, e, "air: there is no GPU \"%s\"", from == t->n_gpu ? a->from : a->to);
        } else if ((from > to ? from : to) + last >= t->n_gpu) {
            tmx_error_setting(&r->err, e, "air: count = %d goes beyond the last GPU, %s", a->count,
                              t->gpu[t->n_gpu - 1].name);
        }
        for (size_t k = 0; k <= last && !r->err.code; k++) {
            double out = a->fraction;
            bool again = false;
            for (size_t other = 0; other < t->n_air; other++) {
                const bool leaves = t->air[other].from == from + k;
                out += leaves ? t->air[other].fraction : 0;
                again = again || (leaves && t->air[other].to == to + k);
            }
            if (out > 1 + 1e-9) {
                tmx_error_setting(&r->err, e, "air: the paths take more than all of GPU %s's outlet air",
                                  t->gpu[from + k].name);
            } else if (again) {
                tmx_error_setting(&r->err, e, "air: the path from GPU %s to %s again", t->gpu[from + k].name,
                                  t->gpu[to + k].name);
            } else if (t->n_air == MAX_PARTS) {
                tmx_error_setting(&r->err, e, "more than %d air paths in one node", MAX_PARTS);
            } else {
                r->air_entry[t->n_air] = i;
                t->air[t->n_air++] = (struct tmx_air){from + k, to + k, a->fraction, a->heat_w};
            }
        }
    }
}

/* Order the GPUs so that air flows forward only; a path that cannot be ordered closes a loop. */
static void order_air(struct reader *r)
{
    struct tmx_topology *t = r->t;
    size_t *inflow, n = 0;
    if (r->err.code || !TMX_TAKE(&r->scratch, inflow, t->n_gpu) ||
        !TMX_TAKE(&r->scratch, t->upstream_first, t->n_gpu)) {
        return;
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
    for (size_t a = 0; a < t->n_air && n < t->n_gpu; a++) {
        if (inflow[t->air[a].to] > 0 && inflow[t->air[a].from] > 0) {
            tmx_error_setting(&r->err, tmx_setting_at(tmx_setting_member(r->root, "air"), r->air_entry[a]),
                              "air flows in a loop through GPUs %s and %s", t->gpu[t->air[a].from].name,
                              t->gpu[t->air[a].to].name);
        }
    }
}

/* So many copies behind each other, kept as long as the topology. */
static void *copies(struct tmx_topology *t, const void *of, size_t n, size_t times, size_t size)
{
    char *p = tmx_arena_take(&t->arena, n * times + 1, size);
    for (size_t i = 0; p && i < times; i++) {
        memcpy(p + i * n * size, of, n * size);
    }
    return p;
}

/* Copies of the node, with their indices moved on; the paths of air sorted by where they lead: of one GPU
 * they keep their order. The arrays become as small as they may. */
static void repeat(struct reader *r, size_t times)
{
    struct tmx_topology *t = r->t;
    const size_t nc = t->n_card, nf = t->n_fan, ng = t->n_gpu, na = t->n_air;
    if (r->err.code) {
        return;
    }
    t->card = copies(t, t->card, nc, times, sizeof *t->card);
    t->fan = copies(t, t->fan, nf, times, sizeof *t->fan);
    t->gpu = copies(t, t->gpu, ng, times, sizeof *t->gpu);
    t->upstream_first = copies(t, t->upstream_first, ng, times, sizeof *t->upstream_first);
    const struct tmx_air *air = t->air;
    TMX_TAKE(&t->arena, t->air, na * times + 1);
    TMX_TAKE(&t->arena, t->air0, ng * times + 2);
    if (t->arena.failed) {
        tmx_error(&r->err, TMX_ENOMEM, "%zu nodes", times);
        return;
    }
    for (size_t c = nc; c < nc * times; c++) {
        t->card[c].gpu0 += c / nc * ng;
        t->card[c].fan0 += c / nc * nf;
    }
    for (size_t f = nf; f < nf * times; f++) {
        t->fan[f].card += f / nf * nc;
    }
    for (size_t g = ng; g < ng * times; g++) {
        t->gpu[g].card += g / ng * nc;
        t->upstream_first[g] += g / ng * ng;
    }
    for (size_t a = 0; a < na * times; a++) {
        t->air0[air[a % na].to + a / na * ng + 2]++;
    }
    for (size_t g = 2; g < ng * times + 2; g++) {
        t->air0[g] += t->air0[g - 1];
    }
    for (size_t a = 0; a < na * times; a++) { /* air0[g + 1] moves from the first of g to behind its last */
        struct tmx_air path = air[a % na];
        path.from += a / na * ng;
        path.to += a / na * ng;
        t->air[t->air0[path.to + 1]++] = path;
    }
    t->n_card *= times;
    t->n_fan *= times;
    t->n_gpu *= times;
    t->n_air *= times;
}

/* before.NAME in place of the names of n parts, each `size` bytes behind the one before it. */
static void rename_parts(char *name, size_t n, size_t size, const char *before, const struct tmx_setting *e,
                         struct tmx_err *err)
{
    for (size_t i = 0; i < n && !err->code; i++, name += size) {
        char text[3 * TMX_NAME];
        const int length = snprintf(text, sizeof text, "%s.%s", before, name);
        if (length >= TMX_NAME) {
            tmx_error_setting(err, e, "\"%s\" is a longer name than %d letters", text, TMX_NAME - 1);
        } else {
            memcpy(name, text, (size_t)length + 1);
        }
    }
}

static void check_size(struct reader *r, const struct tmx_setting *e, size_t n_node)
{
    if (n_node * r->t->n_gpu > TMX_HALL_MAX_GPUS) {
        tmx_error_setting(&r->err, e, "%zu nodes of %zu GPUs; at most %d GPUs", n_node, r->t->n_gpu,
                          TMX_HALL_MAX_GPUS);
    }
}

/* Repeat the node rack by rack; names and inlet air of each. */
static void build_racks(struct reader *r)
{
    struct tmx_topology *t = r->t;
    const struct tmx_setting *list = tmx_setting_member(r->root, "racks");
    const size_t nc = t->n_card, nf = t->n_fan, ng = t->n_gpu;
    size_t n_node = 0;
    bool profiles = false;
    for (size_t i = 0; i < r->file->n_rack; i++) {
        const struct rack *rack = &r->file->rack[i];
        const struct tmx_setting *e = tmx_setting_at(list, i);
        n_node += (size_t)rack->count * (size_t)rack->nodes;
        profiles = profiles || rack->n_point > 0;
        if (rack->n_point > 0 && t->inlet_c <= -TMX_ZERO_C) {
            tmx_error_setting(&r->err, tmx_setting_member(e, "profile"),
                              "profile: give inlet_c too, the room air it differs from");
        }
        check_size(r, e, n_node);
    }
    repeat(r, n_node);
    if (profiles && !r->err.code && !TMX_TAKE(&t->arena, t->inlet_above_k, t->n_gpu)) {
        tmx_error(&r->err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
    }
    t->nodes = (int)n_node;
    for (size_t i = 0, k = 0; i < r->file->n_rack && !r->err.code; i++) {
        const struct rack *rack = &r->file->rack[i];
        const struct tmx_setting *e = tmx_setting_at(list, i);
        t->n_rack += (size_t)rack->count;
        for (int at = 0; at < rack->count * rack->nodes && !r->err.code; at++, k++) {
            const int node = at % rack->nodes;
            char before[2 * TMX_NAME], number[24] = "";
            if (rack->count > 1) {
                snprintf(number, sizeof number, "%d", at / rack->nodes);
            }
            snprintf(before, sizeof before, "%s%s.node%d", rack->name, number, node);
            rename_parts(t->card[k * nc].name, nc, sizeof *t->card, before, e, &r->err);
            rename_parts(t->fan[k * nf].name, nf, sizeof *t->fan, before, e, &r->err);
            rename_parts(t->gpu[k * ng].name, ng, sizeof *t->gpu, before, e, &r->err);
            /* Air in front of a rack is warmer at its top than at its bottom; node j of n is at height
             * (j + 1/2) / n, 0 the bottom. */
            const struct point *p = rack->profile;
            for (size_t g = k * ng; g < (k + 1) * ng && rack->n_point > 0; g++) {
                t->inlet_above_k[g] =
                    tmx_curve_at(rack->n_point, &p->height, &p->inlet_c, 2, (node + 0.5) / rack->nodes) -
                    t->inlet_c;
            }
        }
    }
}

/* Repeat the node by the key nodes or by racks, and give each GPU the air of its height and its own. */
static void build_hall(struct reader *r)
{
    struct tmx_topology *t = r->t;
    const struct tmx_setting *nodes = tmx_setting_member(r->root, "nodes");
    bool above = false;
    if (r->file->n_rack == 0) {
        check_size(r, nodes ? nodes : r->root, (size_t)t->nodes);
        repeat(r, (size_t)t->nodes);
    } else if (nodes) {
        tmx_error_setting(&r->err, nodes, "nodes and racks: the racks give the number of nodes");
    } else {
        build_racks(r);
    }
    for (size_t g = 0; g < t->n_gpu && !r->err.code; g++) { /* its name says in which rack and node it is */
        const char *name = t->gpu[g].name, *node = strstr(name, ".node"), *dot = strrchr(name, '.');
        t->gpu[g].rack_letters = node ? (size_t)(node - name) : 0;
        t->gpu[g].node_letters = dot && (node || strncmp(name, "node", 4) == 0) ? (size_t)(dot - name) : 0;
        above = above || t->gpu[g].inlet_above_k != 0;
    }
    if (above && !t->inlet_above_k && !TMX_TAKE(&t->arena, t->inlet_above_k, t->n_gpu)) {
        tmx_error(&r->err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
    }
    for (size_t g = 0; above && t->inlet_above_k && g < t->n_gpu; g++) {
        t->inlet_above_k[g] += t->gpu[g].inlet_above_k;
    }
}

enum tmx_status tmx_topology_load(struct tmx_topology *t, const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct file f = {.n_card = 0};
    struct reader r = {.t = t, .file = &f};
    r.err.code = tmx_keys_load(tmx_topology_keys, &f, path, NULL, &cfg, &r.err);
    *t = f.t;
    if (!r.err.code) {
        r.root = tmx_config_root(cfg);
        t->host.given = tmx_setting_member(r.root, "host");
        TMX_TAKE(&r.scratch, t->card, MAX_PARTS);
        TMX_TAKE(&r.scratch, t->fan, MAX_PARTS);
        TMX_TAKE(&r.scratch, t->gpu, MAX_PARTS);
        TMX_TAKE(&r.scratch, t->air, MAX_PARTS);
        TMX_TAKE(&r.scratch, r.pattern, f.n_card);
        TMX_TAKE(&r.scratch, r.air_entry, MAX_PARTS);
        r.err.code = r.scratch.failed ? tmx_no_memory(&r.err) : TMX_OK;
        add_cards(&r);
        add_parts(&r, false);
        add_parts(&r, true);
        for (size_t i = 0; i < r.n_pattern; i++) {
            for (size_t c = r.pattern[i].card0; c < r.pattern[i].card0 + r.pattern[i].n; c++) {
                if (t->card[c].n_gpu == 0 || t->card[c].n_fan == 0) {
                    tmx_error_setting(&r.err, tmx_setting_at(tmx_setting_member(r.root, "cards"), i),
                                      "card %s has no %s", t->card[c].name, t->card[c].n_gpu ? "fan" : "GPU");
                }
            }
        }
        add_paths(&r);
        order_air(&r);
        if (!r.err.code && t->link_name[0] && !tmx_topology_link(t, t->link_name)) {
            tmx_error_setting(&r.err, tmx_setting_member(r.root, "link"), "link = \"%s\": not one of links",
                              t->link_name);
        }
        if (r.scratch.failed) {
            tmx_error(&r.err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
        }
        build_hall(&r);
    }
    free(f.card);
    free(f.fan);
    free(f.gpu);
    free(f.air);
    free(f.rack);
    tmx_arena_finish(&r.scratch);
    t->config = cfg;
    return tmx_error_give(err, &r.err);
}
