/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_HOTSPOT_CONFIG_H
#define TMX_THERMAL_FILES_HOTSPOT_CONFIG_H

/* HotSpot's options, by their names, from `-name value` files and from the command line.
 * Names ignore case; the first occurrence of a name wins, so what is read first (the
 * command line) beats what is read later (the files). Format: docs/formats.md. */

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"
#include "thermal/assembly/spec.h"
#include "thermal/files/package.h"

enum tmx_hotspot_source {
    TMX_HOTSPOT_DEFAULT,
    TMX_HOTSPOT_COMMAND_LINE,
    TMX_HOTSPOT_CONFIG,  /* -c */
    TMX_HOTSPOT_PACKAGE, /* -package_config_file: the keys of the fan and sink only */
    TMX_HOTSPOT_SOURCES,
};

enum { TMX_HOTSPOT_PATH = 512, TMX_HOTSPOT_MAX_KEYS = 120, TMX_HOTSPOT_PLACES = TMX_HOTSPOT_SOURCES + 8 };

enum tmx_hotspot_model { TMX_HOTSPOT_BLOCK, TMX_HOTSPOT_GRID };
enum { TMX_HOTSPOT_LATERAL_FLOW, TMX_HOTSPOT_IMPINGING_FLOW };
enum { TMX_HOTSPOT_PLATE_FINS, TMX_HOTSPOT_PIN_FINS };

/* A field per key, named as the key but for those of package and fan; units are in the rows of
 * tmx_hotspot_opts. */
struct tmx_hotspot_config {
    /* chip, interface, spreader, sink */
    double t_chip, k_chip, p_chip, t_interface, k_interface, p_interface;
    struct tmx_package package;
    double r_below;            /* ours: a film on the face away from the sink; 0: none */
    double k_filler, p_filler; /* ours: of what the floorplan leaves of the die; k_filler 0: no gaps */
    /* secondary path; n_metal, s_c4, n_c4 do nothing in HotSpot either */
    bool model_secondary;
    double r_convec_sec, c_convec_sec, t_metal, t_c4, s_sub, t_sub, s_solder, t_solder, s_pcb, t_pcb;
    char material_filler[64], material_chip[64], material_interface[64], material_spreader[64],
        material_sink[64];
    char materials_file[TMX_HOTSPOT_PATH];
    /* environment, start */
    double ambient, init_temp, thermal_threshold;
    bool dtm_used;
    /* time, grid */
    double sampling_intvl;
    int model_type, grid_rows, grid_cols, grid_map_mode; /* grid_map_mode: enum tmx_map_mode */
    int detailed_3D;
    bool use_microchannels, use_microfluidic_cooling; /* the one or the other */
    /* leakage */
    bool leakage_used;
    int leakage_mode;
    /* fan and sink fins; a cold plate (ours) */
    bool package_model_used, natural_convec, cold_plate;
    int flow_type, sink_type;
    struct tmx_fan_sink fan; /* what the sink and the keys above say is not filled in */
    double plate_flow;
    bool block_omit_lateral;
    double pumping_pressure, pump_internal_res, inlet_temperature, htc; /* HotSpot's micro-channels */
    double coolant_capac, coolant_res, coolant_visc, wall_capac, wall_res;
    char coolant_material[64], wall_material[64];
    double coolant_inlet, coolant_flow,
        coolant_limit; /* ours, of channels in the stack; 0: as the layers have it */
    /* files, "" for none */
    char f[TMX_HOTSPOT_PATH], p[TMX_HOTSPOT_PATH], o[TMX_HOTSPOT_PATH], d[TMX_HOTSPOT_PATH];
    char init_file[TMX_HOTSPOT_PATH], steady_file[TMX_HOTSPOT_PATH], grid_steady_file[TMX_HOTSPOT_PATH];
    char grid_transient_file[TMX_HOTSPOT_PATH], all_transient_file[TMX_HOTSPOT_PATH],
        grid_layer_file[TMX_HOTSPOT_PATH];
    char package_config_file[TMX_HOTSPOT_PATH];

