#ifndef TMX_RUN_HOST_H
#define TMX_RUN_HOST_H

/* Manners towards the program that calls the library. Every public function that computes,
 * reads or writes numbers stands between tmx_host_enter and tmx_host_leave:
 *
 * of the calling thread   locale "C" (a decimal point is a point), the default floating-point
 *                         environment (rounding, denormals, no traps)
 * of the whole process    GSL's error handler off, BLAS on one thread
 *
 * Leaving puts back what was there. What belongs to the process is set aside by the first call
 * that enters and put back by the last that leaves, whichever threads they are in. */

#include <fenv.h>
#include <locale.h>

struct tmx_host {
    fenv_t environment;
    void *locale; /* locale_t of the thread */
};

void tmx_host_enter(struct tmx_host *host);
void tmx_host_leave(const struct tmx_host *host);

/* Locale "C" for the calling thread; returns the one before. libconfig leaves the thread in the
 * process's locale: call it again after reading with it. */
void *tmx_host_locale(void);

#endif
