/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of every format, good and bad: what is understood, what is said, what is refused with its line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "measure/log/collect.h"
#include "tests/support/scratch.h"

struct read { /* what came of a text */
    enum tmx_status status;
    struct tmx_measured m;
    struct tmx_err err;
    char all[8192]; /* error, or notes */
};

static struct read read_options(const char *text, const struct tmx_read_options *o)
{
    struct read r = {0};
    struct tmx_text_file t = {.size = strlen(text), .name = "log.csv"};
    t.data = malloc(t.size + 1);
    assert_non_null(t.data);
    memcpy(t.data, text, t.size + 1);
    r.status = tmx_log_decode(&t, &r.m, &r.err);
    r.status = r.status ? r.status : tmx_measured_parse(&r.m, &t, o, &r.err);
    tmx_err_format(&r.err, r.all, sizeof r.all);
    for (size_t i = 0; !r.status && i < r.m.n_note + r.m.n_warning; i++) {
        const char *say = i < r.m.n_note ? r.m.note[i] : r.m.warning[i - r.m.n_note];
        snprintf(r.all + strlen(r.all), sizeof r.all - strlen(r.all), "%s\n", say);
    }
    tmx_text_finish(&t);
    return r;
}

static struct read read_text(const char *text)
{
    return read_options(text, NULL);
}

#define PLAIN            "time_s,gpu,power_w,temp_c\n"
#define ROWS             "0,0,100,40\n1,0,100,41\n2,0,200,45\n3,0,200,50\n"
#define SMI              "timestamp, index, power.draw [W], temperature.gpu\n"
#define SMI_ROW(t, p, c) "2025/01/07 12:00:0" t ", 0, " p " W, " c "\n"

struct bad {
    const char *name, *text;
    const char *says; /* part of the message, with its line */
};

static const struct bad refused[] = {
    {"empty", "", "log.csv:1: the log is empty"},
    {"only blank lines", "\n\n  \n", "the log is empty"},
    {"header only", PLAIN, "no column of power"},
    {"no power column", "time_s,gpu,temp_c\n0,0,40\n1,0,41\n2,0,42\n3,0,43\n", "no column of power"},
    {"no temperature column", "time_s,gpu,power_w\n0,0,40\n1,0,41\n2,0,42\n3,0,43\n",
     "no column of temperature"},
    {"a column twice", "time_s,power_w,power_w,temp_c\n0,9,90,40\n",
     "log.csv:1: two columns are called \"power_w\""},
    {"dates without marks",
     "time,power_w,temp_c\n20250107123456,9,40\n20250107123457,9,41\n20250107123458,90,45\n",
     "log.csv:2: a time of 20250107123456 is in no unit of seconds since 1970: a date without marks?"},
    {"not a log at all", "Dear all,\nthe GPU is hot.\n", "log.csv:1: no column of power"},
    {"a row too short in the middle", PLAIN "0,0,100,40\n1,0,100\n2,0,100,41\n3,0,1,1\n",
     "log.csv:3: 3 cells, the header has 4"},
    {"decimal commas between commas", PLAIN "0,0,0,100,5,40,1\n",
     "log.csv:2: 7 cells, the header has 4 (decimal commas?"},
    {"power in milliwatts", PLAIN "0,0,100000,40\n1,0,250000,41\n",
     "log.csv:2: power_w = 100000 is outside [0, 5000]: milliwatts?"},
    {"negative power", PLAIN "0,0,-5,40\n",
     "log.csv:2: power_w = -5 is outside [0, 5000]: a reading that failed?"},
    {"Fahrenheit", PLAIN "0,0,100,104\n1,0,300,140\n",
     "log.csv:3: temp_c = 140 is outside [-40, 125]: Fahrenheit"},
    {"kelvin", PLAIN "0,0,100,313\n", "log.csv:2: temp_c = 313 is outside [-40, 125]: Fahrenheit or kelvin?"},
    {"inlet in Fahrenheit", "time_s,power_w,temp_c,inlet_c\n0,1,40,95\n",
     "log.csv:2: inlet_c = 95 is outside"},
    {"a word for a temperature", PLAIN "0,0,100,warm\n",
     "log.csv:2: column \"temp_c\": \"warm\" is no number"},
    {"a word for the power", PLAIN "0,0,much,40\n", "log.csv:2: column \"power_w\": \"much\" is no number"},
    {"hexadecimal", PLAIN "0,0,0x10,40\n1,0,5,40\n", "log.csv:2: column \"power_w\": \"0x10\" is no number"},
    {"no time in the time column", PLAIN "soon,0,100,40\n", "log.csv:2: \"soon\" is no time"},
    {"a missing time", PLAIN "0,0,100,40\n,0,100,41\n", "log.csv:3: \"\" is no time"},
    {"a day that does not exist", "timestamp,power_w,temp_c\n2025-13-07 12:00:00,1,2\n",
     "log.csv:2: \"2025-13-07 12:00:00\" is no time"},
    {"two GPUs mixed", "time_s,power_w,temp_c\n0,100,40\n0,90,35\n1,100,41\n1,90,35\n2,100,42\n2,90,35\n",
     "two GPUs mixed?"},
    {"two GPUs mixed, nvidia-smi",
     "timestamp, power.draw [W], temperature.gpu\n"
     "2025/01/07 12:00:00, 50 W, 40\n2025/01/07 12:00:00, 60 W, 45\n"
     "2025/01/07 12:00:01, 50 W, 40\n2025/01/07 12:00:01, 60 W, 45\n",
     "two GPUs mixed?"},
    {"two hosts mixed, each with a GPU 0",
     PLAIN "0,0,100,40\n0,0,90,60\n1,0,100,41\n1,0,90,61\n2,0,100,42\n2,0,90,62\n3,0,200,43\n3,0,90,63\n",
     "log.csv:3: GPU 0: 4 of 8 time stamps occur twice, with values 20 K apart: 2 hosts mixed?"},
    {"two hosts mixed, as warm as each other",
     PLAIN "0,0,100,40\n0,0,200,41\n1,0,100,41\n1,0,200,42\n2,0,100,42\n2,0,200,43\n3,0,101,43\n3,0,201,44\n",
     "log.csv:3: GPU 0: 4 of 8 time stamps occur twice, with values 100 W apart: 2 hosts mixed?"},
    {"power in amperes", SMI "2025/01/07 12:00:00, 0, 50 A, 40\n",
     "log.csv:2: column \"power.draw [W]\": \"50 A\" is no number"},
    {"all power missing", SMI "2025/01/07 12:00:00, 0, [N/A], 40\n2025/01/07 12:00:01, 0, [N/A], 41\n",
     "no column of power with values"},
    {"all temperature missing", PLAIN "0,0,100,N/A\n1,0,100,N/A\n2,0,100,N/A\n3,0,1,N/A\n",
     "no column of temperature with values"},
    {"three rows only", PLAIN "0,0,100,40\n1,0,100,41\n2,0,100,42\n", "no GPU has four rows"},
    {"dmon without names", "    0    50    40\n",
     "log.csv:1: a row of numbers where the names of its columns are expected"},
    {"nvidia-smi without header", "2026/03/06 10:00:00.000, 0, 60.00 W, 33, [N/A], 1755 MHz\n",
     "log.csv:1: a row of numbers where the names of its columns are expected (6 of them)"},
    {"a time of an unknown name",
     "zeit,gpu,power_w,temp_c\n5,0,1,40\n5,1,1,40\n10,0,1,40\n10,1,1,40\n15,0,2,41\n15,1,2,41\n20,0,1,40\n20,"
     "1,1,40\n",
     "no column is known as the time, and \"zeit\" rises from row to row: if it is the time, --column "
     "time_s=zeit, else --step"},
    {"XML of nvidia-smi", "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n",
     "log.csv:1: XML, as of `nvidia-smi -q -x`"},
    {"nvidia-smi for people", "Fri Mar  6 10:00:00 2026\n+-----+\n| NVIDIA-SMI 580.95.05  Driver\n",
     "the table that nvidia-smi prints for people"},
    {"rocm-smi for people", "======= ROCm System Management Interface =======\n",
     "the table that rocm-smi prints"},
    {"broken JSON", "{\"a\": 1,\n \"b\": }\n", "log.csv:2: begins as JSON, but is none"},
    {"JSON of something else", "{\"name\": \"x\", \"list\": [1, 2]}\n",
     "JSON without an object that holds watts or degrees"},
    {"lists alone", "[[1, 2], [3]]\n", "JSON without an object"},
    {"dmon with a row too long", "# gpu   pwr gtemp\n# Idx     W     C\n    0    50    40    7\n",
     "log.csv:3: 4 columns, the line of names has 3"},
    {"dmon whose columns change", "# gpu pwr gtemp\n 0 50 40\n# gpu pwr gtemp mtemp\n 0 50 40 -\n",
     "log.csv:3: the columns change here"},
    {"dmon with a word", "# gpu pwr gtemp\n 0 hot 40\n", "log.csv:2: column pwr: \"hot\" is no number"},
    {"dmon with a bad clock", "#Date Time gpu pwr gtemp\n 20250107 25:00:00 0 50 40\n",
     "log.csv:2: \"20250107 25:00:00\" is no time"},
    {"dcgmi with a short row", "#Entity POWER TMPTR\nID W C\nGPU 0 50\nGPU 0 50 40\n",
     "log.csv:3: 2 columns, the line of names has 3"},
    {"exporter without a value", "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"}\n",
     "log.csv:1: DCGM_FI_DEV_GPU_TEMP has no value"},
    {"exporter without a GPU", "DCGM_FI_DEV_GPU_TEMP{host=\"a\"} 40\n",
     "log.csv:1: DCGM_FI_DEV_GPU_TEMP has no label gpu"},
    {"exporter with a bad stamp", "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40 noon\n",
     "log.csv:1: \"noon\" is no time in milliseconds"},
    {"exporter without power", "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 41\n",
     "no column of power"},
    {"fan of a jet", "time_s,power_w,temp_c,fan_rpm\n0,1,40,100000\n",
     "log.csv:2: fan_rpm = 100000 is outside"},
    {"GPU-Z without power",
     "Date , GPU Clock [MHz] , GPU Temperature [C] ,\n2021-03-10 10:50:32 , 1410.0 , 37.0 ,\n",
     "no column of power"},
    {"amd-smi without values", "timestamp,gpu,socket_power,hotspot\n1,0,N/A,N/A\n2,0,N/A,N/A\n",
     "no column of power with values"},
    {"UTF-16 without its mark", "t\0i", "no column of power"},
};

