"""One interview to take away: as data, as captions, as a table, as a report, and everything as one archive."""
