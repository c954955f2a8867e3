/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plausible.h"
#include "base/text.h"
#include "run/run.h"

enum { MOST = 32, MOST_VALUES = 12, NAME_SIZE = 600, VALUE_SIZE = 200 };

struct tmx_warning {
    char *text;  /* of the first run that had it */
    size_t *run; /* [n] in order */
    size_t n;
    bool other_numbers; /* in those of other runs */
    bool said;
};

/* Equal but for numbers? *same: also in these. */
static bool alike(const char *a, const char *b, bool *same)
{
    static const char number[] = "0123456789.";
    *same = strcmp(a, b) == 0;
    for (; *a && *b; a++, b++) {
        if (strchr(number, *a) && strchr(number, *b)) {
            a += strspn(a, number) - 1;
            b += strspn(b, number) - 1;
        } else if (*a != *b) {
            return false;
        }
    }
    return *a == *b;
}

static void add(struct tmx_warnings *w, size_t run, const char *text)
{
    bool same = true;
    size_t i = 0;
    while (i < w->n && !alike(w->list[i].text, text, &same)) {
        i++;
    }
    if (i == MOST) {
        w->more = true;
        return;
    }
    if (i == w->n) {
        char *copy = tmx_arena_text(&w->arena, text);
        if (!TMX_GROW(&w->arena, w->list, w->n)) {
            return;
        }
        w->list[w->n++] = (struct tmx_warning){.text = copy};
        same = true;
    }
    struct tmx_warning *of = &w->list[i];
    of->other_numbers = of->other_numbers || !same;
    size_t at = of->n;
    while (at > 0 && of->run[at - 1] > run) { /* runs come nearly in order */
        at--;
    }
    if ((at == 0 || of->run[at - 1] != run) && TMX_GROW(&w->arena, of->run, of->n)) {
        memmove(of->run + at + 1, of->run + at, (of->n - at) * sizeof *of->run);
        of->run[at] = run;
        of->n++;
    }
}

enum tmx_status tmx_warnings_add(struct tmx_warnings *w, size_t run, const char *config, struct tmx_err *err)
{
    for (const char *line = config; line && !err->code;) {
        const char *end = strchr(line, '\n');
        const size_t mark = strlen(TMX_RUN_WARNING);
        if (strncmp(line, TMX_RUN_WARNING, mark) == 0) {
            const size_t n = end ? (size_t)(end - line) : strlen(line);
            char *text = tmx_span_dup((struct tmx_span){line + mark, line + n});
            text ? add(w, run, text) : tmx_error(err, TMX_ENOMEM, "out of memory");
            free(text);
        }
        line = end ? end + 1 : NULL;
    }
    tmx_arena_check(&w->arena, err);
    return err->code;
}

const char *tmx_warned_name(const struct tmx_warned *who, size_t run, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t k = 0; k < who->n_key; k++) {
        char value[VALUE_SIZE];
        const char *key = tmx_text_behind(who->key[k], '.');
        tmx_text_add(buf, size, "%s%s%s%s", k ? ", " : "", key, key[0] ? " " : "",
                     who->value(who->ctx, run, k, value, sizeof value));
    }
    return buf;
}

struct values { /* of a key, each once; n > MOST_VALUES: too many to name */
    char text[MOST_VALUES][VALUE_SIZE];
    size_t n;
};

static bool among(const struct values *v, const char *text)
{
    bool found = false;
    for (size_t i = 0; i < v->n && !found; i++) {
        found = strcmp(v->text[i], text) == 0;
    }
    return found;
}

static void put(struct values *v, const char *text)
{
    if (v->n > MOST_VALUES || among(v, text)) {
        return;
    }
    if (v->n < MOST_VALUES) {
        snprintf(v->text[v->n], VALUE_SIZE, "%s", text);
    }
    v->n++;
}

