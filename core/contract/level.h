#ifndef TMX_CORE_CONTRACT_LEVEL_H
#define TMX_CORE_CONTRACT_LEVEL_H

/* The questions that policies answer. */

enum tmx_level {
    TMX_LEVEL_JOB,   /* which waiting instances become one kernel, and where does it run? */
    TMX_LEVEL_PLACE, /* on which GPUs may a kernel run? */
    TMX_LEVEL_MIX,   /* which kernels share a GPU, how much each, at which clock? */
    TMX_LEVEL_DTM,   /* what happens when it is too hot? */
    TMX_LEVEL_CTA,   /* how many SMs, and blocks on each, work for a kernel? */
    TMX_LEVEL_TB,    /* which SM takes the next block? */
    TMX_LEVEL_GATE,  /* which execution units sleep, and in which order are warps issued? */
    TMX_LEVEL_FAN,   /* how fast do the fans turn? */
    TMX_N_LEVEL,
};

#endif
