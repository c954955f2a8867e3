/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Topology files: cards, fans, GPUs, air and links, each error with its line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thermix/policy.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/setting.h"
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

/* A card of the file: one, or count alike. */
struct pattern {
    char name[TMX_NAME];
    size_t card0, n;
};

struct reader {
    struct tmx_topology *t;
    const struct file *file;
    struct pattern *pattern; /* [n_pattern] */
    size_t n_pattern;
    size_t *air_entry; /* [n_air] the element of the file that a path is from */
};

/* The cards that a name means: all of a pattern, or one. n 0: none. */
static struct pattern find_pattern(const struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_pattern; i++) {
        if (strcmp(r->pattern[i].name, name) == 0) {
            return r->pattern[i];
        }
    }
    const size_t card = find_card(r->t, name);
    return (struct pattern){.card0 = card, .n = card < r->t->n_card ? 1 : 0};
}

/* NAME, or among several NAME and its number. */
static enum tmx_status number_name(char name[TMX_NAME], const char *base, size_t i, size_t n,
                                   const struct tmx_setting *e, struct tmx_err *err)
{
    char text[TMX_NAME + 24];
    const int length =
        n > 1 ? snprintf(text, sizeof text, "%s%zu", base, i) : snprintf(text, sizeof text, "%s", base);
    if (length >= TMX_NAME) {
        return tmx_fail_setting(err, e, "name \"%s\" is too long with its number", base);
    }
    memcpy(name, text, (size_t)length + 1);
    return TMX_OK;
}

