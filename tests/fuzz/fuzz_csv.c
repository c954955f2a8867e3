/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "base/csv.h"

void fuzz_reader(const char *path)
{
    struct tmx_csv csv = {0};
    struct tmx_err err = {0};
    double v;
    if (tmx_csv_read(&csv, path, &err) == TMX_OK) {
        for (size_t row = 0; row < csv.n_row; row++) {
            for (size_t column = 0; column < csv.n_column; column++) {
                fuzz_check(tmx_csv_cell(&csv, row, column));
                (void)tmx_csv_real(&csv, row, column, &v);
            }
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_csv_finish(&csv);
}
