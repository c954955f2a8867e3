/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A calibrated node as files of `thermix run`: a chip of one unit a GPU, its package, the topology.
 *
 * rc.h adds poles that all see the power (Foster); a package is a ladder in which heat passes one body after
 * another (Cauer). Two poles (R1, tau1), (R2, tau2) are this ladder, exactly:
 *
 *      P -> R_j -> die side C1 -> r1 -> sink C2 -> r2 -> air      a1 = R1 tau2 + R2 tau1
 *                                                                 C1 = tau1 tau2 / a1
 *      c = tau1 + tau2 - C1 (R1 + R2),  r1 = a1 / c,  r2 = R1 + R2 - r1,  C2 = c / r2
 *
 * The interface carries R_j. The first pole is no silicon: its heat capacity is that of the base or vapour
 * chamber on the die (5 to 230 J/K in the logs of workloads/measured, a die has 1), so the spreader carries
 * C1 as copper, as wide and thick as makes its resistance r1; c_convec carries C2. Without that pole the
 * spreader is next to nothing. HotSpot counts lumped capacities times 0.333, so they are divided by it here.
 *
 * A case that warms is one more pole, for which a package has no place: its resistance is added to the
 * sink's, and the two heat up at the rate that they have together at first. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/os.h"
#include "base/output.h"
#include "measure/calibrated.h"

static const double LUMPING = 0.333;
static const double SIDE_M = 0.028; /* of a die without a base: any, the lumped die has no inside */
static const double COPPER_J_PER_M3K = 3.55e6, COPPER_W_PER_MK = 400, SILICON_J_PER_M3K = 1.75e6;
static const double THICKEST_M = 0.05;       /* of a base; a larger one is wider, and conducts less */
static const double LEAST_K_PER_W = 1e-3;    /* that a card's law takes beside 0: base/plausible.c */
static const double MOST_TIM_W_PER_MK = 600; /* of real interfaces: base/plausible.c */

struct ladder {
    double interface_k_per_w, base_k_per_w, base_j_per_k; /* base_j_per_k 0: none */
    double sink_k_per_w, sink_j_per_k;                    /* at rpm_ref */
    double law_k_per_w;                                   /* of sink_k_per_w, what no fan changes */
};

static struct ladder ladder_of(const struct tmx_rc *m, size_t g)
{
    const struct tmx_rc_gpu *gpu = &m->gpu[g];
    const double fin = tmx_rc_sink(m, g, m->rpm_ref), case_part = m->case_k_per_w;
    const double r1 = gpu->die_k_per_w, r2 = fin + case_part,
                 c2 = case_part > 0 && m->case_s > 0 ? 1 / (1 / gpu->sink_j_per_k + case_part / m->case_s)
                                                     : gpu->sink_j_per_k;
    struct ladder l = {gpu->junction_k_per_w, 0, 0, r2, c2, m->sink_base_k_per_w + case_part};
    if (r1 > 0 && m->die_s > 0) {
        const double tau1 = m->die_s, tau2 = r2 * c2, a1 = r1 * tau2 + r2 * tau1;
        l.base_j_per_k = tau1 * tau2 / a1;
        const double c = tau1 + tau2 - l.base_j_per_k * (r1 + r2);
        l.base_k_per_w = a1 / c;
        l.sink_k_per_w = r1 + r2 - l.base_k_per_w;
        l.sink_j_per_k = c / l.sink_k_per_w;
        l.law_k_per_w += l.sink_k_per_w - r2;
    }
    if (m->rpm_ref > 0 && l.law_k_per_w < LEAST_K_PER_W) { /* below what a law takes: nearer to the die */
        *(l.base_j_per_k > 0 ? &l.base_k_per_w : &l.interface_k_per_w) += l.law_k_per_w;
        l.sink_k_per_w -= l.law_k_per_w;
        l.law_k_per_w = 0;
    }
    return l;
}

/* A copper plate of this heat capacity and resistance through it: its side. */
static double base_side_m(const struct ladder *l, double *thickness_m, double *k_w_per_mk)
{
    const double volume_m3 = l->base_j_per_k / (LUMPING * COPPER_J_PER_M3K);
    *thickness_m = fmin(sqrt(volume_m3 * l->base_k_per_w * COPPER_W_PER_MK), THICKEST_M);
    const double area = volume_m3 / *thickness_m;
    *k_w_per_mk = *thickness_m / (l->base_k_per_w * area);
    return sqrt(area);
}

