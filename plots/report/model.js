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
    for (const name of ["rate", "vector", "in", "out", "one"]) this[name] = floats(m[name]);
    this.z = new Float64Array(this.k); // the state, in the modes of the present fan level
  }

  // The chip stays as warm as it is, here and in setAmbient.
  setLevel(level) {
    const x = this.fromModes(this.z);
    this.level = level;
    this.z = this.toModes(x);
  }

  // A vector of the basis in the modes of the present fan level, and back.
  toModes(x) {
    const { k, vector } = this, z = new Float64Array(k);
    for (let i = 0, at = this.level * k * k; i < k; i++) {
      let sum = 0;
      for (let r = 0; r < k; r++) sum += vector[at++] * x[r];
      z[i] = sum;
    }
    return z;
  }

  fromModes(z) {
    const { k, vector } = this, x = new Float64Array(k);
    for (let i = 0, at = this.level * k * k; i < k; i++) for (let r = 0; r < k; r++) x[r] += vector[at++] * z[i];
    return x;
  }

  heating(power_w) {
    const f = new Float64Array(this.k);
    for (let u = 0, at = 0; u < this.n; u++) for (let r = 0; r < this.k; r++) f[r] += this.in[at++] * power_w[u];
    return this.toModes(f);
  }

  // Exact for powers that are constant over the step.
  step(dt_s, power_w) {
    const f = this.heating(power_w), first = this.level * this.k;
    this.z = this.z.map((z, i) => {
      const rate = this.rate[first + i];
      return Math.exp(-rate * dt_s) * z - (Math.expm1(-rate * dt_s) / rate) * f[i];
    });
  }

  equilibrium(power_w) {
    const first = this.level * this.k;
    return this.heating(power_w).map((f, i) => f / this.rate[first + i]);
  }

  uniform(temp_k) {
    return this.toModes(this.one).map((one) => one * (temp_k - this.ambient_k));
  }

  setAmbient(ambient_k) {
    const one = this.toModes(this.one);
    this.z = this.z.map((z, i) => z - (ambient_k - this.ambient_k) * one[i]);
    this.ambient_k = ambient_k;
  }

  temps(z = this.z) {
    const t = new Float64Array(this.n), q = this.fromModes(z);
    for (let u = 0, at = 0; u < this.n; u++) {
      let sum = this.ambient_k;
      for (let r = 0; r < this.k; r++) sum += this.out[at++] * q[r];
      t[u] = sum;
    }
    return t;
  }
}
