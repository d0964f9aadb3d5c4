// Numbers of results as people read them. What is exact stays exact: whole numbers and
// decimals keep every digit, whether they came as a number or, too long for one, as text.

const parts = new Intl.NumberFormat().formatToParts(-1.5);
const part = (type: string, otherwise: string) => parts.find((p) => p.type === type)?.value ?? otherwise;
const point = part("decimal", ".");
const minus = "−";
const plain = /^(-?)(\d+)(?:\.(\d+))?$/;

const isFloat = (type: string) => /^(DOUBLE|FLOAT)$/.test(type);
const decimalsOf = (v: unknown) => plain.exec(String(v))?.[3]?.length ?? 0;

/** isNumeric says whether a column of this DuckDB type holds numbers. */
export const isNumeric = (type: string) => /^(U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|BIGNUM|DECIMAL(\(.*\))?|DOUBLE|FLOAT)$/.test(type);

/** isIdentifier says that the numbers of a column are names rather than amounts. */
export const isIdentifier = (name: string) => /(^|[_ ])(id|year|zip|code|no|nr|number|key)$/i.test(name);

/**
 * numberWriter returns the function that writes the numbers of a column alike: with as many
 * decimals where they are few, and without separators where they are names. Only floats
 * are rounded: to two decimals, or to two digits that are not zero.
 */
export function numberWriter(name: string, type: string, values: unknown[]): (value: unknown) => string {
  const scale = Number(/^DECIMAL\(\d+,\s*(\d+)\)/.exec(type)?.[1] ?? Math.max(0, ...values.map(decimalsOf)));
  const useGrouping = scale > 0 || !isIdentifier(name);
  const least = scale <= 2 ? scale : 0;
  const integer = new Intl.NumberFormat(undefined, { useGrouping });
  return (value) => {
    const tiny = typeof value === "number" && type.startsWith("DECIMAL") && value !== 0 && Math.abs(value) < 1e-6; // String writes 1e-7
    const text = tiny ? (value as number).toFixed(scale) : String(value);
    const found = plain.exec(text);
    if (!found) return text.replace(/^-/, minus); // 1e-7, NaN, Infinity
    const [, sign, whole, fraction = ""] = found;
    if (typeof value === "number" && fraction.length > 2 && (!type || isFloat(type))) return round(value, useGrouping);
    const digits = fraction.padEnd(least, "0");
    return (sign && minus) + integer.format(BigInt(whole)) + (digits && point + digits);
  };
}

/** round writes a float with two decimals, or with two digits that are not zero. */
export function round(value: number, useGrouping = true): string {
  const small = Math.abs(value) < 0.1 && value !== 0;
  const format = new Intl.NumberFormat(undefined, small ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping });
  return format.format(value).replace(/^-/, minus);
}

/** compareNumbers orders numbers, however many digits they have; NaN comes last. */
export function compareNumbers(a: unknown, b: unknown): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  if (x !== y) return x < y ? -1 : 1;
  const [m, n] = [plain.exec(String(a)), plain.exec(String(b))];
  if (!m || !n) return 0;
  const scale = Math.max(m[3]?.length ?? 0, n[3]?.length ?? 0);
  const [i, j] = [m, n].map(([, sign, whole, fraction = ""]) => BigInt(sign + whole + fraction.padEnd(scale, "0")));
  return i === j ? 0 : i < j ? -1 : 1;
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * parseJSON is JSON.parse that keeps the text of numbers with more digits than a float
 * holds, in browsers that tell it.
 */
export function parseJSON(text: string): unknown {
  const revive: Reviver = (_, value, context) => (typeof value === "number" && !holds(value, context?.source) ? context!.source : value);
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, revive);
}

// holds says whether a float holds all digits of the number's text.
function holds(value: number, source?: string): boolean {
  if (!source || !plain.test(source)) return true;
  if (Number.isInteger(value)) return Number.isSafeInteger(value) || String(value) === source;
  return source.replace(/^-?0\.0*|\D/g, "").length <= 17;
}