static void bad_logs_are_refused_with_file_and_line(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct read r = read_text(refused[i].text);
        if (!r.status || !strstr(r.all, refused[i].says) || strncmp(r.all, "log.csv", 7) != 0) {
            fail_msg("%s: status %d, says \"%s\", expected \"%s\"", refused[i].name, (int)r.status, r.all,
                     refused[i].says);
        }
        assert_int_equal(tmx_status_exit_code(r.status), 2);
        tmx_measured_finish(&r.m);
    }
}

static const struct bad noted[] = {
    {"last line cut short", PLAIN ROWS "4,0,2", "log.csv:6: the last line is cut short: dropped"},
    {"header again", PLAIN "0,0,100,40\n1,0,100,41\n" PLAIN "2,0,100,42\n3,0,100,43\n",
     "log.csv:4: the header is repeated here: skipped"},
    {"header every second",
     PLAIN "0,0,100,40\n" PLAIN "1,0,100,41\n" PLAIN "2,0,100,42\n" PLAIN "3,0,100,43\n",
     "log.csv:3: the header is repeated here, and 3 times in all: skipped"},
    {"DCGM's blank",
     "time_s,power_w,temp_c,hbm_c\n0,1,40,9223372036854775794\n1,1,40,2147483632\n"
     "2,2,40,140737488355330\n3,140737488355328,41,1.40737488355328e+14\n",
     "log.csv:2: 5 values are the code of DCGM, NVML or amd-smi for \"no value\": missing"},
    {"a secondary die",
     "timestamp,device,Temperature (Sensor junction) (C),Average Graphics Package Power (W)\n"
     "1,card0,40,100\n1,card1,41,N/A (Secondary die)\n2,card0,40,100\n2,card1,41,N/A (Secondary die)\n"
     "3,card0,40,120\n3,card1,41,N/A (Secondary die)\n4,card0,40,100\n4,card1,41,N/A (Secondary die)\n",
     "log.csv:3: 4 rows are of a secondary die, which draws no watts of its own"},
    {"the last document cut",
     "{\"time\":0,\"power\":1,\"temp\":40}\n{\"time\":1,\"power\":1,\"temp\":40}\n"
     "{\"time\":2,\"power\":2,\"temp\":40}\n{\"time\":3,\"power\":1,\"temp\":40}\n{\"time\":4,\"pow",
     "log.csv:5: the last document is cut short: dropped"},
    {"power missing",
     SMI SMI_ROW("0", "50", "40") "2025/01/07 12:00:01, 0, [N/A], 41\n" SMI_ROW("2", "70", "42")
         SMI_ROW("3", "70", "43"),
     "log.csv:3: GPU 0: 1 of 4 rows have no power"},
    {"temperature missing", PLAIN ROWS "4,0,100,N/A\n", "log.csv:6: GPU 0: 1 of 5 rows have no temperature"},
    {"two columns that may be watts",
     "time_s,power,gpu_power,temp_c\n0,9,90,40\n1,9,90,40\n2,9,90,41\n3,9,90,42\n",
     "\"power\" is taken for power_w, \"gpu_power\" may be it: --column power_w=NAME takes one"},
    {"a GPU of another index",
     "timestamp, index, uuid, power.draw [W], temperature.gpu\n1, 0, GPU-x, 3, 40\n2, 0, GPU-x, 3, 40\n3, 2, "
     "GPU-x, 4, 40\n4, 2, GPU-x, 3, 41\n",
     "log.csv:4: GPU 0 is called 2 here: one GPU, by its UUID or address on the bus"},
    {"time stamps twice", PLAIN "0,0,1,40\n1,0,1,40\n1,0,2,41\n2,0,1,40\n3,0,1,40\n4,0,1,40\n5,0,1,40\n",
     "log.csv:4: GPU 0: 1 repeated time stamps"},
    {"a row back in time", PLAIN "0,0,1,40\n1,0,1,40\n2,0,2,41\n1.5,0,1,40\n3,0,1,40\n4,0,1,40\n",
     "log.csv:5: GPU 0: 1 rows are earlier than the row above them"},
    {"daylight saving back",
     "timestamp,power_w,temp_c\n2025-10-26 02:59:57,1,40\n2025-10-26 02:59:58,1,40\n2025-10-26 "
     "02:59:59,2,41\n"
     "2025-10-26 02:00:00,1,40\n2025-10-26 02:00:01,1,40\n",
     "log.csv:5: the clock goes back an hour (daylight saving?)"},
    {"midnight of a log without dates",
     "time,power_w,temp_c\n23:59:58,1,40\n23:59:59,1,40\n00:00:00,2,41\n00:00:01,1,40\n",
     "log.csv:4: the clock goes back a day (midnight?): GPU 0 goes on without it"},
    {"daylight saving forth",
     "timestamp,power_w,temp_c\n2025-03-30 01:59:56,1,40\n2025-03-30 01:59:57,1,40\n2025-03-30 "
     "01:59:58,1,40\n2025-03-30 01:59:59,2,41\n"
     "2025-03-30 03:00:00,1,40\n2025-03-30 03:00:01,1,40\n2025-03-30 03:00:02,1,40\n2025-03-30 "
     "03:00:03,1,40\n",
     "jumps an hour"},
    {"the clock set back",
     PLAIN ROWS
     "1000,0,1,40\n1001,0,1,40\n1002,0,1,40\n1003,0,1,40\n900,0,1,40\n901,0,1,40\n902,0,1,40\n903,0,1,40\n",
     "the clock goes back by 103 s"},
    {"an hour and a half minute back: not what a change of time does",
     PLAIN "5000,0,1,40\n5001,0,1,40\n5002,0,1,40\n5003,0,1,40\n"
           "1373,0,1,40\n1374,0,1,40\n1375,0,1,40\n1376,0,1,40\n",
     "the clock goes back by 3630 s"},
    {"a gap", PLAIN ROWS "600,0,1,40\n601,0,1,40\n602,0,1,40\n603,0,1,40\n", "log.csv:6: a gap of 597.0 s"},
    {"no time", "gpu,power_w,temp_c\n0,1,40\n0,1,40\n0,1,41\n0,1,41\n",
     "no time stamps: rows are taken to be 1 s apart"},
    {"one GPU with three rows", PLAIN ROWS "0,1,1,40\n1,1,1,41\n",
     "GPU 1 has 2 rows with a temperature: left out"},
    {"dcgmi cut short",
     "#Entity POWER TMPTR\nID W C\nGPU 0 50 40\nGPU 0 50 40\nGPU 0 50 40\nGPU 0 50 40\nGPU 0 50",
     "the last line is cut short"},
    {"dcgmi with a message",
     "#Entity POWER TMPTR\nID W C\nGPU 0 50 40\nGPU 0 50 40\nSwitch 1 5 5\nError setting watches\nGPU 0 50 "
     "40\nGPU 0 50 40\n",
     "log.csv:6: \"Error setting watches\" is no row: dropped"},
    {"the same power in every row", PLAIN "0,0,250,40\n1,0,250,41\n2,0,250,45\n3,0,250,50\n",
     "log.csv:2: GPU 0 draws 250 W in every row"},
    {"kilowatts", PLAIN "0,0,.1,40\n1,0,.1,41\n2,0,.3,45\n3,0,.2,50\n",
     "log.csv:4: GPU 0 never draws more than 0.3 W: kilowatts?"},
    {"Fahrenheit of a cool GPU", PLAIN "0,0,100,90\n1,0,100,92\n2,0,200,105\n3,0,200,120\n",
     "log.csv:5: GPU 0 is at 120 degC, hotter than where boards shut down: Fahrenheit?"},
    {"a reading that failed", PLAIN ROWS "4,0,200,0\n", "log.csv:6: GPU 0 is at 0 degC"},
    {"a reading below 0", PLAIN ROWS "4,0,200,-1\n",
     "log.csv:6: GPU 0 is at -1 degC: a reading that failed?"},
    {"a sensor that hangs", PLAIN "0,0,100,40\n1,0,100,40\n2,0,200,40\n3,0,200,40\n",
     "log.csv:2: GPU 0 stays at 40 degC while its power changes by 100 W"},
    {"a fan in percent as rpm",
     "time_s,power_w,temp_c,fan_rpm\n0,9,40,45\n1,9,41,45\n2,90,45,45\n3,90,50,50\n",
     "log.csv:5: the fan of GPU 0 turns at most 50 times a minute: percent?"},
    {"inlet of a cool room in Fahrenheit",
     "time_s,power_w,temp_c,inlet_c\n0,9,40,77\n1,9,41,77\n2,90,45,77\n3,90,50,77\n",
     "log.csv:2: GPU 0 breathes air of 77 degC: Fahrenheit?"},
    {"milliseconds since 1970",
     "timestamp,power_w,temp_c\n1772366400000,9,40\n1772366401000,9,41\n1772366402000,90,45\n1772366403000,"
     "90,50\n",
     "log.csv:2: times of 1.772e+12 are no seconds: taken as milliseconds since 1970"},
    {"days of a spreadsheet",
     "time,power_w,temp_c\n45663.52,9,40\n45663.52001,9,41\n45663.52002,90,45\n45663.52003,90,50\n",
     "log.csv:2: the rows of GPU 0 are 1e-05 s apart: days, as spreadsheets write dates? call the column "
     "time_days"},
    {"two GPUs mixed, milliseconds apart as nvidia-smi writes them",
     "time_s,power_w,temp_c\n0,100,40\n.003,90,35\n1,100,41\n1.003,90,35\n2,100,42\n2.003,90,35\n3,100,42\n"
     "3.003,90,35\n4,100,42\n4.003,90,35\n5,100,42\n5.003,90,35\n",
     "log.csv:2: rows come in bursts and no column names the GPU"},
    {"three hosts mixed, each with a GPU 0",
     PLAIN "0,0,100,40\n.3,0,90,60\n.6,0,90,50\n1,0,100,41\n1.3,0,90,61\n1.6,0,90,51\n"
           "2,0,100,42\n2.3,0,90,62\n2.6,0,90,52\n3,0,200,43\n3.3,0,90,63\n3.6,0,90,53\n",
     "log.csv:2: GPU 0: neighbouring rows are 10 K apart, each follows the one 3 before it: 3 hosts mixed?"},
    {"the newest row first", PLAIN "3,0,200,50\n2,0,200,45\n1,0,100,41\n0,0,100,40\n",
     "log.csv:2: GPU 0: the newest row comes first: read from the end"},
    {"one host behind the other, each with a GPU 0",
     SMI SMI_ROW("0", "50", "40") SMI_ROW("1", "50", "40") SMI_ROW("2", "50", "40") SMI_ROW("9", "70", "41")
         SMI_ROW("0", "50", "50") SMI_ROW("1", "50", "50") SMI_ROW("2", "50", "50") SMI_ROW("9", "70", "51"),
     "log.csv:6: the clock goes back by 9 s: a new run begins (a second host?"},
};

