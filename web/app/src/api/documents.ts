// Answers about documents that the description of the API leaves open.

/** A Doc is an indexed document. */
export interface Doc {
  document_id: string;
  source_file: string;
  /** Whose it is; absent where it is the operator's, which everybody sees. */
  owner?: string;
  collection?: string;
  thread?: string;
  title?: string;
  bytes: number;
  pages?: number;
  chunks: number;
  /** Chunks that are found by meaning as well as by their words. */
  embedded: number;
  added: string;
  notes?: string[];
  problem?: { message: string; suggestion?: string };
}

/** A Passage is a part of a document that was found. */
export interface Passage {
  content: string;
  source_file: string;
  place: string;
  relevancy: number;
  document_id: string;
  collection?: string;
  title?: string;
}

/** An Excerpt is the text at one place of a document. */
export interface Excerpt {
  document: Doc;
  place: string;
  content: string;
  passages: string[];
  places: string[];
}

/** An AddReport says what became of documents that were sent. */
export interface AddReport {
  added: number;
  changed: number;
  unchanged: number;
  chunks: number;
  problems?: { source_file: string; message: string; suggestion?: string }[];
}
