/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the write lock of a database until its standard input ends: for the test of a locked one. */
#include <sqlite3.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    if (argc != 2 || sqlite3_open(argv[1], &db) != SQLITE_OK ||
        sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_close(db);
        return 1;
    }
    puts("held");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    sqlite3_close(db);
    return 0;
}
