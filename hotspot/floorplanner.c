/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How it works.
 *
 * A floorplan of blocks with given areas is a slicing tree: a rectangle is cut in two, side by side or one
 * above the other, until each piece holds one block. The tree is written as a normalised Polish expression
 * (blocks, then the cut that joins them); a move exchanges two neighbouring blocks, turns a chain of cuts, or
 * exchanges a block and a cut. The shapes that a subtree may take are a curve of widths and heights none of
 * which is larger than another in both; curves of two subtrees join in linear time, and the root's point of
 * least area is taken. What then stays empty becomes blocks without power, or is given to its neighbour where
 * it is small.
 *
 *      1 2 V 3 H      +-------+      D. F. Wong, C. L. Liu, "A new algorithm for floorplan design",
 *                     |   3   |      DAC 1986; L. Stockmeyer, "Optimal orientations of cells in
 *                     +---+---+      slicing floorplan designs", Information and Control 57 (1983) 91.
 *                     | 1 | 2 |
 *                     +---+---+
 *
 * Of a floorplan that exists, units of one size exchange their places instead: a permutation.
 *
 * Temperatures of a candidate come from the influence of a uniform die, in the modes cos(m pi x/W)
 * cos(n pi y/H) of its plane. A sheet of conductance kt [W/K] over the next one through r [m2 K/W] answers
 * to a mode of wave number s = (m pi/W)^2 + (n pi/H)^2 with z(s) = 1 / (kt s + 1 / (r + z_next(s))); the
 * sink's last sheet has its film in place of a next one. That would be exact for a die as large as its
 * package. What spreader and sink beyond the die's edge do is put right in the modes below LOW, by the full
 * grid's answers for one die of the blocks' total area: their matrix, divided by the sheets' answers, is
 * taken to hold for dies of other sides as well. That is the approximation; the best few candidates are
 * computed by the full grid at the end, and ranked by it. A candidate costs MODES^2 operations a block,
 * whatever the grid. */
#include "hotspot/hotspot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cost.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/trace.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/solver/solver.h"

enum {
    MODES = 24,        /* along each axis, of a candidate's temperatures */
    LOW = 6,           /* of them, those put right by the full grid */
    LOWS = LOW * LOW,  /* in the plane */
    LOW_GRID = 48,     /* cells along each axis for that */
    FAST_SHAPES = 40,  /* of a block while annealing */
    FAST_CURVE = 80,   /* points of a subtree's curve then */
    FULL_CURVE = 4096, /* and in the result */
    ELITE = TMX_FLOORPLANNER_BEST,
    TRIES = 64,        /* for a move that is allowed */
    MAX_BLOCKS = 512,  /* to be placed */
    SIDE_BY_SIDE = -1, /* cuts of a Polish expression: V */
    ONE_ABOVE = -2,    /* H */
};
static const double ARM_RATIO = 5; /* base to arms of a wrapped cache where the die cannot be a square */
static const double SAME_SIZE_M = 1e-6;
static const char DEAD[] = "_"; /* what blocks without power are named by, as HotSpot has it */

#define REAL(f, unit, min, max, def, doc) TMX_ROW_REAL(tmx_floorplanner_options, f, unit, min, max, def, doc)
const struct tmx_opt tmx_floorplanner_opts[] = {
    TMX_ROW_BOOL(tmx_floorplanner_options, wrap_l2, 1, "the block l2_label goes around the others"),
    TMX_ROW_TEXT(tmx_floorplanner_options, l2_label, "L2", "its name"),
    TMX_ROW_BOOL(tmx_floorplanner_options, model_rim, 0, "dead space around the die: not offered"),
    REAL(compact_ratio, "1", 0, 1, 0.005, "dead space below this share of its neighbour is given to it"),
    TMX_ROW_INT(tmx_floorplanner_options, n_orients, "1", 2, 4096, 300, "shapes of a block"),
    REAL(P0, "1", 1e-6, 0.999999, 0.99, "share of uphill moves accepted at first"),
    REAL(Davg, "1", 1e-300, 1e300, 1, "usual change of the cost by a move"),
    REAL(Kmoves, "1", 0.01, 1e6, 7, "moves a block and a cut at each annealing temperature"),
    REAL(Rcool, "1", 0.01, 0.9999, 0.99, "factor on the annealing temperature"),
    REAL(Rreject, "1", 0, 0.999999, 0.99, "share of rejected moves at which annealing ends"),
    TMX_ROW_INT(tmx_floorplanner_options, Nmax, "1", 0, 1000000, 1000, "most annealing temperatures"),
    REAL(lambdaA, "1/m2", 0, 1e300, 5e6, "weight of the area"),
    REAL(lambdaT, "1/K", 0, 1e300, 1, "weight of the peak temperature"),
    REAL(lambdaW, "1/m", 0, 1e300, 350, "weight of the wire length"),
    REAL(lambdaG, "1/K", 0, 1e300, 0, "weight of the hottest less the coldest block"),
    {0},
};
#undef REAL

enum tmx_status tmx_floorplanner_options_read(struct tmx_floorplanner_options *o, const char *path,
                                              struct tmx_err *err)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    enum tmx_status st = tmx_opt_read(tmx_floorplanner_opts, o, NULL, NULL, err);
    if (st || !path || (st = tmx_text_load(&text, path, err))) {
        return st;
    }
    while (!st && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, name, value;
        char word[256];
        if (!tmx_span_field(&rest, &name) || !tmx_span_field(&rest, &value)) {
            continue; /* tmx_hotspot_config_read reports it */
        }
        name.begin += *name.begin == '-';
        for (const struct tmx_opt *row = tmx_floorplanner_opts; row->key && !st; row++) {
            if (tmx_span_is(name, row->key)) {
                st = tmx_span_copy(value, word, sizeof word)
                         ? tmx_opt_set(row, o, word, path, lines.number, err)
                         : tmx_fail_at(err, TMX_ECONFIG, path, lines.number, "%s: value too long", row->key);
            }
        }
    }
    tmx_text_finish(&text);
    return st;
}

/* ---- Blocks, wires and powers ---- */

struct block {
    char *name;
    double area_m2, least, most; /* width to height */
    bool rotable;
    unsigned line;
    double power_w;
};

struct wire {
    size_t a, b;
    double density;
};

struct rect {
    double x, y, w, h;
};

struct point { /* of a curve: a shape, and those of the two parts that make it */
    double w, h;
    int left, right;
};

