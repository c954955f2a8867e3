/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/log/collect.h"
#include "tests/fuzz/fuzz.h"

/* The rows of each format behind a head that is in order: the first byte chooses the format; a digit of the
 * comments does. */
static const char *const heads[] = {
    "#Date Time gpu pwr gtemp mtemp sm pclk\n#YYYYMMDD HH:MM:SS Idx W C C % MHz\n", /* 2 */
    "#Entity POWER TMPTR\nID W C\n",
    "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",GPU_I_ID=\"1\"} 50 1000\n",
    "Date , GPU Clock [MHz] , GPU Temperature [C] , Fan Speed (RPM) [RPM] , Board Power Draw [W] ,\n",
    "timestamp,gpu,vcn_activity,socket_power,edge,hotspot,mem\n",
    "device,Temperature (Sensor edge) (C),Current Socket Graphics Package Power (W)\n",
    "{\"time\": 0, \"card1\": {\"power\": 50, \"temp\": \"40 C\"}}\n",
    "==============NVSMI LOG==============\n\nTimestamp   : Fri Mar  6 10:00:00 2026\nGPU 00000000:01:00.0\n",
    "time_s,gpu,power_w,temp_c,fan_rpm,inlet_c\n",                                         /* 0 */
    "timestamp, index, power.draw [W], temperature.gpu, clocks.sm [MHz], fan.speed [%]\n", /* 1 */
};
enum { N_HEAD = sizeof heads / sizeof heads[0] };

static void check(const struct tmx_series *s)
{
    for (size_t k = 0; k < s->n; k++) {
        fuzz_check(isfinite(s->q[TMX_Q_TIME][k]) && isfinite(s->q[TMX_Q_POWER][k]));
        fuzz_check(k == 0 || s->q[TMX_Q_TIME][k] > s->q[TMX_Q_TIME][k - 1]);
    }
}

void fuzz_reader(const char *path)
{
    struct tmx_measured m = {0};
    struct tmx_text_file t, whole = {.name = "log"};
    struct tmx_err err = {0};
    if (tmx_text_load(&t, path, &err) != TMX_OK || t.size == 0) {
        tmx_text_finish(&t);
        return;
    }
    const char *head = heads[(unsigned char)t.data[0] % N_HEAD];
    whole.size = strlen(head) + t.size - 1;
    whole.data = malloc(whole.size + 1);
    fuzz_check(whole.data);
    snprintf(whole.data, whole.size + 1, "%s%s", head, t.data + 1);
    if (tmx_measured_parse(&m, &whole, NULL, &err) == TMX_OK) {
        for (size_t i = 0; i < m.n_series; i++) {
            check(&m.series[i]);
        }
    } else {
        fuzz_check(err.msg[0]);
    }
    tmx_measured_finish(&m);
    tmx_text_finish(&whole);
    tmx_text_finish(&t);
}
