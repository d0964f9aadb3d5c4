import { expect, test } from "vitest";
import { evidenceOf } from "./reconcile";

test("the parts of a match add up to its score", () => {
  const names = ["rule", "score", "c1 left: no", "c1 right: ref", "c1 level", "c1 weight", "c2 left: total", "c2 right: amount", "c2 level", "c2 weight", "closeness"];
  const row = ["r1", 7.25, "A1", "A1", "are equal", 5, "10", "11", "differ by up to 10 %", 1, 1.25];
  const parts = evidenceOf(names.map((name) => ({ name, type: "VARCHAR" })), row);
  expect(parts.map((p) => p.name)).toEqual(["no and ref", "total and amount", "closeness"]);
  expect(parts.reduce((sum, p) => sum + p.weight, 0)).toBe(7.25);
});

test("a row without comparisons has no parts", () => {
  expect(evidenceOf([{ name: "closeness", type: "DOUBLE" }], [1])).toEqual([]);
});
