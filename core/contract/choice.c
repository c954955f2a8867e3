/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/contract/choice.h"

#include <stdlib.h>

const char *const tmx_choice_keys[TMX_N_CHOICE] = {
    [TMX_LEVEL_JOB] = "job",   [TMX_LEVEL_PLACE] = "place", [TMX_LEVEL_MIX] = "mix_policy",
    [TMX_LEVEL_DTM] = "dtm",   [TMX_LEVEL_CTA] = "cta",     [TMX_LEVEL_TB] = "tb",
    [TMX_LEVEL_GATE] = "gate", [TMX_LEVEL_FAN] = "fan",     [TMX_SAFETY] = "throttle",
};

enum tmx_level tmx_choice_level(size_t place)
{
    return place == TMX_SAFETY ? TMX_LEVEL_DTM : (enum tmx_level)place;
}

void tmx_choices_finish(struct tmx_choice *choice)
{
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        free(choice[i].state);
        choice[i] = (struct tmx_choice){0};
    }
}