static enum tmx_status add_card(struct reader *r, const struct tmx_setting *e, const struct tmx_card *card,
                                const char *name, struct tmx_err *err)
{
    struct tmx_topology *t = r->t;
    if (t->n_card == MAX_PARTS) {
        return tmx_fail_setting(err, e, "more than %d cards in one node", MAX_PARTS);
    }
    if (find_pattern(r, name).n > 0) {
        return tmx_fail_setting(err, e, "two cards are called \"%s\"", name);
    }
    t->card[t->n_card] = *card;
    memcpy(t->card[t->n_card++].name, name, TMX_NAME);
    return TMX_OK;
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
static enum tmx_status fit_card(const struct counted_card *of, struct tmx_card *c,
                                const struct tmx_setting *e, struct tmx_err *err)
{
    const struct fit_point *p = of->point;
    const struct tmx_setting *list = tmx_setting_member(e, "points"),
                             *given = tmx_setting_member(e, "fit_a_k_per_w");
    const size_t n = of->n_point;
    if (n == 0) {
        return TMX_OK;
    }
    given = given ? given : tmx_setting_member(e, "fit_b_k_per_w");
    given = given || n == 2 ? given : tmx_setting_member(e, "fit_exponent");
    if (given || c->convection != TMX_CONVECTION_FIT) {
        return tmx_fail_setting(err, given ? given : list,
                                given ? "card %s: %s follows from the points; give one of them"
                                      : "card %s: points belong to convection = \"fit\"",
                                c->name, given ? tmx_setting_name(given) : "");
    }
    for (size_t i = 1; i < n; i++) {
        if (p[i].rpm <= p[i - 1].rpm || p[i].k_per_w >= p[i - 1].k_per_w) {
            return tmx_fail_setting(err, tmx_setting_at(list, i),
                                    "card %s: %g rpm with %g K/W after %g rpm with %g K/W: the speed must "
                                    "rise and the resistance fall",
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
        return tmx_fail_setting(
            err, list,
            "card %s: the points do not follow a + b rpm^-m: the best fit, %.4g + %.4g rpm^-%.3g K/W, is "
            "%.0f %% off at %g rpm; leave out points that fans do not reach",
            c->name, c->fit_a_k_per_w, c->fit_b_k_per_w, c->fit_exponent, 100 * c->fit_error,
            c->fit_error_rpm);
    }
    return TMX_OK;
}

static enum tmx_status add_cards(struct reader *r, const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(root, "cards");
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < r->file->n_card; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        const struct counted_card *of = &r->file->card[i];
        struct tmx_card c = of->card;
        struct pattern p = {.card0 = r->t->n_card};
        char name[TMX_NAME] = "";
        st = fit_card(of, &c, e, err);
        if (!st && of->count > 1 && find_pattern(r, c.name).n > 0) {
            st = tmx_fail_setting(err, e, "two cards are called \"%s\"", c.name);
        }
        for (p.n = 0; !st && p.n < (size_t)of->count; p.n++) {
            st = number_name(name, c.name, p.n, (size_t)of->count, e, err);
            st = st ? st : add_card(r, e, &c, name, err);
        }
        memcpy(p.name, c.name, sizeof p.name);
        r->pattern[r->n_pattern++] = p;
    }
    return st;
}

/* Members of a card must stand together: the i-th of its kind joins it. */
static enum tmx_status join_card(const struct tmx_setting *e, const char *what, const char *name, size_t i,
                                 size_t *first, size_t *count, struct tmx_err *err)
{
    if (*count > 0 && *first + *count != i) {
        return tmx_fail_setting(err, e, "%s %s: the %ss of one card must follow each other", what, name,
                                what);
    }
    *first = *count ? *first : i;
    ++*count;
    return TMX_OK;
}

/* What its rows cannot say of a fan. */
static enum tmx_status check_fan(const struct tmx_fan *f, const struct tmx_setting *e, struct tmx_err *err)
{
    const struct tmx_fan_point *p = f->curve;
    for (size_t i = 1; i < f->n_curve; i++) {
        if (p[i].speed < p[i - 1].speed) {
            return tmx_fail_setting(err, tmx_setting_at(tmx_setting_member(e, "curve"), i),
                                    "fan curve is not monotone: %g degC %g after %g degC %g", p[i].temp_c,
                                    p[i].speed, p[i - 1].temp_c, p[i - 1].speed);
        }
    }
    return f->min_rpm <= f->max_rpm ? TMX_OK
                                    : tmx_fail_setting(err, e, "fan %s: min_rpm is above max_rpm", f->name);
}

static enum tmx_status add_fan(struct tmx_topology *t, const struct part *p, const char *name, size_t card,
                               const struct tmx_setting *e, struct tmx_err *err)
{
    struct tmx_card *c = &t->card[card];
    enum tmx_status st = check_fan(&p->fan, e, err);
    st = st ? st : join_card(e, "fan", name, t->n_fan, &c->fan0, &c->n_fan, err);
    t->fan[t->n_fan] = p->fan;
    t->fan[t->n_fan].card = card;
    memcpy(t->fan[t->n_fan++].name, name, TMX_NAME);
    return st;
}

static enum tmx_status add_gpu(struct tmx_topology *t, const struct part *p, const char *name, size_t card,
                               const struct tmx_setting *e, struct tmx_err *err)
{
    struct tmx_card *c = &t->card[card];
    if (find_gpu(t, name) < t->n_gpu) {
        return tmx_fail_setting(err, e, "two GPUs are called \"%s\"", name);
    }
    const enum tmx_status st = join_card(e, "GPU", name, t->n_gpu, &c->gpu0, &c->n_gpu, err);
    struct tmx_topology_gpu *g = &t->gpu[t->n_gpu++];
    *g = p->gpu;
    memcpy(g->name, name, TMX_NAME);
    g->file = tmx_setting_file(e);
    g->line = tmx_setting_line(e);
    g->card = card;
    return st;
}

/* Entries first..end-1 name the same card or cards: on each, all of them in their order. */
static enum tmx_status add_parts(struct reader *r, const struct tmx_setting *list, const struct part *part,
                                 size_t first, size_t end, bool fans, struct tmx_err *err)
{
    const struct pattern p = find_pattern(r, part[first].card);
    size_t *n = fans ? &r->t->n_fan : &r->t->n_gpu;
    enum tmx_status st = TMX_OK;
    if (p.n == 0) {
        return tmx_fail_setting(err, tmx_setting_at(list, first),
                                "%s %s without a card: there is no such card", fans ? "fan" : "GPU",
                                part[first].fan.name);
    }
    for (size_t c = 0; c < p.n; c++) {
        for (size_t i = first; i < end; i++) {
            const struct tmx_setting *e = tmx_setting_at(list, i);
            const size_t count = (size_t)part[i].count;
            for (size_t k = 0; k < count && !st; k++) {
                char name[TMX_NAME] = "";
                if (*n == MAX_PARTS) {
                    return tmx_fail_setting(err, e, "more than %d %s in one node", MAX_PARTS,
                                            fans ? "fans" : "GPUs");
                }
                st = number_name(name, part[i].fan.name, c * count + k, p.n * count, e, err);
                st = st ? st : (fans ? add_fan : add_gpu)(r->t, &part[i], name, p.card0 + c, e, err);
            }
            if (st) {
                return st;
            }
        }
    }
    return TMX_OK;
}

static enum tmx_status add_all(struct reader *r, const struct tmx_setting *root, bool fans,
                               struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(root, fans ? "fans" : "gpus");
    const struct part *part = fans ? r->file->fan : r->file->gpu;
    const size_t n = fans ? r->file->n_fan : r->file->n_gpu;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0, end; !st && i < n; i = end) {
        end = i + 1;
        while (end < n && strcmp(part[end].card, part[i].card) == 0) {
            end++;
        }
        st = add_parts(r, list, part, i, end, fans, err);
    }
    return st;
}

static enum tmx_status add_air(struct reader *r, size_t entry, const struct tmx_air *air,
                               const struct tmx_setting *e, struct tmx_err *err)
{
    struct tmx_topology *t = r->t;
    double out = air->fraction;
    for (size_t k = 0; k < t->n_air; k++) {
        out += t->air[k].from == air->from ? t->air[k].fraction : 0;
    }
    if (out > 1 + 1e-9) {
        return tmx_fail_setting(err, e, "air: the paths take more than all of GPU %s's outlet air",
                                t->gpu[air->from].name);
    }
    if (t->n_air == MAX_PARTS) {
        return tmx_fail_setting(err, e, "more than %d air paths in one node", MAX_PARTS);
    }
    r->air_entry[t->n_air] = entry;
    t->air[t->n_air++] = *air;
    return TMX_OK;
}

static enum tmx_status add_paths(struct reader *r, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_topology *t = r->t;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < r->file->n_air; i++) {
        const struct tmx_setting *e = tmx_setting_at(tmx_setting_member(root, "air"), i);
        const struct named_air *a = &r->file->air[i];
        const size_t from = find_gpu(t, a->from), to = find_gpu(t, a->to), last = (size_t)a->count - 1;
        if (from == t->n_gpu || to == t->n_gpu) {
            return tmx_fail_setting(err, e, "air: there is no GPU \"%s\"",
                                    from == t->n_gpu ? a->from : a->to);
        }
        if ((from > to ? from : to) + last >= t->n_gpu) {
            return tmx_fail_setting(err, e, "air: count = %d goes beyond the last GPU, %s", a->count,
                                    t->gpu[t->n_gpu - 1].name);
        }
        for (size_t k = 0; k <= last && !st; k++) {
            st = add_air(r, i, &(struct tmx_air){from + k, to + k, a->fraction, a->heat_w}, e, err);
        }
    }
    return st;
}

