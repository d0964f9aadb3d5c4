// The settings of a machine as switches, sliders and choices.

import { el, fill, words } from "./dom.js";

/** A Panel draws settings and remembers which were changed. */
export class Panel {
  constructor(node) {
    this.node = node;
    this.changed = {};
  }

  draw(settings, current) {
    this.changed = {};
    current ??= {};
    fill(this.node, settings.length ? settings.map((s) => this.row(s, current[s.name] ?? s.default)) : el("p.quiet", "This machine has no settings."));
  }

  /** take gives the changed settings once: from then on they hold. */
  take() {
    const out = this.changed;
    this.changed = {};
    return Object.keys(out).length ? out : undefined;
  }

  row(s, value) {
    const set = (v) => { this.changed[s.name] = v; };
    const label = s.label || words(s.name);
    if (s.type === "bool") {
      return el("label.switch", el("input", { type: "checkbox", role: "switch", checked: Boolean(value), onchange: (e) => set(e.target.checked) }), label);
    }
    if (s.values?.length) {
      return el("label.row", label, el("select", { onchange: (e) => set(e.target.value) },
        s.values.map((v) => el("option", { value: v, selected: v === value }, words(v)))));
    }
    if ((s.type === "int" || s.type === "float") && s.min !== undefined && s.max !== undefined) return slider(s, label, value, set);
    return el("label.row", label, el("input", { type: s.type === "int" || s.type === "float" ? "number" : "text", value: value ?? "",
      onchange: (e) => set(e.target.type === "number" ? Number(e.target.value) : e.target.value) }));
  }
}

// slider pairs a range with a number: wide ranges cannot be hit with a mouse.
function slider(s, label, value, set) {
  const step = s.step ?? (s.type === "int" ? 1 : (s.max - s.min) / 100);
  const range = el("input", { type: "range", min: s.min, max: s.max, step, value, "aria-label": label });
  const number = el("input", { type: "number", min: s.min, max: s.max, step, value });
  const take = (from, to) => () => { to.value = from.value; set(Number(from.value)); };
  range.addEventListener("input", take(range, number));
  number.addEventListener("change", take(number, range));
  return el(".row", el("label", label, number), range);
}
