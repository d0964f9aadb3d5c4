-- Who did what. AUTOINCREMENT keeps the highest number apart from the rows, so that the
-- number of a row that was removed is not given again.
CREATE TABLE audit (
  seq  INTEGER PRIMARY KEY AUTOINCREMENT,
  body TEXT NOT NULL,
  hash TEXT NOT NULL
);