/* How many runs have, of each key that is not `all`, one of its values. */
static size_t fitting(const struct tmx_warned *who, const struct values *has, const bool *all)
{
    char text[VALUE_SIZE];
    size_t n = 0;
    for (size_t r = 0; r < who->n_run; r++) {
        bool fits = true;
        for (size_t k = 0; k < who->n_key && fits; k++) {
            fits = all[k] || among(&has[k], who->value(who->ctx, r, k, text, sizeof text));
        }
        n += fits;
    }
    return n;
}

/* "policy DVFS, MU; mix M1", when the runs of a warning are all those that have these values; else false. */
static bool by_values(const struct tmx_warning *w, const struct tmx_warned *who, char *buf, size_t size)
{
    struct values *has = calloc(who->n_key, sizeof *has);
    bool *all = calloc(who->n_key + 1, sizeof *all);
    char text[VALUE_SIZE];
    *buf = '\0';
    bool exact = has && all;
    for (size_t k = 0; exact && k < who->n_key; k++) {
        for (size_t i = 0; i < w->n; i++) {
            put(&has[k], who->value(who->ctx, w->run[i], k, text, sizeof text));
        }
        all[k] = true; /* the key's every value is among them, or it has too many to say */
        for (size_t r = 0; r < who->n_run && all[k] && has[k].n <= MOST_VALUES; r++) {
            all[k] = among(&has[k], who->value(who->ctx, r, k, text, sizeof text));
        }
    }
    exact = exact && fitting(who, has, all) == w->n;
    for (size_t n = MOST_VALUES; exact && n > 0; n--) { /* sampled values say nothing beside a policy's */
        for (size_t k = 0; k < who->n_key; k++) {
            if (!all[k] && has[k].n == n) {
                all[k] = true;
                all[k] = fitting(who, has, all) == w->n;
            }
        }
    }
    for (size_t k = 0; exact && k < who->n_key; k++) {
        const char *dot = strrchr(who->key[k], '.');
        for (size_t i = 0; !all[k] && i < has[k].n; i++) {
            tmx_text_add(buf, size, "%s%s%s%s",
                         i > 0  ? ", "
                         : *buf ? "; "
                                : "",
                         i > 0 ? ""
                         : dot ? dot + 1
                               : who->key[k],
                         i > 0 || !who->key[k][0] ? "" : " ", has[k].text[i]);
        }
    }
    free(has);
    free(all);
    return exact && *buf && strlen(buf) + 1 < size; /* not cut */
}

void tmx_warnings_listen(struct tmx_warnings *w, const struct tmx_warned *who)
{
    for (size_t i = 0; i < w->n; i++) {
        struct tmx_warning *of = &w->list[i];
        const char *others = of->other_numbers ? "; in some with other numbers" : "";
        char name[NAME_SIZE];
        if (of->said) {
            continue;
        }
        of->said = true;
        if (of->n == who->n_run) {
            tmx_warn(*others ? "%s (in all runs%s)" : "%s", of->text, others);
        } else if (by_values(of, who, name, sizeof name)) {
            tmx_warn("%s (%zu of %zu runs: %s%s)", of->text, of->n, who->n_run, name, others);
        } else {
            tmx_warn("%s (%zu of %zu runs, %s%s%s)", of->text, of->n, who->n_run,
                     of->n > 1 ? "the first " : "", tmx_warned_name(who, of->run[0], name, sizeof name),
                     others);
        }
    }
    if (w->more) {
        tmx_warn("there are more warnings; `thermix run` prints those of a run");
        w->more = false;
    }
}

const char *tmx_warnings_of(const struct tmx_warnings *w, size_t run, const char *words)
{
    for (size_t i = 0; i < w->n; i++) {
        for (size_t k = 0; k < w->list[i].n; k++) {
            if (w->list[i].run[k] == run && strstr(w->list[i].text, words)) {
                return w->list[i].text;
            }
        }
    }
    return NULL;
}

void tmx_warnings_finish(struct tmx_warnings *w)
{
    tmx_arena_finish(&w->arena);
    *w = (struct tmx_warnings){0};
}