static void decisions_are_notes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++) {
        struct read r = read_text(noted[i].text);
        if (r.status || !strstr(r.all, noted[i].says)) {
            fail_msg("%s: status %d, says \"%s\", expected \"%s\"", noted[i].name, (int)r.status, r.all,
                     noted[i].says);
        }
        tmx_measured_finish(&r.m);
    }
}

struct good {
    const char *name, *text, *format;
    size_t n_series, n;
    double time_s, power_w, temp_c; /* of the last row of the last series */
};

static const struct good understood[] = {
    {"plain", PLAIN ROWS, "plain CSV", 1, 4, 3, 200, 50},
    {"plain, names in any case and order", "Temp_C,POWER_W,Time_S\n40,100,0\n41,100,1\n45,200,2\n50,200,3\n",
     "plain CSV", 1, 4, 3, 200, 50},
    {"plain, the newest row first", PLAIN "3,0,200,50\n2,0,200,45\n1,0,100,41\n0,0,100,40\n", "plain CSV", 1,
     4, 3, 200, 50},
    {"plain, semicolons and decimal commas",
     "time_s;power_w;temp_c\n0,0;100,5;40\n1,5;100;41\n2;200;45\n3,25;200,5;50,5\n", "plain CSV", 1, 4, 3.25,
     200.5, 50.5},
    {"plain, tabs", "time_s\tpower_w\ttemp_c\n0\t100\t40\n1\t100\t41\n2\t1\t45\n3\t200\t50\n", "plain CSV", 1,
     4, 3, 200, 50},
    {"plain, milliwatts and kelvin by name",
     "time_ms,power_mw,temp_k\n0,100000,313.15\n1000,1,313.15\n2000,1,313.15\n3000,200000,323.15\n",
     "plain CSV", 1, 4, 3, 200, 50},
    {"plain, Fahrenheit by unit", "time [s],power [W],temp [F]\n0,1,104\n1,1,104\n2,1,104\n3,200,122\n",
     "plain CSV", 1, 4, 3, 200, 50},
    {"plain, DCGM's fields",
     "timestamp,gpu,DCGM_FI_DEV_GPU_TEMP,DCGM_FI_DEV_POWER_USAGE\n0,0,40,50\n1,0,40,50\n2,0,41,50\n3,0,50,"
     "200\n",
     "plain CSV", 1, 4, 3, 200, 50},
    {"plain, runs",
     "run,time_s,power_w,temp_c\na,0,1,40\na,1,1,40\na,2,1,40\na,3,1,40\nb,0,1,40\nb,1,1,40\nb,2,1,40\nb,4,"
     "200,50\n",
     "plain CSV", 2, 4, 4, 200, 50},
    {"nvidia-smi",
     SMI SMI_ROW("0.000", "50.5", "40") SMI_ROW("1.000", "51", "40") SMI_ROW("2.000", "50", "41")
         SMI_ROW("3.500", "200.0", "50"),
     "nvidia-smi --query-gpu", 1, 4, 3.5, 200, 50},
    {"nvidia-smi, nounits, two GPUs, other order",
     "temperature.gpu, index, timestamp, name, power.draw.instant\n"
     "40, 0, 2025/01/07 12:00:00.000, NVIDIA X, 50\n41, 1, 2025/01/07 12:00:00.001, NVIDIA X, 50\n40, 0, "
     "2025/01/07 12:00:01.000, NVIDIA X, 50\n41, 1, 2025/01/07 12:00:01.001, NVIDIA X, 50\n"
     "40, 0, 2025/01/07 12:00:02.000, NVIDIA X, 50\n41, 1, 2025/01/07 12:00:02.001, NVIDIA X, 50\n40, 0, "
     "2025/01/07 12:00:03.000, NVIDIA X, 50\n50, 1, 2025/01/07 12:00:03.001, NVIDIA X, 200\n",
     "nvidia-smi --query-gpu", 2, 4, 3.001, 200, 50},
    {"nvidia-smi, the other stamp",
     "timestamp, power.draw, temperature.gpu\nTue Jan  7 12:00:00 2025, 1, 40\nTue Jan  7 12:00:01 2025, 1, "
     "40\nTue Jan  7 12:00:02 2025, 1, 40\nTue Jan  7 12:00:03 2025, 200, 50\n",
     "nvidia-smi --query-gpu", 1, 4, 3, 200, 50},
    {"dmon",
     "# gpu   pwr gtemp mtemp    sm   mem\n# Idx     W     C     C     %     %\n    0    50    40     -     "
     "0     0\n    0    50    40     -     0     0\n"
     "# gpu   pwr gtemp mtemp    sm   mem\n# Idx     W     C     C     %     %\n    0    50    41     -     "
     "0     0\n    0   200    50     -    99     0\n",
     "nvidia-smi dmon", 1, 4, 3, 200, 50},
    {"dmon with time",
     "#Date       Time        gpu   pwr gtemp\n#YYYYMMDD   HH:MM:SS    Idx     W     C\n 20250107   23:59:58 "
     "   0    50    40\n 20250107   23:59:59    0    50    40\n"
     " 20250108   00:00:00    0    50    40\n 20250108   00:00:01    0   200    50\n",
     "nvidia-smi dmon", 1, 4, 3, 200, 50},
    {"dcgmi dmon",
     "#Entity   POWER                TMPTR\nID         W                    C\nGPU 0     50.1                "
     " 40\nGPU 1     60.1                 40\nGPU 0     50.1                 40\nGPU 1     60.1              "
     "   40\n"
     "#Entity   POWER                TMPTR\nID         W                    C\nGPU 0     50.1                "
     " 40\nGPU 1     60.1                 40\nGPU 0     50.1                 40\nGPU 1     200               "
     "  50\n",
     "dcgmi dmon", 2, 4, 3, 200, 50},
    {"dcgm-exporter",
     "# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-1\"} 40 "
     "1000\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 50 1000\n"
     "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 41 2000\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 50 "
     "2000\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 42 3000\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 50 3000\n"
     "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 50 4000\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 200 4000\n",
     "dcgm-exporter", 1, 4, 3, 200, 50},
    {"GPU-Z",
     "Date , GPU Clock [MHz] , GPU Temperature [\xB0"
     "C] , Fan Speed (%) [%] , Fan Speed (RPM) [RPM] , Board Power Draw [W] , GPU Chip Power Draw [W] ,\n"
     "2021-03-10 10:50:32 , 1410.0 , 37.0 , 24 , 1027 , 30.0 , 20.0 ,\n2021-03-10 10:50:33 , 1410.0 , 37.0 , "
     "24 , 1027 , 30.0 , 20.0 ,\n"
     "2021-03-10 10:50:34 , 1410.0 , 37.0 , 24 , 1027 , 30.0 , 20.0 ,\n2021-03-10 10:50:35 , 1410.0 , 50.0 , "
     "24 , 1027 , 230.0 , 200.0 ,\n",
     "GPU-Z sensor log", 1, 4, 3, 200, 50},
    {"GPU-Z with the board's power in watts and percent",
     "Date , GPU Clock [MHz] , GPU Temperature [\xB0"
     "C] , Fan 1 Speed (RPM) [RPM] , Power Consumption (W) [W] , Power Consumption (%) [% TDP] ,\n"
     "2021-03-08 15:00:18 , 1365.0 , 39.0 , 1202 , 34.0 , 21.3 ,\n2021-03-08 15:00:19 , 1365.0 , 39.0 , 1202 "
     ", "
     "34.0 , 21.3 ,\n2021-03-08 15:00:20 , 1365.0 , 39.0 , 1202 , 34.0 , 21.3 ,\n2021-03-08 15:00:21 , "
     "1365.0 , "
     "50.0 , 1202 , 200.0 , 90 ,\n",
     "GPU-Z sensor log", 1, 4, 3, 200, 50},
    {"amd-smi monitor",
     "timestamp,gpu,power_usage,hotspot_temperature,memory_temperature,gfx_util\n1700000000,0,100,40,35,"
     "0\n1700000001,0,100,40,35,0\n1700000002,0,100,40,35,0\n1700000003,0,200,50,35,0\n",
     "amd-smi --csv", 1, 4, 3, 200, 50},
    {"amd-smi metric with quoted lists",
     "timestamp,gpu,vcn_activity,socket_power,edge,hotspot,mem\n1,0,\"['N/A', "
     "'N/A']\",100,N/A,40,35\n2,0,\"[1, 2]\",100,N/A,40,35\n3,0,N/A,100,N/A,40,35\n4,0,N/A,200,N/A,50,35\n",
     "amd-smi --csv", 1, 4, 3, 200, 50},
};

