/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical network: finite volumes of the whole package.
 *
 * The stack is a pile of sheets, each a rectilinear grid of its own of one thickness t. A node is at a
 * depth inside its sheet, lo from the face away from the sink and hi from the other (lo + hi = t); between
 * two sheets each pair of cells that overlap by an area a is linked by (hi / k + lo' / k') / a, inside a
 * sheet two half cells are in series. All heat capacity counts, the air's over the sink's top.
 *
 * Sheets: a die layer has the chip's grid. One that dissipates has its power, and the node that is read, on
 * its face away from the sink (where the transistors are); its sheets grow from there. A sheet of another
 * layer is thinner than a part of the length heat diffuses in the shortest time of interest, or, far from all
 * power, than a part of its distance from it, which fast changes do not cross.
 * Spreader and sink have grids of their own, coarser than the chip's, growing beyond the die's edge to their
 * own, and sheets that grow away from the die; where both are thinner than a tenth of a micrometre and no
 * wider than the die, one sheet is both.
 *
 * A layer of channels is one sheet. Resolved: its columns of cells are walls and channels by turns, which
 * exchange heat by film coefficients. Otherwise a cell has a coolant node and a wall node of the same size;
 * between them and the solid above (and below) is a face that stores no heat, so that its three conductances
 *
 *      solid --g1-- face --g2-- wall                   links of g1 g2 / g, g1 g3 / g, g2 g3 / g
 *                     |                                with g = g1 + g2 + g3
 *                     g3 = film coefficient * area
 *                     |
 *                  coolant
 *
 * become a triangle. Coolant enters at the south edge at its inlet temperature and carries W = p_coolant
 * times its flow from cell to cell: a cell gains W (T_south_face - T_north_face), a face being the mean of
 * the cells on both sides, or with `upwind` the cell before it, and the outlet the last cell. Source of these
 * models: A. Sridhar, A. Vincenzi, M. Ruggiero, T. Brunschwiler, D. Atienza, "3D-ICE: fast compact transient
 * thermal modeling for 3D ICs with inter-tier liquid cooling", ICCAD 2010; "Compact transient thermal model
 * for 3D ICs with liquid cooling via enhanced heat transfer cavity geometries", THERMINIC 2010.
 *
 * How coarse is set against a plain, fine finite-volume code:
 * tests/oracle/slow_fv.h; the table of differences is in docs/models.md. */
#include <math.h>

#include "thermal/assembly/network.h"

static const double FAST_S = 1e-3;      /* the shortest time from which on steps must be right */
static const double DEPTH_PART = 0.35;  /* first sheet of spreader, in lengths diffused in FAST_S */
static const double SHEET_GROWTH = 1.8; /* from one sheet to the next */
static const double CELL_GROWTH = 1.3;  /* from one cell to the next, beyond the die's edge */
/* A dissipating layer's first sheet is at most this part of it, and of the length diffused. */
static const double FACE_PART = 0.125, FACE_DEPTH = 0.25;
static const double SIDE_OF_DEPTH =
    0.7; /* a cell's side, of the depth below the die: finer patterns have died out */
static const double CELLS_IN_SINK = 6; /* and at most this part of the sink's thickness */
static const double SAME_M = 1e-6;
static const double BARE_M = 1e-7; /* spreader and sink together thinner than this are none */

struct axis {     /* lines of one direction, ascending from the die's corner as origin */
    size_t n;     /* cells */
    double *line; /* [n + 1] */
};

struct sheet {
    struct axis x, y; /* y counts from the north edge southwards, as rows do */
    double t, lo, hi;
    double k, p;                   /* of all cells, or */
    const double *cell_k, *cell_p; /* of each, not owned */
    bool lateral;
    double part_x, part_y; /* conductivities along x and y, of k; 0: 1 */
    bool on_chip;          /* has the chip's grid */
    size_t layer;          /* of the view */
    size_t first;          /* node of its first cell; of channels that are not resolved: its coolant */
    const struct tmx_channels *channels; /* NULL: none flow through it */
    size_t wall;                         /* node of the walls of its first cell, where they have nodes */
    double *face_w_k; /* [cells] coolant to wall through the faces above and below, likewise */
};

