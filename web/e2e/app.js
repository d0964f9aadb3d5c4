// A browser on the built page, for the tests. Every test also holds the page to its promises:
// no error in the console, no request to another host.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { chromium } from "playwright-core";

export const url = process.env.INTERLOCK_URL;
const patience = Number(process.env.PATIENCE ?? 120_000); // a machine with two cores runs other tests beside this one

let browser, context, complaints;

/** page is the one that each test begins with. */
export let page;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
  });
});

after(() => browser?.close());

beforeEach(async () => {
  complaints = [];
  await visit({ width: 1280, height: 850 });
});

afterEach(async () => {
  await context.close();
  assert.deepEqual(complaints, [], "errors in the console or requests to other hosts");
});

/** visit opens the page in a new context of the browser: own storage, own windows. */
export async function visit(viewport, options = {}) {
  await context?.close();
  context = await browser.newContext({ viewport, ...options });
  context.setDefaultTimeout(patience);
  context.on("request", (r) => { if (!r.url().startsWith(url) && !/^(blob|data):/.test(r.url())) complaints.push("request to " + r.url()); });
  page = await tab("");
}

export async function tab(hash) {
  const p = await context.newPage();
  p.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  p.on("pageerror", (e) => complaints.push(e.message));
  await p.goto(url + "/app/" + hash);
  await p.locator("#say").waitFor();
  await p.waitForFunction(() => / · (admin|analyst|viewer)/.test(document.querySelector(".side").textContent)); // who calls is known
  return p;
}

/** refusal says that the console will tell of an answer with this status. */
export function refusal(status) {
  const told = new RegExp(`status of ${status}`);
  return () => { const i = complaints.findIndex((c) => told.test(c)); assert.ok(i >= 0, `no answer had the status ${status}`); complaints.splice(i, 1); };
}

export async function ask(p, text) {
  await p.fill("#say", text);
  await p.press("#say", "Enter");
}

export const ended = (p, outcome) => p.locator(`.turn[data-outcome="${outcome}"]`).last().waitFor();
export const logText = (p) => p.locator("#log").innerText();
export const overflow = (p) => p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** unfold opens the steps of the last turn. */
export async function unfold(p) {
  await p.locator(".turn").last().locator(".trace[aria-expanded=false]").click();
}
