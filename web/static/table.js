// Results as tables: sorted by a click on the head, shown page by page, copied as CSV.

import { el } from "./dom.js";

const pageSize = 50;

/** resultTable shows {columns, rows} where rows are lists or objects. */
export function resultTable({ columns, rows, row_count: total }) {
  const at = (row, i) => (Array.isArray(row) ? row[i] : row[columns[i]]);
  const numbers = columns.map((_, i) => rows.some((r) => typeof at(r, i) === "number") && rows.every((r) => at(r, i) === null || typeof at(r, i) === "number"));
  let order = rows, shown = pageSize, sorted = { by: -1, up: true };
  const body = el("tbody");
  const more = el("button.link", { type: "button", onclick: () => { shown += pageSize; draw(); } });
  const heads = columns.map((name, i) => {
    const button = el("button", { type: "button", onclick: () => sort(i) }, String(name));
    return el("th" + (numbers[i] ? ".number" : ""), { scope: "col" }, button);
  });
  const said = el("span.quiet");
  const copy = el("button.link", { type: "button", onclick: () => copyCSV(copy, columns, order, at) }, "Copy as CSV");

  function sort(i) {
    sorted = { by: i, up: sorted.by === i ? !sorted.up : true };
    const sign = sorted.up ? 1 : -1;
    order = [...rows].sort((a, b) => sign * compare(at(a, i), at(b, i)));
    heads.forEach((h, n) => {
      if (n === i) h.setAttribute("aria-sort", sorted.up ? "ascending" : "descending");
      else h.removeAttribute("aria-sort");
    });
    draw();
  }
  function draw() {
    body.replaceChildren(...order.slice(0, shown).map((row) => el("tr", columns.map((_, i) => cell(at(row, i), numbers[i])))));
    const left = order.length - shown;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(left, pageSize)} more`;
    const all = total ?? rows.length;
    said.textContent = `${all.toLocaleString()} ${all === 1 ? "row" : "rows"}` + (all > rows.length ? `, ${rows.length} here` : "");
  }
  draw();
  return el(".result",
    el(".scroll", { tabindex: "0", role: "region", "aria-label": "Result" }, el("table", el("thead", el("tr", heads)), body)),
    el(".foot", said, more, copy));
}

function cell(value, number) {
  if (value === null || value === undefined) return el("td.null" + (number ? ".number" : ""), "null");
  if (typeof value === "number") return el("td.number", value.toLocaleString(undefined, { maximumFractionDigits: 6 }));
  return el("td", typeof value === "object" ? JSON.stringify(value) : String(value));
}

function compare(a, b) {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

async function copyCSV(button, columns, rows, at) {
  const quote = (v) => {
    const s = v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);
    return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  };
  const lines = [columns, ...rows.map((r) => columns.map((_, i) => at(r, i)))].map((r) => r.map(quote).join(","));
  await navigator.clipboard.writeText(lines.join("\n"));
  button.textContent = "Copied";
}