struct entry { /* of a row of the view behind the die layers */
    size_t row, node;
    double volume;
};

struct builder {
    struct tmx_network *net;
    const struct tmx_thermal_spec *spec;
    struct sheet *sheet; /* [n_sheet] away from the sink first */
    size_t n_sheet;
    struct entry *entry; /* [n_entry] in any order */
    size_t n_entry;
    double *k, *p; /* [die layers][n_cell] where units have materials of their own */
    double refine;
    struct tmx_arena arena; /* of all */
};

/* ---- lines ---- */

/* Cells of a gap, the first of size `from`, each longer than the one before, filling it exactly: an array of
 * their sizes, and how many they are. */
static double *grow(struct builder *b, double gap, double from, double growth, size_t *n)
{
    double sum = 0, next = from, *size = NULL;
    *n = 0;
    if (gap > 0) { /* no cell is shorter than the first */
        TMX_TAKE(&b->arena, size, (size_t)(gap / from) + 2);
    }
    while (size && (*n == 0 || sum + 0.5 * next < gap)) {
        size[(*n)++] = next;
        sum += next;
        next *= growth;
    }
    for (size_t i = 0; i < *n; i++) {
        size[i] *= gap / sum;
    }
    return size;
}

/* Lines over the die every so many of the chip's n cells (which end at chip [n + 1]; NULL: are equal), at
 * most `most` wide but never finer than they (most 0: they themselves), then growing over the gaps to the
 * spreader's and the sink's edge. */
static void make_axis(struct builder *b, struct axis *a, double die_m, size_t n, const double *chip,
                      double most, const double gap[2])
{
    const double want = most > 0 ? ceil(die_m / most - 1e-9) : (double)n;
    const size_t n_die = want >= (double)n ? n : want < 1 ? 1 : (size_t)want;
    const double cell = die_m / (double)n_die, growth = 1 + (CELL_GROWTH - 1) / b->refine;
    size_t to_edge, beyond_it;
    const double *inner = grow(b, gap[0], cell, growth, &to_edge);
    const double *outer = grow(b, gap[1], growth * (to_edge ? inner[to_edge - 1] : cell), growth, &beyond_it);
    const size_t out = to_edge + beyond_it;
    a->n = n_die + 2 * out;
    TMX_TAKE(&b->arena, a->line, a->n + 1);
    if (b->arena.failed) {
        return;
    }
    for (size_t i = 0; i <= n_die; i++) { /* on the chip's own lines */
        const double at = floor((double)(i * n) / (double)n_die + 0.5);
        a->line[out + i] = chip ? chip[(size_t)at] : die_m * at / (double)n;
    }
    for (size_t i = 0; i < out; i++) {
        const double size = i < to_edge ? inner[i] : outer[i - to_edge];
        a->line[out - 1 - i] = a->line[out - i] - size;
        a->line[out + n_die + 1 + i] = a->line[out + n_die + i] + size;
    }
}

/* ---- sheets ---- */

/* Half of what a plate is wider than what it carries; less than a micrometre is none. */
static double beyond(double side_m, double carried_m)
{
    return side_m - carried_m > SAME_M ? 0.5 * (side_m - carried_m) : 0;
}

/* Append s with lines of its own: the die's alone, or with most > 0 those of a plate with cells of that
 * side, which are to end at the spreader's edge, too, on the way to its edge_m. */
static void add_sheet(struct builder *b, const struct sheet *s, double most, double edge_m)
{
    if (!TMX_GROW(&b->arena, b->sheet, b->n_sheet)) {
        return;
    }
    const double W = b->net->width_m, H = b->net->height_m, side_m = b->spec->package.s_spreader_m;
    const bool plate = most > 0;
    const double gap_x[2] = {plate ? beyond(side_m, W) : 0, plate ? beyond(edge_m, side_m) : 0},
                 gap_y[2] = {plate ? beyond(side_m, H) : 0, gap_x[1]};
    struct sheet *new = &b->sheet[b->n_sheet++];
    *new = *s;
    new->on_chip = most == 0;
    make_axis(b, &new->x, W, b->net->cols, b->spec->col_line_m, most, gap_x);
    make_axis(b, &new->y, H, b->net->rows, NULL, most, gap_y);
}

