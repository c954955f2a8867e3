/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One gnuplot driver: folder, data file, script, run. */
#include "plots/figure.h"

#include <stdio.h>
#include <string.h>

#include "core/base/folder.h"
#include "core/base/os.h"
#include "run/input/data.h"
#include "study/table_out.h"

const char *const tmx_plot_sizes[] = {"small", "default", "large", NULL};

enum { MAX_PATH = 1200, MAX_VARS = 16384 };

enum tmx_status tmx_plot_begin(struct tmx_plot *p, struct tmx_err *err)
{
    static const char *const version[] = {"gnuplot", "--version", NULL};
    int code = 0;
    if (strcmp(p->format, "svg") != 0 && strcmp(p->format, "png") != 0 && strcmp(p->format, "pdf") != 0) {
        return tmx_fail(err, TMX_ECONFIG, "unknown format \"%s\"; known: svg, png, pdf", p->format);
    }
    enum tmx_status st = tmx_os_run(version, "/dev/null", &code, err);
    if (!st && code != 0) {
        st = tmx_fail(err, TMX_EUNSUPPORTED,
                      "gnuplot is not installed (Debian, Ubuntu: apt install gnuplot-nox)");
    }
    return st;
}

enum tmx_status tmx_plot_folder(const struct tmx_plot *p, struct tmx_err *err)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/data", p->dir);
    enum tmx_status st = tmx_plot_path(path, err); /* before anything is left behind */
    st = st ? st : tmx_os_mkdirs(path, err);
    return st ? st : tmx_folder_open(p->dir, TMX_FOLDER_FIGURES, err);
}

void tmx_plot_data_path(const struct tmx_plot *p, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/data/%s.csv", p->dir, name);
}

enum tmx_status tmx_plot_data(const struct tmx_plot *p, const char *name, const struct tmx_table *t,
                              struct tmx_err *err)
{
    char path[MAX_PATH];
    tmx_plot_data_path(p, name, path, sizeof path);
    return tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}

const char *tmx_plot_quote(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    tmx_assert(size >= 3);
    buf[n++] = '\'';
    for (; *text; text++) {
        const bool quote = *text == '\'';
        if (n + (quote ? 2 : 1) + 2 > size) {
            while (n > 1 && ((unsigned char)buf[n - 1] & 0xc0) == 0x80) {
                n--; /* not in the middle of a character */
            }
            n -= n > 1 && (unsigned char)buf[n - 1] >= 0xc0;
            break;
        }
        buf[n++] = (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text;
        if (quote) {
            buf[n++] = '\'';
        }
    }
    buf[n++] = '\'';
    buf[n] = '\0';
    return buf;
}

enum tmx_status tmx_plot_path(const char *path, struct tmx_err *err)
{
    for (const char *c = path; *c; c++) {
        if (*c == '\'' || (unsigned char)*c < ' ') {
            return tmx_fail_at(err, TMX_EIO, path, 0,
                               "gnuplot and its shell take no ' or control character in a name");
        }
    }
    return TMX_OK;
}

enum tmx_status tmx_plot_script(const char *script, const char *data, const char *out, const char *format,
                                const char *vars, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], all[MAX_VARS];
    int code = 0;
    enum tmx_status st = tmx_data_find(TMX_DATA_PLOT, script, path, err);
    if (st) {
        return st;
    }
    st = tmx_plot_path(data, err);
    st = st ? st : tmx_plot_path(out, err);
    st = st ? st : tmx_plot_path(path, err);
    if (st) {
        return st;
    }
    const int n = snprintf(all, sizeof all, "data='%s'; out='%s'; format='%s'; %s", data, out, format, vars);
    if (n < 0 || n >= (int)sizeof all) {
        return tmx_fail_at(err, TMX_EIO, out, 0, "too long a list of names for a figure");
    }
    const char *const argv[] = {"gnuplot", "-e", all, path, NULL};
    st = tmx_folder_note(out, err);
    st = st ? st : tmx_os_run(argv, NULL, &code, err);
    if (!st && code != 0) {
        st = tmx_os_remove(out, err); /* what it had begun to write is no figure */
        st = tmx_fail_at(err, st ? st : TMX_EIO, path, 0, "gnuplot failed on %s (exit code %d)", data, code);
    }
    return st;
}

bool tmx_plot_wants(const struct tmx_plot *p, const char *name)
{
    return !p->only || strcmp(p->only, name) == 0;
}

enum tmx_status tmx_plot_draw(struct tmx_plot *p, const char *script, const char *name, const char *vars,
                              struct tmx_err *err)
{
    char data[MAX_PATH], out[MAX_PATH], all[MAX_VARS];
    if (!tmx_plot_wants(p, name)) {
        return TMX_OK;
    }
    tmx_plot_data_path(p, name, data, sizeof data);
    snprintf(out, sizeof out, "%s/%s.%s", p->dir, name, p->format);
    if (snprintf(all, sizeof all, "size='%s'; %s", p->size ? p->size : "default", vars) >= MAX_VARS) {
        return tmx_fail_at(err, TMX_EIO, out, 0, "too long a list of names for a figure");
    }
    const enum tmx_status st = tmx_plot_script(script, data, p->file ? p->file : out, p->format, all, err);
    if (!st) {
        p->n_figure++;
        if (!p->quiet) {
            printf("%s\n", p->file ? p->file : out);
        }
    }
    return st;
}

enum tmx_status tmx_plot_target(struct tmx_plot *p, const char *to, const char *format, char *dir,
                                size_t size, struct tmx_err *err)
{
    static const char *const formats[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(to, '.');
    for (size_t i = 0; dot && !strchr(dot, '/') && i < 3; i++) {
        if (strcmp(dot + 1, formats[i]) != 0) {
            continue;
        }
        if (format && strcmp(format, formats[i]) != 0) {
            return tmx_fail(err, TMX_ECONFIG, "-o %s and --format %s: which of the two?", to, format);
        }
        if (!p->only) {
            return tmx_fail(
                err, TMX_ECONFIG,
                "-o %s is one file and these may be several figures: --figure NAME chooses one, or give "
                "a folder and --format %s",
                to, formats[i]);
        }
        snprintf(dir, size, "%.*s.figure", (int)(dot - to), to);
        p->file = to;
        p->format = formats[i];
        p->dir = dir;
        return TMX_OK;
    }
    static const char *const others[] = {"gif", "jpg",  "jpeg", "eps", "ps",
                                         "tif", "tiff", "webp", "bmp", "html"};
    for (size_t i = 0; dot && i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(dot + 1, others[i]) == 0) {
            return tmx_fail(err, TMX_ECONFIG, "-o %s: figures are .svg, .png or .pdf", to);
        }
    }
    p->format = format ? format : "svg";
    p->dir = to;
    return TMX_OK;
}
