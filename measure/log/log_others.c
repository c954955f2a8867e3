/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of other makers, and the plain one. */
#include <string.h>

#include "measure/log/collect.h"

/* GPU-Z's sensor log. The chip's own watts, where there are any, are nearer to what heats its sensor than the
 * board's. */
static const struct tmx_alias gpuz_names[] = {
    {"date", TMX_Q_TIME, 0, NULL},
    {"gpu_temperature", TMX_Q_TEMP, 0, "c"},
    {"hot_spot", TMX_Q_HOT_SPOT, 0, "c"},
    {"gpu_temperature_hot_spot", TMX_Q_HOT_SPOT, 0, "c"},
    {"memory_temperature", TMX_Q_MEM_TEMP, 0, "c"},
    {"gpu_chip_power_draw", TMX_Q_POWER, 0, "w"},
    {"gpu_only_power_draw", TMX_Q_POWER, 0, "w"},
    {"gpu_power", TMX_Q_POWER, 1, "w"},
    {"board_power_draw", TMX_Q_POWER, 1, "w"},
    {"power_consumption_w", TMX_Q_POWER, 1, "w"}, /* "Power Consumption (W) [W]" */
    {"fan_speed_rpm", TMX_Q_RPM, 0, "rpm"},
    {"fan_1_speed_rpm", TMX_Q_RPM, 0, "rpm"},
    {"fan_speed", TMX_Q_RPM, 1, "rpm"},
    {"fan_speed_%", TMX_Q_FAN_PCT, 0, "pct"},
    {"fan_1_speed_%", TMX_Q_FAN_PCT, 0, "pct"},
    {"gpu_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"gpu_core_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"gpu_load", TMX_Q_UTIL, 0, "pct"},
    {"gpu_voltage", TMX_Q_VOLT, 0, "v"},
    {"vddc", TMX_Q_VOLT, 0, "v"},
    {0},
};

static bool is_gpuz(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return tmx_span_has(head, "Date") &&
           (tmx_span_has(head, "GPU Temperature [") || tmx_span_has(head, "GPU Clock [") ||
            tmx_span_has(head, "GPU Core Clock ["));
}

const struct tmx_log_format tmx_log_gpuz = {"GPU-Z sensor log", is_gpuz, gpuz_names, tmx_read_table};

/* amd-smi monitor --csv and amd-smi metric --csv. Parts without an edge sensor give the hot spot alone. */
static const struct tmx_alias amd_names[] = {
    {"timestamp", TMX_Q_TIME, 0, NULL},
    {"gpu", TMX_COLUMN_GPU, 0, NULL},
    {"power_usage", TMX_Q_POWER, 0, "w"},
    {"socket_power", TMX_Q_POWER, 0, "w"},
    {"average_socket_power", TMX_Q_POWER, 1, "w"},
    {"edge", TMX_Q_TEMP, 0, "c"},
    {"edge_temperature", TMX_Q_TEMP, 0, "c"},
    {"hotspot", TMX_Q_TEMP, 1, "c"},
    {"hotspot_temperature", TMX_Q_TEMP, 1, "c"},
    {"mem", TMX_Q_MEM_TEMP, 0, "c"},
    {"memory_temperature", TMX_Q_MEM_TEMP, 0, "c"},
    {"gfx_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"gfx_clk", TMX_Q_CLOCK, 0, "mhz"},
    {"gfx_0_clk", TMX_Q_CLOCK, 0, "mhz"},
    {"gfx_util", TMX_Q_UTIL, 0, "pct"},
    {"gfx_activity", TMX_Q_UTIL, 0, "pct"},
    {"gfx", TMX_Q_UTIL, 1, "pct"},
    {"gfx_voltage", TMX_Q_VOLT, 0, "mv"},
    {"rpm", TMX_Q_RPM, 0, "rpm"},
    {"fan_rpm", TMX_Q_RPM, 0, "rpm"},
    {0},
};

static bool is_amd(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return (tmx_span_has(head, "power_usage") || tmx_span_has(head, "socket_power")) &&
           (tmx_span_has(head, "hotspot") || tmx_span_has(head, "edge") || tmx_span_has(head, "gfx"));
}

const struct tmx_log_format tmx_log_amd_csv = {"amd-smi --csv", is_amd, amd_names, tmx_read_table};

/* rocm-smi --showpower --showtemp --csv, and its --json. */
static const struct tmx_alias rocm_names[] = {
    {"device", TMX_COLUMN_GPU, 0, NULL},
    {"current_socket_graphics_package_power", TMX_Q_POWER, 0, "w"},
    {"average_graphics_package_power", TMX_Q_POWER, 1, "w"},
    {"temperature_sensor_edge", TMX_Q_TEMP, 0, "c"},
    {"temperature_sensor_junction", TMX_Q_TEMP, 1, "c"},
    {"temperature_sensor_memory", TMX_Q_MEM_TEMP, 0, "c"},
    {"gpu_use", TMX_Q_UTIL, 0, "pct"},
    {"fan_speed", TMX_Q_FAN_PCT, 0, "pct"},
    {"fan_rpm", TMX_Q_RPM, 0, "rpm"},
    {0},
};

static bool is_rocm(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return tmx_span_has(head, "Graphics Package Power") || tmx_span_has(head, "Temperature (Sensor");
}

const struct tmx_log_format tmx_log_rocm_csv = {"rocm-smi", is_rocm, rocm_names, tmx_read_table};

/* xpu-smi dump -m 0,1,3,... */
static const struct tmx_alias xpu_names[] = {
    {"timestamp", TMX_Q_TIME, 0, NULL},
    {"deviceid", TMX_COLUMN_GPU, 0, NULL},
    {"gpu_power", TMX_Q_POWER, 0, "w"},
    {"gpu_core_temperature", TMX_Q_TEMP, 0, "c"},
    {"gpu_memory_temperature", TMX_Q_MEM_TEMP, 0, "c"},
    {"gpu_frequency", TMX_Q_CLOCK, 0, "mhz"},
    {"gpu_utilization", TMX_Q_UTIL, 0, "pct"},
    {0},
};

static bool is_xpu(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)text;
    return tmx_span_has(head, "DeviceId") && tmx_span_has(head, "GPU ");
}