/* Length heat diffuses in FAST_S. */
static double diffused_m(double k, double p)
{
    return sqrt(k / p * FAST_S);
}

static void die_sheets(struct builder *b, size_t l)
{
    const struct tmx_layer *layer = &b->spec->layer[l];
    const double t = layer->thickness_m, *k = b->k ? b->k + l * b->net->n_cell : NULL;
    const double thin = diffused_m(layer->k_w_per_mk, layer->p_j_per_m3k) / 2 / b->refine;
    struct sheet s = {.k = layer->k_w_per_mk,
                      .p = layer->p_j_per_m3k,
                      .cell_k = k,
                      .cell_p = k ? b->p + l * b->net->n_cell : NULL,
                      .lateral = layer->lateral,
                      .channels = layer->channels,
                      .part_x = layer->k_part_x,
                      .part_y = layer->k_part_y,
                      .layer = l};
    double next = thin, left = t;
    if (layer->channels) {
        s.t = t;
        s.lo = s.hi = 0.5 * t;
        s.cell_k = s.cell_p = NULL;
        add_sheet(b, &s, 0, 0);
        return;
    }
    if (layer->dissipates && t > FACE_DEPTH * thin) { /* a thinner one is one sheet, hot in its middle */
        s.t = s.hi = fmin(FACE_PART * t / b->refine, FACE_DEPTH * thin);
        s.lo = 0;
        next = SHEET_GROWTH * s.t;
        left -= s.t;
        add_sheet(b, &s, 0, 0);
    }
    const double part = (SHEET_GROWTH - 1) / b->refine; /* of its distance from power */
    /* distance of its first face from the nearest power before it, and of its last from that after it */
    double before_m = INFINITY, after_m = INFINITY, d = 0;
    for (size_t i = l; i-- > 0 && before_m == INFINITY; d += b->spec->layer[i].thickness_m) {
        before_m = b->spec->layer[i].dissipates ? d : INFINITY;
    }
    d = 0;
    for (size_t i = l + 1; i < b->spec->n_layer && after_m == INFINITY;
         d += b->spec->layer[i++].thickness_m) {
        after_m = b->spec->layer[i].dissipates ? d : INFINITY;
    }
    const double deepest_m = fmin(fmin(before_m, after_m) + t, 0.5 * (before_m + after_m + t));
    const bool far = !layer->dissipates && part * deepest_m > thin;
    while (left > 0) { /* equal ones once they would be too thick */
        const double depth_m = fmin(before_m + t - left, (after_m + left) / (1 + part)),
                     most = far ? fmax(thin, part * depth_m) : fmin(next, thin), n = ceil(left / most - 1e-9);
        s.t = (far ? n > 2 : next < thin && n > 1) ? most : left / n;
        s.lo = s.hi = 0.5 * s.t;
        const double middle_m = 0.5 * t - (t - left); /* where the layer is read */
        if (far && middle_m >= 0 && middle_m < s.t) {
            s.lo = middle_m;
            s.hi = s.t - s.lo;
        }
        left = n > 1 ? left - s.t : 0;
        next *= SHEET_GROWTH;
        add_sheet(b, &s, 0, 0);
    }
}

/* Sheets of spreader or sink, which is as thick as plate.t: they grow, the first about `first` thick, from
 * *depth_m below the die on, which becomes that of the far side. Returns the thickness of the last one. */
static double plate_sheets(struct builder *b, struct sheet plate, double edge_m, double first,
                           double *depth_m)
{
    const double growth = 1 + (SHEET_GROWTH - 1) / b->refine, t = plate.t;
    const double widest = b->spec->package.t_sink_m / CELLS_IN_SINK;
    size_t n;
    const double *size = grow(b, t, b->arena.failed ? t : fmin(first, 0.5 * t), growth, &n);
    for (size_t i = 0; i < n; i++) {
        plate.t = size[i];
        plate.lo = plate.hi = 0.5 * size[i];
        add_sheet(b, &plate, fmin(widest, SIDE_OF_DEPTH * (*depth_m + plate.lo)) / b->refine, edge_m);
        *depth_m += size[i];
    }
    return plate.t;
}

