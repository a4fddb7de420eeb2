-- Loads by five minutes, of which those by the hour are made; and what tells one ended step from another.

-- Means over five minutes: key = their beginning << 20 | host_id.  running, users, tasks: thousandths, being means.
CREATE TABLE report_5m (
    key INTEGER PRIMARY KEY,
    reports INTEGER NOT NULL,           -- how many it is the mean of
    core_speed INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    external INTEGER NOT NULL,
    steal INTEGER NOT NULL,
    pressure INTEGER NOT NULL,
    running INTEGER NOT NULL,
    users INTEGER NOT NULL,
    tasks INTEGER NOT NULL
) STRICT;

-- The same over an hour.  Nothing had ever been written to the old one.
DROP VIEW history_load;
DROP TABLE report_1h;
CREATE TABLE report_1h (
    key INTEGER PRIMARY KEY,
    reports INTEGER NOT NULL,
    core_speed INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    external INTEGER NOT NULL,
    steal INTEGER NOT NULL,
    pressure INTEGER NOT NULL,
    running INTEGER NOT NULL,
    users INTEGER NOT NULL,
    tasks INTEGER NOT NULL
) STRICT;
CREATE VIEW history_load AS
    SELECT r.key >> 20 AS at, h.name AS host, r.core_speed / 1e3 AS core_speed, r.capacity / 1e3 AS capacity, r.busy / 1e3 AS busy_cpus,
        r.external / 1e3 AS external_cpus, r.tasks / 1e3 AS tasks
    FROM report_1h r JOIN host h ON h.id = r.key & 0xfffff;

ALTER TABLE benchmark ADD COLUMN fma_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE benchmark ADD COLUMN triad_hz INTEGER NOT NULL DEFAULT 0;

ALTER TABLE job ADD COLUMN balance_before INTEGER;      -- load balance before the first move; NULL: not known
ALTER TABLE job ADD COLUMN nonce INTEGER;               -- of the node's message: the same one twice is one row
CREATE UNIQUE INDEX job_nonce ON job(nonce);            -- any number of them may be NULL
CREATE INDEX job_jobid ON job(jobid);
