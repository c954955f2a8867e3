#ifndef TMX_CORE_BASE_UNITS_H
#define TMX_CORE_BASE_UNITS_H

/* Inside everything is SI; these convert at the edges (files, screens, options in degrees). */

#define TMX_ZERO_C 273.15 /* K at 0 degC */

#endif