/* No spreader and no sink but one sheet, the face of the layers towards the air. */
static bool is_bare(const struct builder *b)
{
    const struct tmx_package *pk = &b->spec->package;
    const double beyond_m = pk->s_sink_m - fmax(b->net->width_m, b->net->height_m);
    return pk->t_spreader_m + pk->t_sink_m < BARE_M && beyond_m < SAME_M;
}

static void make_sheets(struct builder *b)
{
    const struct tmx_package *pk = &b->spec->package;
    const size_t n_die = b->spec->n_layer;
    struct sheet spreader = {.k = pk->k_spreader,
                             .p = pk->p_spreader,
                             .t = pk->t_spreader_m,
                             .lateral = true,
                             .layer = n_die},
                 sink = spreader;
    const double first = DEPTH_PART * diffused_m(pk->k_spreader, pk->p_spreader) / b->refine;
    const size_t n_cell = b->net->n_cell;
    bool mixed = b->spec->detailed_3d || b->spec->k_part; /* do cells differ within a layer? */
    double depth_m = 0;
    for (size_t l = 0; l < n_die; l++) {
        mixed = mixed || b->spec->layer[l].filler_k_w_per_mk > 0;
    }
    if (mixed) {
        TMX_TAKE_REALS(&b->arena, n_die * n_cell, &b->k, &b->p);
    }
    for (size_t l = 0; l < n_die; l++) {
        if (mixed && !b->arena.failed) {
            tmx_network_materials(b->net, b->spec, l, b->k + l * n_cell, b->p + l * n_cell);
        }
        die_sheets(b, l);
    }
    if (is_bare(b)) {
        spreader.lo = spreader.hi = 0.5 * (pk->t_spreader_m + pk->t_sink_m);
        spreader.t = 2 * spreader.lo;
        add_sheet(b, &spreader, 0, 0);
        return;
    }
    sink.k = pk->k_sink, sink.p = pk->p_sink, sink.t = pk->t_sink_m, sink.layer = n_die + 1;
    const double last_m = plate_sheets(b, spreader, pk->s_spreader_m, first, &depth_m);
    plate_sheets(b, sink, pk->s_sink_m, SHEET_GROWTH * last_m, &depth_m);
}

/* ---- nodes and links ---- */

/* The sheet whose nodes stand for a die layer: its face where it dissipates, else what its middle is in. */
static size_t seen_sheet(const struct builder *b, size_t layer)
{
    const double t = b->spec->layer[layer].thickness_m;
    size_t seen = b->n_sheet;
    double depth_m = 0;
    for (size_t s = 0; s < b->n_sheet; s++) {
        if (b->sheet[s].layer == layer) {
            const bool first = seen == b->n_sheet;
            seen = first || (!b->spec->layer[layer].dissipates && depth_m <= 0.5 * t * (1 + 1e-9)) ? s : seen;
            depth_m += b->sheet[s].t;
        }
    }
    return seen;
}

static void number_nodes(struct builder *b)
{
    struct tmx_network *net = b->net;
    size_t next = b->spec->n_layer * net->n_cell;
    for (size_t s = 0; s < b->n_sheet; s++) {
        struct sheet *sheet = &b->sheet[s];
        if (sheet->layer < b->spec->n_layer && seen_sheet(b, sheet->layer) == s) {
            sheet->first = sheet->layer * net->n_cell;
        } else {
            sheet->first = next;
            next += sheet->x.n * sheet->y.n;
        }
        if (sheet->channels && sheet->channels->kind != TMX_CHANNELS_RESOLVED) {
            sheet->wall = next;
            next += sheet->x.n * sheet->y.n;
            TMX_TAKE(&b->arena, sheet->face_w_k, sheet->x.n * sheet->y.n);
        }
    }
    net->n_node = next;
    TMX_TAKE(&net->arena, net->twin, next);
    TMX_TAKE(&net->arena, net->sheet, b->n_sheet);
    for (size_t s = 0; s < b->n_sheet && !net->arena.failed; s++) {
        const struct sheet *sheet = &b->sheet[s];
        net->sheet[net->n_sheet++] =
            (struct tmx_sheet){sheet->wall ? sheet->wall : sheet->first, sheet->x.n, sheet->y.n};
        net->n_on_chip += sheet->on_chip;
        for (size_t c = 0; c < sheet->x.n * sheet->y.n; c++) {
            net->twin[sheet->first + c] =
                sheet->layer < b->spec->n_layer ? sheet->layer * net->n_cell + c : sheet->first + c;
            if (sheet->wall) {
                net->twin[sheet->wall + c] = net->twin[sheet->first + c];
            }
        }
    }
    tmx_network_alloc(net);
}