    struct tmx_hotspot_origin { /* where each row's value came from */
        enum tmx_hotspot_source source;
        unsigned place; /* which of the names below */
        unsigned line;
    } origin[TMX_HOTSPOT_MAX_KEYS];
    char source[TMX_HOTSPOT_PLACES][TMX_HOTSPOT_PATH]; /* names for messages: of each source, then of others
                                                          that tmx_hotspot_config_set_from was given */
    char ignored[1024]; /* keys given that HotSpot knows and we do not model, blank separated */
    char repeated[256]; /* keys that one source gave more than once; its first counts */
    char dropped[256];  /* keys that tmx_hotspot_config_drop took back */
    unsigned commented[TMX_HOTSPOT_MAX_KEYS]; /* the config file's line `# -name number` of each row, or 0 */
};

/* The next key from *row on that the command line gives and the others leave without an effect. Or commented:
 * the next quantity that a comment of the config file names and nothing gives, so that its default counts;
 * one that the others leave without an effect is passed by. NULL: no other. */
const struct tmx_opt *tmx_hotspot_config_next(const struct tmx_hotspot_config *cfg, bool commented,
                                              size_t *row);

/* HotSpot reads a few keys from the command line alone: take back what a config file gave of them. */
void tmx_hotspot_config_drop(struct tmx_hotspot_config *cfg);

/* Is the film of this resistance on so large an area one of air or liquid? TMX_OK, perhaps with a warning, or
 * TMX_ECONFIG at the place of the key. A default is passed by. */
enum tmx_status tmx_hotspot_config_film(const struct tmx_hotspot_config *cfg, const char *key, double k_per_w,
                                        double area_m2, struct tmx_err *err);

/* Every key that is modelled; {0}-terminated. */
extern const struct tmx_opt tmx_hotspot_opts[];

/* All defaults. They are HotSpot's but for model_type (grid) and grid_map_mode (area). */
void tmx_hotspot_config_init(struct tmx_hotspot_config *cfg);

/* Is this (without its dash, any case) one of HotSpot's option names? */
bool tmx_hotspot_config_knows(const char *name);
bool tmx_hotspot_config_is_file(const char *name); /* does its value name a file to be read? */
/* The known name nearest to name; NULL when none is near. */
const char *tmx_hotspot_config_nearest(const char *name);

/* Set one option unless an earlier occurrence did. "(null)" is no file. A key that is not
 * modelled is noted in ignored. Errors (TMX_ECONFIG): unknown name, naming the nearest
 * known one; a value that is no number, out of bounds, or a temperature in degrees C. */
enum tmx_status tmx_hotspot_config_set(struct tmx_hotspot_config *cfg, const char *name, const char *value,
                                       enum tmx_hotspot_source source, unsigned line, struct tmx_err *err);

/* The same as on a command line, of which a part comes from the file of this name. */
enum tmx_status tmx_hotspot_config_set_from(struct tmx_hotspot_config *cfg, const char *name,
                                            struct tmx_scalar value, const char *file, unsigned line,
                                            struct tmx_err *err);

/* Read a file of `-name value` lines; `#` starts a comment line, the rest of a line after
 * the value is ignored. Errors: TMX_EIO, TMX_ECONFIG with file:line. */
enum tmx_status tmx_hotspot_config_read(struct tmx_hotspot_config *cfg, const char *path,
                                        enum tmx_hotspot_source source, struct tmx_err *err);

/* Read the config file (NULL, "(null)": none), and the package file that it or the command line names. */
enum tmx_status tmx_hotspot_config_read_files(struct tmx_hotspot_config *cfg, const char *config,
                                              struct tmx_err *err);

/* Write all options as `-name value` lines that tmx_hotspot_config_read reads back equal. */
void tmx_hotspot_config_print(const struct tmx_hotspot_config *cfg, FILE *out);

bool tmx_hotspot_config_given(const struct tmx_hotspot_config *cfg, const char *key);

/* Of two keys that do not go together: the one that was given closer to the user (b when alike). */
const char *tmx_hotspot_config_closer(const struct tmx_hotspot_config *cfg, const char *a, const char *b);

/* Fail at the place where key was given ("command line", file:line, or nowhere). */
enum tmx_status tmx_hotspot_config_fail(const struct tmx_hotspot_config *cfg, const char *key,
                                        struct tmx_err *err, const char *fmt, ...) TMX_PRINTF(4, 5);

/* A file that key names could not be read: where the error has no line, it gets that of key, if a file gave
 * it. Returns st. */
enum tmx_status tmx_hotspot_config_locate(const struct tmx_hotspot_config *cfg, const char *key,
                                          enum tmx_status st, struct tmx_err *err);

#endif
