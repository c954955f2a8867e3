#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "core/base/os.h"
#include "plots/plot_run.h"
#include "study/pool.h"

enum { MAX_PATH = 1200, MAX_VARS = 700 };

struct arguments {
    const char *run, *out;
    long n_frame, frames_per_s;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "film to write, .mp4 or .gif", 0},
    {"frames", 'n', "N", 0, "at most N pictures (default 150)", 0},
    {"rate", 'r', "N", 0, "pictures a second (default 12)", 0},
    {0},
};

static long count(const char *text, struct argp_state *state)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > 5000) {
        argp_error(state, "\"%s\" is not a number from 1 to 5000", text);
    }
    return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o':
        a->out = arg;
        return 0;
    case 'n':
        a->n_frame = count(arg, state);
        return 0;
    case 'r':
        a->frames_per_s = count(arg, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->run) {
            argp_error(state, "one run at a time");
        }
        a->run = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->run || !a->out) {
            argp_error(state, "expected RUN and -o FILE");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "RUN",
    "A film of the heat map of a run, all its GPUs side by side.\v"
    "The colour scale is the same in all pictures. Needs gnuplot and ffmpeg.\n\nExample:\n"
    "  thermix run workloads/runs/wl1.cfg -o out/wl1 --hotspot 2\n"
    "  thermix animate out/wl1 -o out/wl1/heat.mp4",
    NULL,
    NULL,
    NULL};

struct film {
    const struct tmx_history *all; /* [n_gpu] */
    size_t n_gpu;
    const struct tmx_plot *plot;
    double low_c, high_c;
};

static enum tmx_status draw(void *ctx, size_t frame, FILE *out, struct tmx_err *err)
{
    const struct film *f = ctx;
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

static enum tmx_status join(const struct arguments *a, const char *dir, struct tmx_err *err)
{
    char pictures[MAX_PATH + 32], rate[24];
    int code = 0;
    snprintf(pictures, sizeof pictures, "%s/frame%%05d.png", dir);
    snprintf(rate, sizeof rate, "%ld", a->frames_per_s);
    const char *const gif = "scale=720:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse";
    const char *const mp4 = "scale=trunc(iw/2)*2:trunc(ih/2)*2";
    const char *const argv[] = {"ffmpeg",     "-v",
                                "error",      "-y",
                                "-framerate", rate,
                                "-i",         pictures,
                                "-vf",        ends_with(a->out, ".gif") ? gif : mp4,
                                "-pix_fmt",   ends_with(a->out, ".gif") ? "pal8" : "yuv420p",
                                a->out,       NULL};
    const enum tmx_status st = tmx_os_run(argv, NULL, &code, err);
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

static enum tmx_status animate(const struct arguments *a, struct tmx_err *err)
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
    st = st ? st : tmx_history_load(&all, &n_gpu, a->run, (size_t)a->n_frame, err);
    if (!st && all[0].n_frame == 0) {
        st = tmx_fail_at(err, TMX_EIO, a->run, 0, "no temps.ttrace; run it with --hotspot SECONDS");
    }
    st = st ? st : tmx_plot_begin(&plot, err);
    st = st ? st : tmx_plot_folder(&plot, err);
    if (!st) {
        struct film film = {.all = all, .n_gpu = n_gpu, .plot = &plot};
        tmx_history_range(all, n_gpu, &film.low_c, &film.high_c);
        film.low_c = floor(film.low_c);
        film.high_c = ceil(film.high_c);
        const struct tmx_pool pool = {
            .n_task = all[0].n_frame, .noun = "pictures", .ctx = &film, .run = draw};
        st = tmx_pool_run(&pool, err);
    }
    st = st ? st : join(a, dir, err);
    if (!st) {
        printf("%s: %zu pictures, every %zu of the run's rows; the pictures are in %s\n", a->out,
               all[0].n_frame, all[0].frame_stride, dir);
    }
    tmx_history_free(all, n_gpu);
    return st;
}

int tmx_cmd_animate(int argc, char **argv)
{
    struct arguments a = {.n_frame = 150, .frames_per_s = 12};
    struct tmx_err err = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    return tmx_command_end("animate", animate(&a, &err), &err);
}