struct curve {
    struct point *point;
    size_t n;
};

struct heat {                 /* the influence of a uniform die */
    double kt[8], r[8], film; /* of the sheets from the die to the sink: W/K, m2 K/W; W/(m2 K) */
    size_t n_sheet;
    double mean_k_per_w;      /* sink to air, of all the power */
    double low[LOWS * LOWS];  /* the full grid's answers by the sheets' */
    double width_m, height_m; /* of the die that z is for */
    double z[MODES * MODES], wave[MODES * MODES], q[MODES * MODES], sqrt_low[LOWS];
    double *x, *y; /* [n_unit][MODES] means of the modes over the units */
};

struct planner {
    const struct tmx_floorplanner_input *in;
    const struct tmx_floorplanner_options *o;
    struct block *block; /* [n_block] of a .desc a wrapped cache is the last, and not placed */
    size_t n_block, n_placed;
    bool wrapped;
    struct wire *wire; /* [n_wire] */
    size_t n_wire;
    char source[512];
    struct tmx_floorplan given; /* of swaps: the places; else empty */
    /* the state: a Polish expression, or the unit in each place */
    int *now, *next; /* [n_state] */
    size_t n_state;
    /* slicing */
    struct curve *leaf;    /* [n_placed] shapes while annealing or in the result */
    struct point *pool;    /* [n_state * FULL_CURVE at most] */
    struct point *scratch; /* one joined curve before it is thinned */
    size_t most_points;    /* of a curve */
    struct curve *node;    /* [n_state] into the pool */
    int *left, *right;     /* [n_state] positions of a cut's parts */
    int *stack;            /* [n_state] */
    struct rect *dead;     /* [n_state] */
    size_t n_dead;
    /* swaps */
    size_t *mirror; /* [n_unit] the place at the other side; n_unit: none */
    bool *moves;    /* [n_unit] */
    /* what is evaluated: placed blocks, then base, left and right arm of a wrapped cache */
    struct rect *unit; /* [n_unit] */
    char **name;       /* [n_unit] */
    double *power_w;   /* [n_unit] */
    double *temp_k;    /* [n_unit] */
    size_t n_unit;
    double width_m, height_m;
    struct heat heat;
    struct tmx_rng *rng;
    double hot, cold; /* of the annealing */
    size_t turns;
    struct tmx_arena arena; /* of all of these */
    struct tmx_err *err;    /* of the first failure */
};

#define FAIL(p, line, ...) tmx_error_at((p)->err, TMX_EPARSE, (p)->source, (line), __VA_ARGS__)

static size_t find_block(const struct planner *p, struct tmx_span name)
{
    size_t i = 0;
    while (i < p->n_block && !tmx_span_is(name, p->block[i].name)) {
        i++;
    }
    return i;
}

static void add_block(struct planner *p, struct tmx_span name, const double v[4], unsigned line)
{
    const size_t same = find_block(p, name);
    if (v[0] <= 0 || v[1] <= 0 || v[2] < v[1] || (v[3] != 0 && v[3] != 1)) {
        FAIL(p, line,
             "block \"%.*s\": expected an area above 0 [m2], least and most width to height above 0 in "
             "ascending "
             "order, and 0 or 1 for rotable",
             TMX_SPAN_ARG(name));
    } else if (v[0] < 1e-12 || v[0] > 1e-2) {
        FAIL(p, line, "block \"%.*s\": area = %g m2 is outside 1e-12 .. 0.01 m2", TMX_SPAN_ARG(name), v[0]);
    } else if (same < p->n_block) {
        FAIL(p, line, "block \"%.*s\" is also on line %u", TMX_SPAN_ARG(name), p->block[same].line);
    } else if (p->n_block == MAX_BLOCKS) {
        FAIL(p, line, "more than %d blocks", MAX_BLOCKS);
    } else {
        p->block[p->n_block++] =
            (struct block){.name = tmx_arena_letters(&p->arena, name.begin, tmx_span_length(name)),
                           .area_m2 = v[0],
                           .least = v[1],
                           .most = v[2],
                           .rotable = v[3] != 0,
                           .line = line};
        tmx_arena_check(&p->arena, p->err);
    }
}

/* HotSpot's .desc: `name area least most rotable` of each block, then `name name density` of each wire. */
static void read_desc(struct planner *p)
{
    struct tmx_text_file text;
    size_t n_wire = 0;
    if (tmx_text_load(&text, p->in->file, p->err)) {
        return;
    }
    TMX_TAKE(&p->arena, p->block, MAX_BLOCKS);
    for (int wires = 0; wires < 2; wires++) {
        struct tmx_lines lines = {0};
        TMX_TAKE(&p->arena, p->wire, n_wire);
        tmx_arena_check(&p->arena, p->err);
        while (!p->err->code && tmx_lines_next_filled(&lines, &text)) {
            struct tmx_span rest = lines.line, field[6];
            double v[5];
            size_t n = 0, n_real = 0;
            while (n < 6 && tmx_span_field(&rest, &field[n])) {
                n++;
            }
            for (size_t i = n; i > 1 && n <= 5 && tmx_span_real(field[i - 1], &v[i - 1]); i--) {
                n_real++;
            }
            const bool wire = n == 3 && n_real == 1;
            if (!wire && (n != 5 || n_real != 4)) {
                FAIL(p, lines.number,
                     "expected a block (name, area, least and most width to height, 0 or 1) or a wire (name, "
                     "name, density)");
            } else if (wire && wires) {
                const size_t a = find_block(p, field[0]), b = find_block(p, field[1]), none = p->n_block;
                if (a == none || b == none) {
                    FAIL(p, lines.number, "a wire of \"%.*s\", which is no block above",
                         TMX_SPAN_ARG(field[a < none]));
                } else if (a == b || v[2] < 0) {
                    FAIL(p, lines.number, "expected two blocks and a density of at least 0");
                } else {
                    p->wire[p->n_wire++] = (struct wire){a, b, v[2]};
                }
            } else if (!wire && !wires) {
                add_block(p, field[0], v + 1, lines.number);
            }
            n_wire += wire;
        }
    }
    tmx_text_finish(&text);
    if (p->n_block < 2) {
        FAIL(p, 0, "expected two blocks or more");
    }
    p->n_placed = p->n_block;
    for (size_t i = 0; i < p->n_block && !p->err->code && p->o->wrap_l2 && !p->wrapped; i++) {
        if (tmx_word_compare(p->block[i].name, p->o->l2_label) == 0 && p->n_block > 2) {
            const struct block cache = p->block[i]; /* becomes the last, and the wires follow */
            memmove(&p->block[i], &p->block[i + 1], (p->n_block - 1 - i) * sizeof cache);
            p->block[p->n_block - 1] = cache;
            for (size_t w = 0; w < p->n_wire; w++) {
                size_t *end[] = {&p->wire[w].a, &p->wire[w].b};
                for (size_t e = 0; e < 2; e++) {
                    *end[e] = *end[e] == i ? p->n_block - 1 : *end[e] - (*end[e] > i);
                }
            }
            p->wrapped = true;
            p->n_placed--;
        }
    }
}

