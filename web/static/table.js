// Results as tables: sorted by a click on the head, page by page, copied and downloaded.
// The rows are here, or come page by page from the server.

import { el, fill, sentence } from "./dom.js";
import { compareNumbers, isNumeric, numberWriter } from "./number.js";

const pageSize = 50;
const findFrom = 20; // rows from which on a filter helps
const formats = { csv: "CSV", xlsx: "Excel", parquet: "Parquet", json: "JSON", arrow: "Arrow" };

/**
 * resultTable shows {columns, column_types, rows} where rows are lists or objects. rest, if
 * given, reaches the whole result: all() gives a source of its pages, save(format) downloads it.
 */
export function resultTable({ columns: named, column_types: types, rows, row_count: total, limited }, rest) {
  const columns = named.map((c, i) => (types?.[i] ? { name: nameOf(c), type: types[i] } : c));
  return new Table(columns, here(columns, rows, Math.max(total ?? 0, rows.length), limited ?? rest?.limited), rest).node;
}

/**
 * pagedTable shows a source: {columns, total, sorts, finds, page(offset, limit, sort,
 * find) → {rows, total}}.
 */
export function pagedTable(source) { return new Table(source.columns, source).node; }

// here is the source of rows that are on the page already.
function here(columns, rows, total, limited) {
  const names = columns.map(nameOf);
  const lists = rows.map((r) => (Array.isArray(r) ? r : names.map((n) => r[n])));
  return {
    total: lists.length, all: total, limited, sorts: true, finds: true, lists,
    page: (offset, limit, sort, find) => {
      const found = having(lists, find);
      return { rows: sorted(found, sort, columns).slice(offset, offset + limit), total: found.length };
    },
  };
}

// having leaves the rows with a text in some column.
function having(rows, find) {
  if (!find) return rows;
  const text = find.toLowerCase();
  return rows.filter((row) => row.some((v) => !empty(v) && (typeof v === "object" ? JSON.stringify(v) : String(v)).toLowerCase().includes(text)));
}

function sorted(rows, sort, columns) {
  if (!sort) return rows;
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => (empty(a[sort.by]) || empty(b[sort.by]) ? empty(a[sort.by]) - empty(b[sort.by]) : sign * compare(a[sort.by], b[sort.by], columns[sort.by]?.type)));
}

const empty = (v) => v === null || v === undefined;
const nameOf = (column) => String(column?.name ?? column);

class Table {
  constructor(columns, source, rest) {
    Object.assign(this, { columns, source, rest, offset: 0, sort: null, find: "", turn: 0, due: 0 });
    this.body = el("tbody");
    this.heads = columns.map((c, i) => el("th", { scope: "col", title: c?.type ?? null },
      source.sorts ? el("button", { type: "button", onclick: () => this.sortBy(i) }, nameOf(c)) : el("span", nameOf(c))));
    this.said = el("span.quiet.count");
    this.back = el("button.link", { type: "button", "aria-label": "Rows before", onclick: () => this.go(this.offset - pageSize) }, "‹ Back");
    this.on = el("button.link", { type: "button", "aria-label": "Rows after", onclick: () => this.go(this.offset + pageSize) }, "Next ›");
    this.more = el("button.link", { type: "button", onclick: () => this.whole() }, "Page through all rows");
    this.copy = source.lists && el("button.link", { type: "button", onclick: () => copyCSV(this.copy, columns, sorted(source.lists, this.sort, columns)) }, "Copy");
    this.field = source.finds && (source.total > findFrom || source.limited) && el("input.find", {
      type: "search", placeholder: "Filter rows", "aria-label": "Filter rows", maxlength: "200", oninput: (e) => this.look(e.target.value.trim()),
    });
    this.note = el("p.quiet.lineage", { hidden: true });
    this.scroll = el(".scroll", { tabindex: "0", role: "region", "aria-label": "Result" }, el("table", el("thead", el("tr", this.heads)), this.body));
    this.saves = rest && Object.entries(formats).map(([format, label]) => el("button.link", { type: "button", onclick: (e) => this.save(format, e.target) }, label));
    this.node = el(".result", this.scroll,
      el(".foot", this.said, this.back, this.on, rest && this.more, this.field, el("span.gap"),
        rest && el("span.saves", { role: "group", "aria-label": "Download all rows" }, el("span.quiet", "Download"), this.saves), this.copy), this.note);
    this.go(0);
  }

  // go shows the page that begins at a row. A page that comes late is not shown.
  async go(offset) {
    const turn = ++this.turn, { source } = this;
    try {
      const coming = source.page(offset, pageSize, this.sort && { ...this.sort, name: nameOf(this.columns[this.sort.by]) }, this.find);
      if (coming instanceof Promise) this.node.classList.add("busy");
      const { rows, total } = coming instanceof Promise ? await coming : coming;
      if (turn !== this.turn) return;
      this.offset = offset;
      this.draw(rows, total);
    } catch (problem) {
      if (turn === this.turn) this.tell(problem);
    }
    if (turn === this.turn) this.node.classList.remove("busy");
  }

