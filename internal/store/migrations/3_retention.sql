-- Runs that somebody wants to keep: their threads are not removed.
CREATE TABLE kept_runs (
  run    TEXT PRIMARY KEY,
  thread TEXT NOT NULL,
  time   INTEGER NOT NULL
) WITHOUT ROWID;

-- How often blobs were removed. A process that remembers which blobs are stored forgets
-- that when the number changes.
CREATE TABLE sweeps (n INTEGER NOT NULL);
INSERT INTO sweeps (n) VALUES (0);