static void formats_are_told_by_their_header(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof understood / sizeof understood[0]; i++) {
        const struct good *g = &understood[i];
        struct read r = read_text(g->text);
        if (r.status || strcmp(r.m.format, g->format) != 0 || r.m.n_series != g->n_series) {
            fail_msg("%s: status %d (%s), format %s, %zu series", g->name, (int)r.status, r.all, r.m.format,
                     r.m.n_series);
        }
        const struct tmx_series *s = &r.m.series[g->n_series - 1];
        assert_int_equal(s->n, g->n);
        check_close(s->q[TMX_Q_TIME][g->n - 1], g->time_s, 0, 1e-6);
        check_close(s->q[TMX_Q_POWER][g->n - 1], g->power_w, 0, 1e-9);
        check_close(s->q[TMX_Q_TEMP][g->n - 1], g->temp_c, 0, 1e-9);
        tmx_measured_finish(&r.m);
    }
}

static void chip_watts_and_rpm_are_preferred_in_gpuz_logs(void **unused)
{
    (void)unused;
    const struct good *gpuz = understood;
    while (strcmp(gpuz->name, "GPU-Z") != 0) {
        gpuz++;
    }
    struct read r = read_text(gpuz->text);
    check_close(r.m.series[0].q[TMX_Q_RPM][0], 1027, 0, 0);
    check_close(r.m.series[0].q[TMX_Q_FAN_PCT][0], 24, 0, 0);
    bool board = false;
    for (size_t i = 0; i < r.m.n_unused; i++) {
        board = board || strncmp(r.m.unused[i], "Board Power Draw", 16) == 0;
    }
    assert_true(board); /* and what is not used is named */
    tmx_measured_finish(&r.m);
}

