-- What a client said under a name of its own, so that the same is not said twice: seq is the
-- event with which it begins.
CREATE TABLE sayings (
  owner  TEXT NOT NULL,
  name   TEXT NOT NULL,
  thread TEXT NOT NULL,
  run    TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;

CREATE INDEX sayings_by_thread ON sayings (thread);
