import { expect, test } from "vitest";
import { align, diffWords } from "./diff";

test("lists stand side by side by what they share", () => {
  const steps = (text: string) => text.split(" ");
  expect(align(steps("ask search sql answer"), steps("ask report answer"), (a, b) => a === b)).toEqual([
    { left: "ask", right: "ask" }, { left: "search" }, { left: "sql" }, { right: "report" }, { left: "answer", right: "answer" },
  ]);
});

test("words that differ are found", () => {
  expect(diffWords("by order_date", "by ship_date")).toEqual([{ kind: "same", text: "by " }, { kind: "removed", text: "order_date" }, { kind: "added", text: "ship_date" }]);
});
