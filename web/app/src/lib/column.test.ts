import { describe, expect, test } from "vitest";
import { compareValues, grain, writer } from "./column";

describe("months are months", () => {
  const months = ["2025-01-01 00:00:00", "2025-02-01 00:00:00"];
  test.each([
    ["month", "TIMESTAMP", months, "Jan 2025"],
    ["quarter", "TIMESTAMP", ["2025-10-01 00:00:00"], "Q4 2025"],
    ["year", "DATE", ["2025-01-01"], "2025"],
    ["day", "DATE", ["2025-10-02"], "2 Oct 2025"],
    ["at", "TIMESTAMP", ["2025-10-02 11:04:00"], "2 Oct 2025 11:04"],
    ["signup_date", "DATE", ["2025-10-01"], "1 Oct 2025"],
  ])("%s %s", (name, type, values, written) => {
    expect(writer({ name, type }, values)(values[0])).toBe(written);
  });

  test("text that looks like nothing stays text", () => {
    expect(grain({ name: "month", type: "TIMESTAMP" }, ["infinity"])).toBe("time");
    expect(writer({ name: "month", type: "TIMESTAMP" }, ["infinity"])("infinity")).toBe("infinity");
  });
});

describe("numbers", () => {
  test.each([
    ["total", "DECIMAL(38,2)", 22184.8, "22,184.80"],
    ["average", "DOUBLE", 489.0987654321, "489.10"],
    ["rate", "DOUBLE", 0.0123456, "0.012"],
    ["units", "BIGINT", "9007199254740995", "9,007,199,254,740,995"],
    ["customer_id", "BIGINT", 10001, "10001"],
    ["loss", "BIGINT", -7, "−7"],
    ["exact", "DECIMAL(38,12)", "-12345678901234567890123456.012345678901", "−12,345,678,901,234,567,890,123,456.012345678901"],
  ])("%s", (name, type, value, written) => {
    expect(writer({ name, type }, [value])(value)).toBe(written);
  });

  test("long numbers are ordered by all their digits, empty values come last", () => {
    const column = { name: "n", type: "HUGEINT" };
    expect(compareValues("9007199254740993", "9007199254740995", column, false)).toBe(-1);
    expect(compareValues(null, "1", column, true)).toBe(1);
  });
});