/* The die's side and, when it has one, its base. */
static double side_m(const struct ladder *l)
{
    double t, k;
    return l->base_j_per_k > 0 ? base_side_m(l, &t, &k) : SIDE_M;
}

static enum tmx_status open_file(struct tmx_output *o, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE + 64];
    const enum tmx_status st = tmx_path_join(path, dir, name, err);
    return st ? st : tmx_output_open(o, path, err);
}

static enum tmx_status close_file(struct tmx_output *o, enum tmx_status st, struct tmx_err *err)
{
    st = st ? st : tmx_output_commit(o, err);
    tmx_output_discard(o);
    return st;
}

static enum tmx_status write_package(const struct tmx_rc *m, size_t g, const char *dir, struct tmx_err *err)
{
    const struct tmx_rc_gpu *gpu = &m->gpu[g];
    const struct ladder l = ladder_of(m, g);
    struct tmx_output o = {0};
    const enum tmx_status st = open_file(&o, dir, "package.config", err);
    if (st) {
        return st;
    }
    double t_base = 1e-4, k_base = 4000, side = SIDE_M, p_chip = 0.1 / (LUMPING * 1e-4 * SIDE_M * SIDE_M);
    if (l.base_j_per_k > 0) {
        side = base_side_m(&l, &t_base, &k_base);
        p_chip = SILICON_J_PER_M3K; /* 0.1 mm of it: gone in a few ms */
    }
    /* an interface as thin and as good as real ones: what is left out is at most 0.02 K at 1000 W */
    const double area = side * side, r = l.interface_k_per_w;
    double t_tim = 1e-4;
    while (t_tim > 2e-6 && !(t_tim / (r * area) < MOST_TIM_W_PER_MK)) {
        t_tim /= 10;
    }
    t_tim = t_tim / (r * area) < 0.1 ? 1e-3 : t_tim;
    const double k_tim = fmin(t_tim / (r * area), MOST_TIM_W_PER_MK);
    fprintf(o.file,
            "# GPU %s, calibrated to a log by thermix calibrate: not a drawing of the package.\n"
            "# interface: %.6g K/W (R_j)%s",
            gpu->name, r, l.base_j_per_k > 0 ? "" : "; die: 0.1 J/K");
    if (l.base_j_per_k > 0) {
        fprintf(o.file, "; base: %.6g K/W and %.4g J/K (die_k_per_w, die_s), a copper plate", l.base_k_per_w,
                l.base_j_per_k);
    }
    fprintf(o.file,
            "; sink: %.6g J/K (c_convec x 0.333)\n"
            "\t\t-t_chip\t\t\t1e-4\n\t\t-k_chip\t\t\t4000\n\t\t-p_chip\t\t\t%.6g\n"
            "\t\t-t_interface\t\t%g\n\t\t-k_interface\t\t%.8g\n\t\t-p_interface\t\t1\n"
            "\t\t-s_spreader\t\t%.8g\n\t\t-t_spreader\t\t%.8g\n\t\t-k_spreader\t\t%.8g\n"
            "\t\t-p_spreader\t\t%.6g\n"
            "\t\t-s_sink\t\t\t%.8g\n\t\t-t_sink\t\t\t1e-4\n\t\t-k_sink\t\t\t4000\n\t\t-p_sink\t\t\t1e4\n"
            "\t\t-r_convec\t\t%.8g\n\t\t-c_convec\t\t%.8g\n"
            "\t\t-ambient\t\t298.15\n\t\t-init_temp\t\t298.15\n"
            "\t\t-model_type\t\tgrid\n\t\t-grid_rows\t\t4\n\t\t-grid_cols\t\t4\n",
            l.sink_j_per_k, p_chip, t_tim, k_tim, side * 1.002, t_base, k_base,
            l.base_j_per_k > 0 ? COPPER_J_PER_M3K : 1e4, side * 1.004, l.sink_k_per_w,
            l.sink_j_per_k / LUMPING);
    return close_file(&o, TMX_OK, err);
}

