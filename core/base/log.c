/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/base/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_LINE = 2048 };

void tmx_log_say(const struct tmx_log *log, enum tmx_log_level level, const char *fmt, ...)
{
    char text[MAX_LINE];
    va_list ap;
    if (!log || !log->line) {
        return;
    }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log->line(log->to, level, text);
}
