/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_SCHED_MIX_TABS_H
#define TMX_SCHED_MIX_TABS_H

#include <thermix/policy.h>

/* T^ABS's rule for the operating system's tick (paper 003, section 3.1), shared by its four
 * intermixing policies, which differ only in how they spread the shares.
 *
 *   one kernel resident
 *     a waiting kernel of other pdi in the window?  no -> clock level by the thresholds
 *     too hot: take the least pdi, if it is less than the resident one's; 5 % for it
 *     else:    take the largest pdi other than the resident one's; half the GPU (admission "proactive")
 *   two resident, x = share of the hotter, from 50 % (5 % if it came second) to 95 %
 *     too hot: x down by a step; at its floor, one clock level down
 *     cool:    first the clock level up again, then x up by a step
 *
 * "Too hot" is emergency_c on the hottest sensor, "cool" is below release_c. */

enum tmx_tabs_admission { TMX_TABS_PROACTIVE, TMX_TABS_REACTIVE };
enum tmx_tabs_places { TMX_TABS_THERMAL, TMX_TABS_CORNERS };

struct tmx_tabs {
    double emergency_c;
    double release_c;
    double initial_share; /* of a kernel taken in because it is hot */
    double step;          /* of a share per scheduling tick */
    double first_floor;   /* least share of the kernel that came first */
    double alike;         /* pdi closer than this fraction count as equal */
    int window;           /* kernels that may be intermixed with one another */
    int pdi_bits;         /* width of the stat table's pdi; 0: reals */
    int kernels;          /* resident on a GPU at once */
    bool dvfs_beside;     /* lower the clock while unlike kernels run, too */
    double most;          /* largest share of the hotter kernel */
    int admission;        /* enum tmx_tabs_admission */
    double admit_share;   /* of a kernel taken in before it is hot */
    int places;           /* enum tmx_tabs_places, of mixed uniform */
    double slice_s;       /* time slice of the alternating policies */
};

/* The four policies share these option rows. */
extern const struct tmx_opt tmx_tabs_opts[];

void tmx_tabs_decide(void *state, const struct tmx_view *view, struct tmx_request *request);
/* The same, and in request->memory which SMs host the hotter kernel (places "thermal"). */
void tmx_tabs_decide_places(void *state, const struct tmx_view *view, struct tmx_request *request);
size_t tmx_tabs_places(const void *state, const struct tmx_view *view);
/* Best waiting job to intermix with the resident one: the least (or largest) pdi among the valid,
 * different ones of its window; the first in the queue among equals; TMX_NO_JOB: none. */
size_t tmx_tabs_candidate(const struct tmx_tabs *t, const struct tmx_node_view *m,
                          const struct tmx_gpu_view *gpu, bool least);
double tmx_tabs_slice_s(const void *state);
double tmx_tabs_slice(const struct tmx_tabs *t, double time_s); /* number of the slice at a time */
double tmx_tabs_slices(const struct tmx_tabs *t,
                       const struct tmx_spread *s); /* in a tick, at least the one it is in */

#endif
