import { mount, unmount, type ComponentProps } from "svelte";
import { afterEach, expect, test } from "vitest";
import { tableOf } from "../lib/result";
import Markdown from "./Markdown.svelte";

let shown: Record<string, unknown> | undefined;

function draw(text: string, props: Omit<ComponentProps<typeof Markdown>, "text"> = {}): HTMLElement {
  document.body.replaceChildren();
  shown = mount(Markdown, { target: document.body, props: { text, ...props } });
  return document.body;
}

afterEach(() => {
  if (shown) void unmount(shown);
});

test("markup of a model is drawn by us alone", () => {
  const body = draw("**North** is <b>not bold</b>.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |");
  expect(body.querySelector("strong")?.textContent).toBe("North");
  expect(body.querySelector("b")).toBeNull();
  expect(body.textContent).toContain("<b>not bold</b>");
  expect(body.querySelectorAll("li")).toHaveLength(2);
  expect(body.querySelectorAll("td")).toHaveLength(2);
});

test.each([
  "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "![x](https://evil.example/?d=1)", "![x][r]\n\n[r]: https://evil.example/a.png", "<svg/onload=alert(1)>", "<iframe src=javascript:alert(1)>",
  "[click](javascript:alert(1))", "[click](data:text/html,<script>alert(1)</script>)", "<a href=\"javascript:alert(1)\">x</a>", "`<img src=x onerror=alert(1)>`", "&lt;img src=x onerror=alert(1)&gt;", "<style>*{background:url(https://evil.example)}</style>",
])("%s stays text", (text) => {
  const body = draw(text);
  expect(body.querySelectorAll("img, script, svg, iframe, style, object, embed, link, form")).toHaveLength(0);
  for (const a of body.querySelectorAll("a")) expect(a.getAttribute("href")).toMatch(/^https?:/);
});

test("the words of a link are marked like any text, its address is not", () => {
  const place = { start: 0, end: 0 };
  const result = tableOf({ columns: ["region", "n"], column_types: ["VARCHAR", "BIGINT"], rows: [["North", 1234]] })!;
  const body = draw("It is [4,711](https://x.y/4711) of [1,234](https://x.y/1), see https://x.y/4711.", { result, call: "c_1", figures: [
    { ...place, text: "4,711", support: "none" }, { ...place, text: "1,234", support: "cell", cells: [{ table: "c_1", row: 0, column: "n" }] }] });
  expect(body.querySelector("a [data-support=none]")?.textContent).toBe("4,711?");
  expect(body.querySelector("a [data-support=cell]")?.textContent).toBe("1,234");
  expect(body.querySelector("a button")).toBeNull();
});

test("figures of an answer are marked where nothing supports them", () => {
  const result = tableOf({ columns: ["region", "n"], column_types: ["VARCHAR", "BIGINT"], rows: [["North", 1234]] })!;
  const place = { start: 0, end: 0 };
  const body = draw("North made **1,234** of 24 `24` and 4,711, which is 24.", { result, call: "c_1", figures: [
    { ...place, text: "1,234", support: "cell", cells: [{ table: "c_1", row: 0, column: "n" }] }, { ...place, text: "24", support: "weak" }, { ...place, text: "4,711", support: "none" }, { ...place, text: "24", support: "question" }] });
  expect(body.textContent).toBe("North made 1,234 of 24 24 and 4,711?, which is 24.");
  expect(body.querySelector("strong button[data-support=cell]")).toMatchObject({ textContent: "1,234", title: "North, n" });
  expect([...body.querySelectorAll(".traced")].map((e) => [e.getAttribute("data-support"), e.textContent])).toEqual([["weak", "24"], ["none", "4,711?"], ["question", "24"]]);
  expect(body.querySelector("[data-support=none]")?.getAttribute("title")).toMatch(/No origin was found/);
  expect(body.querySelector("code")?.textContent).toBe("24");
});

test("a cell of another result is named, but not bound", () => {
  const result = tableOf({ columns: ["n"], rows: [[7]] })!;
  const figure = { start: 0, end: 0, text: "7", support: "cell" as const, cells: [{ table: "c_12", row: 0, column: "n" }] };
  const body = draw("It is 7.", { result, call: "c_1", figures: [figure] });
  expect(body.querySelector("button")).toBeNull();
  expect(body.querySelector("[data-support=cell]")?.getAttribute("title")).toBe("From the result: column n, row 1");
});

test("a figure in backticks or in a table is marked, one of a program is not", () => {
  const result = tableOf({ columns: ["region", "n"], column_types: ["VARCHAR", "BIGINT"], rows: [["North", 1234]] })!;
  const place = { start: 0, end: 0 };
  const cells = [{ table: "c_1", row: 0, column: "n" }];
  const body = draw("`1,234` by `SELECT 99 FROM t`, then:\n\n| n |\n|---|\n| 1,234 |\n| 99 |", { result, call: "c_1", figures: [
    { ...place, text: "1,234", support: "cell", cells }, { ...place, text: "1,234", support: "cell", cells }, { ...place, text: "99", support: "none" }] });
  expect(body.querySelector("code button[data-support=cell]")?.textContent).toBe("1,234");
  expect(body.querySelector("td button[data-support=cell]")?.textContent).toBe("1,234");
  expect(body.querySelector("td [data-support=none]")?.textContent).toBe("99?");
  expect(body.querySelectorAll("code")[1].textContent).toBe("SELECT 99 FROM t");
});