static void a_column_may_be_given_by_name(void **unused)
{
    (void)unused;
    const struct tmx_read_options o = {.column = {"inlet_c=hgx", NULL}},
                                  wrong = {.column = {"inlet_c=nowhere", NULL}},
                                  none = {.column = {"colour=hgx", NULL}};
    static const char text[] =
        "time_s,power_w,temp_c,hgx,inlet_c\n0,1,40,30,20\n1,1,40,30,20\n2,1,40,30,20\n3,1,40,31,20\n";
    struct read r = read_options(text, &o);
    assert_int_equal(r.status, TMX_OK);
    check_close(r.m.series[0].q[TMX_Q_INLET][3], 31, 0, 0);
    tmx_measured_finish(&r.m);
    r = read_options(text, &wrong);
    assert_non_null(strstr(r.all, "there is no column \"nowhere\""));
    tmx_measured_finish(&r.m);
    r = read_options(text, &none);
    assert_non_null(strstr(r.all, "expected power_w=NAME"));
    tmx_measured_finish(&r.m);
    const struct tmx_read_options percent = {.column = {"fan_rpm=fan.speed [%]", NULL}};
    r = read_options(
        "time_s,power_w,temp_c,fan.speed [%]\n0,1,40,30 %\n1,1,40,30 %\n2,1,40,45 %\n3,1,40,45 %\n",
        &percent);
    assert_int_equal(r.status, TMX_OK); /* a share of full speed serves as a speed where it is asked for */
    check_close(r.m.series[0].q[TMX_Q_RPM][2], 45, 0, 0);
    tmx_measured_finish(&r.m);
}

static void a_fan_given_in_percent_is_no_warning(void **unused)
{
    (void)unused;
    const struct tmx_read_options o = {.column = {"fan_rpm=fan_pct"}};
    struct read r =
        read_options("time_s,power_w,temp_c,fan_pct\n0,9,40,45\n1,9,41,45\n2,90,45,45\n3,90,50,50\n", &o);
    assert_int_equal(r.status, TMX_OK);
    assert_null(strstr(r.all, "percent?"));
    tmx_measured_finish(&r.m);
}

