/* The resolved configuration of a run: every key with its value, readable by tmx_run_open. */
#include "cli/run_jobs.h"
#include "cli/run_state.h"

#include "core/base/text.h"

static void write_group(const char *group, const struct tmx_plugin *p, const void *state, FILE *out)
{
    if (!p) {
        return;
    }
    fprintf(out, "%s = {\n    policy = \"%s\";\n", group, p->name);
    if (p->opts) {
        tmx_opt_write(p->opts, state, "    ", out);
    }
    fprintf(out, "};\n");
}

static void write_package(const struct tmx_hotspot_config *cfg, FILE *out)
{
    fprintf(out, "package = {\n");
    for (const struct tmx_opt *o = tmx_hotspot_opts; o->key; o++) {
        const struct tmx_opt row[2] = {*o, {0}};
        if (o->type == TMX_OPT_REAL && cfg->origin[o - tmx_hotspot_opts].source != TMX_HOTSPOT_DEFAULT) {
            tmx_opt_write(row, cfg, "    ", out);
        }
    }
    fprintf(out, "};\n");
}

void tmx_run_write_resolved(const struct tmx_run *r, FILE *out)
{
    const struct tmx_sim_spec *s = &r->sim_spec;
    tmx_opt_write(tmx_run_opts, &r->options, "", out);
    if (r->jobs) {
        tmx_run_jobs_write(r, out);
    }
    write_group("place", &s->place.ops->base, s->place.state, out);
    write_group("mix_policy", &s->mix.ops->base, s->mix.state, out);
    write_group("dtm", &s->dtm.ops->base, s->dtm.state, out);
    write_group("throttle", &s->safety.ops->base, s->safety.state, out);
    write_group("tb", &s->tb.ops->base, s->tb.state, out);
    fprintf(out, "sensor = {\n");
    tmx_opt_write(tmx_sensor_opts, &s->sensor, "    ", out);
    fprintf(out, "};\nchip_power = {\n");
    tmx_chip_write_power(&r->chip, "    ", out);
    fprintf(out, "};\n");
    write_package(&r->package, out);
    fprintf(out, "thermal = {\n");
    if (r->thermal.ops->base.opts) {
        tmx_opt_write(r->thermal.ops->base.opts, r->thermal.options, "    ", out);
    }
    fprintf(out, "};\n");
}
