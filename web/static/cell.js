// One tool call is one cell: what runs, its code, how it went, what came of it.

import { artifactPath, download, request } from "./api.js";
import { bytes, duration, el, fill, words } from "./dom.js";
import { FullResult } from "./fullresult.js";
import { resultTable } from "./table.js";

const codeArguments = ["sql", "python_code", "code", "query", "plan"];

/** A Cell shows a call from its start to its one result. */
export class Cell {
  constructor(tool, args, run) {
    this.run = run;
    this.badge = el("span.badge.running", "running");
    this.time = el("span.quiet");
    this.note = el("span.quiet.note");
    this.body = el(".cellbody");
    this.files = el("ul.files");
    this.code = el(".code");
    this.node = el("section.cell", { "aria-label": `Tool ${tool}` },
      el("header", el("span.tool", { title: tool }, words(tool)), this.badge, this.note, this.time), this.code, this.body, this.files);
    this.setArgs(args);
  }

  setArgs(args) {
    if (!args || typeof args !== "object") return;
    this.args = args;
    const name = codeArguments.find((n) => args[n]);
    const rest = Object.entries(args).filter(([n]) => n !== name).map(([n, v]) => [n, v, typeof v === "string" ? v : JSON.stringify(v)]);
    const [short, long] = [rest.filter(([, , text]) => text.length <= 160), rest.filter(([, , text]) => text.length > 160)];
    fill(this.code,
      short.length > 0 && el("p.args", short.map(([n, , text]) => el("span", el("b", words(n)), " ", text))),
      long.map(([n, v]) => values(v, words(n))),
      name && (typeof args[name] === "string" ? codeBlock(args[name]) : values(args[name], words(name))));
  }

  progress(note) { this.note.textContent = note; }

  end(kind, label, ms, title) {
    this.badge.className = `badge ${kind}`;
    this.badge.textContent = label;
    if (title) this.badge.title = title;
    this.note.textContent = "";
    this.time.textContent = duration(ms);
  }

  returned(event) {
    const copy = event.duplicate;
    this.end(copy ? "skipped" : "ok", copy ? "skipped: same call as before" : "done", event.ms, event.reason);
    const result = visible(event);
    if (result === null) fill(this.body, el("p.quiet", "The result went to the model."));
    else fill(this.body, printed(result), show(unprinted(result), copy, this.rest(event)));
    if (copy) fold(this.body, "Show the earlier result");
  }

  // rest reaches all rows of a result that a statement gave.
  rest(event) {
    const sql = this.args?.sql || event.args?.sql || event.result?.compiled_sql;
    return this.run && sql ? new FullResult(this.run, event.call, Boolean(event.result?.limited ?? event.result?.stats?.limited)) : undefined;
  }

  failed(event) {
    this.end("failed", event.code, event.ms);
    fill(this.body, printed(event.details), el("p.error", event.message), event.suggestion && el("p.quiet", event.suggestion),
      event.tries_left > 0 && el("p.quiet", `${event.tries_left} ${event.tries_left === 1 ? "try" : "tries"} left`));
  }

  refused(event) {
    this.end("refused", "refused: " + event.code);
    const saw = Object.entries(event.saw ?? {}).map(([n, v]) => `${n} = ${JSON.stringify(v)}`).join(", ");
    fill(this.body, el("p.error", event.message),
      event.when && el("p.quiet", "It needs ", el("code", event.when), saw && ` but ${saw}.`));
  }

  artifact(made) {
    this.files.append(fileLink(made));
    if (made.mime?.startsWith("image/")) this.files.before(picture(made));
  }
}

// printed shows what a program wrote while it ran.
function printed(result) {
  const parts = [["stdout", "Printed"], ["stderr", "Printed as errors"]].filter(([name]) => typeof result?.[name] === "string" && result[name].trim());
  return parts.length > 0 && el(".printed", parts.map(([name, label]) => el("figure", el("figcaption.quiet", label), codeBlock(result[name].trimEnd()))));
}

// unprinted is a result without what printed shows; one that is nothing else is said so.
function unprinted(result) {
  if (typeof result?.stdout !== "string") return result;
  const { stdout, stderr, ...rest } = result;
  const empty = Array.isArray(rest.columns) && !rest.columns.length && (rest.value === undefined || rest.value === null);
  return empty ? "The code set no result." : rest;
}

// picture shows an artifact that is one; it is fetched with the token.
function picture(made) {
  const image = el("img.picture", { alt: made.name });
  request(artifactPath(made)).then((r) => r.blob()).then((blob) => {
    image.onload = () => URL.revokeObjectURL(image.src);
    image.src = URL.createObjectURL(blob.slice(0, blob.size, made.mime));
  }).catch((p) => image.replaceWith(el("p.error", p.message)));
  return image;
}

/** fileLink is a download of an artifact. */
export function fileLink(made) {
  const path = artifactPath(made);
  return el("li", el("a", {
    href: path, download: made.name,
    onclick: (e) => { e.preventDefault(); download(path, made.name).catch((p) => e.target.replaceWith(el("span.error", p.message))); },
  }, "↓ ", made.name), el("span.quiet", ` ${bytes(made.bytes)}`, made.version > 1 && `, version ${made.version}`, made.reused && ", already there"));
}

/** codeBlock shows code with a button that copies it. */
export function codeBlock(text) {
  const button = el("button.link", {
    type: "button", onclick: () => navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }),
  }, "Copy");
  return el(".codeblock", el("pre", { tabindex: "0" }, el("code", text)), button);
}

// visible is the part of a result that the machine shows to people.
function visible(event) {
  if (event.person?.all) return event.result;
  const fields = event.person?.fields ?? [];
  if (!fields.length || typeof event.result !== "object" || event.result === null) return null;
  const shown = fields.includes("columns") ? [...fields, "column_types"] : fields; // types say how to write the columns
  return Object.fromEntries(shown.filter((f) => f in event.result).map((f) => [f, event.result[f]]));
}

const isTable = (v) => Array.isArray(v?.columns) && Array.isArray(v?.rows);

/**
 * show makes a table, a list of values or plain text of a result; whole leaves nothing
 * folded, rest reaches the rows that are not here.
 */
export function show(result, whole, rest) {
  if (isTable(result)) return resultTable(result, rest);
  if (Array.isArray(result) && result.length && result.every((r) => r && typeof r === "object" && !Array.isArray(r))) {
    return resultTable({ columns: [...new Set(result.flatMap(Object.keys))], rows: result });
  }
  if (typeof result === "string") return el("p", result);
  const inner = Object.entries(result ?? {}).find(([, v]) => isTable(v));
  if (!inner) return values(result, "Result", whole);
  const others = Object.fromEntries(Object.entries(result).filter(([n]) => n !== inner[0]));
  return el("div", resultTable(inner[1], rest), Object.keys(others).length > 0 && values(others, "More", whole));
}

// values shows JSON: a few lines as they are, many behind their name.
function values(value, label, whole) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2), lines = text.split("\n").length;
  if (whole || lines <= 6 && text.length <= 400) return codeBlock(text);
  return folded(label, codeBlock(text), lines > 1 && ` ${lines} lines`);
}

function folded(label, inside, size) { return el("details.folded", el("summary", label, size && el("span.quiet", size)), inside); }

function fold(node, label) { fill(node, folded(label, [...node.childNodes])); }
