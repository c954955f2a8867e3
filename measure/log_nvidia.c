/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi: `--query-gpu=... --format=csv[,nounits]` and `dmon`. Names as `nvidia-smi --help-query-gpu`
 * lists them. */
#include <math.h>
#include <string.h>

#include "measure/blank_table.h"
#include "measure/collect.h"

static const struct tmx_alias csv_names[] = {
    {"timestamp", TMX_Q_TIME, 0, NULL},
    {"index", TMX_COLUMN_GPU, 0, NULL},
    {"gpu_uuid", TMX_COLUMN_GPU, 1, NULL},
    {"uuid", TMX_COLUMN_GPU, 1, NULL},
    {"gpu_bus_id", TMX_COLUMN_GPU, 2, NULL},
    {"pci_bus_id", TMX_COLUMN_GPU, 2, NULL},
    {"gpu_serial", TMX_COLUMN_GPU, 3, NULL},
    {"serial", TMX_COLUMN_GPU, 3, NULL},
    {"power_draw_instant", TMX_Q_POWER, 0, "w"},
    {"power_draw", TMX_Q_POWER, 1, "w"},
    {"power_draw_average", TMX_Q_POWER, 2, "w"},
    {"temperature_gpu", TMX_Q_TEMP, 0, "c"},
    {"temperature_memory", TMX_Q_MEM_TEMP, 0, "c"},
    {"fan_speed", TMX_Q_FAN_PCT, 0, "pct"},
    {"clocks_current_sm", TMX_Q_CLOCK, 0, "mhz"},
    {"clocks_sm", TMX_Q_CLOCK, 0, "mhz"},
    {"clocks_current_graphics", TMX_Q_CLOCK, 1, "mhz"},
    {"clocks_gr", TMX_Q_CLOCK, 1, "mhz"},
    {"utilization_gpu", TMX_Q_UTIL, 0, "pct"},
    {0},
};

static bool has(struct tmx_span head, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = head.begin; p + n <= head.end; p++) {
        if (strncmp(p, word, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_csv(struct tmx_span head, const struct tmx_text *text)
{
    (void)text;
    return has(head, "power.draw") || has(head, "temperature.gpu") || has(head, "utilization.gpu");
}

static enum tmx_status read_csv(struct tmx_collect *c, struct tmx_err *err)
{
    return tmx_read_table(c, csv_names, err);
}

const struct tmx_log_format tmx_log_nvidia_csv = {"nvidia-smi --query-gpu", is_csv, read_csv};

static const struct tmx_alias dmon_names[] = {
    {"gpu", TMX_COLUMN_GPU, 0, NULL},
    {"pwr", TMX_Q_POWER, 0, "w"},
    {"gtemp", TMX_Q_TEMP, 0, "c"},
    {"temp", TMX_Q_TEMP, 1, "c"},
    {"mtemp", TMX_Q_MEM_TEMP, 0, "c"},
    {"sm", TMX_Q_UTIL, 0, "pct"},
    {"pclk", TMX_Q_CLOCK, 0, "mhz"},
    {"fan", TMX_Q_FAN_PCT, 0, "pct"},
    {"date", TMX_Q_TIME, 0, NULL},
    {"time", TMX_COLUMN_CLOCK_TIME, 0, NULL},
    {0},
};

static bool is_dmon(struct tmx_span head, const struct tmx_text *text)
{
    (void)text;
    return head.begin < head.end && *head.begin == '#' && has(head, "gpu") &&
           (has(head, "pwr") || has(head, "sm"));
}

static enum tmx_status read_dmon(struct tmx_collect *c, struct tmx_err *err)
{
    return tmx_read_blank_table(c, dmon_names, err);
}

const struct tmx_log_format tmx_log_nvidia_dmon = {"nvidia-smi dmon", is_dmon, read_dmon};
