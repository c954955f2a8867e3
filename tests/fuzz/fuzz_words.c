/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "measure/log/collect.h"
#include "study/analysis/analysis.h"
#include "tests/fuzz/fuzz.h"

/* Words as they stand on a command line or in a cell, one a line: numbers, times, patterns, conditions. */
static void number(struct tmx_span s)
{
    char buf[TMX_REAL_SIZE];
    double v, again;
    if (!tmx_span_real(s, &v)) {
        fuzz_check(tmx_span_real_fault(s)[0]);
        return;
    }
    tmx_real_print(buf, v);
    fuzz_check(isfinite(v) && tmx_span_real((struct tmx_span){buf, buf + strlen(buf)}, &again) && again == v);
}

static void cell(struct tmx_span s)
{
    static const int quantities[] = {TMX_Q_POWER, TMX_Q_TEMP, TMX_COLUMN_CLOCK_TIME};
    double v;
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        const struct tmx_column_use use = {.quantity = quantities[i], .scale = 1};
        for (int comma = 0; comma < 2; comma++) {
            fuzz_check(!tmx_cell_value(&use, s, comma, &v) || isfinite(v) || isnan(v));
        }
    }
    fuzz_check(!tmx_time_parse(s, &v) || isfinite(v));
}

void fuzz_reader(const char *path)
{
    enum { SHORT = 20 }; /* what costs its square */
    static const char *const names[] = {"policy", "package.r_convec", "tick_s", "quantum_s"};
    struct tmx_lines l = {0};
    struct tmx_err err = {0};
    struct tmx_text_file t;
    if (tmx_text_load(&t, path, &err) != TMX_OK) {
        return;
    }
    while (tmx_lines_next(&l, &t)) {
        char word[256], hint[TMX_HINT_SIZE];
        const char *const text = word;
        struct tmx_where w;
        number(l.line);
        cell(l.line);
        if (tmx_span_copy(l.line, word, sizeof word)) {
            if (strlen(word) < SHORT) {
                fuzz_check(tmx_suggest(hint, word, names, 4) == hint);
            }
            (void)tmx_pattern_match(word, "run 1");
            fuzz_check(tmx_pattern_match("*", word));
            err = (struct tmx_err){0};
            tmx_where_parse(&text, 1, &w, 1, &err);
            if (!err.code) {
                (void)tmx_where_holds(&w, "0.25");
            } else {
                fuzz_check(err.msg[0]);
            }
        }
    }
    tmx_text_finish(&t);
}
