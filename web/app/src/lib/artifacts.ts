// Stored outputs: which versions there are of each, and how a version can be shown.

import type { Meta } from "../api/schema";

export type { Meta };

/** An Output is one artifact with its versions, newest first. */
export interface Output {
  id: string;
  newest: Meta;
  versions: Meta[];
}

/** outputsOf groups versions by their artifact; the newest stands first. */
export function outputsOf(metas: Meta[]): Output[] {
  return [...Map.groupBy(metas, (m) => m.artifact_id)].map(([id, list]) => {
    const versions = list.toSorted((a, b) => b.version - a.version);
    return { id, newest: versions[0], versions };
  });
}

export type Showing = "picture" | "rows" | "document" | "html" | "text" | "none";

const largestText = 4 << 20; // bytes that are fetched to be shown as text

/** showingOf says how an output is shown; a document of JSON tells more when it was read. */
export function showingOf(a: { type: string; bytes: number }): Showing {
  if (/^(png|jpg|gif|webp|svg)$/.test(a.type)) return "picture";
  if (/^(csv|parquet|ndjson|xlsx|arrow)$/.test(a.type)) return "rows";
  if (a.bytes > largestText) return "none";
  if (a.type === "json") return "document";
  if (a.type === "html") return "html";
  return /^(md|txt|sql|log|yaml|py)$/.test(a.type) ? "text" : "none";
}

const kinds: Record<string, string> = { csv: "table", parquet: "table", xlsx: "table", ndjson: "table", arrow: "table", png: "picture", jpg: "picture", svg: "picture", html: "report", pdf: "report" };

/** kindOf names what an output is, in a word. */
export const kindOf = (a: { type: string; name: string; producer: string }) => (a.type === "json" && a.name.endsWith(".vl.json") ? "chart" : a.type === "json" && a.producer === "sql" ? "result" : (kinds[a.type] ?? a.type));
