// Where a table gets its rows from: the page has them, or they come from the server.

import { artifactPath, download, get, pathTo, post, request } from "../api/client";
import type { Rows } from "../api/data";
import type { Lineage } from "../api/schema";
import type { Column } from "./column";
import { parseJSON } from "./number";
import { having, sorted, type Result, type Sort } from "./result";

/** A RowSource gives the rows of a table, page by page. */
export interface RowSource {
  columns: Column[];
  total: number;
  sorts: boolean;
  finds: boolean;
  load(offset: number, limit: number, sort: Sort | undefined, find: string): Promise<{ rows: unknown[][]; total: number }>;
}

/** localRows is the source of rows that are on the page already. */
export function localRows(result: Result): RowSource {
  let key = "";
  let found = result.rows;
  return {
    columns: result.columns, total: result.rows.length, sorts: true, finds: true,
    load: async (offset, limit, sort, find) => {
      const asked = JSON.stringify([sort, find]);
      if (asked !== key) {
        found = sorted(having(result.rows, find), sort, result.columns);
        key = asked;
      }
      return { rows: found.slice(offset, offset + limit), total: found.length };
    },
  };
}

/** tableRows is the source of the rows of a table of a dataset, as they are stored. */
export async function tableRows(alias: string): Promise<RowSource> {
  const load = async (offset: number, limit: number) => (await get("/api/sources/{alias}", { alias }, { offset, limit })) as Rows;
  const first = await load(0, pageRows);
  return {
    columns: first.columns, total: first.total_rows, sorts: false, finds: false,
    load: async (offset, limit) => {
      const { rows, total_rows: total } = offset === 0 && limit === pageRows ? first : await load(offset, limit);
      return { rows, total };
    },
  };
}

/** pageRows is how many rows are fetched at once. */
export const pageRows = 200;

/** A Kept is a result that the server stored whole, by running the recorded statement again. */
interface Kept {
  artifact_id: string;
  version: number;
  name: string;
  lineage: Lineage;
}

/** keepResult stores all rows of a call of a run; today takes today's data where those of the run are gone. */
const keepResult = (run: string, call: string, format: string, today: boolean) =>
  post("/api/runs/{id}/results/{call}", { id: run, call }, { format, today: today || undefined } as never) as Promise<unknown> as Promise<Kept>;

/** artifactRows is the source of the rows of a stored table; the server sorts and finds. */
export async function artifactRows(kept: { artifact_id: string; version: number }): Promise<RowSource> {
  const load = async (offset: number, limit: number, sort: Sort | undefined, find: string) => {
    const path = pathTo(artifactPath(kept) + "/rows", {}, { offset, limit, sort: sort && columns[sort.column].name, down: sort?.down, find });
    const { columns: named, rows, total_rows: total } = parseJSON(await (await request(path)).text()) as Rows;
    return { named, rows, total };
  };
  let columns: Column[] = [];
  const first = await load(0, 1, undefined, "");
  columns = first.named;
  return { columns, total: first.total, sorts: true, finds: true, load };
}

/** allRows is the source of all rows of a call. */
export async function allRows(run: string, call: string, today: boolean): Promise<{ source: RowSource; lineage: Lineage }> {
  const kept = await keepResult(run, call, "parquet", today);
  return { source: await artifactRows(kept), lineage: kept.lineage };
}

/** saveRows downloads all rows of a call and tells what they were made of. */
export async function saveRows(run: string, call: string, format: string, today: boolean): Promise<Lineage> {
  const kept = await keepResult(run, call, format, today);
  await download(artifactPath(kept), kept.name);
  return kept.lineage;
}
