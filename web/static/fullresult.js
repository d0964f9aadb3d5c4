// The whole of a result that a turn shows in part: stored on the server by running the
// recorded statement again, then read by page or downloaded.

import { artifactPath, download, get, post } from "./api.js";

/** A FullResult reaches all rows of one call of a run; limited says that there are more than the turn shows. */
export class FullResult {
  constructor(run, call, limited) {
    this.limited = limited;
    this.path = `/api/runs/${encodeURIComponent(run)}/results/${encodeURIComponent(call)}`;
  }

  // keep stores the rows and gives the artifact that holds them.
  async keep(format, today) {
    const kept = await (await post(this.path, { format, today: today || undefined })).json();
    return { ...kept, path: artifactPath(kept) };
  }

  /** all gives a source of pages for a table. */
  async all(today) {
    const { path, lineage } = await this.keep("parquet", today);
    const page = async (offset, limit, sort, find) => {
      const { columns, rows, total_rows: total } = await get(`${path}/rows?` + new URLSearchParams({
        offset, limit, ...(sort && { sort: sort.name, down: Boolean(sort.down) }), ...(find && { find }),
      }));
      return { columns, rows, total };
    };
    const { columns, total } = await page(0, 1);
    return { columns, total, lineage, sorts: true, finds: true, page };
  }

  /** save downloads all rows and tells what they were made of. */
  async save(format, today) {
    const { path, name, lineage } = await this.keep(format, today);
    await download(path, name);
    return lineage;
  }
}