/* Names of a wrapped cache's arms are its own with _left and _right. */
static void name_units(struct planner *p)
{
    char name[TMX_NAME_SIZE + 8];
    for (size_t u = 0; u < p->n_unit && !p->err->code; u++) {
        const bool arm = p->wrapped && u > p->n_placed;
        snprintf(name, sizeof name, "%s%s",
                 p->given.n_unit > 0 ? p->given.unit[u].name : p->block[arm ? p->n_placed : u].name,
                 !arm                 ? ""
                 : u + 1 == p->n_unit ? "_right"
                                      : "_left");
        p->name[u] = tmx_arena_text(&p->arena, name);
        tmx_arena_check(&p->arena, p->err);
    }
}

/* A block and its watts. */
static void put_power(struct planner *p, const char *name, double w, bool *seen, unsigned line)
{
    size_t slot = p->n_unit;
    for (size_t u = 0; u < p->n_unit; u++) {
        slot = tmx_word_compare(p->name[u], name) == 0 ? u : slot;
    }
    if (slot == p->n_unit) {
        const char *near = tmx_suggest_nearest(name, (const char *const *)p->name, p->n_unit);
        tmx_error_at(p->err, TMX_EPARSE, p->in->power, line, "\"%s\" is no block of %s%s%s%s", name,
                     p->source, near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    } else if (seen[slot] || !(w >= 0) || w > 1e6) {
        tmx_error_at(p->err, TMX_EPARSE, p->in->power, line,
                     seen[slot] ? "block \"%s\" is given twice"
                                : "block \"%s\": expected a power from 0 to 1e6 W",
                     name);
    } else {
        seen[slot] = true;
        p->power_w[slot] = w;
    }
}

/* Lines of a block and its watts (HotSpot's avg.p), or a trace, whose mean counts. */
static void read_power(struct planner *p)
{
    struct tmx_text_file text;
    struct tmx_lines lines = {0};
    struct tmx_trace trace = {0};
    double w = 0, *mean;
    bool list = false, *seen;
    char word[TMX_NAME_SIZE + 8];
    TMX_TAKE(&p->arena, seen, p->n_unit);
    tmx_arena_check(&p->arena, p->err);
    if (p->err->code || tmx_text_load(&text, p->in->power, p->err)) {
        return;
    }
    while (!p->err->code && tmx_lines_next_filled(&lines, &text)) {
        struct tmx_span rest = lines.line, name, value, more;
        const bool pair = tmx_span_field(&rest, &name) && tmx_span_field(&rest, &value) &&
                          !tmx_span_field(&rest, &more) && tmx_span_real(value, &w);
        if (!list && !pair) {
            break; /* a trace */
        }
        list = true;
        if (pair && tmx_span_copy(name, word, TMX_NAME_SIZE)) {
            put_power(p, word, w, seen, lines.number);
        } else {
            tmx_error_at(p->err, TMX_EPARSE, p->in->power, lines.number, "expected a block and its watts");
        }
    }
    if (!list && !p->err->code && !tmx_trace_read(p->in->power, &trace, p->err)) {
        TMX_TAKE(&p->arena, mean, trace.n_column);
        tmx_arena_check(&p->arena, p->err);
        if (mean) {
            tmx_trace_mean(&trace, mean);
        }
        for (size_t c = 0; c < trace.n_column && !p->err->code; c++) {
            put_power(p, trace.name[c], mean[c], seen, trace.name_line);
        }
    }
    for (size_t u = 0; u < p->n_unit; u++) {
        if (!seen[u]) {
            tmx_error_at(p->err, TMX_EPARSE, p->in->power, list ? lines.number : trace.name_line,
                         "block \"%s\" of %s has no power", p->name[u], p->source);
        }
    }
    tmx_trace_finish(&trace);
    tmx_text_finish(&text);
}

/* ---- Shapes ---- */

static int by_width(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return (p->w > q->w) - (p->w < q->w);
}

/* The shapes of each block, n of them where it is soft; `most` points of a subtree's curve. */
static void set_shapes(struct planner *p, size_t n, size_t most)
{
    p->most_points = most;
    for (size_t i = 0; i < p->n_placed && !p->err->code; i++) {
        const struct block *b = &p->block[i];
        struct curve *c = &p->leaf[i];
        double low[2] = {b->least, 1 / b->most}, high[2] = {b->most, 1 / b->least};
        size_t n_range = b->rotable ? 2 : 1;
        if (n_range == 2 && fmax(low[0], low[1]) <= fmin(high[0], high[1])) {
            low[0] = fmin(low[0], low[1]);
            high[0] = fmax(high[0], high[1]);
            n_range = 1;
        }
        c->n = 0;
        TMX_TAKE(&p->arena, c->point, n + 2);
        tmx_arena_check(&p->arena, p->err);
        for (size_t r = 0; r < n_range && c->point; r++) {
            const size_t in_range = high[r] > low[r] ? n / n_range > 2 ? n / n_range : 2 : 1;
            for (size_t k = 0; k < in_range; k++) {
                const double part = in_range > 1 ? (double)k / (double)(in_range - 1) : 0;
                const double w = sqrt(b->area_m2 * low[r] * pow(high[r] / low[r], part));
                c->point[c->n++] = (struct point){.w = w, .h = b->area_m2 / w, .left = -1, .right = -1};
            }
        }
        if (c->point) {
            qsort(c->point, c->n, sizeof *c->point, by_width);
        }
    }
}

/* All shapes of two parts joined by a cut, none larger than another in both sides; thinned to most points. */
static void join(const struct curve *a, const struct curve *b, int cut, size_t most, struct point *scratch,
                 struct curve *to)
{
    const bool beside = cut == SIDE_BY_SIDE;
    size_t i = beside ? 0 : a->n - 1, j = beside ? 0 : b->n - 1, n = 0;
    for (;;) {
        const struct point *p = &a->point[i], *q = &b->point[j];
        const double u = beside ? p->h : p->w, v = beside ? q->h : q->w;
        scratch[n++] = (struct point){.w = beside  ? p->w + q->w
                                           : u > v ? u
                                                   : v,
                                      .h = beside ? (u > v ? u : v) : p->h + q->h,
                                      .left = (int)i,
                                      .right = (int)j};
        const bool more_a = beside ? i + 1 < a->n : i > 0, more_b = beside ? j + 1 < b->n : j > 0;
        if ((u >= v && !more_a) || (v >= u && !more_b)) {
            break;
        }
        const size_t step = beside ? 1 : SIZE_MAX;
        i += u >= v ? step : 0;
        j += v >= u ? step : 0;
    }
    to->n = n < most ? n : most;
    for (size_t k = 0; k < to->n; k++) {
        const size_t of = to->n < n ? k * (n - 1) / (to->n - 1) : k;
        to->point[k] = scratch[beside ? of : n - 1 - of];
    }
}

/* The parts of a cut in their places; what stays empty beside the smaller one is dead, or given to it. */
static void place(struct planner *p, int node, size_t shape, struct rect at, const int *expression)
{
    /* at: where the node goes; its own sides grow into it by at.w / w and at.h / h */
    const int what = expression[node];
    if (what >= 0) {
        p->unit[what] = at;
        return;
    }
    const struct point *pt = &p->node[node].point[shape];
    const int part[] = {p->left[node], p->right[node]};
    const size_t of[] = {(size_t)pt->left, (size_t)pt->right};
    const double grow_x = at.w / pt->w, grow_y = at.h / pt->h;
    double from = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct point *c = &p->node[part[i]].point[of[i]];
        const double w = grow_x * c->w, h = grow_y * c->h;
        const bool beside = what == SIDE_BY_SIDE;
        struct rect to = {at.x + (beside ? from : 0), at.y + (beside ? 0 : from), w, h};
        from += beside ? w : h;
        const double left_m = beside ? at.h - h : at.w - w;
        if (left_m > p->o->compact_ratio * (beside ? h : w)) {
            p->dead[p->n_dead++] =
                beside ? (struct rect){to.x, at.y + h, w, left_m} : (struct rect){at.x + w, to.y, left_m, h};
        } else {
            to.w = beside ? w : at.w;
            to.h = beside ? at.h : h;
        }
        place(p, part[i], of[i], to, expression);
    }
}