static double size_of(const struct axis *a, size_t i)
{
    return a->line[i + 1] - a->line[i];
}

static double area_of(const struct sheet *s, size_t c)
{
    return size_of(&s->x, c % s->x.n) * size_of(&s->y, c / s->x.n);
}

static double cell_k(const struct sheet *s, size_t cell)
{
    return s->cell_k ? s->cell_k[cell] : s->k;
}

/* ---- channels ---- */

/* Area of the coolant in a plane across the layer's thickness, of the whole. */
static double porosity(const struct tmx_channels *c)
{
    static const double QUARTER_CIRCLE = 0.78539816339744831;
    const double pitch = c->width_m + c->wall_m, part = c->width_m / pitch;
    return c->kind <= TMX_CHANNELS_RESOLVED ? part : 1 - QUARTER_CIRCLE * part * part;
}

/* Film coefficient between coolant and the face on one side. Of pins: that of the whole layer between pins 50
 * um wide every 100 um, by the velocity in an empty layer (THERMINIC 2010, as 3D-ICE has it). */
static double film(const struct builder *b, const struct sheet *s, bool top)
{
    const struct tmx_channels *c = s->channels;
    if (c->kind <= TMX_CHANNELS_RESOLVED) {
        return top ? c->h_top : c->h_bottom;
    }
    const double velocity = c->flow_m3_per_s / (b->net->width_m * s->t);
    const double falls = c->kind == TMX_CHANNELS_PINS_INLINE ? 0.64 : 1.52;
    return 1 / (2.527e-5 / pow(velocity + 1.35, falls) + 1.533e-6);
}

/* Does coolant fill this column of a resolved layer? */
static bool is_wet(const struct sheet *s, size_t cell)
{
    return s->channels && s->channels->kind == TMX_CHANNELS_RESOLVED && cell % s->x.n % 2 == 1;
}

static void links_of_channels(struct builder *b, const struct sheet *s)
{
    const struct tmx_channels *c = s->channels;
    const bool resolved = c->kind == TMX_CHANNELS_RESOLVED;
    const double total_w_k = c->p_j_per_m3k * c->flow_m3_per_s;
    const double along_x = s->part_x > 0 ? s->part_x : 1, along_y = s->part_y > 0 ? s->part_y : 1;
    for (size_t j = 0; j < s->x.n; j++) {
        const double dx = size_of(&s->x, j);
        for (size_t i = 0; i < s->y.n; i++) {
            const size_t cell = i * s->x.n + j, node = (resolved ? s->first : s->wall) + cell;
            const double dy = size_of(&s->y, i);
            if (resolved && j + 1 < s->x.n) { /* a wall beside a channel */
                const double wall_m = size_of(&s->x, is_wet(s, cell) ? j + 1 : j);
                tmx_network_link(b->net, node, node + 1,
                                 (0.5 * wall_m / (s->k * along_x) + 1 / c->h_side) / (dy * s->t));
            }
            if (i + 1 < s->y.n && (resolved ? !is_wet(s, cell) : c->kind == TMX_CHANNELS_MERGED)) {
                const double solid = resolved ? 1 : 1 - porosity(c), far = size_of(&s->y, i + 1);
                tmx_network_link(b->net, node, node + s->x.n,
                                 0.5 * (dy + far) / (s->k * along_y * solid * dx * s->t));
            }
            if (!resolved && s->face_w_k[cell] > 0) {
                tmx_network_link(b->net, s->first + cell, node, 1 / s->face_w_k[cell]);
            }
        }
        if (!resolved || j % 2 == 1) {
            const double w_k = total_w_k * (resolved ? 1 / (double)((s->x.n - 1) / 2) : dx / b->net->width_m);
            /* Coolant along a column, from the last row (south) to row 0. */
            const double before =
                c->upwind ? 1 : 0.5; /* share of the cell before a face in its temperature */
            for (size_t i = s->y.n; i-- > 0;) {
                const size_t node = s->first + i * s->x.n + j, south = node + s->x.n, north = node - s->x.n;
                const bool inlet = i + 1 == s->y.n, outlet = i == 0;
                const double own = (outlet ? 1 : before) - (inlet ? 0 : 1 - before);
                const size_t of[] = {node, south, north};
                const double carried_w_k[] = {w_k * own, inlet ? 0 : -w_k * before,
                                              outlet ? 0 : w_k * (1 - before)};
                for (size_t k = 0; k < 3; k++) {
                    if (carried_w_k[k] != 0) {
                        tmx_network_flow(b->net, node, of[k], carried_w_k[k]);
                    }
                }
                b->net->inflow_w_k[node] += inlet ? w_k : 0;
            }
        }
    }
}

