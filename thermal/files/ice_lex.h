/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_ICE_LEX_H
#define TMX_THERMAL_FILES_ICE_LEX_H

/* Private to ice_io.c and ice_stack.c: the words of a 3D-ICE file. Words are separated by
 * blanks; `: ; , ( )` are words of their own; "..." is one word without its quotes; both
 * C comment forms are skipped. */

#include "core/base/text.h"

struct tmx_ice_lex {
    struct tmx_text_file text;
    const char *next;
    struct tmx_span word; /* empty at the end of the file */
    unsigned line;        /* of word */
    struct tmx_err *err;
};

/* Load and check that every quotation and comment has an end. */
TMX_NODISCARD enum tmx_status tmx_ice_open(struct tmx_ice_lex *l, const char *path, struct tmx_err *err);
/* The same unchecked, to find out what kind of file it is. */
TMX_NODISCARD enum tmx_status tmx_ice_sniff(struct tmx_ice_lex *l, const char *path, struct tmx_err *err);
/* Every quotation and comment must end, as what an open one would swallow is never missed otherwise; and
 * unless `empty`, hold something. Returns TMX_OK or TMX_EPARSE. */
TMX_NODISCARD enum tmx_status tmx_ice_check_closed(const struct tmx_ice_lex *l, bool empty,
                                                   struct tmx_err *err);
void tmx_ice_close(struct tmx_ice_lex *l);
void tmx_ice_next(struct tmx_ice_lex *l);
/* True and step when the word is this one. */
bool tmx_ice_accept(struct tmx_ice_lex *l, const char *word);
/* Fail at the word: "expected WHAT, got WORD". */
enum tmx_status tmx_ice_expected(struct tmx_ice_lex *l, const char *what);
/* The words of a phrase, one after another: "chip length". */
TMX_NODISCARD enum tmx_status tmx_ice_phrase(struct tmx_ice_lex *l, const char *phrase);
TMX_NODISCARD enum tmx_status tmx_ice_number(struct tmx_ice_lex *l, double *v);
TMX_NODISCARD enum tmx_status tmx_ice_name(struct tmx_ice_lex *l, char *buf, size_t size);
/* Step behind the next `;`. */
void tmx_ice_skip(struct tmx_ice_lex *l);
/* The same for `power values 1, 2;` and its like: words and numbers, an error where the `;` is missing. */
TMX_NODISCARD enum tmx_status tmx_ice_skip_values(struct tmx_ice_lex *l);

#endif
