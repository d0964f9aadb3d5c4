// Marks the numbers of an answer that the data does not support.

import { el } from "./dom.js";

const marks = {
  none: "No origin was found for this figure in the results of this thread.",
  weak: "This figure may fit a value of the results by chance.",
};

/** origin says where a figure comes from, "" for one that the question named. */
export function origin(figure) {
  if (figure.support === "none") return marks.none;
  const cell = figure.cells?.[0];
  const place = cell ? `${cell.table}, column ${cell.column}${figure.cells.length === 1 ? `, row ${cell.row + 1}` : ""}` : figure.source ?? "";
  const from = [figure.formula, place].filter(Boolean).join(" of ");
  if (figure.support === "weak") return `${marks.weak} ${from}`.trim();
  return { cell: "from " + from, formula: from, document: "from " + from, statement: "a condition of the query", question: "" }[figure.support] ?? "";
}

/** markFigures wraps the figures in the text of a node and says below it what has no origin. */
export function markFigures(node, traced) {
  const texts = [];
  for (const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT); walk.nextNode();) {
    if (!walk.currentNode.parentElement.closest("pre, code, a")) texts.push(walk.currentNode);
  }
  let at = 0, from = 0;
  for (const figure of traced.figures ?? []) {
    const found = find(texts, at, from, figure.text);
    if (!found) continue;
    const rest = wrap(texts[found.at], found.from, figure);
    texts[found.at] = rest;
    [at, from] = [found.at, 0];
  }
  const unsupported = traced.unsupported ?? 0;
  if (unsupported) node.append(el("p.notice.figures", { role: "note" }, `${unsupported} of ${traced.figures.length} figures have no origin in the results of this thread. They are marked.`));
  if (traced.cut) node.append(el("p.notice.figures", "Only a part of the results was looked at for the origins of figures."));
}

// find looks for a figure from a place on, as a number of its own.
function find(texts, at, from, text) {
  for (let i = at; i < texts.length; i++, from = 0) {
    for (let n = texts[i].data.indexOf(text, from); n >= 0; n = texts[i].data.indexOf(text, n + 1)) {
      const before = texts[i].data[n - 1] ?? " ", after = texts[i].data[n + text.length] ?? " ";
      if (!/[\p{L}\p{N}]/u.test(before) && !/\p{N}/u.test(after)) return { at: i, from: n };
    }
  }
  return null;
}

// wrap puts the figure into an element and gives the text after it.
function wrap(node, from, figure) {
  const number = node.splitText(from);
  const rest = number.splitText(figure.text.length);
  const span = el(`span.figure.${figure.support}`, { title: origin(figure) || null });
  number.replaceWith(span);
  span.append(number);
  if (figure.support === "none") span.append(el("sup", { "aria-label": "without an origin" }, "?"));
  return rest;
}
