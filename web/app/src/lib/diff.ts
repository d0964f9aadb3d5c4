// In what two lists differ, and the words in which two texts do.

export interface Part {
  kind: "same" | "removed" | "added";
  text: string;
}

/** align puts two lists side by side by their longest common sequence; what one of them lacks stands alone. */
export function align<T>(a: T[], b: T[], same: (a: T, b: T) => boolean): { left?: T; right?: T }[] {
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) longest[i][j] = same(a[i], b[j]) ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const out: { left?: T; right?: T }[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && same(a[i], b[j])) out.push({ left: a[i++], right: b[j++] });
    else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) out.push({ left: a[i++] });
    else out.push({ right: b[j++] });
  }
  return out;
}

const mostWords = 1500; // beyond these the whole texts are shown as different

/** diffWords compares two texts word by word. */
export function diffWords(before: string, after: string): Part[] {
  const [a, b] = [before, after].map((t): string[] => t.match(/\w+|\s+|[^\w\s]/g) ?? []);
  if (before === after) return [{ kind: "same", text: before }];
  if (a.length > mostWords || b.length > mostWords) return [{ kind: "removed", text: before }, { kind: "added", text: after }];
  const out: Part[] = [];
  for (const { left, right } of align(a, b, (x, y) => x === y)) {
    const kind = right === undefined ? "removed" : left === undefined ? "added" : "same";
    const last = out.at(-1);
    if (last?.kind === kind) last.text += left ?? right;
    else out.push({ kind, text: (left ?? right)! });
  }
  return out;
}
