/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/film.h"

#include <math.h>
#include <string.h>

#include "core/base/folder.h"
#include "core/base/os.h"
#include "core/base/output.h"
#include "plots/plot_run.h"
#include "study/pool.h"

enum { MAX_PATH = 1200, MAX_VARS = 1000 };

struct frames {
    const struct tmx_history *all; /* [n_gpu] */
    size_t n_gpu;
    const struct tmx_plot *plot;
    double low_c, high_c;
};

static enum tmx_status draw(void *ctx, size_t frame, FILE *out, struct tmx_err *err)
{
    const struct frames *f = ctx;
    char csv[MAX_PATH], png[MAX_PATH], vars[MAX_VARS];
    (void)out;
    snprintf(csv, sizeof csv, "%s/data/frame%05zu.csv", f->plot->dir, frame);
    snprintf(png, sizeof png, "%s/frame%05zu.png", f->plot->dir, frame);
    const enum tmx_status st =
        tmx_plot_frame(f->all, f->n_gpu, frame, f->low_c, f->high_c, csv, vars, sizeof vars, err);
    return st ? st : tmx_plot_script("heatmap", csv, png, "png", vars, err);
}

static bool ends_with(const char *s, const char *suffix)
{
    const size_t n = strlen(s), m = strlen(suffix);
    return n > m && strcmp(s + n - m, suffix) == 0;
}

/* The first n pictures: the folder may hold more of an earlier film. */
static enum tmx_status join(const struct tmx_film *a, const char *dir, size_t n, struct tmx_err *err)
{
    char pictures[MAX_PATH + 32], rate[24], count[24], out[MAX_PATH + 8];
    int code = 0;
    snprintf(pictures, sizeof pictures, "file:%s/frame%%05d.png", dir); /* "a:b" is no protocol */
    snprintf(rate, sizeof rate, "%zu", a->per_s);
    snprintf(count, sizeof count, "%zu", n);
    snprintf(out, sizeof out, "file:%s", a->out); /* whatever the name begins with */
    if (strchr(dir, '%')) {
        return tmx_fail_at(err, TMX_EIO, a->out, 0, "ffmpeg takes no %% in a file name");
    }
    const char *const gif = "scale=720:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse";
    const char *const mp4 = "scale=trunc(iw/2)*2:trunc(ih/2)*2";
    const char *const argv[] = {"ffmpeg",     "-v",
                                "error",      "-y",
                                "-framerate", rate,
                                "-i",         pictures,
                                "-frames:v",  count,
                                "-vf",        ends_with(a->out, ".gif") ? gif : mp4,
                                "-pix_fmt",   ends_with(a->out, ".gif") ? "pal8" : "yuv420p",
                                out,          NULL};
    enum tmx_status st = tmx_output_guard(a->out, err);
    st = st ? st : tmx_os_run(argv, NULL, &code, err);
    return !st && code != 0 ? tmx_fail_at(err, TMX_EIO, a->out, 0, "ffmpeg failed (exit code %d)", code) : st;
}

static enum tmx_status find_ffmpeg(struct tmx_err *err)
{
    static const char *const version[] = {"ffmpeg", "-version", NULL};
    int code = 0;
    const enum tmx_status st = tmx_os_run(version, "/dev/null", &code, err);
    return !st && code != 0 ? tmx_fail(err, TMX_EUNSUPPORTED,
                                       "ffmpeg is not installed (Debian, Ubuntu: apt install ffmpeg); "
                                       "`thermix report` has a heat-map player that needs none")
                            : st;
}

enum tmx_status tmx_film(const struct tmx_film *a, FILE *said, struct tmx_err *err)
{
    char dir[MAX_PATH];
    struct tmx_history *all = NULL;
    size_t n_gpu = 0;
    snprintf(dir, sizeof dir, "%s.frames", a->out);
    struct tmx_plot plot = {.dir = dir, .format = "png", .quiet = true};
    if (!ends_with(a->out, ".mp4") && !ends_with(a->out, ".gif")) {
        return tmx_fail(err, TMX_ECONFIG, "-o %s: expected a name that ends in .mp4 or .gif", a->out);
    }
    enum tmx_status st = find_ffmpeg(err);
    st = st ? st : tmx_history_load(&all, &n_gpu, a->run, a->n_frame, err);
    if (!st && all[0].n_frame == 0) {
        st = tmx_fail_at(err, TMX_EIO, a->run, 0, "no temps.ttrace; run it with --hotspot SECONDS");
    }
    st = st ? st : tmx_plot_begin(&plot, err);
    st = st ? st : tmx_plot_folder(&plot, err);
    st = st ? st : tmx_folder_start(plot.dir, err); /* the pictures are drawn by other processes */
    if (!st) {
        struct frames frames = {.all = all, .n_gpu = n_gpu, .plot = &plot};
        tmx_history_range(all, n_gpu, &frames.low_c, &frames.high_c);
        frames.low_c = floor(frames.low_c);
        frames.high_c = ceil(frames.high_c);
        const struct tmx_pool pool = {
            .n_task = all[0].n_frame, .noun = "pictures", .ctx = &frames, .run = draw};
        st = tmx_pool_run(&pool, err);
    }
    st = st ? st : join(a, dir, all[0].n_frame, err);
    if (!st) {
        fprintf(said, "%s: %zu pictures, every %zu of the run's rows; the pictures are in %s\n", a->out,
                all[0].n_frame, all[0].frame_stride, dir);
    }
    tmx_history_free(all, n_gpu);
    return st;
}
