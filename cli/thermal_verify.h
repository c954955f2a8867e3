#ifndef TMX_CLI_THERMAL_VERIFY_H
#define TMX_CLI_THERMAL_VERIFY_H

#include "cli/thermal_run.h"

/* Run the HotSpot program of args->verify_with on the run's files, in a temporary folder for
 * its outputs, and print the largest difference of every block: over the rows of the
 * transient (r->trace_k, when there is one) and in the steady state (r->temps). Errors: the
 * program fails or writes something else than its formats (TMX_EIO, TMX_EPARSE). */
TMX_NODISCARD enum tmx_status thermal_verify(struct thermal_run *r, struct tmx_err *err);

#endif
