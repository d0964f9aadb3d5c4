// Numbers of results as people read them. What is exact stays exact: whole numbers and
// decimals keep every digit, whether they came as a number or, too long for one, as text.

const parts = new Intl.NumberFormat().formatToParts(-1.5);
const part = (type, otherwise) => parts.find((p) => p.type === type)?.value ?? otherwise;
const [minus, point] = [part("minusSign", "-"), part("decimal", ".")];
const plain = /^(-?)(\d+)(?:\.(\d+))?$/;

const isFloat = (type) => /^(DOUBLE|FLOAT)$/.test(type);
const decimalsOf = (v) => plain.exec(String(v))?.[3]?.length ?? 0;

/** isNumeric says whether a column of this DuckDB type holds numbers. */
export const isNumeric = (type) => /^(U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|BIGNUM|DECIMAL(\(.*\))?|DOUBLE|FLOAT)$/.test(type);

// isNames says that the numbers of a column are names rather than amounts.
const isNames = (name) => /(^|[_ ])(id|year|zip|code|no|nr|number|key)$/i.test(name);

/**
 * numberWriter gives the function that writes the numbers of a column alike: with as many
 * decimals where they are few, and without separators where they are names. Only floats
 * are rounded, to six decimals.
 */
export function numberWriter(name, type, values) {
  const scale = Number(/^DECIMAL\(\d+,\s*(\d+)\)/.exec(type)?.[1] ?? Math.max(0, ...values.map(decimalsOf)));
  const grouped = scale > 0 || !isNames(name);
  const least = scale <= 2 ? scale : 0;
  const float = new Intl.NumberFormat(undefined, { minimumFractionDigits: least, maximumFractionDigits: 6, useGrouping: grouped });
  const integer = new Intl.NumberFormat(undefined, { useGrouping: grouped });
  return (value) => {
    const small = typeof value === "number" && type.startsWith("DECIMAL") && value !== 0 && Math.abs(value) < 1e-6; // String writes 1e-7
    const text = small ? value.toFixed(scale) : String(value), found = plain.exec(text);
    if (!found) return text; // 1e-7, NaN, Infinity
    const [, sign, whole, fraction = ""] = found;
    if (typeof value === "number" && fraction.length > 6 && (!type || isFloat(type))) return float.format(value);
    const digits = fraction.padEnd(least, "0");
    return (sign && minus) + integer.format(BigInt(whole)) + (digits && point + digits);
  };
}

/** compareNumbers orders numbers, however many digits they have; NaN comes last. */
export function compareNumbers(a, b) {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  if (x !== y) return x < y ? -1 : 1;
  const [m, n] = [plain.exec(String(a)), plain.exec(String(b))];
  if (!m || !n) return 0;
  const scale = Math.max(m[3]?.length ?? 0, n[3]?.length ?? 0);
  const [i, j] = [m, n].map(([, sign, whole, fraction = ""]) => BigInt(sign + whole + fraction.padEnd(scale, "0")));
  return i === j ? 0 : i < j ? -1 : 1;
}

/**
 * parseJSON is JSON.parse that keeps the text of numbers with more digits than a float
 * holds, in browsers that tell it.
 */
export const parseJSON = (text) => JSON.parse(text, (_, value, context) => (typeof value === "number" && !holds(value, context?.source) ? context.source : value));

const holds = (value, source) => !source || !plain.test(source) || (Number.isInteger(value) ? Number.isSafeInteger(value) || String(value) === source : source.replace(/^-?0\.0*|\D/g, "").length <= 17);
