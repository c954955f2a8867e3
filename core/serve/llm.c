/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/serve/llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/curve.h"
#include "base/text.h"

static const struct tmx_opt opts[] = {
    TMX_ROW_TEXT(tmx_llm, name, NULL, "name of the model"),
    TMX_ROW_TEXT(tmx_llm, doc, "", "one line about it"),
    TMX_ROW_TEXT(tmx_llm, source, NULL, "where its numbers are from"),
    TMX_ROW_REAL(tmx_llm, weights_bytes, "B", 1e6, 1e15, NAN, "weights, all GPUs of an instance together"),
    TMX_ROW_INT(tmx_llm, layers, "1", 1, 10000, NAN, "layers of the transformer"),
    TMX_ROW_INT(tmx_llm, kv_heads, "1", 1, 10000, NAN, "heads whose keys and values are cached"),
    TMX_ROW_INT(tmx_llm, head_dim, "1", 1, 100000, NAN, "numbers of a head"),
    TMX_ROW_INT(tmx_llm, value_bytes, "B", 1, 8, 2, "bytes of a cached number"),
    TMX_ROW_REAL(tmx_llm, m_prompt, "1", 0, 1, 0.39,
                 "share of a prompt's time that does not follow the clock"),
    TMX_ROW_REAL(tmx_llm, m_token, "1", 0, 1, 0.85, "the same of a token's time"),
    TMX_ROW_REAL(tmx_llm, prompt_dram_share, "1", 0, 1, 0.08, "of a prompt's dynamic watts, in the memory"),
    TMX_ROW_REAL(tmx_llm, token_dram_share, "1", 0, 1, 0.20, "of a token's dynamic watts, in the memory"),
    TMX_ROW_REAL(tmx_llm, l2_share, "1", 0, 1, 0.06, "of the dynamic watts, in L2 and crossbar"),
    {0},
};

static const struct tmx_opt phase_opts[] = {
    TMX_ROW_TEXT(tmx_llm_phase, gpu, NULL, "chip: a folder of floorplans/"),
    TMX_ROW_INT(tmx_llm_phase, tp, "1", 1, 256, NAN, "GPUs of an instance: tensor-parallel degree"),
    TMX_ROW_REAL(tmx_llm_phase, memory_bytes, "B", 1e9, 1e13, 85.9e9, "memory of a GPU"),
    TMX_ROW_REAL(tmx_llm_phase, idle_w, "W", 0, 10000, NAN, "a GPU without work"),
    TMX_ROW_REAL(tmx_llm_phase, token_share, "1", 0, 2, NAN,
                 "watts of a GPU that makes tokens, of its board's limit"),
    TMX_ROW_REAL(tmx_llm_phase, token_w_per_sequence, "W", 0, 100, 0, "more for each sequence of the batch"),
    TMX_ROW_REAL(tmx_llm_phase, max_prompt, "tokens", 1, 1e9, 8192,
                 "longest prompt of the rows behind the fit"),
    TMX_ROW_REAL(tmx_llm_phase, max_batch, "1", 1, 1e6, 64, "largest batch of the rows behind the fit"),
    {0},
};

/* An array of least to most finite numbers of at least 0. */
static void numbers(const struct tmx_setting *group, const char *key, size_t least, size_t most, double *v,
                    size_t *n, struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_list(group, key, least, most, err);
    *n = tmx_setting_length(list);
    for (size_t i = 0; i < *n; i++) {
        if (!tmx_setting_real(tmx_setting_at(list, i), &v[i]) || !(v[i] >= 0) || v[i] > 1e9) {
            tmx_error_setting(err, tmx_setting_at(list, i), "%s: expected numbers from 0 on", key);
        }
    }
}