/* key = "words"; */
static void print_text(const char *key, const char *words, FILE *out)
{
    fprintf(out, "%s = ", key);
    tmx_config_quote(words, out);
    fputc(';', out);
}

static enum tmx_status write_chip(const struct tmx_rc *m, size_t g, double peak_w,
                                  const struct tmx_chip *levels, const char *dir, struct tmx_err *err)
{
    struct tmx_output o = {0};
    const struct ladder l = ladder_of(m, g);
    enum tmx_status st = open_file(&o, dir, "die.flp", err);
    if (!st) {
        fprintf(o.file,
                "# one unit: a log of one temperature does not show the inside of the "
                "die\nSM0\t%.8g\t%.8g\t0\t0\n",
                side_m(&l), side_m(&l));
        st = close_file(&o, TMX_OK, err);
    }
    st = st ? st : open_file(&o, dir, "chip.cfg", err);
    if (st) {
        return st;
    }
    char doc[160];
    snprintf(doc, sizeof doc, "GPU %.100s as calibrated: one unit", m->gpu[g].name);
    print_text("name", m->gpu[g].name, o.file);
    fputc('\n', o.file);
    print_text("doc", doc, o.file);
    fprintf(
        o.file,
        "\n"
        "source = \"thermix calibrate; limits and clock assumed\";\n"
        "floorplan_file = \"die.flp\";\n"
        "package_file = \"package.config\";\n"
        "sm_prefix = \"SM\";\n"
        "sms_per_cluster = 1;\n"
        "sm_power_reference_sms = 1.0;\n"
        "kernel_power_scale = 1.0;\n"
        "kernel_time_scale = 1.0;\n"
        "limits = { threads = 2048; blocks = 32; registers = 65536; shared_bytes = 233472; };  # assumed\n"
        "power = {\n"
        "    baseline_w = 0.0;      # the log's watts are all here: give them to the kernels\n"
        "    leakage_w = 0.0;\n"
        "    leakage_form = \"none\";\n"
        "};\n"
        "# Peak in the log: %.1f W. It has no voltage: %s%s.\n"
        "levels = (",
        peak_w, levels ? "the levels are those of " : "the one level is assumed", levels ? levels->name : "");
    for (size_t i = 0; levels && i < levels->n_level; i++) {
        fprintf(o.file, "%s\n    { volt_v = %.6g; freq_hz = %.9g; }", i ? "," : "", levels->level[i].volt_v,
                levels->level[i].freq_hz);
    }
    fprintf(o.file, levels ? "\n);\nnominal_hz = %.9g;\n" : " { volt_v = 1.0; freq_hz = %.1e; } );\n",
            levels ? levels->level[levels->nominal].freq_hz : 1e9);
    if (m->leak_per_k > 0) {
        fprintf(
            o.file,
            "# At equal work power rises by %.3g %%/K (fit.csv). With an exponential of 0.0127/K (CACTI) "
            "%.0f %% of it is leakage.\n# To let that part follow the temperature, take it from the kernels "
            "and write it as leakage_w.\n",
            100 * m->leak_per_k, 100 * fmin(m->leak_per_k / 0.0127, 1));
    }
    return close_file(&o, TMX_OK, err);
}

/* Air of a lane such that phi of it, passed on, warms the next by preheat K per W: phi / (rho c V) = preheat.
 */
static double lane_m3_per_s(double preheat_k_per_w)
{
    static const double RHO_C = 1.059 * 1007; /* as core/topology/topology */
    return preheat_k_per_w > 0 ? fmin(1 / (RHO_C * preheat_k_per_w), 9) : 0.05;
}

static double peak_power_w(const struct tmx_measured *log, const char *name)
{
    double w = 0;
    for (size_t i = 0; log && i < log->n_series; i++) {
        for (size_t k = 0; strcmp(log->gpu[log->series[i].gpu], name) == 0 && k < log->series[i].n; k++) {
            w = fmax(w, log->series[i].q[TMX_Q_POWER][k]);
        }
    }
    return w;
}

struct fan_range {
    double low, high;
};

