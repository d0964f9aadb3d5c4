// Answers that the description of the API leaves open.

import type { Column } from "../lib/column";

/** A Dataset as /api/datasets tells it. */
export interface Dataset {
  id: string;
  name: string;
  description?: string;
  prompts?: string[];
  version_hash: string;
  kind: string;
  dialect?: string;
  copied_at?: string;
  added: boolean;
  accepts_files: boolean;
  files: string[];
  tables?: Table[];
  problems?: FileProblem[];
}

export interface Table {
  table_name: string;
  file: string;
  description?: string;
  columns?: Column[];
  /** Below zero where nobody knows it. */
  row_count?: number;
  notes?: ImportNote[];
}

export interface FileProblem {
  path: string;
  message: string;
}

/** An ImportNote is something that an import decided. */
export interface ImportNote {
  column?: string;
  message: string;
  before?: string;
  after?: string;
}

/** A Profile says what the columns of a table hold. */
export interface Profile {
  rows: number;
  sampled?: boolean;
  notes?: ImportNote[];
  columns: ColumnProfile[];
}

export interface ColumnProfile {
  name: string;
  type: string;
  distinct: number;
  nulls: number;
  min?: string;
  max?: string;
  examples?: string[];
  histogram?: { from: string; to?: string; count: number }[];
}

/** Rows are some rows of a table. */
export interface Rows {
  columns: Column[];
  rows: unknown[][];
  total_rows: number;
}