static void read_phase(struct tmx_llm_phase *p, const struct tmx_setting *s, struct tmx_err *err)
{
    static const char *const also[] = {"prompt_ms", "token_ms", "prompt_tokens", "prompt_share", NULL};
    size_t n = 0, shares = 0;
    tmx_opt_read(phase_opts, p, s, also, err);
    numbers(s, "prompt_ms", 4, 4, p->prompt_ms, &n, err);
    numbers(s, "token_ms", 3, 3, p->token_ms, &n, err);
    numbers(s, "prompt_tokens", 1, TMX_LLM_POINTS, p->prompt_tokens, &p->n_point, err);
    numbers(s, "prompt_share", 1, TMX_LLM_POINTS, p->prompt_share, &shares, err);
    if (shares != p->n_point) {
        tmx_error_setting(err, s, "%zu prompt_tokens, %zu prompt_share: expected as many", p->n_point,
                          shares);
    }
    for (size_t i = 1; i < p->n_point; i++) {
        if (p->prompt_tokens[i] <= p->prompt_tokens[i - 1]) {
            tmx_error_setting(err, s, "prompt_tokens do not rise: %g after %g", p->prompt_tokens[i],
                              p->prompt_tokens[i - 1]);
        }
    }
    if (p->prompt_ms[0] + p->prompt_ms[1] <= 0 || p->token_ms[0] <= 0) {
        tmx_error_setting(err, s, "an iteration of no time: prompt_ms and token_ms begin with more than 0");
    }
    p->file = tmx_setting_file(s);
    p->line = tmx_setting_line(s);
}

enum tmx_status tmx_llm_load(struct tmx_llm *m, const char *path, struct tmx_err *err)
{
    static const char *const also[] = {"phases", NULL};
    *m = (struct tmx_llm){0};
    tmx_config_load(&m->config, path, NULL, err);
    const struct tmx_setting *root = tmx_config_root(m->config);
    tmx_opt_read(opts, m, root, also, err);
    const struct tmx_setting *list = tmx_setting_list(root, "phases", 1, TMX_LLM_PHASES, err);
    for (size_t i = 0; i < tmx_setting_length(list) && !err->code; i++) {
        struct tmx_llm_phase *p = &m->phase[i];
        read_phase(p, tmx_setting_at(list, i), err);
        for (size_t k = 0; k < i; k++) {
            if (m->phase[k].tp == p->tp && strcmp(m->phase[k].gpu, p->gpu) == 0) {
                tmx_error_setting(err, tmx_setting_at(list, i), "%s at tp = %d again", p->gpu, p->tp);
            }
        }
        m->n_phase = i + 1;
    }
    if (m->l2_share + fmax(m->prompt_dram_share, m->token_dram_share) > 1) {
        tmx_error_setting(err, root, "l2_share and a dram_share are together more than 1");
    }
    return err->code;
}

void tmx_llm_finish(struct tmx_llm *m)
{
    tmx_config_close(m->config);
    m->config = NULL;
}

enum tmx_status tmx_llm_find(const struct tmx_llm *m, const char *gpu, int tp,
                             const struct tmx_llm_phase **phase, struct tmx_err *err)
{
    char has[512] = "";
    *phase = NULL;
    for (size_t i = 0; i < m->n_phase; i++) {
        const struct tmx_llm_phase *p = &m->phase[i];
        if (p->tp == tp && strcmp(p->gpu, gpu) == 0) {
            *phase = p;
            return TMX_OK;
        }
        tmx_text_add(has, sizeof has, "%s%s at %d", i ? ", " : "", p->gpu, p->tp);
    }
    return tmx_fail(err, TMX_ECONFIG, "model %s has no phase of %s at tp = %d; it has %s", m->name, gpu, tp,
                    has);
}

double tmx_llm_prompt_s(const struct tmx_llm_phase *p, double tokens)
{
    static const double knee = 2048; /* Splitwise: prompt throughput falls beyond it */
    const double *c = p->prompt_ms;
    return 1e-3 * fmax(c[0], c[1] + c[2] * tokens + c[3] * fmax(0, tokens - knee));
}

double tmx_llm_prompt_share(const struct tmx_llm_phase *p, double tokens)
{
    return tmx_curve_at(p->n_point, p->prompt_tokens, p->prompt_share, 1, tokens);
}

double tmx_llm_token_bytes(const struct tmx_llm *m)
{
    return 2.0 * m->layers * m->kv_heads * m->head_dim * m->value_bytes;
}

double tmx_llm_capacity(const struct tmx_llm *m, const struct tmx_llm_phase *p, double util)
{
    return floor((p->tp * p->memory_bytes * util - m->weights_bytes) / tmx_llm_token_bytes(m));
}

const struct tmx_keys tmx_llm_keys[] = {TMX_KEYS("", opts), TMX_KEYS("phases", phase_opts), {0}};
