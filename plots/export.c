/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run for other programs: a trace of events, a grid of temperatures, a film.
 *
 * The trace of events is the JSON that Chrome's documents call "Trace Event Format": a process is a GPU, a
 * thread an SM. Times are microseconds since the recording began, with the warm-up, since viewers drop what
 * is below 0. A row of trace.csv is of the period that it ends, so its states and powers begin at the row
 * before it. */
#include "plots/plot.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "study/pool.h"

enum { MANY_SMS = 2048 }; /* of all GPUs: their tracks are left out, since no viewer shows so many */

struct events {
    FILE *out;
    double begin_s; /* of the recording */
    bool some, failed;
};

/* Takes event over; NULL: there was no memory for it. */
static void put(struct events *e, json_t *event)
{
    fputs(e->some ? ",\n" : "", e->out);
    e->some = true;
    e->failed = e->failed || !event ||
                (json_dumpf(event, e->out, JSON_COMPACT | JSON_REAL_PRECISION(12)) != 0 && !ferror(e->out));
    json_decref(event);
}

static double us(const struct events *e, double time_s)
{
    return 1e6 * (time_s - e->begin_s);
}

static void name_track(struct events *e, size_t gpu, size_t thread, const char *what, const char *name)
{
    put(e, json_pack("{ss ss sI sI s{ss}}", "ph", "M", "name", what, "pid", (json_int_t)gpu, "tid",
                     (json_int_t)thread, "args", "name", name));
}

static void count(struct events *e, size_t gpu, const char *name, double at_us, const char *series, double v)
{
    if (isfinite(v)) {
        put(e, json_pack("{ss ss sI sf s{sf}}", "ph", "C", "name", name, "pid", (json_int_t)gpu, "ts", at_us,
                         "args", series, v));
    }
}

/* A state that lasts: an event when it ends. */
struct state {
    const char *name; /* NULL: none */
    double since_us;
};

static void change(struct events *e, struct state *s, size_t gpu, size_t thread, const char *name,
                   double at_us)
{
    if (s->name == name) {
        return;
    }
    if (s->name) {
        put(e, json_pack("{ss ss sI sI sf sf}", "ph", "X", "name", s->name, "pid", (json_int_t)gpu, "tid",
                         (json_int_t)thread, "ts", s->since_us, "dur", at_us - s->since_us));
    }
    *s = (struct state){name, at_us};
}

static const char *sm_state(const struct tmx_history *h, size_t i, size_t sm)
{
    const size_t at = i * h->n_sm + sm, kernel = (size_t)h->sm_kernel[at];
    return h->sm_stopped[at] > 0.5 ? "clock stopped"
           : kernel == 0           ? NULL
           : kernel <= h->n_kernel ? h->kernel[kernel - 1]
                                   : "two kernels";
}

/* The begin of the period that row i ends. */
static double row_us(const struct events *e, const struct tmx_history *h, size_t i)
{
    const double step_s = h->n_time > 1 ? h->time_s[1] - h->time_s[0] : 0;
    return us(e, i > 0 ? h->time_s[i - 1] : h->time_s[0] - step_s);
}

static void put_gpu(struct events *e, const struct tmx_history *h, bool sms)
{
    enum { REASONS = 0 }; /* thread; SM n is thread n + 1 */
    char name[64];
    struct state why = {0};
    snprintf(name, sizeof name, "GPU %s", h->label);
    name_track(e, h->gpu, 0, "process_name", name);
    name_track(e, h->gpu, REASONS, "thread_name", "why the clock is slow");
    for (size_t i = 0; i < h->n_time; i++) {
        const double from = row_us(e, h, i), end = us(e, h->time_s[i]);
        const size_t reason = (size_t)h->reason[i];
        count(e, h->gpu, "clock", from, "MHz", h->freq_mhz[i]);
        count(e, h->gpu, "power", from, "W", h->power_w[i]);
        count(e, h->gpu, "hottest", end, "degC", h->hottest_c[i]);
        count(e, h->gpu, "mean", end, "degC", h->mean_c[i]);
        count(e, h->gpu, "inlet", end, "degC", h->inlet_c[i]);
        count(e, h->gpu, "fan", end, "rpm", h->fan_rpm[i]);
        change(e, &why, h->gpu, REASONS, reason > 0 ? h->reason_text[reason - 1] : NULL, from);
    }
    const double end = us(e, h->time_s[h->n_time - 1]);
    change(e, &why, h->gpu, REASONS, NULL, end);
    for (size_t sm = 0; sms && sm < h->n_sm; sm++) {
        struct state runs = {0};
        snprintf(name, sizeof name, "SM %zu", sm);
        name_track(e, h->gpu, sm + 1, "thread_name", name);
        for (size_t i = 0; i < h->n_time; i++) {
            count(e, h->gpu, name, us(e, h->time_s[i]), "degC", h->sm_temp_c[i * h->n_sm + sm]);
            change(e, &runs, h->gpu, sm + 1, sm_state(h, i, sm), row_us(e, h, i));
        }
        change(e, &runs, h->gpu, sm + 1, NULL, end);
    }
}

