/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot.h"

#include <math.h>

#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "study/pool.h"

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