const struct tmx_log_format tmx_log_xpu_csv = {"xpu-smi dump", is_xpu, xpu_names, tmx_read_table};

/* The plain CSV: names in any case and order, the unit as the last word. */
static const struct tmx_alias plain_names[] = {
    {"run", TMX_COLUMN_RUN, 0, NULL},
    {"run_name", TMX_COLUMN_RUN, 1, NULL},
    {"test", TMX_COLUMN_RUN, 2, NULL},
    {"gpu_label", TMX_COLUMN_GPU, -1, NULL}, /* of thermix run, whose gpu is a place */
    {"gpu", TMX_COLUMN_GPU, 0, NULL},
    {"gpu_id", TMX_COLUMN_GPU, 0, NULL},
    {"gpu_index", TMX_COLUMN_GPU, 0, NULL},
    {"device_id", TMX_COLUMN_GPU, 1, NULL},
    {"index", TMX_COLUMN_GPU, 1, NULL},
    {"device", TMX_COLUMN_GPU, 1, NULL},
    {"card", TMX_COLUMN_GPU, 2, NULL},
    {"time", TMX_Q_TIME, 0, "s"},
    {"t", TMX_Q_TIME, 0, "s"},
    {"timestamp", TMX_Q_TIME, 1, "s"},
    {"time_stamp", TMX_Q_TIME, 1, "s"},
    {"datetime", TMX_Q_TIME, 1, "s"},
    {"date", TMX_Q_TIME, 2, "s"},
    {"elapsed", TMX_Q_TIME, 2, "s"},
    {"elapsed_time", TMX_Q_TIME, 2, "s"},
    {"power", TMX_Q_POWER, 0, "w"},
    {"pwr", TMX_Q_POWER, 0, "w"},
    {"gpu_power", TMX_Q_POWER, 0, "w"},
    {"chip_power", TMX_Q_POWER, 0, "w"},
    {"power_draw", TMX_Q_POWER, 1, "w"},
    {"board_power", TMX_Q_POWER, 1, "w"},
    {"watts", TMX_Q_POWER, 2, "w"},
    {"temp", TMX_Q_TEMP, 0, "c"},
    {"temperature", TMX_Q_TEMP, 0, "c"},
    {"gpu_temp", TMX_Q_TEMP, 0, "c"},
    {"gpu_temperature", TMX_Q_TEMP, 0, "c"},
    {"temperature_gpu", TMX_Q_TEMP, 0, "c"},
    {"die_temp", TMX_Q_TEMP, 0, "c"},
    {"measured", TMX_Q_TEMP, 2, "c"}, /* of thermix replay and calibrate */
    {"hottest", TMX_Q_TEMP, 2, "c"},  /* of thermix run */
    {"fan", TMX_Q_RPM, 0, "rpm"},
    {"rpm", TMX_Q_RPM, 0, "rpm"},
    {"fan_speed", TMX_Q_RPM, 0, "rpm"},
    {"inlet", TMX_Q_INLET, 0, "c"},
    {"inlet_temp", TMX_Q_INLET, 0, "c"},
    {"ambient", TMX_Q_INLET, 1, "c"},
    {"ambient_temp", TMX_Q_INLET, 1, "c"},
    {"air", TMX_Q_INLET, 2, "c"},
    {"clock", TMX_Q_CLOCK, 0, "mhz"},
    {"sm", TMX_Q_CLOCK, 0, "mhz"},
    {"sm_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"gpu_clock", TMX_Q_CLOCK, 0, "mhz"},
    {"util", TMX_Q_UTIL, 0, "pct"},
    {"gpu_util", TMX_Q_UTIL, 0, "pct"},
    {"utilization", TMX_Q_UTIL, 0, "pct"},
    {"hbm", TMX_Q_MEM_TEMP, 0, "c"},
    {"hbm_temp", TMX_Q_MEM_TEMP, 0, "c"},
    {"mem_temp", TMX_Q_MEM_TEMP, 0, "c"},
    {"memory_temp", TMX_Q_MEM_TEMP, 0, "c"},
    {"hot_spot", TMX_Q_HOT_SPOT, 0, "c"},
    {"hotspot", TMX_Q_HOT_SPOT, 0, "c"},
    {"volt", TMX_Q_VOLT, 0, "v"},
    {"voltage", TMX_Q_VOLT, 0, "v"},
    {0},
};

static bool is_plain(struct tmx_span head, const struct tmx_text_file *text)
{
    (void)head, (void)text;
    return true; /* the last one asked: says itself what it misses */
}

const struct tmx_log_format tmx_log_plain = {"plain CSV", is_plain, plain_names, tmx_read_table};
