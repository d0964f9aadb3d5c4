-- Who runs a thread, and until when. A row stays when its lease ends, because the fence
-- must never go back; holder is '' then.
CREATE TABLE leases (
  thread TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  fence  INTEGER NOT NULL,
  until  INTEGER NOT NULL,
  stop   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX leases_by_holder ON leases (holder) WHERE holder <> '';