/* Order the GPUs so that air flows forward only; a path that cannot be ordered closes a loop. */
static enum tmx_status order_air(const struct reader *r, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_topology *t = r->t;
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
            st = tmx_fail_setting(err, tmx_setting_at(tmx_setting_member(root, "air"), r->air_entry[a]),
                                  "air flows in a loop through GPUs %s and %s", t->gpu[t->air[a].from].name,
                                  t->gpu[t->air[a].to].name);
        }
    }
    free(inflow);
    return st;
}

static enum tmx_status check_cards(const struct reader *r, const struct tmx_setting *root,
                                   struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(root, "cards");
    for (size_t i = 0; i < r->n_pattern; i++) {
        for (size_t c = r->pattern[i].card0; c < r->pattern[i].card0 + r->pattern[i].n; c++) {
            const struct tmx_card *card = &r->t->card[c];
            if (card->n_gpu == 0 || card->n_fan == 0) {
                return tmx_fail_setting(err, tmx_setting_at(list, i), "card %s has no %s", card->name,
                                        card->n_gpu ? "fan" : "GPU");
            }
        }
    }
    return TMX_OK;
}

/* Air in front of a rack is warmer at its top than at its bottom; node j of n is at height (j + 1/2) / n,
 * 0 the bottom. Between the points of a profile the temperature is linear, outside it is the last point's. */

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

/* The places of a rack's nodes in the arrays of the hall, and in one node. */
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

static enum tmx_status build_racks(struct tmx_topology *t, const struct file *f,
                                   const struct tmx_setting *list, struct tmx_err *err)
{
    struct place at = {.n_card = t->n_card, .n_fan = t->n_fan, .n_gpu = t->n_gpu};
    size_t n_node = 0;
    bool profiles = false;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < f->n_rack && !st; i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        n_node += (size_t)f->rack[i].count * (size_t)f->rack[i].nodes;
        profiles = profiles || f->rack[i].n_point > 0;
        st = f->rack[i].n_point > 0 && t->inlet_c <= -TMX_ZERO_C
                 ? tmx_fail_setting(err, tmx_setting_member(e, "profile"),
                                    "profile: give inlet_c too, the room air it differs from")
                 : too_many(e, t, n_node, err);
    }
    st = st ? st : repeat(t, n_node, err);
    if (!st && profiles) {
        t->inlet_above_k = calloc(t->n_gpu, sizeof *t->inlet_above_k);
        st = t->inlet_above_k ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
    }
    t->nodes = (int)n_node;
    for (size_t i = 0; i < f->n_rack && !st; i++) {
        st = fill_rack(t, &f->rack[i], &at, tmx_setting_at(list, i), err);
        at.node0 += (size_t)f->rack[i].count * (size_t)f->rack[i].nodes;
        t->n_rack += (size_t)f->rack[i].count;
    }
    return st;
}

