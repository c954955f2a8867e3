/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SERVE_SERVE_H
#define TMX_CORE_SERVE_SERVE_H

/* A language model served by instances: groups of GPUs in lockstep that batch requests, iteration by
 * iteration. A stage of the simulation before the GPUs advance (serve.c explains it). */

#include "base/arena.h"
#include "core/contract/choice.h"
#include "core/serve/llm.h"
#include <stdint.h>

#include "base/opt.h"

/* Requests for a language model: from a trace, or drawn. All are made before the run. */

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
    uint32_t output : 28, class_of : 1 /* 0: high priority, 1: low */, beyond : 3 /* enum tmx_beyond */;
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
    TMX_BEYOND_BATCH = 2,
    TMX_BEYOND_OUTPUT = 4
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

enum tmx_serve_scheduler { TMX_SERVE_MIXED, TMX_SERVE_CHUNKED, TMX_SERVE_PREFILL_FIRST, TMX_SERVE_ORCA };
enum tmx_serve_rows { TMX_ROWS_ALL, TMX_ROWS_RACK };

struct tmx_serve_options { /* group serve */
    char model[512];
    int tp;
    bool heat, beyond_fit;
    int token_time, mix; /* batch, flat; joint, add */
    double kv_util;
    bool class_servers;
    double high_servers;
    double rest_w, rest_slope; /* of the node, a GPU */
};
extern const struct tmx_opt tmx_serve_opts[];

struct tmx_serve_scheduler_options { /* group serve.scheduler */
    int policy;
    int budget, max_batch, max_preempt, chunk;
};
extern const struct tmx_opt tmx_serve_scheduler_opts[];

struct tmx_serve_pool_options { /* group serve.pools; prompt 0: phases are not split */
    int prompt, token;
    double gb_per_s, latency_s, overlap;
};
extern const struct tmx_opt tmx_serve_pool_opts[];

struct tmx_row_options { /* group row, beside the policy's */
    double budget_w, telemetry_s, oob_s, rises_from_s;
    int rows; /* enum tmx_serve_rows */
    bool brake;
    double brake_s, brake_release, brake_hold_s, brake_hz;
};
extern const struct tmx_opt tmx_row_opts[];

struct tmx_serve_gpu { /* what the stage knows of a GPU */
    const struct tmx_chip *chip;
    const struct tmx_llm_phase *phase;
    size_t row;
    double board_w;          /* power limit, which shares of the phases are of */
    double static_w;         /* the board's by baseline and leakage of a GPU that makes tokens */
    double k_per_w, limit_k; /* kelvins in a second by a watt more; limits, INFINITY: none */
    double memory_k_per_w, memory_limit_k; /* of the memory's sensor */
};

struct tmx_serve_spec {
    struct tmx_serve_options options;
    const struct tmx_llm *llm;       /* NULL: nothing is served. Not owned, like all that follows */
    const struct tmx_serve_gpu *gpu; /* [n_gpu] */
    size_t n_gpu, n_row;
    const struct tmx_choice *route, *row; /* set by sim.c */
    struct tmx_request_list *list;        /* ticks write into its requests */
    struct tmx_serve_scheduler_options scheduler;
    struct tmx_serve_pool_options pools;
    struct tmx_row_options row_options;
};

enum tmx_late { /* why a clock was slow */
                TMX_LATE_ROW,
                TMX_LATE_BRAKE,
                TMX_LATE_BOARD, /* the board's power, its temperatures, the throttle */
                TMX_N_LATE
};

struct tmx_serve_instance_ledger { /* since the begin */
    double prompt_s, token_s;      /* time in iterations with prompts, and without */
    double sequence_s;             /* sequences times time in iterations */
    double joules;                 /* of its GPUs */
    double late_s[TMX_N_LATE];     /* that slow clocks took, by reason */
    double inlet_ks;               /* integral of the air it breathes; NAN: unknown */
    double capped_s, braked_s;     /* its row's policy limits its clock; its row's brake is on */
    double
        active_s[3]; /* with one active token, 2 to 20, more: prompt tokens and sequences of an iteration */
    uint64_t n_iteration, n_request, output_tokens, input_tokens;
};

struct tmx_serve_row_ledger {
    double peak_w, sum_w, rise_2s_w, rise_40s_w; /* of means between two telemetries */
    uint64_t n, n_brake;
};

enum { TMX_GAP_BINS = 3584 }; /* powers of two from 2^-14 s on, 128 to each */

struct tmx_serve {
    struct tmx_serve_spec spec;
    struct tmx_llm_request *request;          /* [n_request] */
    struct tmx_instance_view *view;           /* [n] */
    struct tmx_serve_instance_ledger *ledger; /* [n] */
    struct tmx_serve_row_ledger *row_ledger;  /* [n_row] */
    size_t n, n_request, n_done;              /* done: have their last token */
    double end_s;                             /* of the last token so far */
    double most_prompt, most_batch;           /* of an iteration, of the fit's; 0: no iteration yet */
    double most_output;                       /* of a request, of the fit's largest prompt */
    /* serve.c alone: */
    const struct tmx_chip **chip; /* [n] of an instance */
    const struct tmx_llm_phase **phase;
    double token_link_s; /* a token of cache on its way to the token instance, as far as it is not hidden */
    size_t next;         /* request that arrives next */
    double telemetry_s, tick_end_s;
    struct tmx_serve_instance *instance; /* [n] */
    struct tmx_serve_row *row;           /* [n_row] */
    double *asked_hz, *clock_hz, *row_w;
    uint64_t *gap; /* [TMX_GAP_BINS] */
    bool split;
};

/* Class of an instance under class_servers: 0 high priority, 1 low. */
int tmx_serve_class(const struct tmx_serve_options *o, size_t instance);

/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_serve *tmx_serve_take(struct tmx_arena *arena, const struct tmx_serve_spec *spec);

struct tmx_serve_tick { /* from begin_s to end_s; negative: nothing arrives yet. Arrays [n_gpu] */
    double begin_s, end_s;
    const double *speed;                          /* of a GPU, of its fastest clock; heat only */
    const double *hottest_k, *memory_k, *inlet_k; /* sensors; heat only */
};
/* Instances go on to the end of the tick. TMX_ESOLVE: a policy answers nonsense. */
void tmx_serve_advance(struct tmx_serve *s, const struct tmx_serve_tick *t, struct tmx_err *err);
/* At the end of a tick of dt_s: what it drew goes to the energies of instances and rows, which the next one's
 * telemetry reads. chip_w [n_gpu]: heat only; NULL: the watts of the phases. */
void tmx_serve_account(struct tmx_serve *s, const double *chip_w, double dt_s);

/* Of a GPU. Means of the last tick: dynamic watts at its fastest clock; of dram as drawn; heat false: gpu_w,
 * all of them. The slowest level that the row asks for, and why. */
struct tmx_serve_now {
    double sm_w, l2_w, dram_w, busy, gpu_w;
    size_t level;
    unsigned reasons;
};
struct tmx_serve_now tmx_serve_now(const struct tmx_serve *s, size_t gpu);
/* What an instance's part of its node draws, whose GPUs' boards draw gpu_w together. */
double tmx_serve_power_w(const struct tmx_serve *s, size_t instance, double gpu_w);

size_t tmx_serve_n_beyond(const struct tmx_serve *s);                 /* requests outside the fit */
double tmx_serve_gap_quantile_s(const struct tmx_serve *s, double q); /* 0: no gap */

#endif
