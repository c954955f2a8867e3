/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_THERMAL_ARGS_H
#define TMX_CLI_THERMAL_ARGS_H

#include "cli/line/args.h"
#include "thermal/trace_run.h"

/* Command line of `thermix thermal`: HotSpot's `-name value` pairs, then GNU long options. */

struct thermal_args {
    struct tmx_trace_options run;
    int method, scheme, network;
    long refine, precision, modes;
    double tolerance_k;
    const char *verify_with;
    bool quiet, verbose;
};
extern const struct tmx_arg tmx_thermal_rows[];

/* tmx_command.parse: fill args from the command line and the files it names. Errors: unknown option (with the
 * nearest known name), missing or bad value, those of tmx_hotspot_config_read. */
TMX_NODISCARD enum tmx_status tmx_thermal_args_parse(const struct tmx_command *c, int argc, char **argv,
                                                     void *args, struct tmx_err *err);

#endif
