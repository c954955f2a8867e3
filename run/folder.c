/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/csv.h"
#include "core/base/os.h"
#include "core/base/output.h"
#include "core/base/provenance.h"
#include "run/state.h"

enum { MAX_PATH = 1024 };

static const char *const single[] = {"resolved.cfg", "summary.csv",  "kernels.csv",    "trace.csv",
                                     "power.ptrace", "temps.ttrace", "thermal.config", "folder.cfg",
                                     "members.csv",  "gpus.csv"};
enum { N_SINGLE = sizeof single / sizeof single[0] };

/* Is it a file of one GPU, or of all that are of one chip? */
static bool of_gpu(const char *name)
{
    static const struct {
        const char *begin, *end;
    } kinds[] = {{"power_gpu", ".ptrace"}, {"temps_gpu", ".ttrace"}, {"floorplan_gpu", ".flp"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t n = strlen(kinds[i].begin);
        const char *number = strncmp(name, kinds[i].begin, n) == 0 ? name + n : "";
        const size_t digits = strspn(number, "0123456789");
        if (digits > 0 && strcmp(number + digits, kinds[i].end) == 0) {
            return true;
        }
    }
    return false;
}

static enum tmx_status join(char path[MAX_PATH], const char *folder, const char *name, struct tmx_err *err)
{
    return snprintf(path, MAX_PATH, "%s/%s", folder, name) < MAX_PATH
               ? TMX_OK
               : tmx_fail_at(err, TMX_EIO, folder, 0, "folder name too long");
}

/* What a run may have left in a folder: the single files, then those of GPUs. */
struct products {
    const char *folder;
    struct tmx_os_entry *entry; /* [n] owned */
    size_t n, next;
};

static enum tmx_status products_init(struct products *p, const char *folder, struct tmx_err *err)
{
    *p = (struct products){.folder = folder};
    return tmx_os_folder_read(folder, &p->entry, &p->n, err);
}

/* The next one that is there; false when there is none. */
static bool next_product(struct products *p, char name[64], char path[MAX_PATH])
{
    while (p->next < N_SINGLE + p->n) {
        const size_t i = p->next++;
        const char *found = i < N_SINGLE ? single[i] : p->entry[i - N_SINGLE].name;
        if (strlen(found) < 64 && (i < N_SINGLE || of_gpu(found)) &&
            join(path, p->folder, found, NULL) == TMX_OK && tmx_os_exists(path)) {
            memcpy(name, found, strlen(found) + 1);
            return true;
        }
    }
    return false;
}

const char *tmx_run_status(const struct tmx_run *run)
{
    const struct tmx_machine *m = tmx_sim_machine(tmx_run_sim_const(run));
    return m->n_done == m->n_job ? "complete" : "partial";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum tmx_status tmx_run_folder_mark(const struct tmx_run *run, const char *folder, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    tmx_folder_mark(folder, tmx_run_id(run), tmx_run_status(run));
    for (size_t i = 0; !st && i < run->inputs.n_file; i++) {
        st = tmx_folder_input(folder, base_name(run->inputs.file[i].path), run->inputs.file[i].hash, err);
    }
    return st;
}

/* The row with this text in a column; n_row when there is none. */
static size_t row_of(const struct tmx_csv *csv, size_t column, const char *text)
{
    size_t r = 0;
    while (r < csv->n_row && strcmp(tmx_csv_cell(csv, r, column), text) != 0) {
        r++;
    }
    return r;
}

/* manifest.csv and its columns. */
struct manifest {
    struct tmx_csv csv;
    size_t run, status, file, hash;
};

static enum tmx_status manifest_read(struct manifest *m, const char *folder, struct tmx_err *err)
{
    char path[MAX_PATH];
    *m = (struct manifest){0};
    enum tmx_status st = join(path, folder, TMX_FOLDER_LIST, err);
    if (!st && !tmx_os_exists(path)) {
        return tmx_fail_at(
            err, TMX_EPARSE, folder, 0,
            "no manifest.csv: no folder of `thermix run -o`, or the run was killed; run it again");
    }
    st = st ? st : tmx_csv_read(&m->csv, path, err);
    const struct tmx_csv *csv = &m->csv;
    const size_t n = csv->n_column;
    m->run = tmx_csv_column(csv, "run");
    m->status = tmx_csv_column(csv, "status");
    m->file = tmx_csv_column(csv, "file");
    m->hash = tmx_csv_column(csv, "hash");
    if (!st && (m->run == n || m->status == n || m->file == n || m->hash == n || csv->n_row == 0)) {
        st = tmx_fail_at(err, TMX_EPARSE, path, 1,
                         "expected the columns run,status,file,hash,command and a row a file");
    }
    return st;
}

enum tmx_status tmx_run_folder_check(const char *folder, bool *partial, struct tmx_err *err)
{
    char path[MAX_PATH], name[64], hash[TMX_HASH_HEX] = "";
    struct manifest m;
    struct products p = {0};
    *partial = false;
    enum tmx_status st = manifest_read(&m, folder, err);
    st = st ? st : products_init(&p, folder, err);
    while (!st && next_product(&p, name, path)) {
        const size_t r = row_of(&m.csv, m.file, name);
        if (r < m.csv.n_row && !*tmx_csv_cell(&m.csv, r, m.hash)) {
            st = tmx_fail_at(err, TMX_EPARSE, folder, 0,
                             "the command that wrote this folder was stopped before its end; run it again");
            break;
        }
        st = tmx_hash_file(path, hash, err);
        if (!st && (r == m.csv.n_row || strcmp(tmx_csv_cell(&m.csv, r, m.hash), hash) != 0)) {
            st = tmx_fail_at(err, TMX_EPARSE, path, 0,
                             "not the file that this folder's run wrote (manifest.csv); run it again");
        }
        *partial = *partial || (!st && strcmp(tmx_csv_cell(&m.csv, r, m.status), "complete") != 0);
    }
    tmx_csv_finish(&m.csv);
    free(p.entry);
    return st;
}

/* What makes `run` another than the folder's, as far as the manifest shows it. */
static void name_change(const struct manifest *m, const struct tmx_run *run, char *text, size_t size)
{
    size_t used = 0, n_noted = 0;
    text[0] = '\0';
    for (size_t r = 0; r < m->csv.n_row; r++) {
        n_noted += strcmp(tmx_csv_cell(&m->csv, r, m->status), "input") == 0;
    }
    for (size_t i = 0; n_noted > 0 && i < run->inputs.n_file && used < size; i++) {
        const struct tmx_input *in = &run->inputs.file[i];
        if (row_of(&m->csv, m->hash, in->hash) == m->csv.n_row) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", in->path);
        }
    }
    if (used > 0 && used < size) {
        snprintf(text + used, size - used, " changed since");
    } else if (used == 0) {
        snprintf(text, size, "%s",
                 n_noted > 0 ? "its files are as they were: another version of thermix, or other keys"
                             : "a file that it reads or the version of thermix changed since");
    }
}

enum tmx_status tmx_run_folder_compare(const struct tmx_run *run, const char *folder, char *change,
                                       size_t size, struct tmx_err *err)
{
    struct manifest m;
    const enum tmx_status st = manifest_read(&m, folder, err);
    size_t r = 0;
    change[0] = '\0';
    while (!st && r + 1 < m.csv.n_row && !*tmx_csv_cell(&m.csv, r, m.run)) {
        r++; /* a figure in the run's folder */
    }
    if (!st && strcmp(tmx_csv_cell(&m.csv, r, m.run), tmx_run_id(run)) != 0) {
        name_change(&m, run, change, size);
    }
    tmx_csv_finish(&m.csv);
    return st;
}
