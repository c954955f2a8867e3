/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_BASE_LOG_H
#define TMX_CORE_BASE_LOG_H

/* What the library wants to say beside its results: lines to the caller's sink. */

#include "core/base/err.h"

enum tmx_log_level { TMX_LOG_INFO, TMX_LOG_WARNING, TMX_LOG_DETAIL }; /* detail: with -v */

struct tmx_log {
    /* text has no newline and lives during the call only */
    void (*line)(void *to, enum tmx_log_level level, const char *text);
    void *to;
};

/* Format one line for log; silent when log is NULL. */
void tmx_log_say(const struct tmx_log *log, enum tmx_log_level level, const char *fmt, ...) TMX_PRINTF(3, 4);

#endif
