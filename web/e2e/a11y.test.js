// Every view can be used by all: no serious finding of axe in light and dark, and the whole way by keyboard.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { ask, choose, chooseMachine, ended, page, question, turn, unfold, visit } from "./browser.js";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const whole = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] }; // what a theme changes on a phone, whose elements are looked at in the light

const sizes = [{ width: 1280, height: 850 }, { width: 390, height: 844 }];

// findings are what axe holds for serious, at the width of a desk and of a phone, in both themes.
async function findings(view) {
  const out = [];
  for (const size of sizes) {
    await page.setViewportSize(size);
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      const { violations } = await page.evaluate((o) => globalThis.axe.run(document, { runOnly: o, resultTypes: ["violations"] }), theme === "dark" && size !== sizes[0] ? colours : whole);
      out.push(...violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${view}, ${size.width}, ${theme}: ${v.id} ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join(" | ")}`));
    }
  }
  await page.setViewportSize(sizes[0]);
  await page.emulateMedia({ colorScheme: "light" });
  return out;
}

test("no view has a serious finding of axe, on a desk and on a phone, in light and in dark", async () => {
  await page.evaluate(axe);
  const found = [];
  const look = async (name, shown) => {
    await page.locator(shown).first().waitFor();
    found.push(...await findings(name));
  };
  await look("start", ".start");
  await chooseMachine("analyst");
  await choose("shop");
  await question("How many orders are there per status?");
  await unfold(page);
  await look("an answer with its steps", ".turn .steps");
  await turn().getByRole("button", { name: /^Change by/ }).click();
  await look("a reading that is changed", ".pop li button");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /Machine M/ }).click();
  await look("the machine", "aside.panel .node");
  await page.getByRole("button", { name: /Machine M/ }).click();
  await ask(page, "What is blorb?");
  await page.locator(".turn").nth(1).and(page.locator("[data-outcome]:not([data-outcome=running])")).waitFor();
  await look("a question back or a refusal", ".turn");
  await visit("#/reconcile");
  await look("reconciliations", "table a");
  await page.getByRole("row", { name: /Complete/ }).first().getByRole("link").click();
  await look("a reconciliation", ".evidence");
  for (const [address, shown] of [["data", ".dataset"], ["data/shop", ".list tbody tr"], ["data/shop/orders", ".profiles tbody tr"], ["documents", ".page"], ["artifacts", ".gallery a"], ["runs", "tbody a"], ["settings", ".switch, .exact"]]) {
    await visit("#/" + address);
    await look(address, shown);
    if (address === "artifacts") {
      await page.locator(".gallery a", { hasText: ".vl.json" }).first().click();
      await look("a chart", "section.shown svg");
    } else if (address === "runs") {
      await page.locator("tbody input").nth(0).check();
      await page.locator("tbody input").nth(1).check();
      await page.getByRole("button", { name: "Compare" }).click();
      await look("two runs", ".differs, .outcome");
      await visit("#/runs");
      await page.locator("tbody a").first().click();
      await look("a run", ".facts");
    }
  }
  await visit("#/ask");
  await page.keyboard.press("Control+k");
  await look("the palette", "dialog.palette li");
  await page.keyboard.press("Escape");
  assert.deepEqual(found, []);
});

test("a question is asked, read, changed and compared by the keyboard alone, and focus is never lost", async () => {
  const focus = () => page.evaluate(() => document.activeElement.tagName + (document.activeElement.id ? "#" + document.activeElement.id : ""));
  const reach = async (what) => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((text) => `${document.activeElement.textContent} ${document.activeElement.ariaLabel ?? ""}`.includes(text), what)) return;
    }
    assert.fail(`Tab does not reach ${what}`);
  };
  await choose("shop");
  await page.keyboard.press("/");
  assert.equal(await focus(), "TEXTAREA#say");
  await page.keyboard.type("How many orders are there per status?");
  await page.keyboard.press("Enter");
  await ended(page, "answered", 1);
  assert.equal(await focus(), "TEXTAREA#say", "events came and the focus stayed");
  await page.keyboard.press("Escape"); // out of the field
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("t");
  await turn().locator(".steps").waitFor();
  await page.keyboard.press("e");
  const field = page.getByLabel("Your question, changed");
  await field.waitFor();
  assert.equal(await field.evaluate((f) => f === document.activeElement), true);
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Edit the question", "the focus is where it was");
  await reach("Run again");
  await page.keyboard.press("Enter");
  await ended(page, "answered", 2);
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("r");
  await ended(page, "answered", 3);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("v");
  await turn().getByRole("button", { name: "Table", pressed: true }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("new thread").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("go to artifacts");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Artifacts" }).waitFor();
  assert.equal(await page.locator("dialog[open]").count(), 0);
});