static struct fan_range fan_range(const struct tmx_rc *m, const struct tmx_measured *log)
{
    struct fan_range r = {INFINITY, m->rpm_ref > 0 ? m->rpm_ref : 1000};
    for (size_t i = 0; log && i < log->n_series; i++) {
        const double *rpm = log->series[i].q[TMX_Q_RPM];
        for (size_t k = 0; rpm && k < log->series[i].n; k++) {
            if (rpm[k] > 0) {
                r.low = fmin(r.low, rpm[k]);
                r.high = fmax(r.high, rpm[k]);
            }
        }
    }
    r.low = fmin(r.low, r.high);
    return r;
}

/* Do all GPUs have one sink? Then they stand on one card behind one fan. */
static bool one_card(const struct tmx_rc *m)
{
    bool same = true;
    for (size_t g = 1; g < m->n_gpu; g++) {
        same = same && m->gpu[g].sink_k_per_w == m->gpu[0].sink_k_per_w;
    }
    return same;
}

/* What the fan of this GPU follows in a row: the GPU, or on one card the hottest of the run. */
static double followed_c(const struct tmx_measured *log, const struct tmx_series *s, size_t row, bool shared)
{
    double t = s->q[TMX_Q_TEMP][row];
    for (size_t i = 0; shared && i < log->n_series; i++) {
        const struct tmx_series *u = &log->series[i];
        if (u->run == s->run && row < u->n && u->q[TMX_Q_TEMP]) {
            t = fmax(t, u->q[TMX_Q_TEMP][row]);
        }
    }
    return t;
}

/* A fan that hardly changes its speed in a run is held by hand and follows no curve. */
static bool held(const struct tmx_series *s)
{
    double low = INFINITY, high = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (!isnan(s->q[TMX_Q_RPM][k])) {
            low = fmin(low, s->q[TMX_Q_RPM][k]);
            high = fmax(high, s->q[TMX_Q_RPM][k]);
        }
    }
    return high - low < 0.03 * high;
}

/* The fan's curve from the log: what it turned at, on the mean, when what it follows was this warm. */
static size_t fan_curve(const struct tmx_measured *log, double max_rpm, bool shared, double *temp_c,
                        double *speed)
{
    enum { BINS = 8 };
    double low = INFINITY, high = -INFINITY, sum[BINS] = {0}, n[BINS] = {0};
    size_t count = 0;
    for (int pass = 0; log && pass < 2; pass++) {
        for (size_t i = 0; i < log->n_series; i++) {
            const struct tmx_series *s = &log->series[i];
            for (size_t k = 0; s->q[TMX_Q_RPM] && !held(s) && k < s->n; k++) {
                const double t = followed_c(log, s, k, shared), rpm = s->q[TMX_Q_RPM][k];
                if (isnan(t) || isnan(rpm)) {
                    continue;
                }
                low = pass ? low : fmin(low, t);
                high = pass ? high : fmax(high, t);
                if (pass && high - low >= 4) {
                    const size_t b = (size_t)fmin(BINS - 1, (t - low) / (high - low) * BINS);
                    sum[b] += rpm / max_rpm;
                    n[b] += 1;
                }
            }
        }
    }
    for (size_t b = 0; b < BINS; b++) {
        if (n[b] >= 3) {
            temp_c[count] = low + ((double)b + 0.5) * (high - low) / BINS;
            speed[count] = fmin(1, sum[b] / n[b]);
            speed[count] = count > 0 ? fmax(speed[count], speed[count - 1]) : speed[count];
            count++;
        }
    }
    return count;
}

struct node {
    const struct tmx_rc *m;
    struct fan_range rpm;
    double flow_m3_per_s; /* of one GPU's lane at full speed */
    double temp_c[8], speed[8];
    size_t n_curve;
    bool shared;
};

const char *tmx_calibrated_name(const struct tmx_rc *m, size_t g, char buf[TMX_NAME])
{
    const char *name = m->gpu[g].name;
    const size_t n = strlen(name);
    if (n < TMX_NAME) {
        snprintf(buf, TMX_NAME, "%s", name);
    } else {
        snprintf(buf, TMX_NAME, "%.20s..%s#%zu", name, name + n - 18, g);
    }
    return buf;
}

