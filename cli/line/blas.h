/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_BLAS_H
#define TMX_CLI_BLAS_H

/* Begin the program again, with this argv, where BLAS has chosen kernels that do not fit the processor
 * (run/process_guard.h). Returns where they do, or where it cannot be. */
void tmx_choose_blas(char *const *argv);

#endif
