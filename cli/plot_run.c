/* Figures from one run's folder: temperature, power and clock, SM-to-kernel map, heat map. */
#include "cli/plot_run.h"

#include <math.h>

#include "cli/table_out.h"

enum { MAX_VARS = 700, MAX_TIMES = 600 };

static enum tmx_status draw_temperature(struct tmx_plot *p, const struct tmx_history *h, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"time_s", TMX_COLUMN_REAL, 3},
                                                {"coolest_c", TMX_COLUMN_REAL, 3},
                                                {"mean_c", TMX_COLUMN_REAL, 3},
                                                {"hottest_c", TMX_COLUMN_REAL, 3},
                                                {"stopped_share_1", TMX_COLUMN_REAL, 3}};
    char vars[MAX_VARS];
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 5, err);
    for (size_t i = 0; i < h->n_time && !st; i++) {
        double coolest_c = INFINITY, stopped = 0;
        for (size_t sm = 0; sm < h->n_sm; sm++) {
            coolest_c = fmin(coolest_c, h->sm_temp_c[i * h->n_sm + sm]);
            stopped += h->sm_stopped[i * h->n_sm + sm] / (double)h->n_sm;
        }
        tmx_table_real(t, h->time_s[i]);
        tmx_table_real(t, coolest_c);
        tmx_table_real(t, h->mean_c[i]);
        tmx_table_real(t, h->hottest_c[i]);
        tmx_table_real(t, stopped);
    }
    st = st ? st : tmx_plot_data(p, "temperature", t, err);
    tmx_table_destroy(t);
    snprintf(vars, sizeof vars, "trip_c=%.17g; release_c=%.17g", h->trip_c, h->release_c);
    return st ? st : tmx_plot_draw(p, "temperature", "temperature", vars, err);
}

static enum tmx_status draw_sms(struct tmx_plot *p, const struct tmx_history *h, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"time_s", TMX_COLUMN_REAL, 3},
                                                {"sm", TMX_COLUMN_INT, 0},
                                                {"power_w", TMX_COLUMN_REAL, 3},
                                                {"first_share_1", TMX_COLUMN_REAL, 3},
                                                {"freq_mhz", TMX_COLUMN_REAL, 1}};
    char vars[MAX_VARS];
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_table_create(&t, columns, 5, err);
    for (size_t i = 0; i < h->n_time * h->n_sm && !st; i++) {
        tmx_table_real(t, h->time_s[i / h->n_sm]);
        tmx_table_int(t, (int64_t)(i % h->n_sm));
        tmx_table_real(t, h->sm_power_w[i]);
        tmx_table_real(t, h->sm_share[i]);
        tmx_table_real(t, h->freq_mhz[i / h->n_sm]);
    }
    st = st ? st : tmx_plot_data(p, "sm_power", t, err);
    st = st ? st : tmx_plot_data(p, "sm_kernel", t, err);
    tmx_table_destroy(t);
    snprintf(vars, sizeof vars, "n_sm=%zu", h->n_sm);
    st = st ? st : tmx_plot_draw(p, "sm_power", "sm_power", vars, err);
    snprintf(vars, sizeof vars, "first_text='%s'; second_text='%s'", h->first, h->second);
    return st || !h->second[0] ? st : tmx_plot_draw(p, "sm_kernel", "sm_kernel", vars, err);
}

enum tmx_status tmx_plot_frame(const struct tmx_history *h, size_t frame, double low_c, double high_c,
                               const char *csv_path, char *vars, size_t size, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"unit", TMX_COLUMN_TEXT, 0},      {"left_mm", TMX_COLUMN_REAL, 3}, {"right_mm", TMX_COLUMN_REAL, 3},
        {"bottom_mm", TMX_COLUMN_REAL, 3}, {"top_mm", TMX_COLUMN_REAL, 3},  {"temp_c", TMX_COLUMN_REAL, 3}};
    const double *temp_c = h->unit_temp_c + frame * h->floorplan.n_unit;
    struct tmx_table *t = NULL;
    size_t hottest = 0;
    enum tmx_status st = tmx_table_create(&t, columns, 6, err);
    for (size_t u = 0; u < h->floorplan.n_unit && !st; u++) {
        const struct tmx_unit *unit = &h->floorplan.unit[u];
        tmx_table_text(t, unit->name);
        tmx_table_real(t, 1e3 * unit->x_m);
        tmx_table_real(t, 1e3 * (unit->x_m + unit->w_m));
        tmx_table_real(t, 1e3 * unit->y_m);
        tmx_table_real(t, 1e3 * (unit->y_m + unit->h_m));
        tmx_table_real(t, temp_c[u]);
        hottest = temp_c[u] > temp_c[hottest] ? u : hottest;
    }
    st = st ? st : tmx_table_save(t, TMX_FORMAT_CSV, csv_path, err);
    tmx_table_destroy(t);
    snprintf(vars, size, "low_c=%.17g; high_c=%.17g; hottest_text='%s, %s, %.1f s: hottest is %s, %.1f °C'",
             low_c, high_c, h->mix, h->policy, h->frame_s[frame], h->floorplan.unit[hottest].name,
             temp_c[hottest]);
    return st;
}

static enum tmx_status draw_heatmap(struct tmx_plot *p, const struct tmx_history *h, struct tmx_err *err)
{
    char path[1200], vars[MAX_VARS];
    double low_c, high_c;
    size_t frame, unit;
    tmx_history_hottest(h, &frame, &unit);
    tmx_history_range(h, &low_c, &high_c);
    tmx_plot_data_path(p, "heatmap", path, sizeof path);
    const enum tmx_status st =
        tmx_plot_frame(h, frame, floor(low_c), ceil(high_c), path, vars, sizeof vars, err);
    return st ? st : tmx_plot_draw(p, "heatmap", "heatmap", vars, err);
}

enum tmx_status tmx_plot_run(struct tmx_plot *p, const char *run_dir, struct tmx_err *err)
{
    struct tmx_history h;
    enum tmx_status st = tmx_history_load(&h, run_dir, MAX_TIMES, err);
    if (st) {
        return st;
    }
    if (h.n_time > 0) {
        st = draw_temperature(p, &h, err);
        st = st ? st : draw_sms(p, &h, err);
    }
    if (h.n_frame > 0) {
        st = st ? st : draw_heatmap(p, &h, err);
    }
    tmx_history_finish(&h);
    return st;
}