/* What GPUs have above the air of their rack. */
static enum tmx_status add_above(struct tmx_topology *t, struct tmx_err *err)
{
    bool any = false;
    for (size_t g = 0; g < t->n_gpu; g++) {
        any = any || t->gpu[g].inlet_above_k != 0;
    }
    if (any && !t->inlet_above_k) {
        t->inlet_above_k = calloc(t->n_gpu, sizeof *t->inlet_above_k);
    }
    for (size_t g = 0; any && t->inlet_above_k && g < t->n_gpu; g++) {
        t->inlet_above_k[g] += t->gpu[g].inlet_above_k;
    }
    return !any || t->inlet_above_k ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "%zu GPUs", t->n_gpu);
}

/* Repeat the node by the key nodes or by racks, give each GPU the air of its height, and sort the paths of
 * air by where they lead. */
static enum tmx_status build_hall(struct tmx_topology *t, const struct file *f,
                                  const struct tmx_setting *root, struct tmx_err *err)
{
    const struct tmx_setting *nodes = tmx_setting_member(root, "nodes");
    enum tmx_status st = TMX_OK;
    if (f->n_rack > 0) {
        st = nodes ? tmx_fail_setting(err, nodes, "nodes and racks: the racks give the number of nodes")
                   : build_racks(t, f, tmx_setting_member(root, "racks"), err);
    } else {
        st = too_many(nodes ? nodes : root, t, (size_t)t->nodes, err);
        st = st ? st : repeat(t, (size_t)t->nodes, err); /* also of one: arrays become as small as they may */
    }
    for (size_t g = 0; g < t->n_gpu && !st; g++) { /* its name says in which rack and node it is */
        const char *name = t->gpu[g].name, *node = strstr(name, ".node"), *dot = strrchr(name, '.');
        t->gpu[g].rack_letters = node ? (size_t)(node - name) : 0;
        t->gpu[g].node_letters = dot && (node || strncmp(name, "node", 4) == 0) ? (size_t)(dot - name) : 0;
    }
    st = st ? st : add_above(t, err);
    return st ? st : index_air(t, err);
}

enum tmx_status tmx_topology_load(struct tmx_topology *t, const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct file f = {.n_card = 0};
    struct reader r = {.t = t, .file = &f};
    enum tmx_status st = tmx_keys_load(tmx_topology_keys, &f, path, NULL, &cfg, err);
    *t = f.t;
    if (!st) {
        const struct tmx_setting *root = tmx_config_root(cfg);
        t->host.given = tmx_setting_member(root, "host");
        t->card = calloc(MAX_PARTS, sizeof *t->card);
        t->fan = calloc(MAX_PARTS, sizeof *t->fan);
        t->gpu = calloc(MAX_PARTS, sizeof *t->gpu);
        t->air = calloc(MAX_PARTS, sizeof *t->air);
        r.pattern = calloc(f.n_card, sizeof *r.pattern);
        r.air_entry = calloc(MAX_PARTS, sizeof *r.air_entry);
        st = t->card && t->fan && t->gpu && t->air && r.pattern && r.air_entry ? TMX_OK : tmx_no_memory(err);
        st = st ? st : add_cards(&r, root, err);
        st = st ? st : add_all(&r, root, false, err);
        st = st ? st : add_all(&r, root, true, err);
        st = st ? st : check_cards(&r, root, err);
        st = st ? st : add_paths(&r, root, err);
        st = st ? st : order_air(&r, root, err);
        if (!st && t->link_name[0] && !tmx_topology_link(t, t->link_name)) {
            st = tmx_fail_setting(err, tmx_setting_member(root, "link"), "link = \"%s\": not one of links",
                                  t->link_name);
        }
        st = st ? st : build_hall(t, &f, root, err);
    }
    free(f.card);
    free(f.fan);
    free(f.gpu);
    free(f.air);
    free(f.rack);
    free(r.pattern);
    free(r.air_entry);
    t->config = cfg;
    return st;
}
