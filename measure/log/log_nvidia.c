/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvidia-smi: `--query-gpu=... --format=csv[,nounits]` and `dmon`. Names as `nvidia-smi --help-query-gpu`
 * lists them. */
#include <math.h>
#include <string.h>

#include "measure/log/collect.h"

static const struct tmx_alias csv_names[] = {
    {"timestamp", TMX_Q_TIME, 0, NULL},
    {"index", TMX_COLUMN_GPU, 0, NULL},
    {"gpu_bus_id", TMX_COLUMN_GPU, 2, NULL},
    {"pci_bus_id", TMX_COLUMN_GPU, 2, NULL},
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

static bool is_csv(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return tmx_span_has(head, "power.draw") || tmx_span_has(head, "temperature.gpu") ||
           tmx_span_has(head, "utilization.gpu");
}

const struct tmx_log_format tmx_log_nvidia_csv = {"nvidia-smi --query-gpu", is_csv, csv_names,
                                                  tmx_read_table};

/* nvidia-smi -q, as log_shape.c makes a table of it: the section and the name in it. */
static const struct tmx_alias q_names[] = {
    {"gpu", TMX_COLUMN_GPU, 0, NULL},
    {"timestamp", TMX_Q_TIME, 0, NULL},
    {"gpu_power_readings_instantaneous_power_draw", TMX_Q_POWER, 0, "w"},
    {"gpu_power_readings_power_draw", TMX_Q_POWER, 1, "w"},
    {"power_readings_instantaneous_power_draw", TMX_Q_POWER, 0, "w"},
    {"power_readings_power_draw", TMX_Q_POWER, 1, "w"},
    {"gpu_power_readings_average_power_draw", TMX_Q_POWER, 2, "w"},
    {"power_readings_average_power_draw", TMX_Q_POWER, 2, "w"},
    {"temperature_gpu_current_temp", TMX_Q_TEMP, 0, "c"},
    {"temperature_memory_current_temp", TMX_Q_MEM_TEMP, 0, "c"},
    {"fan_speed", TMX_Q_FAN_PCT, 0, "pct"},
    {"clocks_sm", TMX_Q_CLOCK, 0, "mhz"},
    {"utilization_gpu", TMX_Q_UTIL, 0, "pct"},
    {0},
};

static bool is_q(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return tmx_span_has(head, "Temperature GPU Current Temp") || tmx_span_has(head, "Power Readings ");
}

const struct tmx_log_format tmx_log_nvidia_q = {"nvidia-smi -q", is_q, q_names, tmx_read_table};

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

static bool is_dmon(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return head.begin < head.end && *head.begin == '#' && tmx_span_has(head, "gpu") &&
           (tmx_span_has(head, "pwr") || tmx_span_has(head, "sm"));
}

const struct tmx_log_format tmx_log_nvidia_dmon = {"nvidia-smi dmon", is_dmon, dmon_names,
                                                   tmx_read_blank_table};
