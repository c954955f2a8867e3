/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_ASSEMBLY_VECTORS_H
#define TMX_THERMAL_ASSEMBLY_VECTORS_H

#include <stddef.h>

/* Loops over vectors [n], for each width of vector; all give the same bits: sums have eight chains. A network
 * has those for its processor; tmx_dot and the like suit short vectors. */
struct tmx_vectors {
    double (*dot)(size_t n, const double *a, const double *b);
    void (*axpy)(size_t n, double alpha, const double *x, double *y); /* y += alpha x */
    double (*largest)(size_t n, const double *x);                     /* |x|; a NaN stays */
    /* y_i += g_i (x_i - z_i) */
    void (*gain)(size_t n, const double *g, const double *x, const double *z, double *y);
};
extern const struct tmx_vectors tmx_vectors_any, tmx_vectors_v3, tmx_vectors_v4;

static inline double tmx_dot(size_t n, const double *a, const double *b)
{
    return tmx_vectors_any.dot(n, a, b);
}
static inline void tmx_axpy(size_t n, double alpha, const double *x, double *y)
{
    tmx_vectors_any.axpy(n, alpha, x, y);
}
static inline double tmx_largest(size_t n, const double *x)
{
    return tmx_vectors_any.largest(n, x);
}

#endif