/* Who is who: the names of the GPUs, in order, and of each series its rows and its highest power. */
static const struct who {
    const char *name, *text, *gpus;
    size_t n_series, rows;
    double power_w[4]; /* highest of each series */
} whos[] = {
#define M(metric, labels, v) "DCGM_FI_DEV_" metric "{" labels "} " v "\n"
#define MIG(i, t, p) \
    M("GPU_TEMP", "gpu=\"0\",GPU_I_ID=\"" i "\"", t) M("POWER_USAGE", "gpu=\"0\",GPU_I_ID=\"" i "\"", p)
#define TWICE(x) x x
    {"MIG instances that repeat their die's watts",
     TWICE(TWICE(MIG("1", "40", "100.0") MIG("2", "40", "100.2") MIG("3", "41", "100.1"))),
     "0",
     1,
     4,
     {100.1}},
    {"instances with watts of their own",
     TWICE(TWICE(MIG("1", "40", "100") MIG("2", "40", "60") MIG("3", "40", "20"))),
     "0",
     1,
     4,
     {180}},
    {"metric after metric, instances inside",
     TWICE(TWICE(M("GPU_TEMP", "gpu=\"0\",GPU_I_ID=\"1\"", "40") M(
         "GPU_TEMP", "gpu=\"0\",GPU_I_ID=\"2\"", "40") M("POWER_USAGE", "gpu=\"0\",GPU_I_ID=\"1\"", "99")
                     M("POWER_USAGE", "gpu=\"0\",GPU_I_ID=\"2\"", "99"))),
     "0",
     1,
     4,
     {99}},
    {"pods that share a GPU",
     TWICE(TWICE(M("GPU_TEMP", "gpu=\"0\",pod=\"a\"", "40") M("GPU_TEMP", "gpu=\"0\",pod=\"b\"", "40") M(
         "POWER_USAGE", "gpu=\"0\",pod=\"a\"", "99") M("POWER_USAGE", "gpu=\"0\",pod=\"b\"", "99"))),
     "0",
     1,
     4,
     {99}},
#define POD(p) \
    M("GPU_TEMP", "gpu=\"0\",pod=\"" p "\"", "40") M("POWER_USAGE", "gpu=\"0\",pod=\"" p "\"", "99")
    {"a pod a scrape", POD("a") POD("b") POD("c") POD("d"), "0", 1, 4, {99}},
    {"two hosts, scrape after scrape",
     TWICE(TWICE(M("GPU_TEMP", "gpu=\"0\",Hostname=\"n10.hall\"", "40")
                     M("POWER_USAGE", "gpu=\"0\",Hostname=\"n10.hall\"", "50")
                         M("GPU_TEMP", "gpu=\"0\",Hostname=\"n9.hall\"", "40")
                             M("POWER_USAGE", "gpu=\"0\",Hostname=\"n9.hall\"", "70"))),
     "n9/0 n10/0",
     2,
     4,
     {70, 50}},
    {"two hosts of one name, by their addresses",
     TWICE(TWICE(M("GPU_TEMP", "gpu=\"0\",Hostname=\"n\",instance=\"a:1\"", "40")
                     M("GPU_TEMP", "gpu=\"0\",Hostname=\"n\",instance=\"b:1\"", "40")
                         M("POWER_USAGE", "gpu=\"0\",Hostname=\"n\",instance=\"a:1\"", "50")
                             M("POWER_USAGE", "gpu=\"0\",Hostname=\"n\",instance=\"b:1\"", "70"))),
     "0/a:1 0/b:1",
     2,
     4,
     {50, 70}},
    {"a range, metric by metric",
     M("GPU_TEMP", "gpu=\"0\"", "40 1000") M("GPU_TEMP", "gpu=\"0\"", "40 2000")
         M("GPU_TEMP", "gpu=\"0\"", "40 3000") M("GPU_TEMP", "gpu=\"0\"", "40 4000")
             M("POWER_USAGE", "gpu=\"0\"", "50 1000") M("POWER_USAGE", "gpu=\"0\"", "50 2000")
                 M("POWER_USAGE", "gpu=\"0\"", "60 3000") M("POWER_USAGE", "gpu=\"0\"", "50 4000"),
     "0",
     1,
     4,
     {60}},
    {"GPUs in the order of their numbers, not of their first rows",
     "time_s,gpu,power_w,temp_c\n0,10,7,40\n0,2,5,40\n1,1,3,40\n1,10,7,40\n1,2,5,40\n2,1,3,40\n2,10,7,40\n2,"
     "2,5,40\n"
     "3,1,3,40\n3,10,7,40\n3,2,5,40\n4,1,3,40\n4,10,7,40\n4,2,5,40\n5,1,3,40\n5,10,7,40\n5,2,5,40\n",
     "1 2 10",
     3,
     0,
     {3, 5, 7}},
    {"hosts in a column",
     "time_s,host,gpu,power_w,temp_c\n" TWICE("") "0,b,0,5,40\n0,a,0,3,40\n1,b,0,5,40\n1,a,0,3,40\n2,b,0,5,"
                                                  "40\n2,a,0,3,40\n3,b,0,5,40\n3,a,0,3,40\n",
     "a/0 b/0",
     2,
     4,
     {3, 5}},
    {"one index, two UUIDs",
     "timestamp, index, uuid, power.draw [W], temperature.gpu\n1, 0, GPU-b, 5, 40\n1, 0, GPU-a, 3, 40\n2, 0, "
     "GPU-b, 5, 40\n2, 0, GPU-a, 3, 40\n"
     "3, 0, GPU-b, 5, 40\n3, 0, GPU-a, 3, 40\n4, 0, GPU-b, 5, 40\n4, 0, GPU-a, 3, 40\n",
     "0/GPU-a 0/GPU-b",
     2,
     4,
     {3, 5}},
#define COUNTED(t, a, b) t ", " a ", n1, 00000000:01:00.0, 3, 40\n" t ", " b ", n1, 00000000:41:00.0, 5, 40\n"
    {"a driver that counts its GPUs in another order: the address on the bus stays",
     "timestamp, index, host, pci.bus_id, power.draw [W], temperature.gpu\n" COUNTED("1", "0", "1")
         COUNTED("2", "0", "1") COUNTED("3", "1", "0") COUNTED("4", "1", "0"),
     "0 1",
     2,
     4,
     {3, 5}},
    {"a UUID is one GPU's on any host, by any index",
     "timestamp, index, host, uuid, power.draw [W], temperature.gpu\n1, 0, a, GPU-x, 3, 40\n"
     "2, 0, A, GPU-X, 3, 40\n3, 7, b, GPU-x, 4, 40\n4, 7, b, GPU-x, 3, 40\n",
     "0",
     1,
     4,
     {4}},
    {"partitions of amd-smi: watts are the socket's, of its first partition",
     "timestamp,gpu,xcp,power_usage,hotspot_temperature,gfx_clk\n1,0,0,700,50,1\n1,0,1,N/"
     "A,50,1\n2,0,0,700,50,1\n2,0,1,N/A,50,1\n"
     "3,0,0,710,50,1\n3,0,1,N/A,50,1\n4,0,0,700,50,1\n4,0,1,N/A,50,1\n",
     "0",
     1,
     4,
     {710}},
    {"nvidia-smi dmon --format csv",
     "#Date, Time, gpu, pwr, gtemp, mtemp\n#YYYYMMDD, HH:MM:SS, Idx, W, C, C\n20260306, 10:00:00, 0, 50, 40, "
     "-\n"
     "20260306, 10:00:01, 0, 50, 40, -\n20260306, 10:00:02, 0, 60, 40, -\n20260306, 10:00:03, 0, 50, 40, -\n",
     "0",
     1,
     4,
     {60}},
    {"a wide table",
     "Time,run-1 - system/gpu.0.temp,run-1 - system/gpu.0.powerWatts,run-1 - system/gpu.1.temp,run-1 - "
     "system/gpu.1.powerWatts\n"
     "0,40,50,41,60\n1,40,50,41,60\n2,40,50,41,60\n3,40,50,41,60\n",
     "0 1",
     2,
     4,
     {50, 60}},
    {"rocm-smi --json, a document a second",
     TWICE(TWICE("{\"card1\": {\"Average Graphics Package Power (W)\": \"60.5\", \"Temperature (Sensor edge) "
                 "(C)\": \"40.0\"}, "
                 "\"card0\": {\"Average Graphics Package Power (W)\": \"50.0\", \"Temperature (Sensor edge) "
                 "(C)\": \"41.0\"}, "
                 "\"system\": {\"Driver version\": \"6.8\"}}\n")),
     "card0 card1",
     2,
     4,
     {50, 60.5}},
    {"gpustat --json",
     "{\"hostname\":\"n\",\"query_time\":\"2026-03-06T10:00:00\",\"gpus\":[{\"index\":0,\"temperature.gpu\":"
     "40,\"power.draw\":50,\"processes\":[]}]}"
     "{\"hostname\":\"n\",\"query_time\":\"2026-03-06T10:00:01\",\"gpus\":[{\"index\":0,\"temperature.gpu\":"
     "40,\"power.draw\":50,\"processes\":[]}]}"
     "{\"hostname\":\"n\",\"query_time\":\"2026-03-06T10:00:02\",\"gpus\":[{\"index\":0,\"temperature.gpu\":"
     "40,\"power.draw\":55,\"processes\":[]}]}"
     "{\"hostname\":\"n\",\"query_time\":\"2026-03-06T10:00:03\",\"gpus\":[{\"index\":0,\"temperature.gpu\":"
     "40,\"power.draw\":50,\"processes\":[]}]}",
     "0",
     1,
     4,
     {55}},
    {"lists of GPUs without a number (nvtop)",
     TWICE(TWICE("[{\"device_name\":\"A\",\"temp\":\"40C\",\"power_draw\":\"50W\"},{\"device_name\":\"A\","
                 "\"temp\":\"41C\",\"power_draw\":\"60W\"}]\n")),
     "0 1",
     2,
     4,
     {50, 60}},
    {"amd-smi metric --json: values with units in groups",
     TWICE(TWICE("[{\"gpu\":3,\"power\":{\"socket_power\":{\"value\":60,\"unit\":\"W\"}},\"temperature\":{"
                 "\"edge\":\"N/A\",\"hotspot\":{\"value\":50,\"unit\":\"C\"}}}]\n")),
     "3",
     1,
     4,
     {60}},
    {"JSON in groups, whose names make the name",
     TWICE(TWICE("[{\"index\":3,\"power\":{\"draw\":60,\"limit\":300},\"temperature\":{\"gpu\":50}}]\n")),
     "3",
     1,
     4,
     {60}},
#define LONG TWICE(TWICE(TWICE(TWICE("a pod has many labels, and each may be of many letters, up to 63"))))
    {"an answer of Prometheus, whose labels are long",
     "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
     "{\"metric\":{\"__name__\":\"DCGM_FI_DEV_GPU_TEMP\",\"pod\":\"" LONG
     "\",\"gpu\":\"5\"},\"values\":[[1,\"40\"],[2,\"40\"],[3,"
     "\"41\"],[4,\"40\"]]},"
     "{\"metric\":{\"__name__\":\"DCGM_FI_DEV_POWER_USAGE\",\"gpu\":\"5\"},\"values\":[[1,\"50\"],[2,\"50\"],"
     "[3,\"60\"],[4,\"50\"]]}]}}",
     "5",
     1,
     4,
     {60}},
#define Q(s, p)                                                                                              \
    "==============NVSMI LOG==============\n\nTimestamp                     : Fri Mar  6 10:00:0" s          \
    " 2026\nAttached GPUs  : 1\n"                                                                            \
    "GPU 00000000:01:00.0\n    Temperature\n        GPU Current Temp          : 40 C\n        GPU Shutdown " \
    "Temp : 95 C\n"                                                                                          \
    "    GPU Power Readings\n        Average Power Draw  : 10.00 W\n        Instantaneous Power Draw  : " p  \
    " W\n"                                                                                                   \
    "    GPU Memory Power Readings\n        Average Power Draw  : 1.00 W\n"
    {"nvidia-smi -q",
     Q("0", "50.5") Q("1", "50.5") Q("2", "60.5") Q("3", "50.5"),
     "00000000:01:00.0",
     1,
     4,
     {60.5}},
};

