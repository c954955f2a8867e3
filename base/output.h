/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_OUTPUT_H
#define TMX_BASE_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* An output file that appears whole or not at all: written to a temporary name in
 * the same folder, renamed by commit. A name that is not a regular file (a pipe, a
 * device, what is in /dev) and "-" (standard output) are written directly, never renamed
 * over. A link stays a link; permissions stay; a file that may not be written is an error, and so is
 * one that has been read (provenance.h). */
struct tmx_output {
    FILE *file;
    char path[512];
    char asked[512]; /* the name as given: path is what a link of this name leads to */
    char temp[540];  /* "" when written directly */
    bool unnamed;    /* temp is not there yet: a file without a name, which goes with the process */
};
/* For a command that computes first: TMX_EIO where path is a folder. */
TMX_NODISCARD enum tmx_status tmx_output_possible(const char *path, struct tmx_err *err);
/* An error stays (base/err.h): with one, or after one, *o is zeroed, and is fit for tmx_output_end. */
enum tmx_status tmx_output_open(struct tmx_output *o, const char *path, struct tmx_err *err);
/* The same for the user's own eyes and hand: a new file of mode 0600 takes the name, whatever had it. */
TMX_NODISCARD enum tmx_status tmx_output_open_private(struct tmx_output *o, const char *path,
                                                      struct tmx_err *err);
/* Flush and check every write since open; the output stays open. With several outputs:
 * check all, then commit all. */
TMX_NODISCARD enum tmx_status tmx_output_check(struct tmx_output *o, struct tmx_err *err);
/* Flush, check every write since open, rename. Fails with TMX_EFULL (disk full, a
 * limit on sizes: no input is at fault) or TMX_EIO. */
TMX_NODISCARD enum tmx_status tmx_output_commit(struct tmx_output *o, struct tmx_err *err);
/* Drop an output that was not committed; accepts a zeroed or a committed one. */
void tmx_output_discard(struct tmx_output *o);
/* Commit where err has no error, else drop; returns err->code. */
enum tmx_status tmx_output_end(struct tmx_output *o, struct tmx_err *err);

/* Remove a file; one that is absent is fine, one that has been read is an error. */
TMX_NODISCARD enum tmx_status tmx_output_remove(const char *path, struct tmx_err *err);

/* A folder of results holds what one command wrote: it is replaced, never mixed.
 *
 * A command says which folder it writes (tmx_folder_open); every file below it that is committed
 * (tmx_output_commit) or drawn (tmx_folder_note) is in the folder's list, manifest.csv. With the first file
 * the folder is locked against other programs, and what the list of an earlier command names goes. Files that
 * no list names stay: those of the user, and a journal or a database, which a later command goes on with.
 * While a command writes, its files have the status "writing"; what is killed there leaves a list that says
 * so, and the next command clears by it. A command that is interrupted ends before its next file, and its
 * list has the status "partial".
 *
 * As in provenance.h the list of open recorders is a variable of the thread: a writer that was not passed the
 * folder would leave a file that no list names. */

#define TMX_FOLDER_LIST "manifest.csv"

/* The list's rows: no input of the command that reads them. */
struct tmx_folder_row {
    const char *run, *status, *file, *hash, *command;
    mode_t mode; /* of a file that was removed */
};

struct tmx_folder_rows {
    struct tmx_folder_row *row; /* [n] */
    size_t n;
    struct tmx_arena arena; /* of all of it */
};

/* What the folder's list says; no rows where it has none. Finish it after an error, too: a list that is
 * wrong has the rows before the wrong one. */
TMX_NODISCARD enum tmx_status tmx_folder_read(struct tmx_folder_rows *r, const char *folder,
                                              struct tmx_err *err);
void tmx_folder_rows_finish(struct tmx_folder_rows *r);

struct tmx_folders { /* of one command; zero-initialise */
    const char *command;
    FILE *say; /* that it waits for another command; NULL: nothing */
    struct tmx_folder *first;
    struct tmx_folders *outer;
    volatile sig_atomic_t writing; /* a list has begun */
    volatile sig_atomic_t stop;    /* set by a signal's handler: the next file is not written, TMX_ESTOPPED */
};

/* Note what this thread writes from now on; recorders nest. */
void tmx_folders_begin(struct tmx_folders *f);
/* Seal each folder in which a file was written: "complete" where st is TMX_OK, else "partial". */
TMX_NODISCARD enum tmx_status tmx_folders_end(struct tmx_folders *f, enum tmx_status st, struct tmx_err *err);

enum tmx_folder_kind {
    TMX_FOLDER_RESULTS, /* all that an earlier command listed goes */
    TMX_FOLDER_FIGURES, /* what the same command listed goes: figures may be drawn beside their results */
};
/* The folder at path, there already or not yet, and all folders below it are the command's to write. An error
 * where its list names a file that the command has read, or is no list of ours. */
TMX_NODISCARD enum tmx_status tmx_folder_open(const char *path, enum tmx_folder_kind kind,
                                              struct tmx_err *err);
/* What the list says of the files instead: the id of their run, and its status. */
void tmx_folder_mark(const char *path, const char *run, const char *status);
/* The command's end removes what it wrote there, and the folder if nothing else is in it. */
void tmx_folder_pass(const char *path);
/* A file that was read, for the list alone: a row of the status "input". */
TMX_NODISCARD enum tmx_status tmx_folder_input(const char *path, const char *file, const char *hash,
                                               struct tmx_err *err);
/* Before files are written by processes that fork from this one: what the first file does, now. */
TMX_NODISCARD enum tmx_status tmx_folder_start(const char *path, struct tmx_err *err);

/* The file at path is about to have its name. Nothing where no open folder holds it. */
TMX_NODISCARD enum tmx_status tmx_folder_note(const char *path, struct tmx_err *err);
/* The permissions of a file that tmx_folder_start removed; 0: it removed none of this name. */
mode_t tmx_folder_mode(const char *path);

#endif
