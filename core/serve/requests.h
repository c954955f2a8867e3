/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SERVE_REQUESTS_H
#define TMX_CORE_SERVE_REQUESTS_H

/* Requests for a language model: from a trace, or drawn. All are made before the run. */

#include <stdint.h>

#include "base/opt.h"

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

struct tmx_llm_request { /* 48 bytes: there may be millions */
    double arrival_s;
    double first_s, done_s; /* its first and its last token; negative: not yet */
    uint32_t input;         /* tokens */
    uint32_t output : 29, class_of : 1 /* 0: high priority, 1: low */, beyond : 2 /* enum tmx_beyond */;
    union {
        uint32_t next;       /* until its first token: in the queue it waits in; UINT32_MAX: none */
        uint32_t token_late; /* then: what slow clocks took of the time after it, in 0.1 ms; until it is done
                                a mark */
    };
    float queue_s; /* until its prompt was begun */
    union {
        uint32_t prompt_mark; /* while its prompt is computed */
        float late_s;         /* then: of the time to its first token, what slow clocks took */
    };
    uint16_t instance, token_instance;
};
enum tmx_beyond {
    TMX_BEYOND_PROMPT = 1,
    TMX_BEYOND_BATCH = 2
}; /* outside the fit of the model's phase: bits */
enum { TMX_MOST_INSTANCES = 65536 };

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
