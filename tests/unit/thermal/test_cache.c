/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/os.h"
#include "tests/support/golden.h"
#include "thermal/backend/reduced_model.h"

static const char KEY[TMX_HASH_HEX] = "0123456789abcdef0123456789abcdef";
static const struct tmx_cache_name NAME = {.kind = "thermal", .key = KEY};
static char folder[1024];

static const char *cached_file(const char *key)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/thermix/%s.thermal", folder, key);
    return path;
}

/* Change one byte of a file, counted from its start. */
static void damage(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int c = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc(c ^ 1, f);
    assert_int_equal(fclose(f), 0);
}

static void what_was_written_is_read(void **state)
{
    double a[3] = {1, 2, 3}, b[3] = {0};
    char c[5] = "four", d[5] = "";
    const struct tmx_piece out[] = {{a, sizeof a}, {c, sizeof c}}, in[] = {{b, sizeof b}, {d, sizeof d}};
    remove(cached_file(KEY));
    assert_false(tmx_cache_read(&NAME, in, 2));
    tmx_cache_write(&NAME, out, 2);
    assert_true(tmx_cache_read(&NAME, in, 2));
    assert_memory_equal(a, b, sizeof a);
    assert_string_equal(d, "four");
    assert_false(tmx_cache_read(&NAME, in, 1)); /* other sizes */
}

static void a_damaged_file_counts_as_absent(void **state)
{
    double a[3] = {1, 2, 3};
    const struct tmx_piece piece[] = {{a, sizeof a}};
    static const long at[] = {3, 20, 60, 90, 100, 110, 119}; /* magic, key, sum, size, contents */
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        tmx_cache_write(&NAME, piece, 1);
        assert_true(tmx_cache_read(&NAME, piece, 1));
        damage(cached_file(KEY), at[i]);
        assert_false(tmx_cache_read(&NAME, piece, 1));
    }
    tmx_cache_write(&NAME, piece, 1);
    assert_int_equal(truncate(cached_file(KEY), 110), 0);
    assert_false(tmx_cache_read(&NAME, piece, 1));
}