/* From arrival to start, and from start to end, on each of a kernel's GPUs. */
static void put_kernels(struct events *e, const struct tmx_export *o, double end_s, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct tmx_csv csv;
    tmx_path_join(path, o->run, "kernels.csv", err);
    tmx_csv_read(&csv, path, err);
    const size_t kernel = tmx_csv_column(&csv, "kernel"), arrival = kernel + 1,
                 gpu = tmx_csv_column(&csv, "gpu"), gpus = tmx_csv_column(&csv, "gpus");
    if (kernel + 3 >= csv.n_column || gpu == csv.n_column || gpus == csv.n_column) {
        tmx_error_at(err, TMX_EPARSE, path, 1, "not the kernels.csv of `thermix run`");
    }
    for (size_t r = 0; !err->code && r < csv.n_row; r++) {
        double at[3], first = 0, n = 1; /* arrival, start, end */
        for (size_t i = 0; i < 3; i++) {
            if (!tmx_csv_real(&csv, r, arrival + i, &at[i])) {
                at[i] = end_s;
            }
        }
        (void)tmx_csv_real(&csv, r, gpu, &first);
        (void)tmx_csv_real(&csv, r, gpus, &n);
        for (double g = first; g < first + n; g++) {
            for (size_t i = 0; i < 2 && (o->gpu < 0 || g == (double)o->gpu); i++) {
                char name[96];
                snprintf(name, sizeof name, "%.64s%s", tmx_csv_cell(&csv, r, kernel), i == 0 ? " waits" : "");
                for (int end = 0; end < 2 && at[i] < at[i + 1]; end++) {
                    put(e, json_pack("{ss ss ss sI sI sf}", "ph", end ? "e" : "b", "cat", "kernel", "name",
                                     name, "pid", (json_int_t)g, "id", (json_int_t)(2 * r + i), "ts",
                                     us(e, at[i + (size_t)end])));
                }
            }
        }
    }
    tmx_csv_finish(&csv);
}

static void write_events(const struct tmx_export *o, const struct tmx_history *all, size_t n_gpu, FILE *out,
                         struct tmx_err *err)
{
    const struct tmx_history *h = &all[o->gpu < 0 ? 0 : o->gpu];
    struct events e = {.out = out};
    if (h->n_time == 0) {
        tmx_error_at(err, TMX_ECONFIG, o->run, 0, "no trace.csv; run it with --trace SECONDS");
        return;
    }
    e.begin_s = 1e-6 * row_us(&e, h, 0);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", out);
    for (size_t g = 0; g < n_gpu; g++) {
        if (o->gpu < 0 || g == (size_t)o->gpu) {
            put_gpu(&e, &all[g], o->gpu >= 0 || n_gpu * h->n_sm <= MANY_SMS);
        }
    }
    put(&e, json_pack("{ss ss ss si sf}", "ph", "i", "s", "g", "name", "end of the warm-up", "pid", 0, "ts",
                      us(&e, 0)));
    put_kernels(&e, o, h->time_s[h->n_time - 1], err);
    fputs("\n]}\n", out);
    tmx_memory_check(!e.failed, err);
}

