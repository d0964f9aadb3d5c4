// A safe part of Markdown, built with DOM calls only. HTML stays text, images are
// named but never loaded (they could carry data away), links show where they lead.

import { el } from "./dom.js";

/** markdown makes a fragment of a text. */
export function markdown(text) {
  const out = document.createDocumentFragment();
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  for (let i = 0; i < lines.length;) i = block(lines, i, out);
  return out;
}

const bullet = /^\s*([-*+]|\d+[.)])\s+/;
const ruler = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;

// block reads one block from line i and gives the line after it.
function block(lines, i, out) {
  const line = lines[i];
  if (!line.trim()) return i + 1;
  const fence = line.match(/^\s*```+\s*(\w*)/);
  if (fence) return code(lines, i + 1, fence[1], out);
  const heading = line.match(/^(#{1,6})\s+(.*)/);
  if (heading) {
    out.append(el("h" + Math.min(heading[1].length + 2, 6), inline(heading[2])));
    return i + 1;
  }
  if (bullet.test(line)) return list(lines, i, out);
  if (line.includes("|") && ruler.test(lines[i + 1] ?? "") && lines[i + 1].includes("-")) return table(lines, i, out);
  if (/^\s*>/.test(line)) {
    const quoted = take(lines, i, (l) => /^\s*>/.test(l));
    out.append(el("blockquote", markdown(quoted.map((l) => l.replace(/^\s*>\s?/, "")).join("\n"))));
    return i + quoted.length;
  }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
    out.append(el("hr"));
    return i + 1;
  }
  const plain = take(lines, i, (l, n) => l.trim() && (n === 0 || !(bullet.test(l) || /^\s*(```|#{1,6}\s|>)/.test(l))));
  out.append(el("p", plain.flatMap((l, n) => (n ? [el("br"), ...inline(l)] : inline(l)))));
  return i + plain.length;
}

function take(lines, i, fits) {
  let n = 0;
  while (i + n < lines.length && fits(lines[i + n], n)) n++;
  return lines.slice(i, i + n);
}

function code(lines, i, language, out) {
  const body = take(lines, i, (l) => !/^\s*```/.test(l));
  out.append(el("pre", { "data-language": language }, el("code", body.join("\n"))));
  return i + body.length + 1;
}

function list(lines, i, out) {
  const items = take(lines, i, (l) => bullet.test(l) || /^\s{2,}\S/.test(l));
  const node = el(/^\s*\d/.test(items[0]) ? "ol" : "ul");
  for (const item of items) {
    if (bullet.test(item)) node.append(el("li", inline(item.replace(bullet, ""))));
    else node.lastChild.append(" ", ...inline(item.trim()));
  }
  out.append(node);
  return i + items.length;
}

function table(lines, i, out) {
  const rows = take(lines, i, (l) => l.includes("|"));
  const cells = (l) => l.trim().replace(/^\||\|$/g, "").split("|").map((c) => c.trim());
  const head = el("tr", cells(rows[0]).map((c) => el("th", { scope: "col" }, inline(c))));
  const body = rows.slice(2).map((r) => el("tr", cells(r).map((c) => el("td", inline(c)))));
  out.append(el(".scroll", el("table", el("thead", head), el("tbody", body))));
  return i + rows.length;
}

const spans = /(`+)(.+?)\1|!\[([^\]]*)\]\(([^)]*)\)|\[([^\]]+)\]\((\S+?)\)|\*\*(.+?)\*\*|__(.+?)__|\*(?=\S)(.+?)\*|\b_(?=\S)(.+?)_\b/;

// inline makes nodes of one line.
function inline(text, depth = 0) {
  const out = [];
  for (let m; depth < 6 && (m = text.match(spans));) {
    if (m.index) out.push(text.slice(0, m.index));
    text = text.slice(m.index + m[0].length);
    if (m[2] !== undefined) out.push(el("code", m[2].trim()));
    else if (m[4] !== undefined) out.push(el("span.blocked", { title: m[4] }, `[image not loaded: ${m[3] || "no name"}]`));
    else if (m[6] !== undefined) out.push(link(m[5], m[6]));
    else if (m[7] ?? m[8]) out.push(el("strong", inline(m[7] ?? m[8], depth + 1)));
    else out.push(el("em", inline(m[9] ?? m[10], depth + 1)));
  }
  if (text) out.push(text);
  return out;
}

function link(text, target) {
  if (!/^https?:\/\//i.test(target)) return `${text} (${target})`;
  return el("a", { href: target, title: target, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}
