/* SPDX-License-Identifier: GPL-3.0-or-later */
"use strict";
// The reduced thermal model of a chip, stepped exactly: the equations of docs/models.md, Reduced model, in the
// arrays of docs/formats.md, Report. Powers in W, temperatures in K, one entry a block.

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

class Model {
  constructor(m) {
    this.k = m.modes;
    this.n = m.most_w.length;
    this.r_convec = m.r_convec;
    this.ambient_k = m.ambient_k;
    this.level = (m.r_convec.length - 1) / 2;
    for (const name of ["rate", "vector", "back", "in", "out", "direct", "one"]) this[name] = floats(m[name]);
    this.z = new Float64Array(this.k); // the state, in the modes of the present fan level
    this.power_w = new Float64Array(this.n); // of the last step or equilibrium
  }

  // The chip stays as warm as it is, here and in setAmbient.
  setLevel(level) {
    const x = this.fromModes(this.z);
    this.level = level;
    this.z = this.toModes(x);
  }

  // A state in coordinates that all fan levels share, in the modes of the present one, and back.
  toModes(x, rows = this.back) {
    const { k } = this, z = new Float64Array(k);
    for (let i = 0, at = this.level * k * k; i < k; i++) {
      let sum = 0;
      for (let r = 0; r < k; r++) sum += rows[at++] * x[r];
      z[i] = sum;
    }
    return z;
  }

  fromModes(z) {
    const { k, vector } = this, x = new Float64Array(k);
    for (let i = 0, at = this.level * k * k; i < k; i++) for (let r = 0; r < k; r++) x[r] += vector[at++] * z[i];
    return x;
  }

  equilibrium(power_w) {
    const f = new Float64Array(this.k);
    for (let u = 0, at = 0; u < this.n; u++) for (let r = 0; r < this.k; r++) f[r] += this.in[at++] * power_w[u];
    return this.toModes(f, this.vector);
  }

  // Exact for powers that are constant over the step.
  step(dt_s, power_w) {
    const end = this.equilibrium(power_w), first = this.level * this.k;
    this.z = this.z.map((z, i) => {
      const x = -this.rate[first + i] * dt_s;
      return Math.exp(x) * z - Math.expm1(x) * end[i];
    });
    this.power_w = Float64Array.from(power_w);
  }

  settle(power_w) {
    this.z = this.equilibrium(power_w);
    this.power_w = Float64Array.from(power_w);
  }

  uniform(temp_k) {
    return this.toModes(this.one).map((one) => one * (temp_k - this.ambient_k));
  }

  setAmbient(ambient_k) {
    const one = this.toModes(this.one);
    this.z = this.z.map((z, i) => z - (ambient_k - this.ambient_k) * one[i]);
    this.ambient_k = ambient_k;
  }

  temps(z = this.z, power_w = this.power_w) {
    const { n } = this, t = new Float64Array(n), q = this.fromModes(z);
    for (let u = 0, at = 0; u < n; u++) {
      let sum = this.ambient_k;
      for (let r = 0; r < this.k; r++) sum += this.out[at++] * q[r];
      for (let v = 0; v < n; v++) sum += this.direct[v * n + u] * power_w[v];
      t[u] = sum;
    }
    return t;
  }
}