/* Units as rectangles of the plane, GPUs side by side as in `thermix plot`'s heat map, in metres. */
static void write_vtk(const struct tmx_export *o, const struct tmx_history *all, size_t n_gpu, FILE *out,
                      struct tmx_err *err)
{
    const size_t first = o->gpu < 0 ? 0 : (size_t)o->gpu, end = o->gpu < 0 ? n_gpu : first + 1;
    size_t n = 0;
    double pitch_m = 0;
    if (all[0].n_frame == 0) {
        tmx_error_at(err, TMX_ECONFIG, o->run, 0, "no temps.ttrace; run it with --hotspot SECONDS");
        return;
    }
    const size_t frame = tmx_history_frame(all, n_gpu, o->at_s, err);
    for (size_t g = first; g < end; g++) {
        n += all[g].floorplan.n_unit;
        pitch_m = fmax(pitch_m, 1.06 * tmx_floorplan_width_m(&all[g].floorplan));
    }
    fprintf(out,
            "# vtk DataFile Version 3.0\nthermix: %s, %s at %.9g s\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS "
            "%zu double\n",
            all[0].mix, all[0].policy, all[0].frame_s[frame], 4 * n);
    for (size_t g = first; g < end; g++) {
        const double x_m = (double)((g - first) % 16) * pitch_m, y_m = -(double)((g - first) / 16) * pitch_m;
        for (size_t u = 0; u < all[g].floorplan.n_unit; u++) {
            const struct tmx_unit *b = &all[g].floorplan.unit[u];
            const double x = x_m + b->x_m, y = y_m + b->y_m;
            fprintf(out, "%.9g %.9g 0 %.9g %.9g 0 %.9g %.9g 0 %.9g %.9g 0\n", x, y, x + b->w_m, y, x + b->w_m,
                    y + b->h_m, x, y + b->h_m);
        }
    }
    fprintf(out, "CELLS %zu %zu\n", n, 5 * n);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "4 %zu %zu %zu %zu\n", 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    }
    fprintf(out, "CELL_TYPES %zu\n", n);
    for (size_t i = 0; i < n; i++) {
        fputs("9\n", out); /* a quad */
    }
    static const char *const fields[] = {"temp_c double", "power_w double", "gpu int"};
    fprintf(out, "CELL_DATA %zu\n", n);
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
        fprintf(out, "SCALARS %s 1\nLOOKUP_TABLE default\n", fields[k]);
        for (size_t g = first; g < end; g++) {
            for (size_t u = 0; u < all[g].floorplan.n_unit; u++) {
                const size_t at = frame * all[g].floorplan.n_unit + u;
                fprintf(out, "%.9g\n",
                        k == 0   ? all[g].unit_temp_c[at]
                        : k == 1 ? all[g].unit_w[at]
                                 : (double)g);
            }
        }
    }
}

enum tmx_status tmx_export(const struct tmx_export *o, struct tmx_err *err)
{
    const char *dot = strrchr(o->out, '.');
    const bool vtk = dot && strcmp(dot, ".vtk") == 0;
    struct tmx_history *all = NULL;
    size_t n_gpu = 0;
    struct tmx_output out;
    if (!vtk && !(dot && strcmp(dot, ".json") == 0)) {
        return tmx_fail(err, TMX_ECONFIG,
                        "-o %s: expected X.json, events for Perfetto, or X.vtk, for ParaView", o->out);
    }
    if (!tmx_history_load(&all, &n_gpu, o->run, 100000, err) && o->gpu >= (long)n_gpu) {
        tmx_error_at(err, TMX_ECONFIG, o->run, 0, "--gpu %ld: the run has GPUs 0 to %zu", o->gpu, n_gpu - 1);
    }
    tmx_os_mkdirs_for(o->out, err);
    if (!tmx_output_open(&out, o->out, err)) {
        (vtk ? write_vtk : write_events)(o, all, n_gpu, out.file, err);
    }
    tmx_history_free(all, n_gpu);
    return tmx_output_end(&out, err);
}

/* ---- a film ---- */

struct frames {
    const struct tmx_history *all; /* [n_gpu] */
    size_t n_gpu;
    const struct tmx_plot *plot;
    double low_c, high_c;
};

static enum tmx_status draw(void *ctx, size_t frame, FILE *out, struct tmx_err *err)
{
    const struct frames *f = ctx;
    struct tmx_plot p = *f->plot;
    char name[32];
    (void)out;
    p.err = err;
    snprintf(name, sizeof name, "frame%05zu", frame);
    tmx_plot_frame(&p, name, f->all, f->n_gpu, frame, f->low_c, f->high_c);
    return err->code;
}

