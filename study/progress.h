/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_STUDY_PROGRESS_H
#define TMX_STUDY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* One line on standard error, redrawn in place; silent when that is not a terminal. */
struct tmx_progress {
    bool shown;
    const char *noun;
    size_t n_total, n_done, n_failed;
    double part; /* of those that are not done: 2.5 for five that are half done */
    double begin_s, last_s;
};

/* noun "runs" is borrowed; NULL: silent. */
void tmx_progress_begin(struct tmx_progress *p, const char *noun, size_t n_total);
void tmx_progress_add(struct tmx_progress *p, bool failed); /* one more is done */
void tmx_progress_show(struct tmx_progress *p);             /* redraws at most a few times a second */
void tmx_progress_end(struct tmx_progress *p);              /* last state and a new line */

/* "1h02m", "3m20s", "7s". */
void tmx_progress_time(char *buf, size_t size, double s);

#endif
