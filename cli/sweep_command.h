#ifndef TMX_CLI_SWEEP_COMMAND_H
#define TMX_CLI_SWEEP_COMMAND_H

#include "study/study.h"

/* `thermix sweep` with a given way to run one configuration. */
int tmx_sweep_command(int argc, char **argv, const struct tmx_runner *runner);

#endif