/* The first n pictures: the folder may hold more of an earlier film. */
static void join(const struct tmx_animation *a, const char *dir, size_t n, struct tmx_err *err)
{
    const bool gif = tmx_text_ends(a->out, ".gif");
    char rate[24], count[24];
    int code = 0;
    snprintf(rate, sizeof rate, "%zu", a->per_s);
    snprintf(count, sizeof count, "%zu", n);
    const char *const filter =
        gif ? "scale=720:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse"
            : "scale=trunc(iw/2)*2:trunc(ih/2)*2";
    const char *const film = gif ? "film.gif" : "film.mp4";
    const char *const argv[] = {"ffmpeg",    "-nostdin", "-v",
                                "error",     "-y",       "-framerate",
                                rate,        "-i",       "pictures/frame%05d.png",
                                "-frames:v", count,      "-vf",
                                filter,      "-pix_fmt", gif ? "pal8" : "yuv420p",
                                film,        NULL};
    struct tmx_os_private d;
    if (tmx_os_private_begin(&d, err)) {
        return;
    }
    if (!tmx_os_private_link(&d, dir, "pictures", err) && !tmx_os_private_run(&d, argv, &code, err) &&
        code != 0) {
        tmx_error_at(err, TMX_EPROGRAM, a->out, 0, "ffmpeg failed (exit code %d)", code);
    }
    (void)(err->code || tmx_plot_take(&d, film, a->out, err));
    tmx_os_private_end(&d);
}

enum tmx_status tmx_animation(const struct tmx_animation *a, FILE *said, struct tmx_err *err)
{
    static const char *const version[] = {"ffmpeg", "-version", NULL};
    char dir[TMX_PATH_SIZE];
    int code = 0;
    struct tmx_history *all = NULL;
    size_t n_gpu = 0;
    snprintf(dir, sizeof dir, "%s.frames", a->out);
    struct tmx_plot plot = {.dir = dir, .format = "png", .quiet = true};
    if (!tmx_text_ends(a->out, ".mp4") && !tmx_text_ends(a->out, ".gif")) {
        return tmx_fail(err, TMX_ECONFIG, "-o %s: expected a name that ends in .mp4 or .gif", a->out);
    }
    if (!tmx_os_run(version, "/dev/null", &code, err) && code != 0) {
        tmx_error(err, TMX_EPROGRAM,
                  "ffmpeg is not installed (Debian, Ubuntu: apt install ffmpeg); `thermix report` has a "
                  "heat-map player that needs none");
    }
    if (!tmx_history_load(&all, &n_gpu, a->run, a->n_frame, err) && all[0].n_frame == 0) {
        tmx_error_at(err, TMX_EIO, a->run, 0, "no temps.ttrace; run it with --hotspot SECONDS");
    }
    if (!err->code && !tmx_plot_begin(&plot, err)) {
        tmx_plot_folder(&plot);
        (void)(err->code || tmx_folder_start(plot.dir, err)); /* the pictures are drawn by other processes */
    }
    if (!err->code) {
        struct frames frames = {.all = all, .n_gpu = n_gpu, .plot = &plot};
        tmx_history_range(all, n_gpu, &frames.low_c, &frames.high_c);
        frames.low_c = floor(frames.low_c);
        frames.high_c = ceil(frames.high_c);
        const struct tmx_pool pool = {
            .n_task = all[0].n_frame, .noun = "pictures", .ctx = &frames, .run = draw};
        err->code = tmx_pool_run(&pool, err);
    }
    if (!err->code) {
        join(a, dir, all[0].n_frame, err);
    }
    if (!err->code) {
        tmx_print_visible(said, "%s: %zu picture%s, one of every %zu row%s of the run%s%s\n", a->out,
                          all[0].n_frame, tmx_plural(all[0].n_frame), all[0].frame_stride,
                          tmx_plural(all[0].frame_stride), a->keep ? "; they are in " : "",
                          a->keep ? dir : "");
    }
    if (!a->keep) {
        tmx_folder_pass(dir);
    }
    tmx_history_free(all, n_gpu);
    return err->code;
}
