// A table at a glance, in a dialog: what its columns hold, and its rows under conditions.

import { bodyOf, get, post } from "./api.js";
import { byId, el, fill, sentence } from "./dom.js";
import { pagedTable, resultTable } from "./table.js";

const operators = { eq: "=", neq: "≠", gt: ">", gte: "≥", lt: "<", lte: "≤", like: "like", in: "one of", between: "between" };
const scopedRows = 1000; // of a table under conditions that are fetched

/** explore opens the dialog on a table of a dataset. */
export function explore(dataset, table) {
  const path = "/api/sources/" + encodeURIComponent(`${dataset.id}.${table.table_name}`);
  const box = byId("explore"), columns = el(".profiles", el("p.quiet", "Looking…")), rows = el(".rows");
  fill(box.querySelector(".inside"),
    el("h2", table.table_name, el("span.quiet", ` ${dataset.name || dataset.id} · ${table.row_count < 0 ? "?" : (table.row_count ?? 0).toLocaleString()} rows · ${table.columns.length} columns`)),
    el("h3", "Rows"), filters(table, (conditions) => showRows(rows, path, conditions)), rows,
    el("h3", "Columns"), columns);
  box.onclose = () => fill(box.querySelector(".inside"));
  box.showModal();
  showRows(rows, path, []);
  get(path + "/profile").then((p) => fill(columns, p.notes?.length && el("ul.notes", p.notes.map((n) => el("li", n.column && el("b", n.column), " ", sentence(n.message), n.before && el("span.quiet", ` ${n.before} → ${n.after ?? ""}`)))), p.sampled && el("p.quiet", "Examples and distributions are of a sample of the rows."), p.columns.map((c) => profile(c, p.rows))),
    (problem) => fill(columns, el("p.error", sentence(problem.message))));
}

async function showRows(node, path, conditions) {
  node.classList.add("busy");
  try {
    const page = async (offset, limit) => {
      const { columns, rows, total_rows: total } = await get(`${path}?offset=${offset}&limit=${limit}`);
      return { columns, rows, total };
    };
    if (conditions.length) {
      const { columns, rows, total_rows: all } = await bodyOf(await post(path + "/load-scoped", { conditions, limit: scopedRows }));
      fill(node, resultTable({ columns, rows, row_count: all }));
    } else {
      const first = await page(0, 50);
      fill(node, pagedTable({ columns: first.columns, total: first.total, page: (offset, limit) => (offset === 0 ? first : page(offset, limit)) }));
    }
  } catch (problem) {
    fill(node, el("p.error", { role: "alert" }, sentence(problem.message), problem.suggestion && el("span.quiet", " " + problem.suggestion)));
  }
  node.classList.remove("busy");
}

// filters asks for conditions that hold together.
function filters(table, apply) {
  const lines = el(".lines"), show = el("button", { type: "submit", hidden: true }, "Show");
  const add = () => {
    const line = el(".line",
      el("select", { "aria-label": "Column" }, table.columns.map((c) => el("option", { value: c.name }, c.name))),
      el("select", { "aria-label": "Condition" }, Object.entries(operators).map(([op, sign]) => el("option", { value: op }, sign))),
      el("input", { "aria-label": "Value", placeholder: "value" }),
      el("button.link", { type: "button", "aria-label": "Drop the condition", onclick: () => { line.remove(); send(); } }, "×"));
    lines.append(line);
    show.hidden = false;
    line.querySelector("input").focus();
  };
  const send = () => {
    show.hidden = !lines.children.length;
    apply([...lines.children].map((line) => {
      const [column, op, value] = [...line.querySelectorAll("select, input")].map((field) => field.value);
      return { column, op, value: valueOf(table.columns.find((c) => c.name === column).type, op, value) };
    }));
  };
  return el("form.filters", { onsubmit: (e) => { e.preventDefault(); send(); } }, lines,
    el("button", { type: "button", onclick: add }, "Add a condition"), show);
}

// valueOf gives what was typed in the type of its column, as far as JSON has it.
function valueOf(type, op, text) {
  if (op === "in" || op === "between") return text.split(",").map((part) => valueOf(type, "eq", part.trim()));
  if (text !== "" && /INT|DECIMAL|DOUBLE|FLOAT/.test(type) && String(Number(text)) === text) return Number(text);
  if (type === "BOOLEAN" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return text;
}

function profile(c, rows) {
  const share = rows ? Math.round((100 * c.nulls) / rows) : 0;
  return el("section.profile", { "aria-label": c.name },
    el("h4", el("span", c.name), el("code", c.type)),
    el("p.ends.quiet", el("span", `${c.distinct.toLocaleString()} distinct`), c.nulls > 0 ? el("b", `${c.nulls.toLocaleString()} null, ${share} %`) : el("span", "no null")),
    c.histogram?.length ? bars(c) : el("p.quiet", "no values"));
}

// bars draws ranges as columns side by side, and single values as lines with their name.
function bars(c) {
  const most = Math.max(...c.histogram.map((b) => b.count), 1);
  const size = (node, count) => { node.style.setProperty("--size", count / most); return node; };
  if (c.histogram[0].to) {
    return el("div", el(".bars", { role: "img", "aria-label": c.histogram.map((b) => `${b.from} to ${b.to}: ${b.count}`).join("; ") },
      c.histogram.map((b) => size(el("i", { title: `${b.from} – ${b.to}: ${b.count.toLocaleString()}` }), b.count))),
    el("p.ends.axis.quiet", el("span", c.min), el("span", c.max)),
    el("p.quiet.examples", { title: c.examples?.join("\n") }, "often ", c.examples?.slice(0, 3).join(", ")));
  }
  return el("ul.values", c.histogram.slice(0, 6).map((b) => size(el("li", { title: b.from }, el("span", b.from || "(empty text)"), el("span.quiet", b.count.toLocaleString())), b.count)));
}
