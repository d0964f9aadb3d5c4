// Readings that are changed in place, and every kind of chart with its files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ask, choose, chooseMachine, ended, page, question, result, turn, unfold } from "./browser.js";

const change = async (chip, entry) => {
  const number = await page.locator(".turn").count();
  await turn().getByRole("button", { name: chip }).click();
  await page.locator(".pop:popover-open").getByRole("button", { name: entry, exact: true }).click();
  await ended(page, "answered", number + 1);
};
const chips = async () => (await turn().locator(".chips .chip").allInnerTexts()).map((c) => c.replaceAll(/\s+/g, " ").trim().replace(/^Change /, ""));

test("how a question was read is changed in place: grouping, measure, filter; each runs as it says", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await question("How many orders are there per status?");
  assert.deepEqual((await chips()).slice(0, 3), ["measure number of rows", "by status", "from orders"]);
  await change(/^Change measure/, "sum of amount");
  assert.equal((await chips())[0], "measure sum of amount");
  assert.match(await turn().locator(".question").innerText(), /the sum of amount/);
  assert.match(await turn().locator(".trace").innerText(), /no model asked/, "a changed reading costs nothing");
  await change(/^Change by/, "no grouping");
  const total = await result().locator(".big b").innerText();
  await turn().getByRole("button", { name: "filter", exact: true }).click();
  await page.locator(".pop:popover-open").getByRole("combobox").selectOption("status");
  await page.locator(".pop:popover-open").getByRole("button", { name: "paid", exact: true }).click();
  await ended(page, "answered", 4);
  assert.ok((await chips()).includes("status is paid"));
  assert.notEqual(await result().locator(".big b").innerText(), total);
  await change(/^Change status/, "leave it out");
  assert.equal(await result().locator(".big b").innerText(), total, "without the filter it is the total again");
  // The next question goes on from the changed reading, and by the keyboard a chip works too.
  await turn().getByRole("button", { name: "split by", exact: true }).press("Enter");
  await page.keyboard.press("Escape");
  assert.equal(await turn().getByRole("button", { name: "split by", exact: true }).evaluate((b) => b === document.activeElement), true, "the focus comes back");
});

test("area, stacked and pie charts are drawn as such, and are saved as PNG, SVG and Vega-Lite", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await question("SQL: SELECT DATE '2025-01-01' + INTERVAL (m) MONTH AS month, k AS kind, (m + 1) * length(k) AS pieces FROM range(4) t(m), (VALUES ('a'), ('bb'), ('cccc')) v(k) ORDER BY 1, 2");
  const drawn = () => result().locator("svg[role=img]");
  const as = async (kind) => {
    await result().getByRole("button", { name: /^Kind of chart/ }).click();
    await page.getByRole("menuitemradio", { name: kind, exact: true }).click();
  };
  const saved = async (entry) => {
    await result().getByRole("button", { name: /^Download/ }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: entry }).click()]);
    return readFile(await download.path());
  };
  assert.equal(await drawn().locator("path.line").count(), 3, "a line for each kind");
  await as("Area");
  assert.equal(await drawn().locator("path.ground").count(), 3);
  await as("Stacked columns");
  const bars = await drawn().locator("rect.bar").evaluateAll((all) => all.map((b) => ({ x: Math.round(b.x.baseVal.value), top: Math.round(b.y.baseVal.value), bottom: Math.round(b.y.baseVal.value + b.height.baseVal.value) })));
  assert.equal(bars.length, 12);
  const [first, second, third] = bars.filter((b) => b.x === bars[0].x).sort((a, b) => b.top - a.top);
  assert.ok(Math.abs(second.bottom - first.top) <= 1 && Math.abs(third.bottom - second.top) <= 1, "each stands on the one below");
  const document = JSON.parse(await saved("Chart as Vega-Lite"));
  assert.deepEqual([document.mark.type, document.encoding.y.stack, document.encoding.color.field, document.data.values.length], ["bar", "zero", "kind", 12]);
  assert.match((await saved("Chart as SVG")).toString(), /^<svg[^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"[\s\S]*fill="rgb/);
  assert.equal((await saved("Chart as PNG")).subarray(1, 4).toString(), "PNG");

  await ask(page, "SQL: SELECT * FROM (VALUES ('a', 50), ('b', 30), ('c', 20)) v(city, orders)");
  await ended(page, "answered", 2);
  await as("Pie");
  assert.equal(await drawn().locator("path.slice").count(), 3);
  assert.match(await drawn().innerText().catch(() => drawn().textContent()), /50 %[\s\S]*30 %[\s\S]*20 %/);
  assert.equal(JSON.parse(await saved("Chart as Vega-Lite")).mark.type, "arc");
});

test("an edited statement runs as a new turn, under the same policy, and the first answer stays", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await question("How many orders are there per status?");
  const run = async (sql) => {
    await page.locator(".turn").first().getByRole("button", { name: "Edit", exact: true }).first().click();
    await page.getByRole("textbox", { name: "SQL", exact: true }).fill(sql);
    await page.keyboard.press("Control+Enter");
  };
  await unfold(page);
  await run("SELECT 40 + 2 AS answer");
  await ended(page, "answered", 2);
  assert.equal(await result().locator(".big b").innerText(), "42");
  await run("DELETE FROM orders");
  await page.locator(".turn").nth(2).and(page.locator("[data-outcome=refused], [data-outcome=failed]")).waitFor();
  assert.equal(await page.locator(".turn").first().getAttribute("data-outcome"), "answered");
});