/* A cell of channels that are not resolved, and an area of the solid beside it at r [m2 K/W] from their face:
 * 0 where its node lies on it, INFINITY where there is no solid. */
static void link_face(struct builder *b, const struct sheet *s, size_t cell, bool top, size_t solid, double r,
                      double area)
{
    const double g1 = area / r, g2 = s->k * (1 - porosity(s->channels)) * area / (0.5 * s->t);
    const double g3 = film(b, s, top) * area, part = r > 0 ? g1 / (g1 + g2 + g3) : 1; /* g1 / g */
    s->face_w_k[cell] += r > 0 ? g2 * g3 / (g1 + g2 + g3) : 0;
    if (part > 0) {
        tmx_network_link(b->net, solid, s->wall + cell, 1 / (part * g2));
        tmx_network_link(b->net, solid, s->first + cell, 1 / (part * g3));
    }
}

static void links_inside(struct builder *b, const struct sheet *s)
{
    for (size_t c = 0; c < s->x.n * s->y.n && s->lateral; c++) {
        const size_t i = c / s->x.n, j = c % s->x.n;
        const double dx = size_of(&s->x, j), dy = size_of(&s->y, i);
        if (j + 1 < s->x.n) {
            const double r = dx / cell_k(s, c) + size_of(&s->x, j + 1) / cell_k(s, c + 1);
            tmx_network_link(b->net, s->first + c, s->first + c + 1,
                             0.5 * r / (dy * s->t) / (s->part_x > 0 ? s->part_x : 1));
        }
        if (i + 1 < s->y.n) {
            const double r = dy / cell_k(s, c) + size_of(&s->y, i + 1) / cell_k(s, c + s->x.n);
            tmx_network_link(b->net, s->first + c, s->first + c + s->x.n,
                             0.5 * r / (dx * s->t) / (s->part_y > 0 ? s->part_y : 1));
        }
    }
}

/* First cell of a that ends beyond v. */
static size_t find_cell(const struct axis *a, double v)
{
    size_t i = 0;
    while (i < a->n && a->line[i + 1] <= v + 1e-9 * fabs(a->line[a->n])) {
        i++;
    }
    return i;
}

static double overlap(const struct axis *a, size_t i, const struct axis *b, size_t j)
{
    return fmin(a->line[i + 1], b->line[j + 1]) - fmax(a->line[i], b->line[j]);
}

/* Cells c of p and d of q, the next sheet, which overlap by an area. */
static void links_to_next(struct builder *b, const struct sheet *p)
{
    const double tiny = 1e-9 * b->net->width_m;
    const struct sheet *q = p + 1;
    for (size_t i = 0; i < p->y.n; i++) {
        for (size_t k = find_cell(&q->y, p->y.line[i]); k < q->y.n && overlap(&p->y, i, &q->y, k) > tiny;
             k++) {
            for (size_t j = 0; j < p->x.n; j++) {
                size_t l = find_cell(&q->x, p->x.line[j]);
                for (; l < q->x.n && overlap(&p->x, j, &q->x, l) > tiny; l++) {
                    const size_t c = i * p->x.n + j, d = k * q->x.n + l;
                    const double area = overlap(&p->y, i, &q->y, k) * overlap(&p->x, j, &q->x, l),
                                 above = is_wet(p, c) ? 1 / film(b, p, true) : p->hi / cell_k(p, c),
                                 below = is_wet(q, d) ? 1 / film(b, q, false) : q->lo / cell_k(q, d);
                    if (p->wall) {
                        link_face(b, p, c, true, q->first + d, below, area);
                    } else if (q->wall) {
                        link_face(b, q, d, false, p->first + c, above, area);
                    } else {
                        tmx_network_link(b->net, p->first + c, q->first + d, (above + below) / area);
                    }
                }
            }
        }
    }
}

