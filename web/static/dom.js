// Builds elements. Text is always text: nothing here parses HTML.

/** el makes an element: el("p.quiet", {title: "x"}, "text", child). */
export function el(spec, ...rest) {
  const [tag, ...classes] = spec.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const part of rest.flat()) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node || typeof part !== "object") node.append(part);
    else for (const [name, value] of Object.entries(part)) set(node, name, value);
  }
  return node;
}

function set(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name in node && typeof value === "boolean") node[name] = value;
  else if (value !== null && value !== undefined) node.setAttribute(name, value);
}

export const byId = (id) => document.getElementById(id);

/** fill replaces the children of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
}

/** words makes "other scope" of "other_scope". */
export const words = (name) => String(name).replaceAll("_", " ");

/** sentence makes one of a message: with a capital and a full stop. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

/** duration writes milliseconds as people read them. */
export function duration(ms) {
  if (!ms) return "";
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

export function bytes(n) {
  if (n < 1024) return `${n} B`;
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`;
}
