/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A database in memory in place of the file that SQLite would open. */
#include <sqlite3.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    enum { HEAD = 100, WRITE_VERSION = 18, READ_VERSION = 19, WAL = 2 };
    size_t size;
    const char *data = fuzz_bytes(path, &size);
    if (!data) {
        return __real_sqlite3_open_v2(path, db, flags, vfs);
    }
    const int code = __real_sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE, NULL);
    unsigned char *own = size ? sqlite3_malloc64(size) : NULL;
    if (code != SQLITE_OK || !own) {
        return code;
    }
    memcpy(own, data, size);
    if (size >= HEAD && own[WRITE_VERSION] == WAL && own[READ_VERSION] == WAL) {
        own[WRITE_VERSION] = own[READ_VERSION] = 1; /* there is no log beside memory */
    }
    return sqlite3_deserialize(*db, "main", own, (sqlite3_int64)size, (sqlite3_int64)size,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
}
