/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SERVE_LLM_H
#define TMX_CORE_SERVE_LLM_H

/* How long a language model's iterations take and what they draw: workloads/llms/NAME.cfg.
 *
 *   prompt  [ms]  max(c0, c1 + c2 n + c3 max(0, n - 2048))     n prompt tokens in the iteration
 *   token   [ms]  a + b B + c KV                               B sequences with KV tokens in the cache
 *
 * A phase is one kind of GPU at one tensor-parallel degree. Nothing is interpolated between degrees or
 * models. */

#include "base/opt.h"

enum { TMX_LLM_PHASES = 32, TMX_LLM_POINTS = 16 };

struct tmx_llm_phase {
    char gpu[64]; /* a chip: folder of floorplans/ */
    int tp;
    double memory_bytes; /* of a GPU */
    double idle_w;
    double token_share;           /* of the board's power limit, at a batch of 1 */
    double token_w_per_sequence;  /* more for each sequence of the batch */
    double max_prompt, max_batch; /* the range of the measured rows */
    double prompt_ms[4], token_ms[3];
    size_t n_point;
    double prompt_tokens[TMX_LLM_POINTS], prompt_share[TMX_LLM_POINTS]; /* of the board's power limit */
    const char *file;
    unsigned line;
};

struct tmx_llm {
    char name[64], doc[256], source[512];
    double weights_bytes;
    int layers, kv_heads, head_dim, value_bytes;
    double m_prompt, m_token; /* share of an iteration's time that does not follow the clock */
    double prompt_dram_share, token_dram_share; /* of the dynamic watts */
    double l2_share;
    size_t n_phase;
    struct tmx_llm_phase phase[TMX_LLM_PHASES];
    struct tmx_config *config; /* owned: names of files */
};

/* Overwritten; end with tmx_llm_finish, also after failure. TMX_EIO, TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_llm_load(struct tmx_llm *m, const char *path, struct tmx_err *err);
void tmx_llm_finish(struct tmx_llm *m); /* accepts zeroed memory */

/* The phase of a chip and degree; the message of a missing one names those that the file has. TMX_ECONFIG. */
TMX_NODISCARD enum tmx_status tmx_llm_find(const struct tmx_llm *m, const char *gpu, int tp,
                                           const struct tmx_llm_phase **phase, struct tmx_err *err);

double tmx_llm_prompt_s(const struct tmx_llm_phase *p, double tokens);
double tmx_llm_prompt_share(const struct tmx_llm_phase *p, double tokens); /* linear between points */
static inline double tmx_llm_token_s(const struct tmx_llm_phase *p, double sequences, double cached)
{
    return 1e-3 * (p->token_ms[0] + p->token_ms[1] * sequences + p->token_ms[2] * cached);
}

/* Tokens that the cache of an instance holds when the GPUs use `util` of their memory. */
double tmx_llm_capacity(const struct tmx_llm *m, const struct tmx_llm_phase *p, double util);
double tmx_llm_token_bytes(const struct tmx_llm *m); /* of a token in the cache, over all GPUs */

extern const struct tmx_keys tmx_llm_keys[]; /* of a language model */

#endif