/* From a state to where units are. */
static void realise(struct planner *p, const int *state)
{
    if (p->given.n_unit > 0) {
        for (size_t i = 0; i < p->n_state; i++) {
            const struct tmx_unit *at = &p->given.unit[i];
            p->unit[state[i]] = (struct rect){at->x_m, at->y_m, at->w_m, at->h_m};
        }
        return;
    }
    size_t used = 0;
    int top = 0;
    for (size_t k = 0; k < p->n_state; k++) {
        if (state[k] >= 0) {
            p->node[k] = p->leaf[state[k]];
        } else {
            p->right[k] = p->stack[--top];
            p->left[k] = p->stack[--top];
            p->node[k].point = p->pool + used;
            join(&p->node[p->left[k]], &p->node[p->right[k]], state[k], p->most_points, p->scratch,
                 &p->node[k]);
            used += p->node[k].n;
        }
        p->stack[top++] = (int)k;
    }
    const struct curve *root = &p->node[p->n_state - 1];
    size_t best = 0;
    for (size_t i = 1; i < root->n; i++) {
        const struct point *a = &root->point[i], *b = &root->point[best];
        best = a->w * a->h < b->w * b->h ? i : best;
    }
    const struct point core = root->point[best];
    p->n_dead = 0;
    p->width_m = core.w;
    p->height_m = core.h;
    place(p, (int)p->n_state - 1, best, (struct rect){0, 0, core.w, core.h}, state);
    if (!p->wrapped) {
        return;
    }
    /* Arms at the left and the right of the core and a base below it, of the cache's area: the die a square
     * where that can be. */
    const double w = core.w, h = core.h, area = p->block[p->n_placed].area_m2, side = sqrt(w * h + area);
    double arm = (side - w) / 2, base = side - h;
    if (arm <= 0 || base <= 0) { /* one is ARM_RATIO times the other: (w + 2 arm) base + 2 arm h = area */
        const double k = w >= h ? ARM_RATIO : 1 / ARM_RATIO, half = (k * w + 2 * h) / (4 * k);
        arm = sqrt(half * half + area / (2 * k)) - half;
        base = k * arm;
    }
    p->width_m = w + 2 * arm;
    p->height_m = h + base;
    for (size_t i = 0; i < p->n_placed + p->n_dead; i++) {
        struct rect *r = i < p->n_placed ? &p->unit[i] : &p->dead[i - p->n_placed];
        r->x += arm;
        r->y += base;
    }
    p->unit[p->n_placed] = (struct rect){0, 0, p->width_m, base};
    p->unit[p->n_placed + 1] = (struct rect){0, base, arm, h};
    p->unit[p->n_placed + 2] = (struct rect){arm + w, base, arm, h};
}

/* ---- Moves ---- */

static bool is_cut(int e)
{
    return e < 0;
}

static void swap(int *e, size_t a, size_t b)
{
    const int t = e[a];
    e[a] = e[b];
    e[b] = t;
}

/* A block and the cut behind it, or a cut and the block behind it, change places; false where the result is
 * no normalised expression. */
static bool swap_block_cut(int *e, size_t n, size_t at)
{
    if (is_cut(e[at]) == is_cut(e[at + 1])) {
        return false;
    }
    if (is_cut(e[at + 1])) { /* the cut moves forward: every prefix needs more blocks than cuts */
        size_t cuts = 1;
        for (size_t i = 0; i < at; i++) {
            cuts += is_cut(e[i]);
        }
        if (at == 0 || 2 * cuts >= at + 1 || e[at - 1] == e[at + 1]) {
            return false;
        }
    } else if (at + 2 < n && e[at + 2] == e[at]) {
        return false;
    }
    swap(e, at, at + 1);
    return true;
}

