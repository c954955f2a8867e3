/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_BASE_OS_H
#define TMX_BASE_OS_H

/* What the machine gives; with output.c the only file outside cli/ that uses POSIX; threads are
 * in base/thread_pool.c. */

#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

enum { TMX_PATH_SIZE = 1024 }; /* bytes of a path with its NUL */
/* `folder/name` into path; TMX_EIO where it is too long. Errors of this and of tmx_os_mkdirs and
 * tmx_os_mkdirs_for stay (base/err.h), and err may be NULL. */
enum tmx_status tmx_path_join(char path[TMX_PATH_SIZE], const char *folder, const char *name,
                              struct tmx_err *err);

/* Open a file to read it whole ("-": standard input, of any kind). Only regular files: a folder, a device, a
 * FIFO or a socket may block or never end and is an error, as is a file of more than TMX_INPUT_MAX_MIB. */
enum { TMX_INPUT_MAX_MIB = 2048 };
TMX_NODISCARD enum tmx_status tmx_input_open(FILE **f, const char *path, struct tmx_err *err);
/* The same for a file that another library opens: an error where it is there and not regular. */
TMX_NODISCARD enum tmx_status tmx_input_check(const char *path, struct tmx_err *err);

/* Read a file that tmx_output_open_private may have written; NULL when there is none that is regular, the
 * user's own and writable by no other user. */
FILE *tmx_os_open_private(const char *path);
/* Make the folder at path and its parents. */
enum tmx_status tmx_os_mkdirs(const char *path, struct tmx_err *err);
/* The same for a file that is to be written: the folders above it. */
enum tmx_status tmx_os_mkdirs_for(const char *file, struct tmx_err *err);

/* Make an empty folder of a new name in $TMPDIR or /tmp; its path goes to buf. */
TMX_NODISCARD enum tmx_status tmx_os_temp_dir(char *buf, size_t size, struct tmx_err *err);

/* $XDG_CACHE_HOME/thermix or ~/.cache/thermix, made when absent with mode 0700. It must be a folder (no link)
 * of this user, writable by no other: its files are trusted. */
TMX_NODISCARD enum tmx_status tmx_os_cache_dir(char *buf, size_t size, struct tmx_err *err);

/* What is kept in a folder of the user's own. */
struct tmx_os_entry {
    char name[80];
    uint64_t size;    /* bytes */
    double changed_s; /* since 1970 */
};
/* The regular files of a folder by name, those of longer names left out, in the arena. */
TMX_NODISCARD enum tmx_status tmx_os_folder_read(const char *path, struct tmx_arena *arena,
                                                 struct tmx_os_entry **entry, size_t *n, struct tmx_err *err);
/* Set the file's time of change to now: the cache removes the least recently used file first. */
void tmx_os_touch(FILE *f);
/* Memory of zeros that processes forked from now on share with this one, until all have ended; NULL: none. */
void *tmx_os_shared(size_t size);
/* Ask for large pages where p [size bytes], not yet written, will be filled: a page of 4 KiB costs more to
 * get than to fill. A hint: nothing follows where the system has none. */
void tmx_os_large_pages(void *p, size_t size);
/* The file at path, made when absent (mode 0600, no link), or one of its 2^62 places, which are locked apart
 * from one another (place; NULL: all of it), locked against all other threads and programs that ask so;
 * fclose ends it. Once a second has passed, waits (may be NULL) is called. NULL: it cannot be had within
 * patience_s, or there are no locks. */
FILE *tmx_os_lock(const char *path, const uint64_t *place, double patience_s,
                  void (*waits)(double patience_s));
/* The folder at path, locked against all others that ask so; fclose ends it. *f is NULL where another has it
 * and wait is false. A signal that is handled ends the waiting: TMX_ESTOPPED. Where the file system has no
 * locks there is none. */
TMX_NODISCARD enum tmx_status tmx_os_lock_folder(FILE **f, const char *path, bool wait, struct tmx_err *err);

/* What makes two names one file; false when there is no file at path. */
bool tmx_os_file_id(const char *path, uint64_t *device, uint64_t *node);
long long tmx_os_file_size(const char *path); /* bytes; -1: absent */
bool tmx_os_exists(const char *path);
bool tmx_os_is_folder(const char *path);
/* The absolute path of a file that is there, without links; false where none is or it is too long. */
bool tmx_os_real_path(const char *path, char *real, size_t size);
/* Do the two names mean one file, there already or not yet? */
bool tmx_os_same_file(const char *a, const char *b);
/* Monotonic clock [s]; for progress and benches, never for results. */
double tmx_os_now_s(void);
/* CPU time of the calling thread [s]. */
double tmx_os_cpu_s(void);
bool tmx_os_is_terminal(FILE *f);
/* Letters a line; 0: not a terminal. */
size_t tmx_os_terminal_width(FILE *f);

