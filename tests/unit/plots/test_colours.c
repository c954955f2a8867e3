/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of colours, plots/scripts/colours.csv: what shows on paper, light or dark, and what can be told
 * apart. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"

static const char table[] = TMX_SOURCE_DIR "/plots/scripts/colours.csv";

static double linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void read_hex(const char *hex, double rgb[3])
{
    unsigned c[3];
    assert_int_equal(sscanf(hex, "#%2x%2x%2x", &c[0], &c[1], &c[2]), 3);
    for (int i = 0; i < 3; i++) {
        rgb[i] = linear(c[i] / 255.0);
    }
}

static double luminance(const double rgb[3])
{
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

/* Web Content Accessibility Guidelines 2.1, "contrast ratio". */
static double contrast(const char *a, const char *b)
{
    double p[3], q[3];
    read_hex(a, p);
    read_hex(b, q);
    const double x = luminance(p) + 0.05, y = luminance(q) + 0.05;
    return x > y ? x / y : y / x;
}

/* Linear RGB to CIE L*a*b*, D65. */
static void to_lab(const double rgb[3], double lab[3])
{
    static const double xyz[3][3] = {
        {0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}};
    static const double white[3] = {0.9505, 1, 1.089};
    double f[3];
    for (int i = 0; i < 3; i++) {
        const double t = (xyz[i][0] * rgb[0] + xyz[i][1] * rgb[1] + xyz[i][2] * rgb[2]) / white[i];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* As seen with full colour vision, and without one kind of cones: Machado, Oliveira and Fernandes, IEEE TVCG
 * 2009, severity 1. */
static const double vision[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};

/* The least distance of two colours over these visions, in L*a*b*. */
static double distance(const char *a, const char *b)
{
    const char *hex[2] = {a, b};
    double least = INFINITY;
    for (size_t v = 0; v < sizeof vision / sizeof vision[0]; v++) {
        double lab[2][3];
        for (int k = 0; k < 2; k++) {
            double rgb[3], seen[3];
            read_hex(hex[k], rgb);
            for (int i = 0; i < 3; i++) {
                const double c =
                    vision[v][i][0] * rgb[0] + vision[v][i][1] * rgb[1] + vision[v][i][2] * rgb[2];
                seen[i] = fmin(1, fmax(0, c));
            }
            to_lab(seen, lab[k]);
        }
        const double dl = lab[0][0] - lab[1][0], da = lab[0][1] - lab[1][1], db = lab[0][2] - lab[1][2];
        least = fmin(least, sqrt(dl * dl + da * da + db * db));
    }
    return least;
}

static const char *colour_of(const struct tmx_csv *csv, const char *name)
{
    for (size_t r = 0; r < csv->n_row; r++) {
        if (strcmp(tmx_csv_cell(csv, r, 0), name) == 0) {
            return tmx_csv_cell(csv, r, 1);
        }
    }
    fail_msg("colours.csv has no %s", name);
    return NULL;
}

/* The grounds of figures (white) and of the report's charts: its --paper by day, at night and on paper. */
static void every_colour_stands_out_from_every_ground(void **state)
{
    struct tmx_csv csv = {0};
    struct tmx_err err = {0};
    char line[4096], ground[8][8] = {"#ffffff"};
    size_t n = 1;
    FILE *page = fopen(TMX_SOURCE_DIR "/plots/report/page.html", "r");
    assert_non_null(page);
    while (fgets(line, sizeof line, page)) {
        const char *at = strstr(line, "--paper: #");
        if (at) {
            const char *c = at + strlen("--paper: ");
            assert_true(n < 8);
            if (strspn(c + 1, "0123456789abcdef") == 3) {
                snprintf(ground[n++], 8, "#%c%c%c%c%c%c", c[1], c[1], c[2], c[2], c[3], c[3]);
            } else {
                snprintf(ground[n++], 8, "%.7s", c);
            }
        }
    }
    fclose(page);
    assert_true(n >= 3);
    assert_int_equal(tmx_csv_read(&csv, table, &err), TMX_OK);
    for (size_t r = 0; r < csv.n_row; r++) {
        for (size_t g = 0; g < n; g++) {
            const double ratio = contrast(tmx_csv_cell(&csv, r, 1), ground[g]);
            if (ratio < 3) {
                fail_msg("%s: %s on %s is %.2f to 1, graphical objects need 3", tmx_csv_cell(&csv, r, 0),
                         tmx_csv_cell(&csv, r, 1), ground[g], ratio);
            }
        }
    }
    tmx_csv_finish(&csv);
}

static void names_of_one_figure_are_told_apart_without_one_kind_of_cones(void **state)
{
    static const char *const figure[][8] = {
        {"BL", "DVFS", "A", "MU", "MNU", "MA"},
        {"MG-BL", "MG-DVFS", "MG-A", "MG-MU", "MG-MNU", "MG-MA"},
        {"none", "convpg", "gates", "naive_blackout", "coordinated_blackout", "warped_gates"},
        {"tcs", "htcs", "tcs(throttling=false)", "static_optimal"},
        {"cpu", "manual", "dynamic", "serial"},
        {"all_30", "all", "apsa"},
        {"equal", "slosh"},
    };
    struct tmx_csv csv = {0};
    struct tmx_err err = {0};
    double least = INFINITY;
    assert_int_equal(tmx_csv_read(&csv, table, &err), TMX_OK);
    for (size_t f = 0; f < sizeof figure / sizeof figure[0]; f++) {
        for (size_t i = 0; i < 8 && figure[f][i]; i++) {
            for (size_t k = 0; k < i; k++) {
                const double d = distance(colour_of(&csv, figure[f][i]), colour_of(&csv, figure[f][k]));
                least = fmin(least, d);
                if (d < 15) {
                    fail_msg("%s and %s: %.1f", figure[f][i], figure[f][k], d);
                }
            }
        }
    }
    print_message("least distance %.1f\n", least);
    tmx_csv_finish(&csv);
}

TMX_TESTS(test_colours)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_stands_out_from_every_ground),
        cmocka_unit_test(names_of_one_figure_are_told_apart_without_one_kind_of_cones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
