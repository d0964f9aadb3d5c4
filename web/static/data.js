// The data panel: datasets with their tables, columns and problems, as they are now.

import { get, post, Problem, remove, request } from "./api.js";
import { el, fill, sentence } from "./dom.js";
import { explore } from "./explore.js";

const watched = 1500, unwatched = 15_000; // milliseconds between looks

/**
 * A DataPanel keeps the list of datasets. chosen() says which is asked next, choose(id)
 * changes that, changed() hears of every new list, sure(question, verb) asks before a
 * removal.
 */
export class DataPanel {
  constructor(node, { chosen, choose, changed, sure }) {
    Object.assign(this, { node, chosen, choose, changed, sure, datasets: [], tag: "", role: "viewer", shown: false, due: 0 });
    this.open = new Set(); // tables that are unfolded
    this.reading = new Map(); // by version: in progress, or why it failed
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.look().catch(() => {}); });
  }

  /** show begins or ends the frequent looks. */
  show(shown) {
    this.shown = shown;
    if (shown) this.look().catch((p) => this.tell(p));
  }

  /** look reads the list and draws it if it changed; it looks again by itself. */
  async look() {
    clearTimeout(this.due);
    this.due = setTimeout(() => { if (document.hidden) return; this.look().catch((p) => this.tell(p)); }, this.shown ? watched : unwatched);
    const response = await request("/api/datasets"); // the browser asks with the tag it has
    const tag = response.headers.get("ETag");
    const { datasets } = await response.json();
    if (tag === this.tag && !this.troubled) return;
    Object.assign(this, { tag, datasets, troubled: false });
    this.draw();
    this.changed(datasets);
    for (const d of datasets) if (d.kind === "files" && unread(d)) this.read(d);
  }

  /** read has the server import a dataset, once a version; its columns and problems are known then. */
  async read(dataset) {
    const key = dataset.id + " " + dataset.version_hash;
    if (this.reading.has(key)) return this.reading.get(key).done;
    const state = { why: null };
    state.done = get(`/datasets/${encodeURIComponent(dataset.id)}/schema`).then(() => { this.reading.delete(key); return this.look(); }, (problem) => {
      state.why = problem;
      if (!(problem instanceof Problem) || problem.status >= 500 || !problem.status) this.reading.delete(key);
      this.draw();
    });
    this.reading.set(key, state);
    this.draw();
    return state.done;
  }

  /** renew has the server copy a database again, with the tables that it has now. */
  async renew(d, button) {
    button.disabled = true;
    try {
      await post(`/api/sources/${encodeURIComponent(d.id)}/refresh`, {});
      await this.look();
    } catch (problem) {
      this.tell(problem);
    }
  }

  find(id) { return this.datasets.find((d) => d.id === id); }

  tell(problem) {
    this.troubled = true;
    fill(this.node, el("p.error", { role: "alert" }, sentence(problem.message)));
  }

  draw() {
    const focused = this.node.contains(document.activeElement) ? document.activeElement.dataset.key : "";
    fill(this.node, this.datasets.map((d) => this.dataset(d)),
      !this.datasets.length && el("p.quiet", "There are no data yet. Drop a file anywhere on this page."));
    if (focused) this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  dataset(d) {
    const here = d.id === this.chosen(), tables = d.tables ?? [];
    const state = this.reading.get(d.id + " " + d.version_hash);
    const rows = tables.reduce((n, t) => n + Math.max(0, t.row_count ?? 0), 0);
    const facts = [tables.length && count(tables.length, "table"), !unread(d) && count(rows, "row"), d.dialect ? `${d.kind}, queried where it is` : d.kind !== "files" && d.kind, d.copied_at && `copied at ${new Date(d.copied_at).toLocaleString()}`]
      .filter(Boolean).join(" · ");
    return el("section.dataset" + (here ? ".here" : ""), { "aria-label": d.name || d.id },
      el("button.choose", { type: "button", "data-key": d.id, "aria-pressed": String(here), title: "Ask this dataset next", onclick: () => { this.choose(d.id); this.draw(); } },
        el("b", d.name || d.id), el("span.quiet", facts),
        d.version_hash && el("code.quiet", { title: "Version of the data: " + d.version_hash }, d.version_hash.slice(0, 8))),
      here && d.description && el("p.quiet", d.description),
      tables.map((t) => this.table(d, t)),
      this.problems(d, state),
      d.kind !== "files" && unread(d) && !state && el("button", { type: "button", onclick: () => this.read(d) }, "Read its tables"),
      state && !state.why && unread(d) && el("p.quiet.reading", "Reading…"),
      d.copied_at && this.role !== "viewer" && el("button", { type: "button", onclick: (e) => this.renew(d, e.target) }, "Copy anew"),
      d.added && this.role === "admin" && el("button.link.away", { type: "button", onclick: () => this.away(`Remove ${d.name || d.id}? The data stay where they are.`, `/api/sources/${encodeURIComponent(d.id)}`) }, "Remove this source"));
  }

  table(d, t) {
    const key = d.id + "/" + t.table_name;
    return el("details", {
      open: this.open.has(key), ontoggle: (e) => { if (e.target.open) this.open.add(key); else this.open.delete(key); },
    },
    el("summary", { "data-key": key }, el("span.name", t.table_name), t.columns && el("span.quiet", { title: "rows × columns" }, `${rowsOf(t)} × ${t.columns.length}`)),
    t.description && el("p.quiet", t.description),
    t.notes?.length && el("ul.notes", { "aria-label": "What the import decided" }, t.notes.map((n) => el("li", n.column && el("b", n.column), " ", sentence(n.message), n.before && el("span.quiet", ` ${n.before} → ${n.after ?? ""}`)))),
    t.columns && el("ul.columns", t.columns.map((c) => el("li", el("span", c.name), el("code", c.type)))),
    el(".actions", t.columns && el("button", { type: "button", onclick: () => explore(d, t) }, "Look inside"),
      t.file !== t.table_name && el("span.quiet.file", t.file), this.fileAway(d, t.file)));
  }

  problems(d, state) {
    const why = state?.why, told = Array.isArray(why?.details) ? why.details : why ? [{ path: "", message: why.message }] : [];
    const all = [...(d.problems ?? []), ...told.filter((p) => !(d.problems ?? []).some((q) => q.path === p.path))];
    return all.length > 0 && el("ul.problems", all.map((p) => el("li", p.path && el("b", p.path), " ",
      sentence(p.path && p.message.startsWith(p.path + " ") ? p.message.slice(p.path.length + 1) : p.message), " ", this.fileAway(d, p.path))));
  }

  fileAway(d, file) {
    return this.role !== "viewer" && d.files.includes(file) && el("button.link.away", {
      type: "button", "aria-label": `Delete ${file}`,
      onclick: () => this.away(`Delete the file ${file} of ${d.name || d.id}? It cannot be brought back.`, `/api/datasets/${encodeURIComponent(d.id)}/files/${encodeURIComponent(file)}`),
    }, "Delete");
  }

  async away(question, path) {
    if (!await this.sure(question)) return;
    try {
      await remove(path);
      await this.look();
    } catch (problem) {
      this.node.prepend(el("p.error", { role: "alert" }, sentence(problem.message), problem.suggestion && el("span.quiet", " " + problem.suggestion)));
    }
  }
}

/** unread says whether columns are not known yet. */
export const unread = (d) => (d.tables ?? []).some((t) => !t.columns) || d.kind !== "files" && !d.tables?.length;

// rowsOf is the number of rows as text; of some tables elsewhere nobody knows it.
const rowsOf = (t) => (t.row_count < 0 ? "?" : (t.row_count ?? 0).toLocaleString());

const count = (n, what) => `${n.toLocaleString()} ${what}${n === 1 ? "" : "s"}`;