static void a_planted_file_is_neither_trusted_nor_written_through(void **state)
{
    double a[3] = {1, 2, 3};
    const struct tmx_piece piece[] = {{a, sizeof a}};
    const char *file = cached_file(KEY);
    tmx_cache_write(&NAME, piece, 1);
    assert_int_equal(chmod(file, 0620), 0); /* others may have written it */
    assert_false(tmx_cache_read(&NAME, piece, 1));
    assert_int_equal(rename(file, "elsewhere.thermal"), 0);
    assert_int_equal(chmod("elsewhere.thermal", 0600), 0);
    assert_int_equal(symlink("elsewhere.thermal", file), 0);
    assert_false(tmx_cache_read(&NAME, piece, 1)); /* a link, even to a good file */
    assert_int_equal(remove(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_false(tmx_cache_read(&NAME, piece, 1)); /* and does not wait */
    assert_int_equal(remove(file), 0);
    assert_int_equal(symlink("elsewhere.thermal", file), 0);
    tmx_cache_write(&NAME, piece, 1); /* takes the link's place */
    struct stat info;
    assert_true(lstat(file, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0777) == 0600);
    assert_true(tmx_cache_read(&NAME, piece, 1));
    char folder_path[1100];
    snprintf(folder_path, sizeof folder_path, "%s/thermix", folder);
    assert_int_equal(chmod(folder_path, 0777), 0); /* a folder that others may write is no cache */
    assert_false(tmx_cache_read(&NAME, piece, 1));
    assert_int_equal(chmod(folder_path, 0700), 0);
}

enum { BIG = 300000, PER_MIB = 3 }; /* bytes of a file below, and how many fit into 1 MiB */

static void keep(const char *where, unsigned i)
{
    static double data[BIG / sizeof(double)];
    char key[TMX_HASH_HEX];
    snprintf(key, sizeof key, "%032x", i);
    const struct tmx_cache_name name = {.folder = where, .kind = "core", .key = key};
    const struct tmx_piece piece[] = {{data, sizeof data}};
    data[0] = i;
    tmx_cache_write(&name, piece, 1);
}

static bool kept(const char *where, unsigned i)
{
    static double data[BIG / sizeof(double)];
    char key[TMX_HASH_HEX];
    snprintf(key, sizeof key, "%032x", i);
    const struct tmx_cache_name name = {.folder = where, .kind = "core", .key = key};
    const struct tmx_piece piece[] = {{data, sizeof data}};
    return tmx_cache_read(&name, piece, 1) && data[0] == i;
}

/* Bytes of a folder's files, at a moment when nobody writes: a folder is not read at one instant. */
static uint64_t bytes_in(const char *where)
{
    struct tmx_arena arena = {0};
    struct tmx_cache_file *file;
    size_t n;
    uint64_t sum = 0;
    FILE *quiet = tmx_os_lock("cache_bounded/lock", NULL, 10, NULL);
    assert_non_null(quiet);
    assert_int_equal(tmx_cache_files(where, &arena, &file, &n, NULL), TMX_OK);
    for (size_t i = 0; i < n; i++) {
        sum += file[i].size;
    }
    fclose(quiet);
    tmx_arena_finish(&arena);
    return sum;
}

static void what_was_used_longest_ago_goes_first(void **state)
{
    static const char where[] = "cache_bounded";
    const struct timespec pause = {.tv_nsec = 20000000};
    size_t n;
    char text[200];
    struct tmx_err err = {0};
    uint64_t limit;
    assert_int_equal(setenv("THERMIX_CACHE_MIB", "1", 1), 0);
    keep(where, 0);
    assert_int_equal(tmx_cache_clean(where, 0, &n, NULL), TMX_OK);
    for (unsigned i = 0; i < PER_MIB; i++) {
        keep(where, i);
        (void)nanosleep(&pause, NULL);
    }
    assert_true(kept(where, 0)); /* which makes it the youngest */
    keep(where, PER_MIB);
    assert_true(kept(where, 0) && !kept(where, 1) && kept(where, 2) && kept(where, 3));
    assert_int_equal(setenv("THERMIX_CACHE_MIB", "0", 1), 0);
    keep(where, 7);
    assert_false(kept(where, 7)); /* nothing is kept, and what is there stays until something is written */
    assert_int_equal(setenv("THERMIX_CACHE_MIB", "-1", 1), 0);
    assert_int_equal(tmx_cache_limit(&limit, &err), TMX_ECONFIG);
    assert_int_equal(limit, 1 << 30);
    tmx_err_format(&err, text, sizeof text);
    assert_non_null(strstr(text, "expected a whole number of MiB"));
    assert_int_equal(unsetenv("THERMIX_CACHE_MIB"), 0);
}

static void the_bound_holds_under_four_writers_of_which_one_is_killed(void **state)
{
    static const char where[] = "cache_bounded";
    pid_t writer[4];
    int status;
    uint64_t most = 0;
    size_t n;
    assert_int_equal(setenv("THERMIX_CACHE_MIB", "1", 1), 0);
    keep(where, 0);
    for (unsigned w = 0; w < 4; w++) {
        writer[w] = fork();
        if (writer[w] == 0) {
            for (unsigned i = 0; i < 60 || w == 3; i++) { /* the last writes until it is killed */
                keep(where, w * 1000 + i % 60);
                (void)kept(where, ((w + 1) % 4) * 1000 + i % 60);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < 200; i++) {
        const uint64_t now = bytes_in(where);
        most = now > most ? now : most;
    }
    assert_int_equal(kill(writer[3], SIGKILL), 0);
    for (unsigned w = 0; w < 4; w++) {
        assert_int_equal(waitpid(writer[w], &status, 0), writer[w]);
        assert_true(w == 3 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    assert_true(most > 2 * BIG && most <= 1 << 20);
    keep(where, 1); /* clears up behind the one that was killed */
    struct tmx_arena arena = {0};
    struct tmx_cache_file *file;
    assert_int_equal(tmx_cache_files(where, &arena, &file, &n, NULL), TMX_OK);
    assert_int_equal(n, PER_MIB);
    for (size_t i = 0; i < n; i++) {
        assert_null(tmx_cache_fault(where, file[i].name));
    }
    tmx_arena_finish(&arena);
    assert_int_equal(unsetenv("THERMIX_CACHE_MIB"), 0);
}

static void a_cache_that_another_holds_is_one_wait_of_all_processes(void **state)
{
    static const char where[] = "cache_held";
    assert_int_equal(tmx_cache_usable(NULL, NULL), TMX_OK);
    keep(where, 0);
    FILE *held = tmx_os_lock("cache_held/lock", NULL, 1, NULL);
    assert_non_null(held);
    const double begin_s = tmx_os_now_s();
    for (unsigned i = 1; i <= 2; i++) { /* one after the other, as a pool with one place has them */
        const pid_t writer = fork();
        if (writer == 0) {
            keep(where, i);
            _exit(0);
        }
        assert_int_equal(waitpid(writer, NULL, 0), writer);
        assert_false(kept(where, i));
    }
    assert_true(tmx_os_now_s() - begin_s < 8); /* two waits are 10 */
    fclose(held);
    keep(where, 3);
    assert_true(kept(where, 3));
}

static int to_holder[2];

static void let_go(double at_most_s)
{
    assert_true(at_most_s > 0 && at_most_s <= 60);
    assert_int_equal(write(to_holder[1], "g", 1), 1);
}

static void one_waits_for_its_own_model_alone_and_says_so(void **state)
{
    const struct tmx_cache_name other = {.kind = "thermal", .key = "1123456789abcdef0123456789abcdef"};
    int from_holder[2];
    char c;
    assert_true(pipe(to_holder) == 0 && pipe(from_holder) == 0);
    const pid_t holder = fork();
    if (holder == 0) {
        const FILE *held = tmx_cache_make(&NAME);
        _exit(!held || write(from_holder[1], "h", 1) != 1 || read(to_holder[0], &c, 1) != 1);
    }
    close(from_holder[1]);
    assert_int_equal(read(from_holder[0], &c, 1), 1);
    FILE *another = tmx_cache_make(&other);
    assert_non_null(another);
    fclose(another);
    tmx_cache_on_wait(let_go); /* the holder ends when this one says that it waits */
    FILE *own = tmx_cache_make(&NAME);
    tmx_cache_on_wait(NULL);
    assert_non_null(own);
    fclose(own);
    int status = 1;
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_int_equal(status, 0);
}

static void a_check_names_what_is_wrong(void **state)
{
    double a[3] = {1, 2, 3};
    const struct tmx_piece piece[] = {{a, sizeof a}};
    const char *name = strrchr(cached_file(KEY), '/') + 1;
    static const struct {
        long at;
        const char *words;
    } row[] = {{3, "another version"}, {40, "under another name"}, {70, "checksum"}, {119, "checksum"}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        tmx_cache_write(&NAME, piece, 1);
        assert_null(tmx_cache_fault(NULL, name));
        damage(cached_file(KEY), row[i].at);
        assert_non_null(strstr(tmx_cache_fault(NULL, name), row[i].words));
    }
    tmx_cache_write(&NAME, piece, 1);
    assert_int_equal(truncate(cached_file(KEY), 110), 0);
    assert_non_null(strstr(tmx_cache_fault(NULL, name), "cut short"));
}

static const struct tmx_reduced_options options = {.tolerance_k = 1e-3, .cache = true};

/* A chip with its package, coarse: what is kept does not depend on how many cells it is of. */
static void open_coarse(struct golden *g)
{
    golden_open(g, "D_package");
    g->stack.spec.rows = g->stack.spec.cols = 8;
    g->stack.spec.min_step_s = 0;
}

static void open_model(struct tmx_reduced_model *m, const struct tmx_thermal_spec *spec)
{
    assert_int_equal(tmx_reduced_model_init(m, spec, &options, NULL), TMX_OK);
}

static void a_cached_model_is_the_built_one_and_is_rebuilt_when_damaged(void **state)
{
    struct golden g;
    struct tmx_reduced_model cold, warm;
    char key[TMX_HASH_HEX];
    open_coarse(&g);
    g.stack.spec.power_density_w_per_m2 = 1e6;
    assert_int_equal(tmx_reduced_key(&g.stack.spec, &options, false, key, NULL), TMX_OK);
    assert_int_equal(tmx_cache_clean(NULL, 0, &(size_t){0}, NULL),
                     TMX_OK); /* of an earlier run of this test */
    open_model(&cold, &g.stack.spec);
    assert_false(cold.from_cache);
    for (int round = 0; round < 2; round++) {
        open_model(&warm, &g.stack.spec);
        assert_int_equal(warm.from_cache, round == 0);
        const struct tmx_modal *a = &cold.modal[0], *b = &warm.modal[0];
        assert_int_equal(warm.n_mode, cold.n_mode);
        assert_memory_equal(a->rate, b->rate, a->mode_row * sizeof *a->rate);
        assert_memory_equal(a->in, b->in, a->n_unit * a->mode_row * sizeof *a->in);
        assert_memory_equal(a->out, b->out, a->n_mode * a->unit_row * sizeof *a->out);
        assert_memory_equal(a->start, b->start, a->mode_row * sizeof *a->start);
        assert_memory_equal(cold.map, warm.map, cold.n_mode * cold.net.n_node * sizeof *cold.map);
        assert_memory_equal(cold.still, warm.still, a->n_unit * cold.net.n_node * sizeof *cold.still);
        tmx_reduced_model_finish(&warm);
        damage(cached_file(key), 5000);
    }
    double *start = calloc(cold.net.n_node, sizeof *start); /* a start is none: it joins what is there */
    assert_non_null(start);
    for (size_t c = 0; c < cold.net.n_node; c++) {
        start[c] = g.stack.spec.ambient_k + (double)(c % 7);
    }
    tmx_reduced_model_finish(&cold);
    open_model(&cold, &g.stack.spec); /* whole again, after the last damage */
    g.stack.spec.init_node_k = start;
    open_model(&warm, &g.stack.spec);
    assert_true(warm.from_cache && warm.n_mode > cold.n_mode);
    tmx_reduced_model_finish(&warm);
    g.stack.spec.init_node_k = NULL;
    free(start);
    g.stack.spec.package.t_sink_m *= 1.0000001; /* any change is another model */
    open_model(&warm, &g.stack.spec);
    assert_false(warm.from_cache);
    tmx_reduced_model_finish(&warm);
    tmx_reduced_model_finish(&cold);
    golden_close(&g);
}

static void of_processes_that_need_one_model_one_makes_it(void **state)
{
    enum { N = 3 };
    struct golden g;
    struct tmx_reduced_model m;
    char key[TMX_HASH_HEX];
    pid_t child[N];
    int n_made = 0;
    open_coarse(&g);
    g.stack.spec.power_density_w_per_m2 = 2e6;
    assert_int_equal(tmx_reduced_key(&g.stack.spec, &options, false, key, NULL), TMX_OK);
    remove(cached_file(key));
    for (size_t i = 0; i < N; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            _exit(tmx_reduced_model_init(&m, &g.stack.spec, &options, NULL) ? 2 : m.from_cache ? 0 : 1);
        }
    }
    for (size_t i = 0; i < N; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        n_made += WEXITSTATUS(status);
    }
    assert_int_equal(n_made, 1);
    golden_close(&g);
}

static void maps_are_a_file_of_their_own_that_is_read_when_asked_for(void **state)
{
    struct golden g;
    struct tmx_reduced_model with, without;
    char key[TMX_HASH_HEX], path[1200];
    open_coarse(&g);
    g.stack.spec.power_density_w_per_m2 = 1e6;
    assert_int_equal(tmx_reduced_key(&g.stack.spec, &options, false, key, NULL), TMX_OK);
    snprintf(path, sizeof path, "%s/thermix/%s.field", folder, key);
    remove(cached_file(key));
    open_model(&with, &g.stack.spec);
    assert_true(!with.from_cache && with.map && with.still);
    g.stack.spec.no_field = true;
    assert_int_equal(remove(path), 0);
    open_model(&without, &g.stack.spec); /* does not miss them */
    assert_true(without.from_cache && !without.map && !without.still);
    assert_int_equal(with.n_mode, without.n_mode);
    assert_memory_equal(with.modal->out, without.modal->out,
                        with.n_mode * with.modal->unit_row * sizeof *with.modal->out);
    tmx_reduced_model_finish(&with);
    tmx_reduced_model_finish(&without);
    g.stack.spec.no_field = false;
    for (int round = 0; round < 3; round++) { /* missing: built; there: read; damaged: built */
        open_model(&with, &g.stack.spec);
        assert_int_equal(with.from_cache, round == 1);
        assert_true(with.map && with.still);
        tmx_reduced_model_finish(&with);
        if (round == 1) {
            damage(path, 5000);
        }
    }
    g.stack.spec.no_field = true;
    remove(cached_file(key));
    remove(path);
    open_model(&without, &g.stack.spec); /* built without: none are made, and who asks builds them */
    assert_true(!without.from_cache && !without.map && !without.still);
    assert_int_equal(tmx_os_file_size(path), -1);
    for (int ask = 0; ask < 2; ask++) {
        bool cached;
        g.stack.spec.no_field = !ask;
        assert_int_equal(tmx_reduced_model_cached(&g.stack.spec, &options, &cached, NULL), TMX_OK);
        assert_int_equal(cached, !ask);
    }
    open_model(&with, &g.stack.spec);
    assert_true(!with.from_cache && with.map && with.still);
    assert_memory_equal(with.modal->out, without.modal->out,
                        with.n_mode * with.modal->unit_row * sizeof *with.modal->out);
    tmx_reduced_model_finish(&with);
    tmx_reduced_model_finish(&without);
    golden_close(&g);
}

static void sinks_of_a_range_share_one_basis(void **state)
{
    struct golden g;
    struct tmx_reduced_options o = options;
    struct tmx_reduced_model m[2];
    open_coarse(&g);
    struct tmx_thermal_spec *spec = &g.stack.spec;
    const double r = spec->package.r_convec_k_per_w;
    o.r_convec_low = 0.4 * r;
    o.r_convec_high = 4 * r;
    assert_int_equal(setenv("THERMIX_CACHE_MIB", "0", 1), 0); /* what was kept goes */
    assert_int_equal(tmx_cache_clean(NULL, 0, &(size_t){0}, NULL), TMX_OK);
    assert_int_equal(unsetenv("THERMIX_CACHE_MIB"), 0);
    spec->no_field = true;
    for (size_t i = 0; i < 5; i += TMX_EVERY) {
        spec->package.r_convec_k_per_w = r * (0.4 + 0.9 * (double)i);
        assert_int_equal(tmx_reduced_model_init(&m[0], spec, &o, NULL), TMX_OK);
        assert_false(m[0].from_cache);
        assert_int_equal(m[0].n_shift > 0, i == 0); /* the first one alone factors */
        o.cache = false;
        assert_int_equal(tmx_reduced_model_init(&m[1], spec, &o, NULL), TMX_OK);
        o.cache = true;
        assert_true(m[1].n_shift > 0 && m[1].n_mode == m[0].n_mode); /* and finds what the others have */
        assert_memory_equal(m[0].modal->rate, m[1].modal->rate, m[0].n_mode * sizeof *m[0].modal->rate);
        assert_memory_equal(m[0].modal->in, m[1].modal->in,
                            m[0].modal->n_unit * m[0].modal->mode_row * sizeof *m[0].modal->in);
        tmx_reduced_model_finish(&m[0]);
        tmx_reduced_model_finish(&m[1]);
    }
    struct tmx_err err = {0};
    spec->package.r_convec_k_per_w = 5 * r;
    assert_int_equal(tmx_reduced_model_init(&m[0], spec, &o, &err), TMX_ECONFIG);
    tmx_reduced_model_finish(&m[0]);
    o.r_convec_low = 8 * r;
    assert_int_equal(tmx_reduced_model_init(&m[0], spec, &o, &err), TMX_ECONFIG);
    tmx_reduced_model_finish(&m[0]);
    golden_close(&g);
}

static void without_a_cache_folder_models_are_built(void **state)
{
    struct golden g;
    struct tmx_reduced_model m;
    open_coarse(&g);
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null/none", 1), 0);
    open_model(&m, &g.stack.spec);
    assert_false(m.from_cache);
    tmx_reduced_model_finish(&m);
    golden_close(&g);
}

TMX_TESTS(test_cache)
{
    char here[900];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            one_waits_for_its_own_model_alone_and_says_so), /* before processes know of one another */
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_damaged_file_counts_as_absent),
        cmocka_unit_test(a_planted_file_is_neither_trusted_nor_written_through),
        cmocka_unit_test(a_check_names_what_is_wrong),
        cmocka_unit_test(what_was_used_longest_ago_goes_first),
        cmocka_unit_test(the_bound_holds_under_four_writers_of_which_one_is_killed),
        cmocka_unit_test(a_cache_that_another_holds_is_one_wait_of_all_processes),
        cmocka_unit_test(a_cached_model_is_the_built_one_and_is_rebuilt_when_damaged),
        cmocka_unit_test(of_processes_that_need_one_model_one_makes_it),
        cmocka_unit_test(maps_are_a_file_of_their_own_that_is_read_when_asked_for),
        cmocka_unit_test(sinks_of_a_range_share_one_basis),
        cmocka_unit_test(without_a_cache_folder_models_are_built),
    };
    if (!getcwd(here, sizeof here)) {
        return 1;
    }
    snprintf(folder, sizeof folder, "%s/cache_test", here);
    if (setenv("XDG_CACHE_HOME", folder, 1)) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