/* Cards and fans are called after the log's numbers of their GPUs, where all have one. */
static void number_of(const struct tmx_rc *m, size_t g, char number[32])
{
    bool numbers = true;
    for (size_t i = 0; i < m->n_gpu; i++) {
        const char *name = m->gpu[i].name;
        numbers = numbers && name[0] && strlen(name) < 10 && name[strspn(name, "0123456789")] == '\0';
    }
    numbers ? snprintf(number, 32, "%s", m->gpu[g].name) : snprintf(number, 32, "%zu", g);
}

/* The letters of a name that a file may have, behind "gpu" where it begins with a digit. */
static void plain_name(const char *name, char folder[96])
{
    const bool bare = !isalpha((unsigned char)name[0]);
    snprintf(folder, 96, "%s%.64s", bare ? "gpu" : "", name);
    for (char *p = folder; *p; p++) {
        *p = isalnum((unsigned char)*p) || strchr("._-", *p) ? *p : '_';
    }
}

/* A chip's folder: gpu5; where an earlier one has the name, #N follows, which no other has. */
static void folder_of(const struct tmx_rc *m, size_t g, char folder[96])
{
    char other[96];
    bool taken = false;
    plain_name(m->gpu[g].name, folder);
    for (size_t k = 0; k < g && !taken; k++) {
        plain_name(m->gpu[k].name, other);
        taken = strcmp(other, folder) == 0;
    }
    if (taken) {
        snprintf(folder + strlen(folder), 96 - strlen(folder), "#%zu", g);
    }
}

static void print_cards(const struct node *n, FILE *out)
{
    const struct tmx_rc *m = n->m;
    const bool fan = m->rpm_ref > 0;
    const size_t cards = n->shared ? 1 : m->n_gpu, lanes = n->shared ? m->n_gpu : 1;
    char number[32];
    fprintf(out, "cards = (\n");
    for (size_t g = 0; g < cards; g++) {
        const struct ladder l = ladder_of(m, g);
        number_of(m, g, number);
        fprintf(out,
                "    { name = \"card%s\"; fit_a_k_per_w = %.8g; fit_b_k_per_w = %.8g; fit_exponent = %.6g;\n"
                "      still_k_per_w = %.6g; still_flow_m3_per_s = %.6g; }%s\n",
                number, fan ? l.law_k_per_w : l.sink_k_per_w,
                fan ? m->gpu[g].sink_k_per_w * pow(m->rpm_ref, m->fan_exponent) : 0.0, m->fan_exponent,
                fmax(fmin(20 * l.sink_k_per_w, 30), 1.5 * l.sink_k_per_w),
                fmax((double)lanes * n->flow_m3_per_s / 100, 1e-6), g + 1 < cards ? "," : "");
    }
    fprintf(out, ");\nfans = (\n");
    for (size_t g = 0; g < cards; g++) {
        number_of(m, g, number);
        fprintf(out,
                "    { name = \"fan%s\"; card = \"card%s\"; min_rpm = %.6g; max_rpm = %.6g; power_w = 0.0; "
                "flow_m3_per_s = %.6g;\n      noise_dba = 0.0; stand_in = %s; curve = (",
                number, number, n->rpm.low, n->rpm.high, fmin((double)lanes * n->flow_m3_per_s, 10),
                fan ? "false" : "true");
        for (size_t i = 0; i < n->n_curve; i++) {
            fprintf(out, "%s { temp_c = %.6g; speed = %.6g; }", i ? "," : "", n->temp_c[i], n->speed[i]);
        }
        fprintf(out, "%s ); }%s\n", n->n_curve ? "" : " { temp_c = 25.0; speed = 1.0; }",
                g + 1 < cards ? "," : "");
    }
    fprintf(out, ");\n");
}