static void a_series_is_of_one_die_and_keeps_its_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof whos / sizeof whos[0]; i++) {
        const struct who *w = &whos[i];
        struct read r = read_text(w->text);
        char names[256] = "";
        for (size_t g = 0; g < r.m.n_gpu; g++) {
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", g ? " " : "", r.m.gpu[g]);
        }
        if (r.status || strcmp(names, w->gpus) != 0 || r.m.n_series != w->n_series) {
            fail_msg("%s: status %d, %s, GPUs \"%s\", %zu series", w->name, (int)r.status, r.all, names,
                     r.m.n_series);
        }
        for (size_t s = 0; s < r.m.n_series; s++) {
            double most = 0;
            for (size_t k = 0; k < r.m.series[s].n; k++) {
                most = fmax(most, r.m.series[s].q[TMX_Q_POWER][k]);
            }
            if ((w->rows && r.m.series[s].n != w->rows) || fabs(most - w->power_w[s]) > 1e-9 ||
                r.m.series[s].gpu != s) {
                fail_msg("%s: series %zu has %zu rows and at most %g W", w->name, s, r.m.series[s].n, most);
            }
        }
        tmx_measured_finish(&r.m);
    }
}

/* Names of times and their units: the step of the rows in seconds. */
static void times_are_found_by_usual_names(void **unused)
{
    (void)unused;
    const struct {
        const char *name;
        double step_s;
    } times[] = {{"ts", 5},
                 {"epoch", 5},
                 {"unix_time", 5},
                 {"unix_ts", 5},
                 {"time_unix", 5},
                 {"UnixTimestamp", 5},
                 {"wall_time", 5},
                 {"seconds", 5},
                 {"relative_time_s", 5},
                 {"elapsed_s", 5},
                 {"elapsedSeconds", 5},
                 {"time_ms", 5e-3},
                 {"t_ms", 5e-3},
                 {"timestamp_us", 5e-6},
                 {"Timestamp (us)", 5e-6},
                 {"time[ms]", 5e-3},
                 {"elapsed_minutes", 300},
                 {"time_since_start_s", 5},
                 {"ms", 5e-3},
                 {"Relative Time (Process)", 5},
                 {"datetime_utc", 5},
                 {"@timestamp", 5},
                 {"_runtime", 5},
                 {"t", 5},
                 {"uptime_s", 5}};
    static const char *const others[] = {"min", "clock_offset", "start_time", "gpu_time", "step", "s"};
    char text[256];
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        snprintf(text, sizeof text, "%s,power_w,temp_c\n0,9,40\n5,9,41\n10,90,45\n15,90,50\n", times[i].name);
        struct read r = read_text(text);
        if (r.status || fabs(r.m.series[0].step_s / times[i].step_s - 1) > 1e-9) {
            fail_msg("%s: status %d, %s, step %g s", times[i].name, (int)r.status, r.all,
                     r.status ? 0 : r.m.series[0].step_s);
        }
        tmx_measured_finish(&r.m);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) { /* not a time, and yet it rises */
        snprintf(text, sizeof text, "%s,power_w,temp_c\n0,9,40\n5,9,41\n10,90,45\n15,90,50\n", others[i]);
        struct read r = read_text(text);
        const struct tmx_read_options steps = {.step_s = 2};
        if (!r.status || !strstr(r.all, "rises from row to row")) {
            fail_msg("%s: status %d, %s", others[i], (int)r.status, r.all);
        }
        tmx_measured_finish(&r.m);
        r = read_options(text, &steps);
        assert_int_equal(r.status, TMX_OK);
        check_close(r.m.series[0].step_s, 2, 0, 0);
        assert_int_equal(r.m.n_warning, 0); /* given, not assumed */
        tmx_measured_finish(&r.m);
    }
    const struct tmx_read_options steps = {.step_s = 2};
    struct read r = read_options(PLAIN ROWS, &steps);
    assert_non_null(strstr(r.all, "log.csv has times: --step does nothing"));
    tmx_measured_finish(&r.m);
#define SCRAPE(t) "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40 " t "\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 50 " t "\n"
    static const char *const scrapes[] = {
        SCRAPE("1772784000000") SCRAPE("1772784005000") SCRAPE("1772784010000") SCRAPE("1772784015000"),
        SCRAPE("1772784000.0") SCRAPE("1772784005.0") SCRAPE("1772784010.0") SCRAPE("1772784015.0"),
        SCRAPE("1772784000") SCRAPE("1772784005") SCRAPE("1772784010")
            SCRAPE("1772784015")}; /* OpenMetrics */
    for (size_t i = 0; i < sizeof scrapes / sizeof scrapes[0]; i++) {
        r = read_text(scrapes[i]);
        assert_int_equal(r.status, TMX_OK);
        check_close(r.m.series[0].step_s, 5, 0, 1e-9);
        tmx_measured_finish(&r.m);
    }
}

static void a_table_without_names_gets_them(void **unused)
{
    (void)unused;
    static const char text[] =
        "2026/03/06 10:00:00.000, 0, 60.00 W, 33, [N/A]\n2026/03/06 10:00:02.000, 0, 60.00 W, 33, [N/A]\n"
        "2026/03/06 10:00:04.000, 0, 70.00 W, 34, [N/A]\n2026/03/06 10:00:06.000, 0, 60.00 W, 33, [N/A]\n";
    const struct tmx_read_options o = {.columns_are = "timestamp,index,power.draw,temperature.gpu,-"},
                                  few = {.columns_are = "timestamp,index"},
                                  who = {.column = {"gpu=Device", "temp_c=heat_f", NULL}};
    struct read r = read_options(text, &o);
    assert_int_equal(r.status, TMX_OK);
    assert_int_equal(r.m.series[0].n, 4);
    check_close(r.m.series[0].q[TMX_Q_POWER][2], 70, 0, 0);
    tmx_measured_finish(&r.m);
    r = read_options(text, &few);
    assert_non_null(strstr(r.all, "--columns-are gives 2 names, this row has 5 cells"));
    tmx_measured_finish(&r.m);
    /* whose row it is may be given by name, too, and the unit in a name counts */
    r = read_options("time_s,Device,power_w,heat_f\n0,7,1,50\n1,7,1,50\n2,7,1,50\n3,7,1,59\n", &who);
    assert_int_equal(r.status, TMX_OK);
    assert_string_equal(r.m.gpu[0], "7");
    check_close(r.m.series[0].q[TMX_Q_TEMP][3], 15, 0, 1e-12);
    tmx_measured_finish(&r.m);
}

