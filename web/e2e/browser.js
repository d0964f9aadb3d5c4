// A browser on the page, for the tests. All tests of a file use one window, which goes back
// to the first view before each. Every test also holds the page to its promises: no error
// in the console, no request to another host.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { chromium } from "playwright-core";

export const url = process.env.INTERLOCK_URL;
const patience = Number(process.env.PATIENCE ?? 120_000); // a machine with two cores runs other tests beside this one
const desktop = { width: 1280, height: 850 };

let browser, context, complaints = [];

/** page is the window that each test begins with. */
export let page;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
  });
  context = await browser.newContext({ viewport: desktop, reducedMotion: "reduce" });
  context.setDefaultTimeout(patience);
  // The browser tells also of requests that the policy kept from leaving; those have not left.
  const leaves = (r) => { if (!r.url().startsWith(url) && !/^(blob|data):/.test(r.url()) && !/csp/i.test(r.failure()?.errorText ?? "")) complaints.push(`request to ${r.url()} ${r.failure()?.errorText ?? ""}`); };
  context.on("requestfinished", leaves);
  context.on("requestfailed", leaves);
  page = await tab("");
});

after(() => browser?.close());

beforeEach(async () => {
  for (const other of context.pages()) if (other !== page) await other.close();
  complaints = [];
  await page.setViewportSize(desktop);
  await visit("#/ask");
  await page.getByRole("heading", { name: "What do you want to know?" }).waitFor();
});

afterEach(() => assert.deepEqual(complaints, [], "errors in the console or requests to other hosts"));

/** visit goes to another view, as a link does. */
export const visit = (hash) => page.evaluate((h) => { location.hash = h; }, hash);

/** phone makes the window as small as one. */
export const phone = () => page.setViewportSize({ width: 390, height: 844 });

/** tab opens the page in another window. */
export async function tab(hash) {
  const p = await context.newPage();
  p.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  p.on("pageerror", (e) => complaints.push(e.message));
  await p.goto(url + "/" + hash);
  await ready(p);
  return p;
}

/** ready waits until the page knows who calls. */
async function ready(p) {
  await p.locator("#say").waitFor();
  await p.waitForFunction(() => / · (admin|analyst|viewer)/.test(document.querySelector(".side").textContent));
}

/** reload loads the page again. */
export async function reload() {
  await page.reload();
  await ready(page);
}

/** refusal says that the console will tell of an answer with this status. */
export function refusal(status) {
  const told = new RegExp(`status of ${status}`);
  const i = complaints.findIndex((c) => told.test(c));
  assert.ok(i >= 0, `no answer had the status ${status}`);
  complaints.splice(i, 1);
}

/** disconnected says that the console will tell of connections that broke. */
export function disconnected() {
  complaints = complaints.filter((c) => !/net::ERR_|network error|Failed to fetch|^request to .* net::/.test(c));
}

/** workOf measures how long the page itself works on something, in milliseconds of its own thread: other programs do not count. */
export async function workOf(doing) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => 1000 * (await devtools.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
  const before = await spent();
  await doing(spent);
  const work = await spent() - before;
  await devtools.detach();
  return work;
}

/** blocked says that the console will tell what the policy kept from running or loading. */
export function blocked() {
  complaints = complaints.filter((c) => !/violates the following Content Security Policy|^Blocked autofocusing/.test(c));
}

export async function ask(p, text) {
  await p.fill("#say", text);
  await p.press("#say", "Enter");
}

/** ended waits until the turn with this number has ended with an outcome; the last one if no number is given. */
export const ended = (p, outcome, number) => (number ? p.locator(".turn").nth(number - 1).and(p.locator(`.turn[data-outcome="${outcome}"]`)) : p.locator(`.turn[data-outcome="${outcome}"]`).last()).waitFor();
export const logText = (p) => p.locator("#log").innerText();
export const overflow = (p) => p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** unfold opens the steps of the last turn. */
export async function unfold(p) {
  await p.locator(".turn").last().locator(".trace[aria-expanded=false]").click();
}

/** pick chooses an entry of a menu. */
export async function pick(menu, entry) {
  await page.getByRole("button", { name: menu }).first().click();
  await page.getByRole("menu").getByText(entry, { exact: true }).click();
}

export const turn = () => page.locator(".turn").last();
export const result = () => turn().locator(".result").first();

/** choose makes a dataset the one that is asked. */
export async function choose(dataset) {
  await visit("#/ask");
  await pick(/^Dataset/, dataset);
}

/** chooseMachine makes a machine the one that answers new threads. */
export async function chooseMachine(name) {
  await visit("#/ask");
  await page.getByRole("button", { name: /^Machine:/ }).click();
  await page.getByRole("menuitemradio", { name: new RegExp("^" + name) }).click();
}

/** question asks in a new thread and waits for its outcome. */
export async function question(text, outcome = "answered") {
  await visit("#/ask");
  await page.getByRole("heading", { name: "What do you want to know?" }).waitFor();
  await ask(page, text);
  await ended(page, outcome);
}