static void move_tree(struct planner *p, int *e)
{
    const size_t n = p->n_state;
    for (int tries = 0; tries < TRIES; tries++) {
        const uint64_t kind = tmx_rng_below(p->rng, 3);
        size_t at = (size_t)tmx_rng_below(p->rng, n - 1);
        if (kind == 0) { /* two blocks that follow one another */
            size_t a = at, b;
            while (a < n && is_cut(e[a])) {
                a++;
            }
            for (b = a + 1; b < n && is_cut(e[b]); b++) {
            }
            if (b < n) {
                swap(e, a, b);
                return;
            }
        } else if (kind == 1 && is_cut(e[at])) { /* a chain of cuts */
            while (at > 0 && is_cut(e[at - 1])) {
                at--;
            }
            for (; at < n && is_cut(e[at]); at++) {
                e[at] = e[at] == SIDE_BY_SIDE ? ONE_ABOVE : SIDE_BY_SIDE;
            }
            return;
        } else if (kind == 2 && swap_block_cut(e, n, at)) {
            return;
        }
    }
}

static bool same_size(const struct tmx_unit *a, const struct tmx_unit *b)
{
    return fabs(a->w_m - b->w_m) < SAME_SIZE_M && fabs(a->h_m - b->h_m) < SAME_SIZE_M;
}

static bool may_swap(const struct planner *p, const int *s, size_t a, size_t b)
{
    return a != b && p->moves[a] && p->moves[b] && same_size(&p->given.unit[a], &p->given.unit[b]) &&
           p->power_w[s[a]] != p->power_w[s[b]];
}

static void move_units(struct planner *p, int *s)
{
    for (int tries = 0; tries < TRIES * TRIES; tries++) {
        const size_t a = (size_t)tmx_rng_below(p->rng, p->n_state),
                     b = (size_t)tmx_rng_below(p->rng, p->n_state);
        if (!may_swap(p, s, a, b)) {
            continue;
        }
        const size_t ma = p->in->mirror ? p->mirror[a] : a, mb = p->in->mirror ? p->mirror[b] : b;
        if (p->in->mirror && (ma == b || (ma == a) != (mb == b))) {
            continue;
        }
        swap(s, a, b);
        if (ma != a && mb != b) {
            swap(s, ma, mb);
        }
        return;
    }
}

/* ---- Temperatures ---- */

/* Answers of the sheets to every mode of a die of this size. */
static void answers(struct heat *h, double width_m, double height_m)
{
    if (h->width_m == width_m && h->height_m == height_m) {
        return;
    }
    h->width_m = width_m;
    h->height_m = height_m;
    const double fx = acos(-1) / width_m, fy = acos(-1) / height_m;
    for (size_t m = 0; m < MODES; m++) {
        for (size_t n = 0; n < MODES; n++) {
            h->wave[m * MODES + n] = (double)(m * m) * fx * fx + (double)(n * n) * fy * fy;
        }
    }
    const size_t last = h->n_sheet - 1;
    for (size_t i = 0; i < MODES * MODES; i++) {
        h->z[i] = 1 / (h->kt[last] * h->wave[i] + h->film);
    }
    for (size_t l = last; l-- > 0;) {
        for (size_t i = 0; i < MODES * MODES; i++) {
            h->z[i] = 1 / (h->kt[l] * h->wave[i] + 1 / (h->r[l] + h->z[i]));
        }
    }
    h->z[0] = width_m * height_m * h->mean_k_per_w;
    for (size_t l = 0; l < last; l++) {
        h->z[0] += h->r[l];
    }
    for (size_t i = 0; i < LOWS; i++) {
        h->sqrt_low[i] = sqrt(h->z[i / LOW * MODES + i % LOW]);
    }
}

/* Means over [from, from + length] of the normed modes of a line of this length. */
static void means(double from, double length, double of, double mode[MODES])
{
    const double pi = acos(-1), a = pi * from / of, b = pi * (from + length) / of, norm = sqrt(2 / of);
    const double ca = 2 * cos(a), cb = 2 * cos(b);
    double sa = sin(a), sb = sin(b), before_a = 0, before_b = 0;
    mode[0] = sqrt(1 / of);
    for (size_t m = 1; m < MODES; m++) { /* sin((m + 1) t) = 2 cos t sin(m t) - sin((m - 1) t) */
        mode[m] = norm * (sb - sa) / ((double)m * (b - a));
        const double next_a = ca * sa - before_a, next_b = cb * sb - before_b;
        before_a = sa;
        before_b = sb;
        sa = next_a;
        sb = next_b;
    }
}

/* Temperatures of all units above ambient. */
static void heat_up(struct planner *p)
{
    struct heat *h = &p->heat;
    double low[LOWS];
    answers(h, p->width_m, p->height_m);
    memset(h->q, 0, sizeof h->q);
    for (size_t u = 0; u < p->n_unit; u++) {
        double *x = h->x + u * MODES, *y = h->y + u * MODES;
        means(p->unit[u].x, p->unit[u].w, p->width_m, x);
        means(p->unit[u].y, p->unit[u].h, p->height_m, y);
        for (size_t m = 0; m < MODES && p->power_w[u] != 0; m++) {
            const double s = p->power_w[u] * x[m];
            for (size_t n = 0; n < MODES; n++) {
                h->q[m * MODES + n] += s * y[n];
            }
        }
    }
    for (size_t i = 0; i < LOWS; i++) {
        double sum = 0;
        for (size_t j = 0; j < LOWS; j++) {
            sum += h->low[i * LOWS + j] * h->sqrt_low[j] * h->q[j / LOW * MODES + j % LOW];
        }
        low[i] = h->sqrt_low[i] * sum;
    }
    for (size_t i = 0; i < MODES * MODES; i++) {
        h->q[i] *= h->z[i];
    }
    for (size_t i = 0; i < LOWS; i++) {
        h->q[i / LOW * MODES + i % LOW] = low[i];
    }
    for (size_t u = 0; u < p->n_unit; u++) {
        double part[MODES] = {0}, sum = 0;
        for (size_t m = 0; m < MODES; m++) {
            for (size_t n = 0; n < MODES; n++) {
                part[n] += h->x[u * MODES + m] * h->q[m * MODES + n];
            }
        }
        for (size_t n = 0; n < MODES; n++) {
            sum += part[n] * h->y[u * MODES + n];
        }
        p->temp_k[u] = sum;
    }
}

/* Wires: length times density, of both directions as HotSpot counts; every part of a wrapped cache has its
 * wires. */
