/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
/* What can follow on a command line: the rows of the commands read backwards. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

static const struct tmx_arg *find_long(const struct tmx_command *c, const char *name, size_t length)
{
    for (const struct tmx_arg *a = c->args; a->type; a++) {
        if (a->name && strlen(a->name) == length && strncmp(a->name, name, length) == 0) {
            return a;
        }
    }
    return NULL;
}

/* The option that a word is: "--out", "-o"; NULL for anything else. */
static const struct tmx_arg *option_of(const struct tmx_command *c, const char *word)
{
    if (word[0] == '-' && word[1] == '-') {
        return find_long(c, word + 2, strlen(word + 2));
    }
    for (const struct tmx_arg *a = c->args; word[0] == '-' && word[1] && !word[2] && a->type; a++) {
        if (a->name && a->letter == word[1]) {
            return a;
        }
    }
    return NULL;
}

static bool takes_value(const struct tmx_arg *a)
{
    return a && a->type != TMX_ARG_FLAG;
}

/* Candidates for an option's value; prefix is what stands before it in the word ("--format="). Of a list the
 * last word is completed, those before the last comma stay. */
static void put_value(const struct tmx_arg *a, const char *typed, const char *prefix, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *all = open_memstream(&text, &size);
    const char *comma = a->type == TMX_ARG_LIST ? strrchr(typed, ',') : NULL;
    const int kept = comma ? (int)(comma - typed + 1) : 0;
    if (!all) {
        return;
    }
    for (const char *const *w = a->words; w && *w; w++) {
        fprintf(all, "%s\n", *w);
    }
    tmx_names_print(a->names, typed, all);
    fclose(all);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == ':') {
            fprintf(out, "%s\n", line);
        } else {
            fprintf(out, "%s%.*s%s\n", prefix, kept, typed, line);
        }
    }
    free(text);
}

static void put_options(const struct tmx_command *c, FILE *out)
{
    for (const struct tmx_arg *a = c->args; a->type; a++) {
        if (a->name) {
            fprintf(out, "--%s\n", a->name);
        }
    }
    fputs("--help\n", out);
    for (const struct tmx_opt *o = c->pairs; o && o->key; o++) {
        fprintf(out, "-%s\n", o->key);
    }
}

void tmx_complete(const struct tmx_command *const *commands, const char *const *words, size_t n, FILE *out)
{
    if (n <= 1) {
        tmx_names_print(TMX_NAMES_COMMAND, "", out);
        return;
    }
    const struct tmx_command *c = NULL;
    for (size_t i = 0; commands[i]; i++) {
        c = strcmp(commands[i]->name, words[0]) == 0 ? commands[i] : c;
    }
    if (!c) {
        return;
    }
    const char *last = words[n - 1];
    const struct tmx_arg *before = n > 2 ? option_of(c, words[n - 2]) : NULL;
    if (takes_value(before)) {
        put_value(before, last, "", out);
        return;
    }
    const char *equal = strchr(last, '=');
    if (strncmp(last, "--", 2) == 0 && equal) {
        char prefix[128];
        const struct tmx_arg *a = find_long(c, last + 2, (size_t)(equal - last - 2));
        snprintf(prefix, sizeof prefix, "%.*s", (int)(equal - last + 1), last);
        if (takes_value(a)) {
            put_value(a, equal + 1, prefix, out);
        }
        return;
    }
    if (last[0] == '-') {
        put_options(c, out);
        return;
    }
    size_t n_operand = 0; /* those before the one being typed */
    for (size_t i = 1; i + 1 < n; i++) {
        n_operand += words[i][0] != '-' && !takes_value(option_of(c, words[i - 1]));
    }
    if (n_operand == 0 && c->operand_words) {
        for (const char *const *w = c->operand_words; *w; w++) {
            fprintf(out, "%s\n", *w);
        }
    }
    if (n_operand < c->max_operand && (n_operand > 0 || !c->operand_words)) {
        tmx_names_print(c->operand_names, last, out);
    }
}
