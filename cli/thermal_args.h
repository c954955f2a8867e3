#ifndef TMX_CLI_THERMAL_ARGS_H
#define TMX_CLI_THERMAL_ARGS_H

#include "core/base/log.h"
#include "thermal/hotspot_config.h"

/* Command line of `thermix thermal`: HotSpot's `-name value` pairs, then GNU long options. */

enum thermal_method { THERMAL_REDUCED, THERMAL_GRID, THERMAL_HOTSPOT };
enum thermal_scheme { THERMAL_EXACT, THERMAL_BE };

struct thermal_args {
    struct tmx_hotspot_config cfg; /* command line, config and package file */
    enum thermal_method method;
    enum thermal_scheme scheme;
    int precision;      /* decimals of written temperatures */
    int modes;          /* of the reduced model; 0: what the tolerance needs */
    double tolerance_k; /* of the reduced model; 0: its default */
    bool no_cache, allow_gaps, hotspot_compat, quiet;
    char verify_with[TMX_HOTSPOT_PATH]; /* HotSpot executable, "": none */
};

/* Fill *args from the command line and the files it names. Prints --help and --version and
 * exits. Errors: unknown option (with the nearest known name), missing or bad value, those
 * of tmx_hotspot_config_read. */
TMX_NODISCARD enum tmx_status thermal_args_parse(int argc, char **argv, struct thermal_args *args,
                                                 struct tmx_err *err);

#endif