static struct tmx_floorplanner_values values(const struct planner *p)
{
    struct tmx_floorplanner_values v = {.area_m2 = p->width_m * p->height_m};
    double high = -INFINITY, low = INFINITY;
    for (size_t w = 0; w < p->n_wire; w++) {
        const struct wire *l = &p->wire[w];
        const size_t first = l->a < l->b ? l->a : l->b, last = l->a < l->b ? l->b : l->a;
        const size_t parts = p->wrapped && last == p->n_placed ? 3 : 1;
        for (const struct rect *a = &p->unit[first], *b = &p->unit[last]; b < &p->unit[last] + parts; b++) {
            v.wire_m += 2 * l->density *
                        (fabs(a->x + a->w / 2 - b->x - b->w / 2) + fabs(a->y + a->h / 2 - b->y - b->h / 2));
        }
    }
    for (size_t u = 0; u < p->n_unit; u++) {
        high = fmax(high, p->temp_k[u]);
        low = fmin(low, p->temp_k[u]);
    }
    v.peak_k = p->in->cfg->ambient + high;
    v.gradient_k = high - low;
    v.cost = p->o->lambdaA * v.area_m2 + p->o->lambdaT * v.peak_k + p->o->lambdaW * v.wire_m +
             p->o->lambdaG * v.gradient_k;
    return v;
}

static double cost(struct planner *p, const int *state)
{
    realise(p, state);
    heat_up(p);
    return values(p).cost;
}

/* ---- The full grid ---- */

static void one_floorplan(const struct planner *p, struct tmx_floorplan *fp)
{
    const size_t n_dead = p->given.n_unit > 0 ? 0 : p->n_dead;
    char name[32];
    *fp = (struct tmx_floorplan){0};
    snprintf(fp->source, sizeof fp->source, "%s", p->source);
    for (size_t u = 0; u < p->n_unit + n_dead && !p->err->code; u++) {
        const bool dead = u >= p->n_unit;
        const struct rect *r = dead ? &p->dead[u - p->n_unit] : &p->unit[u];
        struct tmx_unit unit = {dead ? name : p->name[u], r->x, r->y, r->w, r->h, NAN, NAN, 0};
        snprintf(name, sizeof name, "%s%zu", DEAD, u - p->n_unit);
        if (!dead && p->given.n_unit > 0) {
            unit.heat_capacity_j_per_m3k = p->given.unit[u].heat_capacity_j_per_m3k;
            unit.resistivity_mk_per_w = p->given.unit[u].resistivity_mk_per_w;
            unit.line = p->given.unit[u].line;
        }
        tmx_floorplan_add(fp, &unit, p->err);
    }
}

/* Temperatures of the units of fp, which begins with p's, by the full grid. */
static void by_grid(struct planner *p, const struct tmx_floorplan *fp)
{
    const struct tmx_stack_options so = {.floorplan = fp};
    const struct tmx_settle_options settle = {.natural = p->in->cfg->natural_convec,
                                              .leakage_tolerance_k = 1e-6};
    struct tmx_stack stack = {0};
    struct tmx_temps temps = {0};
    struct tmx_arena scratch = {0};
    double *node_k = NULL, *power_w = NULL;
    if (!p->err->code && !tmx_stack_create(p->in->cfg, &so, NULL, &stack, p->err) &&
        !tmx_temps_init(&temps, &stack, p->err)) {
        TMX_TAKE(&scratch, node_k, tmx_temps_nodes(&temps));
        TMX_TAKE(&scratch, power_w, fp->n_unit);
        tmx_arena_check(&scratch, p->err);
    }
    if (!p->err->code) {
        memcpy(power_w, p->power_w, p->n_unit * sizeof *power_w);
        tmx_settle(&stack, &settle, power_w, &temps, node_k, NULL, NULL, p->err);
        tmx_temps_from_nodes(&temps, node_k);
    }
    for (size_t u = 0; u < p->n_unit && !p->err->code; u++) {
        p->temp_k[u] = temps.block_k[u] - p->in->cfg->ambient;
    }
    tmx_arena_finish(&scratch);
    tmx_temps_finish(&temps);
    tmx_stack_finish(&stack);
}

/* The sheets of the package, and the full grid's answers to the low modes of a die of this size. */
static void fit_heat(struct planner *p, double width_m, double height_m)
{
    struct heat *h = &p->heat;
    char name[] = "die";
    struct tmx_unit die = {name, 0, 0, width_m, height_m, NAN, NAN, 0};
    const struct tmx_floorplan fp = {.unit = &die, .n_unit = 1, .source = "the die"};
    struct tmx_hotspot_config cfg = *p->in->cfg;
    const struct tmx_stack_options so = {.floorplan = &fp};
    struct tmx_stack stack = {0};
    struct tmx_network net = {0};
    struct tmx_solver *solver = NULL;
    struct tmx_system *system = NULL;
    cfg.grid_rows = cfg.grid_cols = LOW_GRID;
    if (!tmx_stack_create(&cfg, &so, NULL, &stack, p->err) && !tmx_network_init(&net, &stack.spec, p->err)) {
        const struct tmx_package *pk = &stack.spec.package;
        h->n_sheet = stack.spec.n_layer + 2;
        for (size_t l = 0; l < stack.spec.n_layer; l++) {
            const struct tmx_layer *layer = &stack.spec.layer[l];
            h->kt[l] = layer->lateral ? layer->k_w_per_mk * layer->thickness_m : 0;
            h->r[l] = layer->thickness_m / layer->k_w_per_mk;
        }
        h->kt[h->n_sheet - 2] = pk->k_spreader * pk->t_spreader_m;
        h->r[h->n_sheet - 2] = pk->t_spreader_m / pk->k_spreader;
        h->kt[h->n_sheet - 1] = pk->k_sink * pk->t_sink_m;
        h->film = tmx_network_gamma(&net, pk->r_convec_k_per_w);
        h->mean_k_per_w = 1 / (h->film * net.sink_area_m2);
        solver = tmx_solver_create(&net, TMX_SOLVER_BY_SIZE, NULL, p->err);
        system = tmx_system_create(solver, &(struct tmx_matrix){.gamma = h->film}, p->err);
        if (system) {
            answers(h, width_m, height_m);
        }
    }
    double *b, *t, line[2][LOW_GRID][MODES];
    TMX_TAKE(&p->arena, b, net.n_node);
    TMX_TAKE(&p->arena, t, net.n_node);
    tmx_arena_check(&p->arena, p->err);
    for (size_t c = 0; c < LOW_GRID; c++) {
        means(width_m * (double)c / LOW_GRID, width_m / LOW_GRID, width_m, line[0][c]);
        means(height_m * (double)(LOW_GRID - 1 - c) / LOW_GRID, height_m / LOW_GRID, height_m, line[1][c]);
    }
    const double cell_m2 = width_m * height_m / (LOW_GRID * LOW_GRID);
    for (size_t i = 0; i < LOWS && !p->err->code; i++) {
        memset(b, 0, net.n_node * sizeof *b);
        for (size_t c = 0; c < LOW_GRID * LOW_GRID; c++) {
            b[c] = cell_m2 * line[0][c % LOW_GRID][i / LOW] * line[1][c / LOW_GRID][i % LOW];
        }
        const enum tmx_status st =
            tmx_solve(solver, system, &(struct tmx_accuracy){.part = 1e-10}, false, 1, b, NULL, t);
        if (st) {
            tmx_error(p->err, st, "%s", "");
        }
        for (size_t j = 0; j < LOWS && !st; j++) {
            double sum = 0;
            for (size_t c = 0; c < LOW_GRID * LOW_GRID; c++) {
                sum += t[c] * cell_m2 * line[0][c % LOW_GRID][j / LOW] * line[1][c / LOW_GRID][j % LOW];
            }
            h->low[j * LOWS + i] = sum / (h->sqrt_low[j] * h->sqrt_low[i]);
        }
    }
    tmx_system_destroy(system);
    tmx_solver_destroy(solver);
    tmx_network_finish(&net);
    tmx_stack_finish(&stack);
}

