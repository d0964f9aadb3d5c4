// A whole reconciliation on the page, from two files to the evidence of a match.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { choose, chooseMachine, ended, overflow, page, phone, question, turn, visit } from "./browser.js";

// books are a ledger and a statement: of 24 invoices 20 are paid, and two entries belong to nothing.
function books() {
  const names = ["Alder & Sons", "Birch Trading", "Cedar Works", "Dogwood Ltd", "Elm Partners"];
  const two = (n) => String(n).padStart(2, "0"), amount = (i) => `${100 + i * 13}.${two(i)}`;
  const ledger = Array.from({ length: 24 }, (_, i) => `INV-${20100 + i * 7},${names[i % 5]},2025-03-${two(1 + i)},${amount(i)}`);
  const bank = Array.from({ length: 20 }, (_, n) => 23 - n).map((i) => `${900 + i},2025-04-${two(1 + i)},TRANSFER ${names[i % 5].toUpperCase()} REF INV${20100 + i * 7},${amount(i)}`);
  return { ledger: ["invoice_no,customer,issued,total", ...ledger].join("\n"), bank: ["entry,booked,text,amount", ...bank, "801,2025-05-01,BANK FEE,-3.50", "802,2025-05-02,BANK FEE,-4.50"].join("\n") };
}

const phase = () => page.locator(".phases [aria-current=step]");
const card = (name) => page.locator(`.card[data-card="${name}"]:not(.closed)`);

// isMatch says whether the two rows of the open card belong together.
async function isMatch() {
  const text = await card("match").innerText();
  return text.includes("REF " + /INV-\d+/.exec(text)[0].replace("-", ""));
}

const upload = async () => {
  await choose("any data");
  const { ledger, bank } = books();
  await page.getByLabel("Files to add").setInputFiles([{ name: "ledger.csv", mimeType: "text/csv", buffer: Buffer.from(ledger) }, { name: "bank.csv", mimeType: "text/csv", buffer: Buffer.from(bank) }]);
  for (const file of ["ledger.csv", "bank.csv"]) await page.locator(".uploads li", { hasText: file }).and(page.locator("[data-status=ready]")).waitFor();
};

const begin = async (period = "") => {
  await visit("#/reconcile");
  const form = page.getByRole("form", { name: "Match two sources" });
  await form.getByLabel("Left").selectOption({ label: "ledger (uploads)" });
  await form.getByLabel("Right").selectOption({ label: "bank (uploads)" });
  await form.getByLabel("Period").fill(period);
  await form.getByRole("button", { name: "Begin" }).press("Enter");
};

test("two files are matched: pairs by key and mouse, rules, approval, result, reasons, evidence, files", async () => {
  await upload();
  await begin();

  // Seven phases, of which those before the pairs are done.
  await card("match").waitFor();
  await phase().getByText("Pairs").waitFor();
  assert.equal(await page.locator(".phases li").count(), 7);
  assert.equal(await page.locator(".phases li.done").count(), 3);
  assert.match(await page.locator(".phases").innerText(), /ledger, bank[\s\S]*24 and 22 rows/);
  assert.match(await card("match").locator("tr.compared").first().innerText(), /=/);

  // The first pair by the mouse, the others by keys; focus is on the card, not lost.
  for (let confirmed = 0, n = 0; confirmed < 3; n++) {
    assert.ok(n < 20, "three pairs in twenty");
    const before = await card("match").innerText(), yes = await isMatch();
    assert.equal(await page.evaluate(() => document.activeElement.matches(".card")), true, "the card has the focus");
    if (n === 0) await card("match").getByRole("button", { name: yes ? "They match" : "They do not" }).click();
    else await page.keyboard.press(yes ? "y" : "n");
    if (yes) confirmed++;
    await page.waitForFunction((text) => { const open = document.querySelector(".card:not(.closed)"); return open && open.innerText !== text; }, before);
  }

  await card("validation").waitFor();
  await phase().getByText("Approval").waitFor();
  assert.match(await page.getByRole("region", { name: "Rules", exact: true }).innerText(), /Rows match where invoice_no and text[\s\S]*of its matches are right/);
  assert.match(await card("validation").innerText(), /on the samples[\s\S]*Matched\s+20[\s\S]*Open left\s+4[\s\S]*Open right\s+2/);
  await page.keyboard.press("Tab");
  while (!(await page.evaluate(() => document.activeElement.textContent.startsWith("Approve")))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");

  const found = page.getByRole("region", { name: "Result of the reconciliation" });
  await found.waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".phases li.done").length === 7);
  assert.match(await found.innerText(), /3 confirmed by you[\s\S]*17 Rows match where/);
  await found.getByRole("region", { name: "Matched pairs" }).getByText("INV-20128").first().waitFor();

  // Why a pair matches: each comparison with its weight, and the next match.
  const evidence = page.getByRole("region", { name: "Evidence of a match" });
  await evidence.getByText("1 of 20").waitFor();
  assert.match(await evidence.innerText(), /invoice no and text[\s\S]*\+7\.\d\d[\s\S]*all together/);
  // What is shown adds up to what is said.
  const weights = (await evidence.locator(".weight").allInnerTexts()).map((w) => Number(w.replace("−", "-")));
  assert.ok(Math.abs(weights.slice(0, -1).reduce((a, b) => a + b, 0) - weights.at(-1)) < 0.05, String(weights));
  assert.match(await evidence.innerText(), /closeness/);
  const first = await evidence.innerText();
  await evidence.getByRole("button", { name: "The next match" }).press("Enter");
  await evidence.getByText("2 of 20").waitFor();
  assert.notEqual(await evidence.innerText(), first);
  assert.match(await evidence.innerText(), /Rows match where/);

  // Why a row is open.
  await found.getByRole("button", { name: /^Open left/ }).click();
  const open = found.getByRole("region", { name: "Open on the left, and why" });
  await open.getByText("nothing on the other side looks like it").first().waitFor();
  assert.equal(await open.locator("tbody tr").count(), 4);
  await found.getByRole("button", { name: /^Ambiguous/ }).click();
  await found.getByText("There are none.").waitFor();

  await found.getByRole("button", { name: /^Download the evidence/ }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: /^unmatched_left\.csv/ }).click()]);
  assert.equal((await readFile(await file.path())).toString().trim().split("\n").length, 5);

  await phone();
  assert.equal(await overflow(page), 0, "on a phone");
  await visit("#/reconcile");
  await page.getByRole("table").getByText("Complete").first().waitFor();
  assert.equal(await overflow(page), 0, "the list on a phone");
});

test("a question back is answered by a button, and a dataset is chosen by one", async () => {
  await begin("March 2025");
  const answers = page.getByRole("group", { name: "Answers" });
  await answers.getByRole("button", { name: "all rows" }).click();
  await page.locator(".turn").nth(1).waitFor();
  await card("match").waitFor();
  await page.locator(".phases").getByText("24 and 22 rows").waitFor();

  await chooseMachine("analyst");
  await choose("any data");
  await question("What is the total amount?", "asked");
  await answers.getByRole("button", { name: "shop" }).click();
  await ended(page, "answered", 2);
  assert.match(await turn().innerText(), /137\.75/);
});
