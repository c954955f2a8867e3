/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_LOAD_DATA_H
#define TMX_RUN_LOAD_DATA_H

/* Where the shipped chips and workloads are at run time. Roots are tried in order:
 * $THERMIX_DATA, the current folder, share/thermix one and two folders above the program or
 * library (a build tree has a link to the sources there), the place of installation. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/os.h"
#include "base/setting.h"

enum tmx_data {
    TMX_DATA_CHIP,   /* floorplans/NAME/ (a folder) */
    TMX_DATA_KERNEL, /* workloads/kernels/NAME.cfg */
    TMX_DATA_MIX,    /* workloads/mixes/NAME.cfg */
    TMX_DATA_SUITE,  /* workloads/suites/NAME.cfg */
    TMX_DATA_SYSTEM, /* systems/NAME.cfg, topologies */
    TMX_DATA_TRACE,  /* workloads/traces/NAME.ptrace */
    TMX_DATA_PLOT,   /* plots/scripts/NAME.gp */
    TMX_DATA_RUN,    /* workloads/runs/NAME.cfg */
    TMX_DATA_BATCH,  /* workloads/batches/NAME.cfg */
    TMX_DATA_NODE,   /* workloads/nodes/NAME.cfg */
    TMX_DATA_LLM,    /* workloads/llms/NAME.cfg */
    TMX_N_DATA
};

/* The folder that THERMIX_DATA names; NULL: none. */
const char *tmx_data_chosen(void);

/* Is the name a path? It is with a '/' in it, or where it ends in the kind's suffix. */
bool tmx_data_is_path(enum tmx_data kind, const char *name);

/* Path of the named thing. A path in the file `from` is relative to that file, else to the current folder
 * (base/text.h), else to a root. Unknown: TMX_EIO with the nearest known name, or the known names
 * when none is near; of a path, with the places looked at. Errors of this and of what follows stay
 * (base/err.h); where no setting asks err may be NULL. */
enum tmx_status tmx_data_find_from(enum tmx_data kind, const char *from, const char *name,
                                   char path[TMX_PATH_SIZE], struct tmx_err *err);

/* The same for a name of the command line. */
enum tmx_status tmx_data_find(enum tmx_data kind, const char *name, char path[TMX_PATH_SIZE],
                              struct tmx_err *err);

/* The same for a name that a setting asks for: a missing file is reported with its line. */
void tmx_data_find_for(enum tmx_data kind, const struct tmx_setting *asked, const char *name,
                       char path[TMX_PATH_SIZE], struct tmx_err *err);

/* The same for a value that a row of names (TMX_ROW_NAME) has read: a path that leads somewhere is relative
 * to the current folder already. */
enum tmx_status tmx_data_find_read(enum tmx_data kind, const char *from, const char *value,
                                   char path[TMX_PATH_SIZE], struct tmx_err *err);

/* As tmx_data_find_for for a name that counts wherever a file says it: the path of a path, the name of a
 * name. */
void tmx_data_name_for(enum tmx_data kind, const struct tmx_setting *asked, const char *name,
                       char anywhere[TMX_PATH_SIZE], struct tmx_err *err);

/* What a path or name is called in tables: the last part of a path, without the kind's suffix. */
void tmx_data_word(enum tmx_data kind, const char *name, char *word, size_t size);

/* Path of a file below a root, "floorplans/gtx280/chip.cfg" or "plots/report/page.html". */
enum tmx_status tmx_data_file(const char *relative, char path[TMX_PATH_SIZE], struct tmx_err *err);

/* Known names of a kind over all roots, sorted, each once, kept in the arena; how many, 0 where it has
 * failed. */
size_t tmx_data_names(enum tmx_data kind, const char *const **names, struct tmx_arena *arena);

/* Where `relative` ("../share/thermix") leads from the folder of the program or shared library
 * that holds this code, without links, into buf. What belongs to an installation is found this
 * way wherever it was moved. False when there is no such file or buf is too short. */
bool tmx_exe_relative(const char *relative, char *buf, size_t size);

#endif
