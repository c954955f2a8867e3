#ifndef TMX_CLI_THERMAL_ARGS_H
#define TMX_CLI_THERMAL_ARGS_H

#include "thermal/trace_run.h"

/* Command line of `thermix thermal`: HotSpot's `-name value` pairs, then GNU long options. */

struct thermal_args {
    struct tmx_trace_options run;
    bool quiet, verbose;
};

/* Fill *args from the command line and the files it names. Prints --help and --version and
 * exits. Errors: unknown option (with the nearest known name), missing or bad value, those
 * of tmx_hotspot_config_read. */
TMX_NODISCARD enum tmx_status tmx_thermal_args_parse(int argc, char **argv, struct thermal_args *args,
                                                     struct tmx_err *err);

#endif