/* ---- Annealing ---- */

struct elite {
    int *state; /* [ELITE][n_state] ascending cost */
    double cost[ELITE];
    size_t n;
};

static void keep(struct elite *e, const int *state, size_t n_state, double c)
{
    size_t at = e->n;
    for (size_t i = 0; i < e->n; i++) {
        if (fabs(e->cost[i] - c) <= 1e-9 * fabs(c)) {
            return;
        }
    }
    while (at > 0 && c < e->cost[at - 1]) {
        at--;
    }
    if (at == ELITE) {
        return;
    }
    const size_t last = e->n < ELITE ? e->n++ : ELITE - 1;
    memmove(e->state + (at + 1) * n_state, e->state + at * n_state, (last - at) * n_state * sizeof(int));
    memmove(e->cost + at + 1, e->cost + at, (last - at) * sizeof e->cost[0]);
    memcpy(e->state + at * n_state, state, n_state * sizeof(int));
    e->cost[at] = c;
}

static size_t anneal(struct planner *p, struct elite *e)
{
    const struct tmx_floorplanner_options *o = p->o;
    double t = p->hot, c = cost(p, p->now);
    size_t tried = 0;
    keep(e, p->now, p->n_state, c);
    for (int step = 0; t >= p->cold && step < o->Nmax; step++, t *= o->Rcool) {
        size_t downs = 0, rejects = 0, i;
        for (i = 0; i < 2 * p->turns && downs < p->turns; i++) {
            memcpy(p->next, p->now, p->n_state * sizeof *p->next);
            (p->given.n_unit > 0 ? move_units : move_tree)(p, p->next);
            const double new_cost = cost(p, p->next);
            if (new_cost < c || tmx_rng_uniform(p->rng) < exp((c - new_cost) / t)) {
                int *now = p->now;
                p->now = p->next;
                p->next = now;
                downs += new_cost < c;
                c = new_cost;
                if (e->n < ELITE || c < e->cost[ELITE - 1]) {
                    keep(e, p->now, p->n_state, c);
                }
            } else {
                rejects++;
            }
        }
        tried += i;
        if ((double)rejects > o->Rreject * (double)i) {
            break;
        }
    }
    return tried;
}

/* ---- From input to result ---- */