struct tmx_bold {
    const char *on, *off;
};
/* What switches emphasis on and off: "" unless f is a terminal, TERM is not dumb and NO_COLOR is empty or not
 * set (https://no-color.org). */
struct tmx_bold tmx_os_bold(FILE *f);
/* text with its first line emphasised. */
void tmx_os_headline(FILE *f, const char *text);

/* A shared object with policies: regular; it and its folder belong to the user or root, and only its owner
 * may write them; real gets its absolute path. */
TMX_NODISCARD enum tmx_status tmx_os_module_path(const char *path, char *real, size_t size,
                                                 struct tmx_err *err);
/* Is data[size], the content of path, a shared object with all of its segments and tables? The loader ends
 * the process (SIGBUS) at one that is cut short. TMX_EIO. */
TMX_NODISCARD enum tmx_status tmx_os_module_whole(const char *path, const char *data, size_t size,
                                                  struct tmx_err *err);
/* Load it and find a symbol; the floating-point environment is what it was before. Ended by
 * tmx_os_module_close (NULL is fine), or never. TMX_EIO with the loader's words; TMX_EUNSUPPORTED without the
 * symbol. */
TMX_NODISCARD enum tmx_status tmx_os_module_open(const char *real, const char *symbol, void **handle,
                                                 const void **address, struct tmx_err *err);
void tmx_os_module_close(void *handle);

/* Run argv[0] (found on PATH) with argv (NULL-terminated), standard output to the
 * file out_path (NULL: inherited), wait. *exit_code is the program's, 127 when it
 * was not found. */
TMX_NODISCARD enum tmx_status tmx_os_run(const char *const *argv, const char *out_path, int *exit_code,
                                         struct tmx_err *err);

/* A new empty folder in $TMPDIR or /tmp that another program runs in: what it reads are links of fixed names,
 * so that no name of a user or of a file's author reaches it as an argument. Until the end the signals that
 * end this process wait, so that the folder goes with them. */
struct tmx_os_private {
    char path[512];
    unsigned held; /* the signals that wait */
};
TMX_NODISCARD enum tmx_status tmx_os_private_begin(struct tmx_os_private *d, struct tmx_err *err);
/* NAME in the folder is a link to the file or folder at path, which must be there. */
TMX_NODISCARD enum tmx_status tmx_os_private_link(const struct tmx_os_private *d, const char *path,
                                                  const char *name, struct tmx_err *err);
/* As tmx_os_run, in the folder. */
TMX_NODISCARD enum tmx_status tmx_os_private_run(const struct tmx_os_private *d, const char *const *argv,
                                                 int *exit_code, struct tmx_err *err);
/* Remove the folder and what is in it; accepts zeroed memory. */
void tmx_os_private_end(struct tmx_os_private *d);

/* Open a file to add lines at its end, made when absent. A regular file: a FIFO, a device
 * or a symbolic link is TMX_EIO. */
TMX_NODISCARD enum tmx_status tmx_os_append(FILE **f, const char *path, struct tmx_err *err);

/* Which of the functions that are compiled for several widths of vector fits this processor: the widest that
 * it has, or the one that the environment names: THERMIX_ISA=any, v3 or v4 (for tests; what the processor
 * lacks is not chosen). All give the same bits. */
enum tmx_isa {
    TMX_ISA_ANY,
    TMX_ISA_V3, /* x86-64-v3: AVX2 and FMA */
    TMX_ISA_V4, /* x86-64-v4: AVX-512F and VL */
};
enum tmx_isa tmx_os_isa(void);
#if !defined(__x86_64__) /* the others are not built */
#define TMX_ISA_OF(any, v3, v4) (any)
#elif defined(TMX_NO_V4)
#define TMX_ISA_OF(any, v3, v4) (tmx_os_isa() >= TMX_ISA_V3 ? (v3) : (any))
#else
#define TMX_ISA_OF(any, v3, v4) \
    (tmx_os_isa() == TMX_ISA_V4 ? (v4) : tmx_os_isa() == TMX_ISA_V3 ? (v3) : (any))
#endif

/* "", or what makes the last digits of this process others than those of most: the processor lacks FMA, which
 * the C library's exp and pow use where it is there; or symbol, a function of GSL's BLAS, is another
 * library's. */
const char *tmx_os_digits(void (*symbol)(void));

/* Memory that this process may have [bytes]: the machine's, or less where a limit is set. */
double tmx_os_memory_bytes(void);

/* What numbers depend on beside themselves, of the calling thread: between enter and leave its locale
 * is "C" (a decimal point is a point) and its floating-point environment the default one (rounding,
 * denormals, no traps). Leaving puts back what was there, exception flags too. May be nested. */

struct tmx_fp_env {
    fenv_t environment;
    void *locale; /* locale_t */
};

void tmx_fp_env_enter(struct tmx_fp_env *p);
void tmx_fp_env_leave(const struct tmx_fp_env *p);

#endif
