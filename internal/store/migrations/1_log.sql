-- Times are nanoseconds since 1970 in UTC; 0 is "never".
CREATE TABLE threads (
  id      TEXT PRIMARY KEY,
  owner   TEXT NOT NULL,
  machine TEXT NOT NULL,
  version TEXT NOT NULL,
  title   TEXT NOT NULL,
  dataset TEXT NOT NULL,
  status  TEXT NOT NULL,
  state   TEXT NOT NULL,
  run     TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) WITHOUT ROWID;

-- Over columns that never change, so that no step of a thread has to touch it.
CREATE INDEX threads_by_owner ON threads (owner, created);

CREATE TABLE events (
  thread TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  time   INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  body   TEXT NOT NULL,
  PRIMARY KEY (thread, seq)
) WITHOUT ROWID;

-- Threads as they stand. While one runs and nothing of it changes but its end, a batch
-- writes events only, and the end is read from them.
CREATE VIEW heads AS
SELECT id, owner, machine, version, title, dataset, status, state, run,
  CASE status WHEN 'running' THEN coalesce((SELECT max(e.seq) FROM events e WHERE e.thread = id), seq) ELSE seq END AS seq,
  created,
  CASE status WHEN 'running' THEN coalesce((SELECT e.time FROM events e WHERE e.thread = id AND e.seq > threads.seq ORDER BY e.seq DESC LIMIT 1), updated)
    ELSE updated END AS updated
FROM threads;

-- packed says how the bytes are stored: 0 as they are, 1 as zstd, 2 as a list of the hashes
-- of chunks, which are blobs themselves.
CREATE TABLE blobs (
  hash   TEXT PRIMARY KEY,
  packed INTEGER NOT NULL,
  bytes  BLOB NOT NULL
) WITHOUT ROWID;

-- The newest snapshot of each thread.
CREATE TABLE snapshots (
  thread TEXT PRIMARY KEY,
  seq    INTEGER NOT NULL,
  packed INTEGER NOT NULL,
  bytes  BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  id        TEXT PRIMARY KEY,
  thread    TEXT NOT NULL,
  owner     TEXT NOT NULL,
  machine   TEXT NOT NULL,
  dataset   TEXT NOT NULL,
  question  TEXT NOT NULL,
  status    TEXT NOT NULL,
  first     INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  started   INTEGER NOT NULL,
  ended     INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  tokens    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX runs_by_owner ON runs (owner, started);
CREATE INDEX runs_by_thread ON runs (thread, started);
