/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools whose logs are read, one row each: what its first line has, how the rest is read, and what the
 * columns are called. */
#include <string.h>

#include "measure/log/collect.h"

/* `nvidia-smi --help-query-gpu` */
static const struct tmx_alias nvidia_csv[] = {
    TMX_NAMES(TMX_Q_TIME, "timestamp"),
    TMX_NAMES(TMX_COLUMN_GPU, "index"),
    TMX_NAMES(TMX_COLUMN_UUID, "uuid|gpu_uuid; gpu_bus_id|pci_bus_id"),
    TMX_NAMES(TMX_Q_POWER, "power_draw_instant; power_draw; power_draw_average"),
    TMX_NAMES(TMX_Q_TEMP, "temperature_gpu"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "temperature_memory"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fan_speed"),
    TMX_NAMES(TMX_Q_CLOCK, "clocks_current_sm|clocks_sm; clocks_current_graphics|clocks_gr"),
    TMX_NAMES(TMX_Q_UTIL, "utilization_gpu"),
    {0},
};

/* nvidia-smi -q, as log_shape.c makes a table of it: the section and the name in it. */
static const struct tmx_alias nvidia_q[] = {
    TMX_NAMES(TMX_COLUMN_GPU, "gpu"),
    TMX_NAMES(TMX_Q_TIME, "timestamp"),
    TMX_NAMES(TMX_Q_POWER,
              "gpu_power_readings_instantaneous_power_draw|power_readings_instantaneous_power_draw; "
              "gpu_power_readings_power_draw|power_readings_power_draw; "
              "gpu_power_readings_average_power_draw|power_readings_average_power_draw"),
    TMX_NAMES(TMX_Q_TEMP, "temperature_gpu_current_temp"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "temperature_memory_current_temp"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fan_speed"),
    TMX_NAMES(TMX_Q_CLOCK, "clocks_sm"),
    TMX_NAMES(TMX_Q_UTIL, "utilization_gpu"),
    {0},
};

static const struct tmx_alias nvidia_dmon[] = {
    TMX_NAMES(TMX_COLUMN_GPU, "gpu"),
    TMX_NAMES(TMX_Q_POWER, "pwr"),
    TMX_NAMES(TMX_Q_TEMP, "gtemp; temp"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "mtemp"),
    TMX_NAMES(TMX_Q_UTIL, "sm"),
    TMX_NAMES(TMX_Q_CLOCK, "pclk"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fan"),
    TMX_NAMES(TMX_Q_TIME, "date"),
    TMX_NAMES(TMX_COLUMN_CLOCK_TIME, "time"),
    {0},
};

/* `dcgmi dmon -l` */
static const struct tmx_alias dcgm_dmon[] = {
    TMX_NAMES(TMX_COLUMN_GPU, "entity"),      TMX_NAMES(TMX_Q_POWER, "pwins|powin; power"),
    TMX_NAMES(TMX_Q_TEMP, "tmptr"),           TMX_NAMES(TMX_Q_MEM_TEMP, "mmtmp"),
    TMX_NAMES(TMX_Q_CLOCK, "smclk"),          TMX_NAMES(TMX_Q_UTIL, "gputl"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fanspd|fansp"), {0},
};

/* Metrics of dcgm-exporter, of nvidia_gpu_exporter and of AMD's device-metrics-exporter. */
static const struct tmx_alias prometheus[] = {
    TMX_NAMES(TMX_Q_POWER, "dcgm_fi_dev_power_usage_instant|nvidia_smi_power_draw_instant|gpu_package_power; "
                           "dcgm_fi_dev_power_usage|nvidia_smi_power_draw|gpu_average_package_power"),
    TMX_NAMES(
        TMX_Q_TEMP,
        "dcgm_fi_dev_gpu_temp|nvidia_smi_temperature_gpu|gpu_edge_temperature; gpu_junction_temperature"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "dcgm_fi_dev_memory_temp|nvidia_smi_temperature_memory|gpu_memory_temperature"),
    TMX_NAMES(TMX_Q_CLOCK, "dcgm_fi_dev_sm_clock"),
    {TMX_Q_CLOCK, "nvidia_smi_clocks_current_sm_clock", "hz"},
    TMX_NAMES(TMX_Q_UTIL, "dcgm_fi_dev_gpu_util"),
    TMX_NAMES(TMX_Q_FAN_PCT, "dcgm_fi_dev_fan_speed"),
    {0},
};

/* GPU-Z's sensor log. The chip's own watts, where there are any, are nearer to what heats its sensor than the
 * board's. "Power Consumption (W) [W]" has its unit twice. */
static const struct tmx_alias gpuz[] = {
    TMX_NAMES(TMX_Q_TIME, "date"),
    TMX_NAMES(TMX_Q_TEMP, "gpu_temperature"),
    TMX_NAMES(TMX_Q_HOT_SPOT, "hot_spot|gpu_temperature_hot_spot"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "memory_temperature"),
    TMX_NAMES(TMX_Q_POWER,
              "gpu_chip_power_draw|gpu_only_power_draw; gpu_power|board_power_draw|power_consumption_w"),
    TMX_NAMES(TMX_Q_RPM, "fan_speed_rpm|fan_1_speed_rpm; fan_speed"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fan_speed_%|fan_1_speed_%"),
    TMX_NAMES(TMX_Q_CLOCK, "gpu_clock|gpu_core_clock"),
    TMX_NAMES(TMX_Q_UTIL, "gpu_load"),
    TMX_NAMES(TMX_Q_VOLT, "gpu_voltage|vddc"),
    {0},
};

/* amd-smi monitor --csv and amd-smi metric --csv. Parts without an edge sensor give the hot spot alone. */
static const struct tmx_alias amd_csv[] = {
    TMX_NAMES(TMX_Q_TIME, "timestamp"),
    TMX_NAMES(TMX_COLUMN_GPU, "gpu"),
    TMX_NAMES(TMX_Q_POWER, "power_usage|socket_power; average_socket_power"),
    TMX_NAMES(TMX_Q_TEMP, "edge|edge_temperature; hotspot|hotspot_temperature"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "memory_temperature; mem"),
    TMX_NAMES(TMX_Q_CLOCK, "gfx_clock|gfx_clk|gfx_0_clk"),
    TMX_NAMES(TMX_Q_UTIL, "gfx_util|gfx_activity; gfx"),
    {TMX_Q_VOLT, "gfx_voltage", "mv"},
    TMX_NAMES(TMX_Q_RPM, "rpm|fan_rpm"),
    {0},
};

/* rocm-smi --showpower --showtemp --csv, and its --json. */
static const struct tmx_alias rocm_csv[] = {
    TMX_NAMES(TMX_COLUMN_GPU, "device"),
    TMX_NAMES(TMX_Q_POWER, "current_socket_graphics_package_power; average_graphics_package_power"),
    TMX_NAMES(TMX_Q_TEMP, "temperature_sensor_edge; temperature_sensor_junction"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "temperature_sensor_memory"),
    TMX_NAMES(TMX_Q_UTIL, "gpu_use"),
    TMX_NAMES(TMX_Q_FAN_PCT, "fan_speed"),
    TMX_NAMES(TMX_Q_RPM, "fan_rpm"),
    {0},
};

/* xpu-smi dump -m 0,1,3,... */
static const struct tmx_alias xpu_csv[] = {
    TMX_NAMES(TMX_Q_TIME, "timestamp"),
    TMX_NAMES(TMX_COLUMN_GPU, "deviceid"),
    TMX_NAMES(TMX_Q_POWER, "gpu_power"),
    TMX_NAMES(TMX_Q_TEMP, "gpu_core_temperature"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "gpu_memory_temperature"),
    TMX_NAMES(TMX_Q_CLOCK, "gpu_frequency"),
    TMX_NAMES(TMX_Q_UTIL, "gpu_utilization"),
    {0},
};

/* The plain CSV: names in any case and order, the unit as the last word. gpu_label and hottest are thermix
 * run's, whose gpu is a place; measured is thermix replay's and calibrate's. DCGM's fields are what scripts
 * around dcgm-exporter write. */
static const struct tmx_alias plain[] = {
    TMX_NAMES(TMX_COLUMN_RUN, "run; run_name; test"),
    TMX_NAMES(TMX_COLUMN_GPU, "gpu_label; gpu|gpu_id|gpu_index; device_id|index|device; card"),
    TMX_NAMES(TMX_Q_TIME, "time|t; timestamp|time_stamp|datetime; date|elapsed|elapsed_time"),
    TMX_NAMES(TMX_Q_POWER, "power|pwr|gpu_power|chip_power; power_draw|board_power; watts; "
                           "dcgm_fi_dev_power_usage_instant; dcgm_fi_dev_power_usage"),
    TMX_NAMES(TMX_Q_TEMP,
              "temp|temperature|gpu_temp|gpu_temperature|temperature_gpu|die_temp; measured|hottest; "
              "dcgm_fi_dev_gpu_temp"),
    TMX_NAMES(TMX_Q_RPM, "fan|rpm|fan_speed"),
    TMX_NAMES(TMX_Q_INLET, "inlet|inlet_temp; ambient|ambient_temp; air"),
    TMX_NAMES(TMX_Q_CLOCK, "clock|sm|sm_clock|gpu_clock; dcgm_fi_dev_sm_clock"),
    TMX_NAMES(TMX_Q_UTIL, "util|gpu_util|utilization; dcgm_fi_dev_gpu_util"),
    TMX_NAMES(TMX_Q_MEM_TEMP, "hbm|hbm_temp|mem_temp|memory_temp; dcgm_fi_dev_memory_temp"),
    TMX_NAMES(TMX_Q_HOT_SPOT, "hot_spot|hotspot"),
    TMX_NAMES(TMX_Q_VOLT, "volt|voltage"),
    {0},
};

const struct tmx_log_format tmx_log_formats[] = {
    {"dcgmi dmon", NULL, dcgm_dmon, tmx_read_blank_table},
    {"nvidia-smi dmon", "^#&gpu&pwr|sm", nvidia_dmon, tmx_read_blank_table},
    {"dcgm-exporter", NULL, prometheus, tmx_read_prometheus},
    {"nvidia-smi --query-gpu", "power.draw|temperature.gpu|utilization.gpu", nvidia_csv, tmx_read_table},
    {"nvidia-smi -q", "Temperature GPU Current Temp|Power Readings ", nvidia_q, tmx_read_table},
    {"GPU-Z sensor log", "Date&GPU Temperature [|GPU Clock [|GPU Core Clock [", gpuz, tmx_read_table},
    {"rocm-smi", "Graphics Package Power|Temperature (Sensor", rocm_csv, tmx_read_table},
    {"amd-smi --csv", "power_usage|socket_power&hotspot|edge|gfx", amd_csv, tmx_read_table},
    {"xpu-smi dump", "DeviceId&GPU ", xpu_csv, tmx_read_table},
    {"plain CSV", "", plain, tmx_read_table}, /* says itself what it misses */
    {0},
};

/* Does the head have a word of each of the parts between "&"? "^" is its begin. */
static bool has_all(struct tmx_span head, const char *signature)
{
    bool all = true, any = *signature == '\0';
    for (const char *p = signature; all && *p; p += strspn(p, "|&")) {
        char word[40];
        const bool begin = *p == '^';
        const size_t n = strcspn(p, "|&");
        tmx_assert(n < sizeof word);
        memcpy(word, p + begin, n - begin);
        word[n - begin] = '\0';
        any = any || (begin ? head.begin < head.end && *head.begin == word[0] : tmx_span_has(head, word));
        p += n;
        all = *p == '|' || any;
        any = *p == '|' && any;
    }
    return all;
}

const struct tmx_log_format *tmx_log_format_of(struct tmx_span head, const struct tmx_text_file *text)
{
    const struct tmx_log_format *f = tmx_log_formats;
    struct tmx_span rest = tmx_span_trim(head), word;
    rest.begin += rest.begin < rest.end && *rest.begin == '#' ? 1 : tmx_span_length(rest);
    const bool entity = tmx_span_field(&rest, &word) && tmx_span_is(word, "Entity");
    while (!(f->signature                     ? has_all(head, f->signature)
             : f->read == tmx_read_prometheus ? tmx_is_prometheus(text)
                                              : entity)) {
        f++;
    }
    return f;
}