static void make_heat(struct builder *b)
{
    struct tmx_network *net = b->net;
    const struct tmx_package *pk = &b->spec->package;
    for (size_t n = 0; n < b->n_sheet; n++) {
        const struct sheet *s = &b->sheet[n];
        for (size_t c = 0; c < s->x.n * s->y.n; c++) {
            const double area = area_of(s, c);
            net->heat_j_k[s->first + c] = (s->cell_p ? s->cell_p[c] : s->p) * s->t * area;
            if (s->wall) {
                net->heat_j_k[s->wall + c] = s->p * s->t * area * (1 - porosity(s->channels));
                net->heat_j_k[s->first + c] = s->channels->p_j_per_m3k * s->t * area * porosity(s->channels);
            } else if (is_wet(s, c)) {
                net->heat_j_k[s->first + c] = s->channels->p_j_per_m3k * s->t * area;
            }
            if (n + 1 == b->n_sheet) { /* towards the air */
                net->area_m2[s->first + c] = area;
                net->heat_j_k[s->first + c] += pk->c_convec_j_per_k * area / (pk->s_sink_m * pk->s_sink_m);
            }
        }
    }
    const struct sheet *first = &b->sheet[0], *last = &b->sheet[b->n_sheet - 1];
    net->sink_area_m2 = pk->s_sink_m * pk->s_sink_m;
    net->film_base_k = last->hi / last->k;
    const double film = b->spec->r_below_k_per_w * net->width_m * net->height_m; /* away from the sink */
    if (film > 0) {
        TMX_TAKE(&net->arena, net->ground_w_k, net->n_node);
    }
    for (size_t c = 0; c < first->x.n * first->y.n && net->ground_w_k; c++) {
        net->ground_w_k[first->first + c] = area_of(first, c) / (film + first->lo / cell_k(first, c));
    }
}

/* ---- the view ---- */

static void add_view(struct builder *b, size_t row, size_t node, double volume)
{
    if (TMX_GROW(&b->arena, b->entry, b->n_entry)) {
        b->entry[b->n_entry++] = (struct entry){row, node, volume};
    }
}

/* A sheet of spreader, or of the sink below it: cells over the die to the chip's cells, the others to the
 * package node that their place belongs to. */
static void view_sheet(struct builder *b, const struct sheet *s)
{
    const struct tmx_network *net = b->net;
    const struct axis *cols = &b->sheet[0].x, *rows = &b->sheet[0].y;
    const size_t base = (s->layer - b->spec->n_layer) * net->n_cell;
    const double side_m = b->spec->package.s_spreader_m, half_m = 0.5 * side_m;
    for (size_t c = 0; c < s->x.n * s->y.n; c++) {
        const size_t i = c / s->x.n, j = c % s->x.n;
        const double x = 0.5 * (s->x.line[j] + s->x.line[j + 1]), y = 0.5 * (s->y.line[i] + s->y.line[i + 1]);
        if (x < 0 || x > net->width_m || y < 0 || y > net->height_m) {
            const double u = x - 0.5 * net->width_m, v = y - 0.5 * net->height_m; /* v counts southwards */
            const bool sink = s->layer > b->spec->n_layer, outer = sink && fmax(fabs(u), fabs(v)) > half_m;
            const double to_x =
                outer ? fabs(u) - half_m : (fabs(u) - 0.5 * net->width_m) * (side_m - net->height_m);
            const double to_y =
                outer ? fabs(v) - half_m : (fabs(v) - 0.5 * net->height_m) * (side_m - net->width_m);
            const size_t side = to_x > to_y ? (u < 0 ? 0 : 1) : (v < 0 ? 2 : 3); /* W, E, N, S */
            add_view(b,
                     2 * net->n_cell +
                         (outer  ? 8
                          : sink ? 4
                                 : 0) +
                         side,
                     s->first + c, area_of(s, c) * s->t);
            continue;
        }
        for (size_t k = find_cell(rows, s->y.line[i]); k < rows->n && overlap(&s->y, i, rows, k) > 0; k++) {
            for (size_t l = find_cell(cols, s->x.line[j]); l < cols->n && overlap(&s->x, j, cols, l) > 0;
                 l++) {
                const double area = overlap(&s->y, i, rows, k) * overlap(&s->x, j, cols, l);
                if (area > 1e-9 * net->width_m * net->height_m / (double)net->n_cell) {
                    add_view(b, base + k * net->cols + l, s->first + c, area * s->t);
                }
            }
        }
    }
}

