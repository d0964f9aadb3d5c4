import { describe, expect, test } from "vitest";
import { causeInWords, partsOf, truth } from "./stops";

describe("a guard", () => {
  test("is split at its outer conditions", () => {
    expect(partsOf("rag_passes && dominant")).toEqual(["rag_passes", "dominant"]);
    expect(partsOf('len(a && b) > 1 && name == "x && y"')).toEqual(["len(a && b) > 1", 'name == "x && y"']);
    expect(partsOf("a || b && c")).toEqual(["a || b && c"]);
  });

  test("says of a part whether it held, and nothing where that is not sure", () => {
    const saw = { passes: true, low: 0.2, high: 0.5, name: "x", list: "list of 200", result: { rows: 1 }, none: null };
    const cases: [string, boolean | undefined][] = [["passes", true], ["!passes", false], ["low >= high", false], ["low < 0.3", true], ['name == "x"', true], ['name != "x"', false], ["none == nil", true], ["result != nil", true], ["result == name", undefined], ["len(list) > 1", undefined], ["unseen", undefined], ["unseen > 1", undefined], ["name > low", undefined], ['name matches "x"', undefined]];
    for (const [part, held] of cases) expect(truth(part, saw), part).toBe(held);
  });
});

test("a cause is told in words", () => {
  expect(causeInWords(["returned", "request_capability"])).toBe("request capability returned");
  expect(causeInWords(["start"])).toBe("the question came");
  expect(causeInWords(["failed", "refused", "run_sql"])).toBe("run sql failed or was refused");
  expect(causeInWords([])).toBe("its step is done");
});