/* Is name one of the list: names, comma between, `*` at the end for all that begin so. */
static bool in_list(const char *list, const char *name)
{
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        const bool all = n > 0 && list[n - 1] == '*';
        size_t i = 0;
        while (i < n - all && name[i] && tolower((unsigned char)name[i]) == tolower((unsigned char)list[i])) {
            i++;
        }
        if (i == n - all && (all || !name[i])) {
            return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}

static void read_places(struct planner *p)
{
    if (tmx_flp_read(p->in->file, &p->given, p->err) || tmx_floorplan_check(&p->given, 0, p->err)) {
        return;
    }
    const size_t n = p->given.n_unit;
    p->width_m = tmx_floorplan_width_m(&p->given);
    p->height_m = tmx_floorplan_height_m(&p->given);
    p->n_unit = p->n_state = n;
    TMX_TAKE(&p->arena, p->mirror, n);
    TMX_TAKE(&p->arena, p->moves, n);
    tmx_arena_check(&p->arena, p->err);
    for (size_t i = 0; i < n && !p->err->code; i++) {
        const struct tmx_unit *u = &p->given.unit[i];
        p->mirror[i] = n;
        for (size_t j = 0; j < n; j++) {
            const struct tmx_unit *v = &p->given.unit[j];
            if (same_size(u, v) && fabs(u->y_m - v->y_m) < SAME_SIZE_M &&
                fabs(u->x_m + u->w_m + v->x_m - p->width_m) < SAME_SIZE_M) {
                p->mirror[i] = j;
            }
        }
        p->moves[i] =
            !in_list(p->in->stay, u->name) &&
            (!p->in->mirror || (p->mirror[i] < n && !in_list(p->in->stay, p->given.unit[p->mirror[i]].name)));
    }
}

static void prepare(struct planner *p)
{
    const bool desc = tmx_text_ends(p->in->file, ".desc");
    struct tmx_arena *a = &p->arena;
    if (desc && (p->in->stay || p->in->mirror)) {
        tmx_error_at(p->err, TMX_ECONFIG, p->in->file, 0,
                     "blocks to be placed have no place that they could keep: --stay and --mirror are of "
                     "floorplans");
    } else if (p->o->model_rim) {
        tmx_error_at(p->err, TMX_ECONFIG, p->in->file, 0, "model_rim 1 is not offered");
    }
    snprintf(p->source, sizeof p->source, "%s", p->in->file);
    if (!p->err->code) {
        (desc ? read_desc : read_places)(p);
    }
    if (p->err->code) {
        return;
    }
    if (desc) {
        p->n_state = 2 * p->n_placed - 1;
        p->n_unit = p->n_placed + (p->wrapped ? 3 : 0);
        const size_t all = p->n_placed * (size_t)p->o->n_orients + FAST_SHAPES * p->n_placed,
                     most = all < FULL_CURVE ? all : FULL_CURVE;
        TMX_TAKE(a, p->leaf, p->n_placed);
        TMX_TAKE(a, p->pool, p->n_placed * most);
        TMX_TAKE(a, p->scratch, 2 * (most + 8));
        TMX_TAKE(a, p->node, p->n_state);
        TMX_TAKE(a, p->left, p->n_state);
        TMX_TAKE(a, p->right, p->n_state);
        TMX_TAKE(a, p->stack, p->n_state);
        TMX_TAKE(a, p->dead, 2 * p->n_state);
    }
    TMX_TAKE(a, p->now, p->n_state);
    TMX_TAKE(a, p->next, p->n_state);
    TMX_TAKE(a, p->unit, p->n_unit);
    TMX_TAKE(a, p->name, p->n_unit);
    TMX_TAKE_REALS(a, p->n_unit, &p->power_w, &p->temp_k);
    TMX_TAKE_REALS(a, p->n_unit * MODES, &p->heat.x, &p->heat.y);
    tmx_arena_check(a, p->err);
    name_units(p);
    read_power(p);
    bool moves = desc; /* some units must have another place they could go to */
    for (size_t i = 0; i < p->n_state && !p->err->code; i++) { /* all in a row, or all as they are */
        p->now[i] = !desc ? (int)i : i == 0 ? 0 : i % 2 ? (int)(i + 1) / 2 : SIDE_BY_SIDE;
        for (size_t j = 0; j < i && !moves; j++) {
            moves = may_swap(p, p->now, i, j) && (!p->in->mirror || p->mirror[i] != j);
        }
    }
    if (!moves) {
        tmx_error_at(p->err, TMX_ECONFIG, p->source, 0,
                     "no two units of one size and different power may change places%s; `thermix floorplan "
                     "split` makes units of one size",
                     p->in->stay ? " (some stay)" : "");
    }
    /* Annealing: the temperatures [cost] at its begin and end, and moves downhill at each, at most half of
     * all. A move takes 5 us of 3 blocks, 67 us of 100, of units that change places 7 us of 16 and 81 us of
     * 256: fitted. */
    const struct tmx_floorplanner_options *o = p->o;
    p->hot = -o->Davg / log(o->P0);
    p->cold = -o->Davg / log((1 - o->Rreject) / 2);
    p->turns = (size_t)fmax(1, o->Kmoves * (double)p->n_state);
    const double all = ceil(log(p->cold / p->hot) / log(o->Rcool)), steps = fmin(o->Nmax, fmax(0, all)),
                 most = 2 * (double)p->turns * steps, n = (double)p->n_unit,
                 move_s = 1e-6 * (4 + (desc ? 0.6 : 0.3) * n);
    if (!p->err->code && !tmx_rng_create(&p->rng, p->in->seed, "floorplan", p->err) &&
        tmx_cost_check((struct tmx_cost){.seconds = most * move_s}, p->err,
                       "%s: up to %.3g moves of %zu blocks (Kmoves %g, Nmax %d, Rcool %g)", p->source, most,
                       p->n_unit, o->Kmoves, o->Nmax, o->Rcool)) {
        return;
    }
}

enum tmx_status tmx_floorplanner_run(const struct tmx_floorplanner_input *in,
                                     struct tmx_floorplanner_result *r, struct tmx_err *err)
{
    struct tmx_hotspot_config cfg = *in->cfg; /* of one die on the grid */
    struct tmx_floorplanner_input grid = *in;
    struct tmx_err own = {0};
    struct planner p = {.in = &grid, .o = in->options, .err = &own};
    struct elite e = {0};
    double area = 0;
    *r = (struct tmx_floorplanner_result){0};
    if (cfg.grid_layer_file[0] || cfg.model_secondary) {
        return tmx_hotspot_config_fail(in->cfg, cfg.model_secondary ? "model_secondary" : "grid_layer_file",
                                       err, "a floorplan is optimised as one die without a secondary path");
    }
    cfg.model_type = TMX_HOTSPOT_GRID;
    grid.cfg = &cfg;
    prepare(&p);
    for (size_t i = 0; i < p.n_block; i++) {
        area += p.block[i].area_m2;
    }
    TMX_TAKE(&p.arena, e.state, ELITE * p.n_state);
    tmx_arena_check(&p.arena, p.err);
    if (!own.code) {
        const bool desc = p.given.n_unit == 0;
        fit_heat(&p, desc ? sqrt(area) : p.width_m, desc ? sqrt(area) : p.height_m);
        if (desc) {
            set_shapes(&p, FAST_SHAPES, FAST_CURVE);
        }
    }
    if (!own.code) {
        cost(&p, p.now);
        one_floorplan(&p, &r->start);
        r->start_value = values(&p);
        if (fmax(p.width_m, p.height_m) < cfg.package.s_spreader_m) { /* blocks in a row may be longer */
            by_grid(&p, &r->start);
            r->start_value = values(&p);
        }
    }
    if (!own.code) {
        r->n_tried = anneal(&p, &e);
        if (p.given.n_unit == 0) {
            set_shapes(&p, (size_t)p.o->n_orients, FULL_CURVE);
        }
    }
    for (; r->n < e.n && !own.code; r->n++) { /* the full grid's values of the best states, by cost */
        struct tmx_floorplan fp;
        size_t at = r->n;
        cost(&p, e.state + r->n * p.n_state);
        const double estimate_k = values(&p).peak_k;
        one_floorplan(&p, &fp);
        if (!own.code && !tmx_floorplan_check(&fp, 0, &own)) {
            by_grid(&p, &fp);
        }
        struct tmx_floorplanner_values v = values(&p);
        v.estimate_k = estimate_k;
        for (; at > 0 && v.cost < r->value[at - 1].cost; at--) {
            r->floorplan[at] = r->floorplan[at - 1];
            r->value[at] = r->value[at - 1];
        }
        r->floorplan[at] = fp;
        r->value[at] = v;
    }
    tmx_floorplan_finish(&p.given);
    tmx_rng_destroy(p.rng);
    tmx_arena_finish(&p.arena);
    return tmx_error_give(err, &own);
}

void tmx_floorplanner_finish(struct tmx_floorplanner_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        tmx_floorplan_finish(&r->floorplan[i]);
    }
    tmx_floorplan_finish(&r->start);
    *r = (struct tmx_floorplanner_result){0};
}