static void utf16_and_gzip_are_unpacked(void **unused)
{
    (void)unused;
    const char *text = PLAIN ROWS;
    struct tmx_measured m = {0};
    struct tmx_err err = {0};
    FILE *f = fopen("log_utf16.csv", "wb");
    assert_non_null(f);
    fputs("\xFF\xFE", f);
    for (const char *p = text; *p; p++) {
        fputc(*p, f);
        fputc(0, f);
    }
    fclose(f);
    gzFile g = gzopen("log.csv.gz", "wb");
    assert_non_null(g);
    assert_int_equal(gzwrite(g, text, (unsigned)strlen(text)), (int)strlen(text));
    gzclose(g);
    assert_int_equal(tmx_measured_read(&m, "log_utf16.csv", NULL, &err), TMX_OK);
    assert_int_equal(tmx_measured_read(&m, "log.csv.gz", NULL, &err), TMX_OK);
    assert_int_equal(m.n_series, 2);
    assert_string_equal(m.run[0], "log_utf16");
    assert_string_equal(m.run[1], "log");
    check_close(m.series[0].q[TMX_Q_TEMP][3], 50, 0, 0);
    check_close(m.series[1].q[TMX_Q_TEMP][3], 50, 0, 0);
    tmx_measured_finish(&m);
    /* and a gzip file without its end is an error, not a shorter log */
    char buf[512];
    f = fopen("log.csv.gz", "rb");
    const size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    f = fopen("log_cut.csv.gz", "wb");
    fwrite(buf, 1, n - 9, f);
    fclose(f);
    assert_int_not_equal(tmx_measured_read(&m, "log_cut.csv.gz", NULL, &err), TMX_OK);
    tmx_measured_finish(&m);
    assert_int_equal(tmx_measured_read(&m, "no such file", NULL, &err), TMX_EIO);
    tmx_measured_finish(&m);
    assert_int_equal(tmx_measured_read(&m, ".", NULL, &err), TMX_EIO);
    tmx_measured_finish(&m);
}

static void runs_and_gpus_are_selected_by_patterns(void **unused)
{
    (void)unused;
    struct read r = read_text("run,time_s,gpu,power_w,temp_c\na1,0,0,1,40\na1,1,0,1,40\na1,2,0,1,40\na1,3,0,"
                              "1,40\nb1,0,0,1,40\nb1,1,0,1,40\nb1,2,0,1,40\nb1,3,0,1,40\n"
                              "b1,0,1,1,40\nb1,1,1,1,40\nb1,2,1,1,40\nb1,3,1,1,40\n");
    assert_int_equal(r.m.n_series, 3);
    assert_int_equal(tmx_measured_select(&r.m, "b*,c?", NULL, &r.err), TMX_ECONFIG); /* c? finds nothing */
    assert_int_equal(tmx_measured_select(&r.m, NULL, "0,7", &r.err), TMX_ECONFIG);   /* nor does 7 */
    assert_int_equal(tmx_measured_select(&r.m, "b*,?1", "1", &r.err), TMX_OK);
    assert_int_equal(r.m.n_series, 1);
    assert_string_equal(r.m.gpu[r.m.series[0].gpu], "1");
    tmx_measured_finish(&r.m);
    assert_true(tmx_pattern_match("x,010?_full*", "0107_full_400w"));
    assert_false(tmx_pattern_match("010?_full", "0107_full_400w"));
    assert_true(tmx_pattern_match("*a*b", "xaab") && tmx_pattern_match("**", "") &&
                tmx_pattern_match("a*", "a"));
    assert_false(tmx_pattern_match("*a*b", "xaabc") || tmx_pattern_match("a?", "a"));
    char text[201] = {0}; /* many stars are not tried in every place: that would outlive the sun */
    memset(text, 'a', sizeof text - 1);
    assert_false(tmx_pattern_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void two_quotes_in_a_quoted_name_are_one(void **unused)
{
    (void)unused;
    struct read r =
        read_text("run,time_s,gpu,power_w,temp_c\n\"3\"\" fan\",0,0,1,40\n\"3\"\" fan\",1,0,1,40\n"
                  "\"3\"\" fan\",2,0,1,40\n\"3\"\" fan\",3,0,1,40\n");
    assert_int_equal(r.m.n_run, 1);
    assert_string_equal(r.m.run[0], "3\" fan");
    tmx_measured_finish(&r.m);
}

static void rows_without_a_time_among_others_are_dropped_and_said(void **unused)
{
    (void)unused;
    struct read r =
        read_text("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 50 1000\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40\n"
                  "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 41 2000\n"
                  "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 42\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 42 3000\n"
                  "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 42 4000\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 42 5000\n");
    assert_non_null(strstr(r.all, "rows have no time: dropped"));
    for (size_t i = 0; i < r.m.n_series; i++) {
        for (size_t k = 0; k < r.m.series[i].n; k++) {
            assert_true(isfinite(r.m.series[i].q[TMX_Q_TIME][k]));
        }
    }
    tmx_measured_finish(&r.m);
}

static void time_stamps_are_seconds(void **unused)
{
    (void)unused;
    const struct {
        const char *text;
        double seconds; /* NAN: none */
    } rows[] = {{"2025/01/07 12:34:56.789", 1736253296.789},
                {"2025-01-07T12:34:56Z", 1736253296},
                {"2025-01-07T13:34:56+01:00", 1736253296},
                {"Tue Jan  7 12:34:56 2025", 1736253296},
                {"Tue Jan  7 12:34:56 UTC 2025", 1736253296},
                {"2025-01-07 12:34:56 UTC", 1736253296},
                {"07.01.2025 12:34:56", 1736253296},
                {"7.1.2025 12:34:56", 1736253296},
                {"20250107 12:34:56", 1736253296},
                {"12:34:56", 45296},
                {"1736253296.5", 1736253296.5},
                {"2024-02-29 00:00:00", 1709164800},
                {"2025/01/07", NAN},
                {"12:60:00", NAN},
                {"2025-01-32 12:00:00", NAN},
                {"", NAN},
                {"2025-01-07 12:34:56 PM", NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double v = NAN;
        const bool ok =
            tmx_time_parse((struct tmx_span){rows[i].text, rows[i].text + strlen(rows[i].text)}, &v);
        assert_int_equal(ok, !isnan(rows[i].seconds));
        if (ok) {
            check_close(v, rows[i].seconds, 0, 1e-4);
        }
    }
}

TMX_TESTS(test_log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_told_by_their_header),
        cmocka_unit_test(bad_logs_are_refused_with_file_and_line),
        cmocka_unit_test(decisions_are_notes),
        cmocka_unit_test(chip_watts_and_rpm_are_preferred_in_gpuz_logs),
        cmocka_unit_test(a_column_may_be_given_by_name),
        cmocka_unit_test(a_fan_given_in_percent_is_no_warning),
        cmocka_unit_test(utf16_and_gzip_are_unpacked),
        cmocka_unit_test(runs_and_gpus_are_selected_by_patterns),
        cmocka_unit_test(two_quotes_in_a_quoted_name_are_one),
        cmocka_unit_test(rows_without_a_time_among_others_are_dropped_and_said),
        cmocka_unit_test(time_stamps_are_seconds),
        cmocka_unit_test(a_series_is_of_one_die_and_keeps_its_name),
        cmocka_unit_test(times_are_found_by_usual_names),
        cmocka_unit_test(a_table_without_names_gets_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
