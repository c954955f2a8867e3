/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SERVE_REQUESTS_H
#define TMX_CORE_SERVE_REQUESTS_H

/* Requests for a language model: from a trace, or drawn. All are made before the run. */

#include <stdint.h>

#include "core/base/opt.h"

struct tmx_request_options { /* group serve.requests */
    char file[512];
    char sizes[512];
    int process; /* enum tmx_request_process */
    double rate_per_s, day, noise, noise_s, duration_s;
    int count;
    double speed;
    double high;
};
enum tmx_request_process { TMX_REQUESTS_TRACE, TMX_REQUESTS_POISSON };
extern const struct tmx_opt tmx_request_opts[];

struct tmx_llm_request {
    double arrival_s;
    double first_s, done_s; /* its first and its last token; negative: not yet */
    uint32_t input, output; /* tokens */
    uint32_t next;          /* in the queue it waits in; UINT32_MAX: none */
    uint16_t instance, token_instance;
    float queue_s,
        late_s; /* until its prompt was begun; of the time to its first token, clocks below the fastest */
    uint32_t token_late; /* the same of the time after it, in 0.1 ms; until it is done a mark */
    uint8_t class_of;    /* 0: high priority, 1: low */
};

struct tmx_request_list {
    struct tmx_llm_request *request; /* [n] owned, by arrival */
    size_t n;
    unsigned first_line; /* of the trace, for messages; 0: drawn */
};

/* Traces are recognised by their header (docs/formats.md). at: the group, for messages. Overwritten; end with
 * tmx_requests_finish, also after failure. TMX_ECONFIG, TMX_EPARSE, TMX_EIO with the line. */
TMX_NODISCARD enum tmx_status tmx_requests_make(struct tmx_request_list *l,
                                                const struct tmx_request_options *o,
                                                const struct tmx_setting *at, uint64_t seed,
                                                struct tmx_err *err);
void tmx_requests_finish(struct tmx_request_list *l); /* accepts zeroed memory */

#endif
