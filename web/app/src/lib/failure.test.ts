import { expect, test } from "vitest";
import { failureInWords, repaired } from "./failure";

test.each([
  ['Referenced column "staus" not found in FROM clause!\nCandidate bindings: "status", "total", "amount" (at character 8: staus)', "There is no column “staus” in these tables", "SELECT staus FROM orders", "SELECT status FROM orders"],
  ['Referenced column "blorb" not found in FROM clause!\nCandidate bindings: "status", "total" (at character 8: blorb)', "There is no column “blorb” in these tables", "SELECT blorb FROM orders", undefined],
  ['Referenced table "a" not found!\nCandidate tables: "o" (at character 8: a.x)', "There is no table “a” in this statement", "SELECT a.x FROM orders o", "SELECT o.x FROM orders o"],
  ["There is no table ordrs in this dataset. Use the tables of this dataset: orders, products.", "There is no table ordrs in this dataset. Use the tables of this dataset: orders, products.", "SELECT * FROM ordrs", "SELECT * FROM orders"],
  ['Ambiguous reference to column name "order_id" (use: "o.order_id" or "i.order_id") (at character 8: order_id)', "“order_id” is a column of several tables", "SELECT order_id FROM orders o, items i", "SELECT o.order_id FROM orders o, items i"],
  ['column "total" must appear in the GROUP BY clause or must be part of an aggregate function.\nEither add it to the GROUP BY list, or use "ANY_VALUE(total)" if … (at character 16: total)', "“total” is neither grouped by nor summed up", "", undefined],
  ['syntax error at or near "SELEC" (at character 1: SELEC)', "The statement cannot be read from “SELEC” on", "", undefined],
  ["syntax error at end of input (at the end, character 10)", "The statement ends before it is complete", "", undefined],
  ["Could not convert string 'delivered' to INT32 when casting from source column status", "“delivered” cannot be read as a whole number", "", undefined],
  ["No function matches the given name and argument types 'sum(VARCHAR)'. You might need to add explicit type casts.\n\tCandidate functions:\n\tsum(DECIMAL) -> DECIMAL\n (at character 8: sum)", "“sum” does not take text", "", undefined],
  ["Something\n  quite new (at character 3: x)", "Something quite new", "", undefined],
])("%s", (text, message, sql, mended) => {
  const failure = failureInWords(text);
  expect(failure.message).toBe(message);
  expect(failure.repair && repaired(sql, failure.repair)).toBe(mended);
});

test("a repair changes whole names only, and quotes what needs it", () => {
  expect(repaired("SELECT totals, total FROM t", { from: "total", to: "amount" })).toBe("SELECT totals, amount FROM t");
  expect(repaired("SELECT x FROM t", { from: "x", to: 'a "b"' })).toBe('SELECT "a ""b""" FROM t');
});
