/* SPDX-License-Identifier: GPL-3.0-or-later */
// The chip under powers, fan and air of the reader's choice, live.

class WhatIf {
  constructor(s, runs, player) {
    this.runs = runs;
    this.player = player;
    this.speed = 10;
    this.scale = scaleBar();
    this.mapBox = make("div", { class: "maps" });
    this.status = make("p", { class: "readout", role: "status", "aria-live": "polite" });
    this.trend = makeSvg("svg", { class: "trend", viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img" });
    this.line = makeSvg("polyline", { fill: "none" });
    this.trend.append(this.line);
    this.now = make("p", { class: "readout" });
    this.command = make("code");
    this.fans = make("p", { class: "note" });
    this.fan = this.slider("Fan", 0, 1, 1, () => this.setFan());
    this.air = this.slider("Air", -20, 70, 0.5, () => this.setAir());
    this.one = this.slider("Block", 0, 1, 0.01, (v) => this.setPower(this.selected, v));
    this.total = this.slider("All blocks", 0, 200, 1, (v) => this.setTotal(v / 100));
    this.list = make("div", { class: "list" });
    const every = make("details"), buttons = make("div", { class: "controls" }), sliders = make("div", { class: "sliders" });
    every.append(make("summary", {}, "The power of every block"), this.list);
    this.pause = button("Pause", () => this.setPaused(!this.paused), { id: "pause" });
    buttons.append(
      choice("Chip and powers of", runs.map(title), 0, (i) => this.open(i)).box, this.pause,
      choice("Time runs", ["as it does", "10 times as fast", "100 times as fast", "1000 times as fast"], 1, (i) => { this.speed = 10 ** i; }).box,
      button("Equilibrium", () => this.settle(), { id: "settle" }),
      button("Powers of the picture above", () => this.setPowers(powersAt(this.run, frameAt(this.run, player.time())), "The powers of the picture")),
      button("Mean powers of the run", () => this.setPowers(this.mean, "The run's mean powers")),
      button("Save these powers", () => this.save()));
    sliders.append(this.fan.box, this.air.box, this.total.box, this.one.box);
    s.append(make("p", {}, "Choose a block and change its power, drag one block onto another to exchange their powers, turn the fan, warm the air. " +
      "With the keyboard: arrows go from block to block, + and - change its power, x on two blocks exchanges them."), buttons, sliders,
      this.scale.box, this.now, this.status, this.mapBox, this.trend, every,
      make("p", { class: "note" }, "This is the run's thermal model and it alone: powers are what you set (leakage does not follow the temperature), nobody schedules or throttles. The same numbers come from"), this.command, this.fans);
    this.open(0);
  }

  slider(name, min, max, step, moved) {
    const input = make("input", { type: "range", min, max, step }), says = make("output"), text = make("span", {}, name);
    const box = make("label");
    box.append(text, input, says);
    input.addEventListener("input", () => moved(Number(input.value)));
    return { box, input, says, text };
  }

  set(slider, value, says) {
    slider.input.value = value;
    slider.says.textContent = says;
    slider.input.setAttribute("aria-valuetext", says);
  }

  open(which) {
    this.run = this.runs[which];
    this.scale.set(SCALE.low, SCALE.high, this.run.limit_c);
    this.data = data.models[this.run.model];
    this.model = new Model(this.data);
    const n = this.run.units.length, frames = measured(this.run);
    this.mean = this.run.units.map((_, u) => frames.reduce((sum, f) => sum + this.run.power_cw[f * n + u], 0) / frames.length / 100);
    this.most = this.data.most_w;
    this.map = new ChipMap(this.run.units, title(this.run) + ", what if", (i) => this.select(i));
    this.map.blocks.forEach((b, i) => this.listen(b.rect, i));
    this.mapBox.replaceChildren(this.map.element);
    this.fans.textContent = this.data.fans ? "The run's fans and the air between its GPUs changed its cooling; the levels here are about that of a middle fan speed, so temperatures may differ from the run's." : "";
    this.map.element.classList.add("live");
    this.rows = this.run.units.map((u, i) => this.slider(u.name, 0, this.most[i], this.most[i] / 1000, (v) => { this.select(i); this.setPower(i, v); }));
    this.list.replaceChildren(...this.rows.map((r) => r.box));
    this.fan.input.max = this.model.r_convec.length - 1;
    this.picked = null;
    this.selected = 0;
    this.set(this.fan, this.model.level, this.fanSays());
    this.set(this.air, (this.model.ambient_k - 273.15).toFixed(1), `${(this.model.ambient_k - 273.15).toFixed(1)} °C`);
    this.setPowers(this.mean, "Started in equilibrium under the run's mean powers");
    this.select(this.selected);
    this.settle();
    this.select(hottestOf(this.model.temps()));
    this.setPaused(false);
  }

  fanSays() {
    return `level ${this.model.level + 1} of ${this.model.r_convec.length}: ${this.model.r_convec[this.model.level].toFixed(4)} K/W to the air`;
  }

  setFan() {
    this.model.setLevel(Number(this.fan.input.value));
    this.set(this.fan, this.model.level, this.fanSays());
    this.wake();
  }

  setAir() {
    const air_c = Number(this.air.input.value);
    this.model.setAmbient(air_c + 273.15);
    this.set(this.air, air_c, `${air_c.toFixed(1)} °C`);
    this.wake();
  }

  setPower(i, watts) {
    this.power[i] = Math.min(this.most[i], Math.max(0, watts));
    this.base = this.power.slice();
    this.showPowers();
  }

  setPowers(powers, why) {
    this.power = Float64Array.from(powers);
    this.base = this.power.slice();
    this.status.textContent = why + ".";
    this.showPowers();
  }

  setTotal(factor) {
    this.power = this.base.map((p) => p * factor);
    this.showPowers(factor);
  }

  exchange(i, j) {
    [this.power[i], this.power[j]] = [this.power[j], this.power[i]];
    this.base = this.power.slice();
    this.status.textContent = `${this.run.units[i].name} and ${this.run.units[j].name} have exchanged their powers.`;
    this.showPowers();
  }

  showPowers(factor = 1) {
    const total = this.power.reduce((sum, p) => sum + p, 0);
    this.power.forEach((p, i) => this.set(this.rows[i], p, `${p.toFixed(2)} W`));
    this.set(this.total, 100 * factor, `${total.toFixed(1)} W`);
    this.select(this.selected);
    this.wake();
  }

  select(i) {
    if (this.map.blocks[this.selected]) this.map.blocks[this.selected].rect.classList.remove("selected");
    this.selected = i;
    this.map.blocks[i].rect.classList.add("selected");
    this.one.text.textContent = `Block ${this.run.units[i].name}`;
    this.one.input.max = this.most[i];
    this.set(this.one, this.power[i], `${this.power[i].toFixed(2)} W`);
  }

  listen(rect, i) {
    const from = (e) => document.elementsFromPoint(e.clientX, e.clientY).map((at) => this.map.blocks.findIndex((b) => b.rect === at)).find((j) => j >= 0);
    rect.addEventListener("pointerdown", (e) => { this.picked = i; this.select(i); if (rect.hasPointerCapture(e.pointerId)) rect.releasePointerCapture(e.pointerId); });
    rect.addEventListener("pointerup", (e) => {
      const to = from(e);
      if (this.picked !== null && to !== undefined && to !== this.picked) this.exchange(this.picked, to);
      this.picked = null;
    });
    rect.addEventListener("keydown", (e) => {
      const change = { "+": 1, "=": 1, "-": -1 }[e.key];
      if (change) this.setPower(i, this.power[i] + change * 0.02 * this.most[i]);
      if (e.key !== "x") return;
      if (this.picked === null) {
        this.picked = i;
        this.status.textContent = `${this.run.units[i].name} is picked; x on another block exchanges their powers.`;
      } else {
        if (this.picked !== i) this.exchange(this.picked, i);
        this.picked = null;
      }
    });
  }

  setPaused(paused) {
    this.paused = paused;
    this.pause.textContent = paused ? "Go on" : "Pause";
    this.wake();
  }

  settle() {
    this.model.settle(this.power);
    this.history = [];
    this.wake();
  }

  // Frames are drawn as long as something moves.
  wake() {
    this.last = null;
    if (!this.frame) this.frame = requestAnimationFrame((t) => this.tick(t));
  }

  tick(time_ms) {
    const before = this.model.temps();
    if (!this.paused && this.last !== null) this.model.step((this.speed * Math.min(100, time_ms - this.last)) / 1000, this.power);
    const first = this.last === null;
    this.last = time_ms;
    const temps = this.show();
    const moved = Math.max(...temps.map((t, i) => Math.abs(t - before[i])));
    this.frame = first || (!this.paused && moved > 1e-4) ? requestAnimationFrame((t) => this.tick(t)) : null;
  }

  show() {
    const temps_k = this.model.temps(), temps = Array.from(temps_k, (t) => t - 273.15);
    const still = Array.from(this.model.temps(this.model.equilibrium(this.power), this.power), (t) => t - 273.15);
    const peak = hottestOf(temps), last = hottestOf(still), { low, high } = SCALE;
    const name = (i) => this.run.units[i].name, limit = this.run.limit_c;
    this.map.show(temps, low, high, (i) => `${name(i)}: ${temps[i].toFixed(2)} °C, ${this.power[i].toFixed(2)} W`);
    this.map.heading.textContent = `${title(this.run)}, what if`;
    this.now.textContent = `Hottest now: ${name(peak)} ${temps[peak].toFixed(2)} °C. In equilibrium: ${name(last)} ${still[last].toFixed(2)} °C` +
      (limit === undefined ? "." : `, ${Math.abs(limit - still[last]).toFixed(1)} K ${still[last] > limit ? "above" : "below"} the run's limit of ${limit} °C.`);
    this.history = [...this.history, temps[peak]].slice(-300);
    this.line.setAttribute("points", this.history.map((t, i) => `${i},${(60 - (58 * (t - low)) / (high - low)).toFixed(1)}`).join(" "));
    this.trend.setAttribute("aria-label", `The hottest block over time, now ${temps[peak].toFixed(1)} degrees Celsius`);
    const { of } = this.run, gpu = 0;
    this.command.textContent = `thermix thermal -c ${of}/thermal.config -f ${of}/floorplan_gpu${gpu}.flp -p what-if.ptrace` +
      `${this.data.physical ? " --network physical" : ""} -r_convec ${this.model.r_convec[this.model.level]} -ambient ${+this.model.ambient_k.toFixed(4)}`;
    return temps;
  }

  ptrace() {
    return this.run.units.map((u) => u.name).join("\t") + "\n" + Array.from(this.power).join("\t") + "\n";
  }

  save() {
    const a = make("a", { href: URL.createObjectURL(new Blob([this.ptrace()])), download: "what-if.ptrace" });
    a.click();
    URL.revokeObjectURL(a.href);
  }
}
