// Pictures of every view, on a server with the demo data. scripts/screenshots.sh runs it.

import { chromium } from "playwright-core";

const { INTERLOCK_URL: url, OUT: out, CHROMIUM: executablePath } = process.env;
const sizes = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } };
const browser = await chromium.launch({ executablePath, args: ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
const page = await browser.newPage({ viewport: sizes[1440], reducedMotion: "reduce" });
page.setDefaultTimeout(180_000);

// take makes the four pictures of what the page shows.
async function take(name, higher = 0) {
  for (const [width, size] of Object.entries(sizes)) {
    await page.setViewportSize({ ...size, height: size.height + higher });
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(150); // the chart takes its new width
      await page.screenshot({ path: `${out}/${name}-${theme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(sizes[1440]);
}

async function open(hash, shown) {
  await page.evaluate((h) => { location.hash = h; }, hash);
  await page.locator(shown).first().waitFor();
}

// use makes a machine and a dataset those that new threads take.
async function use(machine, dataset) {
  await page.evaluate(([m, d]) => { localStorage.setItem("machine", m); localStorage.setItem("dataset", d); location.hash = "#/ask"; }, [machine, dataset]);
  await page.reload();
  await page.locator("section[aria-label=Datasets] button[aria-pressed=true]").waitFor();
}

async function ask(text) {
  const number = await page.locator(".turn").count();
  await page.fill("#say", text);
  await page.press("#say", "Enter");
  await page.locator(".turn").nth(number).and(page.locator("[data-outcome]:not([data-outcome=running])")).waitFor();
}

await page.goto(url);
await page.locator("#say").waitFor();
await use("analyst", "ecommerce");
await take("start");
await ask("How much was refunded per month in 2025?");
await take("answer");
await use("assistant", "ecommerce");
await ask("How many orders are there by status?");
await page.getByRole("button", { name: /Machine M/ }).click();
await page.locator(".stations button", { hasText: "SQL retrieval" }).click();
await page.locator("aside.panel .graph .move.blocked").first().waitFor();
await take("machine");
await page.getByRole("button", { name: /Machine M/ }).click();
await page.keyboard.press("Control+k");
await page.locator("dialog.palette li").first().waitFor();
await take("palette");
await page.keyboard.press("Escape");

await use("workbench", "ecommerce");
await ask("total refund amount by month in 2025 as a bar chart");
await ask("now as an HTML report with the chart");
await open("#/artifacts", ".gallery a");
await take("artifacts");
await page.locator(".gallery a", { hasText: ".html" }).first().click();
await page.frameLocator("section.shown iframe").getByRole("heading").first().waitFor();
await take("artifact");

await open("#/reconcile", "form select");
await page.locator("form option:nth-child(10)").first().waitFor({ state: "attached" });
await page.getByLabel("Left", { exact: true }).selectOption({ label: "invoices (Brightwater receivables)" });
await page.getByLabel("Right", { exact: true }).selectOption({ label: "payments (Brightwater receivables)" });
await page.getByRole("button", { name: "Begin" }).click();
const card = page.locator(".card:not(.closed)");
await card.waitFor();
await take("pair");
for (let n = 0; n < 30 && (await card.getAttribute("data-card")) === "match"; n++) {
  const text = await card.innerText(), number = /INV-\d+-(\d+)/.exec(text)?.[1];
  await page.keyboard.press(number && text.split(number).length > 2 ? "y" : "n");
  await page.waitForFunction((before) => { const open = document.querySelector(".card:not(.closed)"); return open && open.innerText !== before; }, text);
}
await take("approval");
await page.getByRole("button", { name: "Approve" }).click();
await page.locator(".evidence").waitFor();
await page.setViewportSize({ width: 1440, height: 1250 });
await page.locator(".evidence").evaluate((e) => e.scrollIntoView({ block: "end" }));
await take("reconcile", 350);

for (const [name, hash, shown] of [["data", "#/data/ecommerce", ".list tbody tr"], ["table", "#/data/ecommerce/orders", ".profiles tbody tr"], ["documents", "#/documents", ".page"], ["runs", "#/runs", "tbody a"], ["settings", "#/settings", ".exact"], ["reconciliations", "#/reconcile", "tbody a"]]) {
  await open(hash, shown);
  await take(name);
}
await browser.close();
