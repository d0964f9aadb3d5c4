// Results as tables: sorted by a click on the head, page by page, copied and downloaded.
// The rows are here, or come page by page from the server.

import { el, fill, sentence } from "./dom.js";

const pageSize = 50;
const findFrom = 20; // rows from which on a filter helps
const formats = { csv: "CSV", xlsx: "Excel", parquet: "Parquet", json: "JSON", arrow: "Arrow" };
const isNumber = /^(U?(TINY|SMALL|BIG|HUGE)?INT|INTEGER|U?INTEGER|DECIMAL|DOUBLE|FLOAT)/;

/**
 * resultTable shows {columns, rows} where rows are lists or objects. rest, if given,
 * reaches the whole result: all() gives a source of its pages, save(format) downloads it.
 */
export function resultTable({ columns, rows, row_count: total, limited }, rest) {
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
      return { rows: sorted(found, sort).slice(offset, offset + limit), total: found.length };
    },
  };
}

// having leaves the rows with a text in some column.
function having(rows, find) {
  if (!find) return rows;
  const text = find.toLowerCase();
  return rows.filter((row) => row.some((v) => !empty(v) && (typeof v === "object" ? JSON.stringify(v) : String(v)).toLowerCase().includes(text)));
}

function sorted(rows, sort) {
  if (!sort) return rows;
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => (empty(a[sort.by]) || empty(b[sort.by]) ? empty(a[sort.by]) - empty(b[sort.by]) : sign * compare(a[sort.by], b[sort.by])));
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
    this.copy = source.lists && el("button.link", { type: "button", onclick: () => copyCSV(this.copy, columns, sorted(source.lists, this.sort)) }, "Copy");
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
    const numbers = this.columns.map((c, i) => (c?.type ? isNumber.test(c.type) : rows.some((r) => typeof r[i] === "number") && rows.every((r) => empty(r[i]) || typeof r[i] === "number")));
    this.heads.forEach((h, i) => h.classList.toggle("number", numbers[i]));
    const formats = this.columns.map((c, i) => numberFormat(c, rows.map((r) => r[i])));
    fill(this.body, rows.map((row) => el("tr", this.columns.map((_, i) => cell(row[i], numbers[i], formats[i])))));
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

// numberFormat writes the numbers of a column alike: with as many decimals where they
// are few, and without separators where they are names rather than amounts.
function numberFormat(column, values) {
  const decimals = Math.max(0, ...values.map((v) => (typeof v === "number" ? (String(v).split(".")[1] ?? "").length : 0)));
  const scale = Number(/^DECIMAL\(\d+,\s*(\d+)\)/.exec(column?.type ?? "")?.[1] ?? decimals);
  return new Intl.NumberFormat(undefined, {
    minimumFractionDigits: scale <= 2 ? scale : 0, maximumFractionDigits: 6,
    useGrouping: !(scale === 0 && /(^|[_ ])(id|year|zip|code|no|nr|number|key)$/i.test(nameOf(column))),
  });
}

function cell(value, number, format) {
  if (empty(value)) return el("td.null" + (number ? ".number" : ""), "null");
  if (typeof value === "number") return el("td.number", format.format(value));
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return el("td" + (number ? ".number" : ""), { title: text.length > 60 ? text : null }, text);
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
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
