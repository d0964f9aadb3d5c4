// Outputs of threads on the page: made, listed with their versions, shown, restyled, downloaded.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ask, choose, chooseMachine, ended, overflow, page, phone, question, turn, visit } from "./browser.js";

const output = (name) => page.getByRole("list", { name: "Outputs" }).getByRole("link", { name });
const shown = () => page.locator("section.shown");

async function saved(button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), content: (await readFile(await download.path())).toString() };
}

test("a chart, a report and a table are made, shown, restyled and downloaded, and an equal one is there already", async () => {
  await choose("shop");
  await chooseMachine("workbench");
  await question("total amount by status as a bar chart");
  for (const file of [/\.vl\.json/, /\.svg/]) await turn().getByRole("link", { name: file }).first().waitFor();
  await ask(page, "now as an HTML report with the chart");
  await ended(page, "answered", 2);
  // The figures of the report come from the first turn, and lead there.
  await turn().locator('.answer button[data-support="cell"]').first().click();
  await page.locator(".turn").first().locator("td.marked").first().waitFor();
  await ask(page, "save it as CSV");
  await ended(page, "answered", 3);
  await page.getByRole("link", { name: /artifacts$/ }).click();

  // The chart is drawn here, of the rows that its document names.
  await output(/\.vl\.json/).click();
  const chart = shown().getByRole("img", { name: /amount/i });
  await chart.locator(".bar").first().waitFor();
  assert.equal(await chart.locator(".bar").count(), 3, "a bar for each status");
  const before = await chart.locator(".bar").first().evaluate((b) => getComputedStyle(b).fill);
  await shown().getByLabel("Title").fill("Paid or not");
  await shown().getByRole("button", { name: /^Kind of chart/ }).click();
  await page.getByRole("menuitemradio", { name: "Bars" }).click();
  await shown().getByRole("button", { name: /^Colour/ }).click();
  await page.getByRole("menuitemradio", { name: "amber" }).click();
  const restyled = shown().getByRole("img", { name: "Paid or not" });
  assert.notEqual(await restyled.locator(".bar").first().evaluate((b) => getComputedStyle(b).fill), before);
  await shown().getByRole("button", { name: /^Save the chart/ }).click();
  const kept = await saved(page.getByRole("menuitem", { name: "As Vega-Lite" }));
  assert.equal(kept.name, "Paid or not.vl.json");
  assert.equal(JSON.parse(kept.content).title, "Paid or not");
  assert.match(JSON.parse(kept.content).data.url, /^\/api\/artifacts\/art_/, "the rows stay named");

  // The report stands in a frame of its own, which has no origin.
  await output(/\.html/).click();
  const frame = page.frameLocator("section.shown iframe");
  await frame.getByRole("heading").first().waitFor();
  await frame.locator("svg").first().waitFor();
  const inside = await (await page.locator("section.shown iframe").elementHandle()).contentFrame();
  assert.equal(await inside.evaluate(() => globalThis.origin), "null");
  assert.notEqual(await inside.evaluate(() => getComputedStyle(document.body).fontFamily), "", "it has its style");

  await output(/\.csv/).click();
  await shown().getByRole("region", { name: /^Rows of/ }).getByText("paid", { exact: true }).waitFor();
  assert.match((await saved(shown().getByRole("link", { name: "Download" }))).content, /^status,/);
  await output(/\.svg/).click();
  await page.waitForFunction(() => document.querySelector("section.shown img")?.naturalWidth > 0);
});

test("a file that changes has versions, and one that does not is the one that was there", async () => {
  await choose("shop");
  await chooseMachine("analyst");
  const again = "PYTHON: import time\nopen('clock.txt', 'w').write(str(time.time_ns()))\nopen('same.txt', 'w').write('the same')";
  await question(again);
  await ask(page, again);
  await ended(page, "answered", 2);
  await turn().getByText("already there: duplicate artifact prevented").first().waitFor();
  await page.getByRole("link", { name: /artifacts$/ }).click();
  await output(/clock\.txt/).click();
  const newest = await shown().locator("pre").innerText();
  await page.getByRole("navigation", { name: "Versions" }).getByRole("link", { name: /^1/ }).click();
  await page.waitForFunction((text) => { const pre = document.querySelector("section.shown pre"); return pre && pre.innerText !== text; }, newest);
  assert.ok(BigInt(await shown().locator("pre").innerText()) < BigInt(newest));

  await visit("#/artifacts");
  await output(/clock\.txt/).getByText("2 versions").waitFor();
  assert.equal(await output(/same\.txt/).getByText("versions").count(), 0);
  await page.getByLabel("Find an output").fill("nothing of this name");
  await page.getByText("No output has this name or kind.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await output(/same\.txt/).waitFor();
  await phone();
  assert.equal(await overflow(page), 0);
});
