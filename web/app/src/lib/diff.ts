// The words in which two texts differ.

export interface Part {
  kind: "same" | "removed" | "added";
  text: string;
}

const mostWords = 1500; // beyond these the whole texts are shown as different

/** diffWords compares two texts word by word, by their longest common sequence. */
export function diffWords(before: string, after: string): Part[] {
  const [a, b] = [before, after].map((t) => t.match(/\w+|\s+|[^\w\s]/g) ?? []);
  if (before === after) return [{ kind: "same", text: before }];
  if (a.length > mostWords || b.length > mostWords) return [{ kind: "removed", text: before }, { kind: "added", text: after }];
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const out: Part[] = [];
  const add = (kind: Part["kind"], text: string) => {
    const last = out.at(-1);
    if (last?.kind === kind) last.text += text;
    else out.push({ kind, text });
  };
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      add("same", a[i++]);
      j++;
    } else if (longest[i + 1][j] >= longest[i][j + 1]) add("removed", a[i++]);
    else add("added", b[j++]);
  }
  while (i < a.length) add("removed", a[i++]);
  while (j < b.length) add("added", b[j++]);
  return out;
}
