/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of texts that grow: notes, columns, names of runs and GPUs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"

bool tmx_log_grow(void **list, size_t n, size_t size)
{
    if ((n & (n - 1)) == 0) { /* at 0, 1, 2, 4, ... */
        void *p = realloc(*list, (n ? 2 * n : 1) * size);
        if (!p) {
            return false;
        }
        *list = p;
    }
    return true;
}

/* Append text to a list of owned texts; without memory the text is lost. */
static void add_text(char ***list, size_t *n, char *text)
{
    if (!text || !tmx_log_grow((void **)list, *n, sizeof **list)) {
        free(text);
        return;
    }
    (*list)[(*n)++] = text;
}

void tmx_measured_note(struct tmx_measured *m, const char *fmt, ...)
{
    char buf[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    for (size_t i = 0; i < m->n_note; i++) {
        if (strcmp(m->note[i], buf) == 0) {
            return;
        }
    }
    add_text(&m->note, &m->n_note, tmx_span_dup((struct tmx_span){buf, buf + strlen(buf)}));
}

void tmx_measured_column(struct tmx_measured *m, enum tmx_log_quantity q, struct tmx_span name)
{
    char buf[256];
    snprintf(buf, sizeof buf, "%s from \"%.*s\"", tmx_log_quantity_name(q), TMX_SPAN_ARG(name));
    add_text(&m->column, &m->n_column, tmx_span_dup((struct tmx_span){buf, buf + strlen(buf)}));
}

void tmx_measured_unused(struct tmx_measured *m, struct tmx_span name)
{
    add_text(&m->unused, &m->n_unused, tmx_span_dup(name));
}

size_t tmx_log_intern(char ***list, size_t *n, struct tmx_span s)
{
    for (size_t i = *n; i-- > 0;) { /* the newest are asked for most */
        if (strlen((*list)[i]) == tmx_span_length(s) &&
            memcmp((*list)[i], s.begin, tmx_span_length(s)) == 0) {
            return i;
        }
    }
    const size_t before = *n;
    add_text(list, n, tmx_span_dup(s));
    return *n > before ? before : (size_t)-1;
}