static void make_view(struct builder *b)
{
    struct tmx_network *net = b->net;
    const size_t n_row = 2 * net->n_cell + TMX_PACKAGE_NODES;
    double *of_row, *of_node;
    size_t *at;
    if (is_bare(b)) { /* the sink is the same sheet as the spreader */
        struct sheet face = b->sheet[b->n_sheet - 1];
        face.layer++;
        view_sheet(b, &face);
    }
    for (size_t s = 0; s < b->n_sheet; s++) {
        if (b->sheet[s].layer >= b->spec->n_layer) {
            view_sheet(b, &b->sheet[s]);
        }
    }
    TMX_TAKE(&net->arena, net->view_start, n_row + 1);
    TMX_TAKE(&net->arena, net->view_node, b->n_entry);
    TMX_TAKE_REALS(&net->arena, b->n_entry, &net->view_part, &net->view_back);
    TMX_TAKE(&b->arena, of_row, n_row);
    TMX_TAKE(&b->arena, of_node, net->n_node);
    TMX_TAKE(&b->arena, at, n_row);
    const bool ok = !net->arena.failed && !b->arena.failed;
    for (size_t e = 0; e < b->n_entry && ok; e++) { /* by rows: shares of the row's volume, and the node's */
        net->view_start[b->entry[e].row + 1]++;
        of_row[b->entry[e].row] += b->entry[e].volume;
        of_node[b->entry[e].node] += b->entry[e].volume;
    }
    for (size_t r = 0; r < n_row && ok; r++) {
        net->view_start[r + 1] += net->view_start[r];
        at[r] = net->view_start[r];
    }
    for (size_t e = 0; e < b->n_entry && ok; e++) {
        const struct entry *from = &b->entry[e];
        const size_t to = at[from->row]++;
        net->view_node[to] = from->node;
        net->view_part[to] = from->volume / of_row[from->row];
        net->view_back[to] = from->volume / of_node[from->node];
    }
}

void tmx_physical_init(struct tmx_network *net, const struct tmx_thermal_spec *spec)
{
    struct builder b = {.net = net, .spec = spec, .refine = spec->refine ? spec->refine : 1};
    make_sheets(&b);
    if (!b.arena.failed) {
        number_nodes(&b);
    }
    for (size_t l = 0; l < spec->n_layer && !net->inflow_w_k; l++) {
        if (spec->layer[l].channels && !b.arena.failed) {
            net->inlet_k = spec->layer[l].channels->inlet_k;
            TMX_TAKE(&net->arena, net->inflow_w_k, net->n_node);
        }
    }
    if (!b.arena.failed && !net->arena.failed) {
        const struct sheet *first = &b.sheet[0];
        for (size_t c = 0; first->wall && c < first->x.n * first->y.n; c++) { /* nothing lies below it */
            link_face(&b, first, c, false, 0, INFINITY, area_of(first, c));
        }
        for (size_t s = 0; s + 1 < b.n_sheet; s++) {
            links_to_next(&b, &b.sheet[s]);
        }
        for (size_t s = 0; s < b.n_sheet; s++) {
            (b.sheet[s].channels ? links_of_channels : links_inside)(&b, &b.sheet[s]);
        }
        make_heat(&b);
        make_view(&b);
    }
    net->arena.failed = net->arena.failed || b.arena.failed;
    tmx_arena_finish(&b.arena);
}