  // look filters by a text, once nothing was typed for a moment.
  look(text) {
    this.find = text;
    clearTimeout(this.due);
    this.due = setTimeout(() => this.go(0), 150);
  }

  draw(rows, found) {
    const numbers = this.columns.map((c, i) => (c?.type ? isNumeric(c.type) : rows.some((r) => typeof r[i] === "number") && rows.every((r) => empty(r[i]) || typeof r[i] === "number")));
    this.heads.forEach((h, i) => h.classList.toggle("number", numbers[i]));
    const writers = this.columns.map((c, i) => (numbers[i] ? numberWriter(nameOf(c), c?.type ?? "", rows.map((r) => r[i])) : textOf(c?.type)));
    fill(this.body, rows.map((row) => el("tr", this.columns.map((_, i) => cell(row[i], numbers[i], writers[i])))));
    const { total, limited, all } = this.source, paged = found > pageSize;
    const counted = `${(all ?? total).toLocaleString()} ${(all ?? total) === 1 ? "row" : "rows"}`;
    const range = (paged ? `${(this.offset + 1).toLocaleString()}–${(this.offset + rows.length).toLocaleString()} of ` : "") + (this.find ? `${found.toLocaleString()} found in ` : "");
    this.said.textContent = range + (limited ? `the first ${counted} (limited)` : counted + (all > total ? `, ${total.toLocaleString()} here` : ""));
    this.back.hidden = this.on.hidden = !paged;
    this.back.disabled = this.offset === 0;
    this.on.disabled = this.offset + rows.length >= found;
    this.more.hidden = !limited && !(all > total);
    this.scroll.scrollTop = 0;
  }

  sortBy(i) {
    this.sort = { by: i, down: this.sort?.by === i && !this.sort.down };
    this.heads.forEach((h, n) => {
      if (n === i) h.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else h.removeAttribute("aria-sort");
    });
    this.go(0);
  }

  // whole goes on with all rows, page by page from the server.
  async whole(today) {
    await this.busy(this.more, async () => {
      const source = await this.rest.all(today);
      Object.assign(this, { source, columns: source.columns });
      this.copy?.remove();
      this.explain(source.lineage);
      await this.go(0);
    }, () => this.whole(true));
  }

  async save(format, button, today) {
    await this.busy(button, async () => this.explain(await this.rest.save(format, today)), () => this.save(format, button, true));
  }

  // busy does something once at a time; where the data of the run are gone, it offers today's.
  async busy(button, work, withToday) {
    button.disabled = true;
    this.node.classList.add("busy");
    try { await work(); } catch (problem) { this.tell(problem, problem.code === "conflict" && problem.details?.today && withToday); }
    this.node.classList.remove("busy");
    button.disabled = false;
  }

  explain(l) {
    this.note.hidden = false;
    this.note.className = "quiet lineage";
    fill(this.note, `${l.row_count.toLocaleString()} rows from ${l.tables.join(", ") || "no table"}, data version ${l.dataset_version_hash.slice(0, 12)}, run at ${new Date(l.at).toLocaleString()}.`,
      l.recorded_version_hash && ` These are not the data of the answer, which were version ${l.recorded_version_hash.slice(0, 12)}.`,
      l.volatile && " Another run of this statement may give other rows.");
  }

  tell(problem, retry) {
    this.note.hidden = false;
    this.note.className = "error lineage";
    fill(this.note, sentence(problem.message), problem.suggestion && el("span.quiet", " " + problem.suggestion + " "),
      retry && el("button", { type: "button", onclick: retry }, "Use today's data"));
  }
}

// textOf gives the function that writes the values of a column of other things than
// numbers. A date is a day, even where its source gives it a time.
function textOf(type) {
  const text = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  return type === "DATE" ? (value) => text(value).replace(/^(\S*\d{4}-\d\d-\d\d)[ T]00:00:00.*$/, "$1") : text;
}

function cell(value, number, write) {
  if (empty(value)) return el("td.null" + (number ? ".number" : ""), "null");
  const shown = write(value), whole = number ? String(value) : shown;
  const rounded = number && typeof value === "number" && shown.replace(/\D/g, "").length < whole.replace(/\D/g, "").length;
  return el("td" + (number ? ".number" : ""), { title: rounded || shown.length > 60 ? whole : null }, shown);
}

function compare(a, b, type) {
  if (type ? isNumeric(type) : typeof a === "number" && typeof b === "number") return compareNumbers(a, b);
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

async function copyCSV(button, columns, rows) {
  const quote = (v) => {
    const s = empty(v) ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);
    return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  };
  const lines = [columns.map(nameOf), ...rows].map((r) => r.map(quote).join(","));
  await navigator.clipboard.writeText(lines.join("\n"));
  button.textContent = "Copied";
}