static void print_gpus(const struct node *n, double preheat, FILE *out)
{
    const struct tmx_rc *m = n->m;
    char folder[96], number[32], path[128], name[TMX_NAME];
    size_t n_air = 0;
    fprintf(out, "gpus = (\n");
    for (size_t g = 0; g < m->n_gpu; g++) {
        const double above_k = m->gpu[g].offset_k + m->air_rise_k + m->chassis_k;
        folder_of(m, g, folder);
        number_of(m, n->shared ? 0 : g, number);
        snprintf(path, sizeof path, "chips/%s", folder);
        fputs("    { ", out);
        print_text("name", tmx_calibrated_name(m, g, name), out);
        fputc(' ', out);
        print_text("chip", path, out);
        fprintf(out, " card = \"card%s\";", number);
        if (above_k != 0) {
            fprintf(out, " inlet_above_k = %.6g;", above_k);
        }
        fprintf(out, " }%s\n", g + 1 < m->n_gpu ? "," : "");
    }
    fprintf(out, ");\n");
    for (size_t g = 0; g < m->n_gpu; g++) {
        if (m->gpu[g].upstream >= 0 && m->gpu[g].preheat_k_per_w > 0) {
            fputs(n_air++ ? ",\n    { " : "air = (\n    { ", out);
            print_text("from", tmx_calibrated_name(m, (size_t)m->gpu[g].upstream, name), out);
            fputc(' ', out);
            print_text("to", tmx_calibrated_name(m, g, name), out);
            fprintf(out, " fraction = %.6g; }", m->gpu[g].preheat_k_per_w / preheat);
        }
    }
    fprintf(out, "%s", n_air ? "\n);\n" : "");
}

static enum tmx_status write_topology(const struct tmx_rc *m, const struct tmx_measured *log, double inlet_c,
                                      const char *inlet_from, const char *dir, struct tmx_err *err)
{
    struct tmx_output o = {0};
    struct node n = {.m = m, .rpm = fan_range(m, log), .shared = one_card(m)};
    const enum tmx_status st = open_file(&o, dir, "node.cfg", err);
    if (st) {
        return st;
    }
    double preheat = 0;
    n.n_curve = m->rpm_ref > 0 ? fan_curve(log, n.rpm.high, n.shared, n.temp_c, n.speed) : 0;
    for (size_t g = 0; g < m->n_gpu; g++) {
        preheat = fmax(preheat, m->gpu[g].preheat_k_per_w);
    }
    n.flow_m3_per_s = lane_m3_per_s(preheat) * (m->rpm_ref > 0 ? n.rpm.high / m->rpm_ref : 1);
    fprintf(o.file,
            "# Calibrated by thermix calibrate (how.txt). GPUs have the names that they have in the log. The "
            "log has "
            "no power of\n# fans and no noise: both are 0. The fans' curve is read off the log%s. "
            "inlet_above_k is "
            "what a GPU's sensor shows\n# above the air: offset_k, air_rise_k and chassis_k of fit.csv%s.%s\n"
            "name = \"calibrated\";\ndoc = \"calibrated from a log\";\nsource = \"thermix calibrate\";\n"
            "inlet_c = %.1f;  # %s\n",
            n.n_curve ? "" : ", which has no speeds: the fans turn at full speed",
            m->chassis_k > 0      ? ", at the fastest fans"
            : m->case_k_per_w > 0 ? "; the case (case_k_per_w) is part of the sinks"
                                  : "",
            m->rpm_ref > 0 ? "" : " The log has no\n# fan speeds: the fans are stand-ins of unknown speed.",
            inlet_c, inlet_from);
    print_cards(&n, o.file);
    print_gpus(&n, preheat, o.file);
    return close_file(&o, TMX_OK, err);
}

enum tmx_status tmx_calibrated_node(const struct tmx_rc *m, const struct tmx_measured *log, double inlet_c,
                                    const char *inlet_from, const struct tmx_chip *levels, const char *dir,
                                    struct tmx_err *err)
{
    char name[96], folder[TMX_PATH_SIZE + 128];
    if (strlen(dir) > 200) {
        return tmx_fail_at(err, TMX_EIO, dir, 0, "the name is too long for a chip's folder");
    }
    enum tmx_status st = TMX_OK;
    for (size_t g = 0; !st && g < m->n_gpu; g++) {
        folder_of(m, g, name);
        snprintf(folder, sizeof folder, "%s/chips/%s", dir, name);
        st = tmx_os_mkdirs(folder, err);
        st = st ? st : write_package(m, g, folder, err);
        st = st ? st : write_chip(m, g, peak_power_w(log, m->gpu[g].name), levels, folder, err);
    }
    return st ? st : write_topology(m, log, inlet_c, inlet_from, dir, err);
}
