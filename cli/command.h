#ifndef TMX_CLI_COMMAND_H
#define TMX_CLI_COMMAND_H

/* A sub-command: one row of the table in main.c, one cmd_<name>.c each. */
struct tmx_command {
    const char *name;
    const char *doc; /* one line, printed by `thermix --help` */
    /* argv[0] is "thermix <name>". Returns the exit code: 0 ok, 1 failed, 2 bad input. */
    int (*run)(int argc, char **argv);
};

#endif
