-- Hosts and their load.  Times: seconds since 1970, stamped by the controller.  Speeds: thousandths of a reference core.
-- Loads: thousandths of a core.  Ratios: thousandths.

CREATE TABLE host (
    id INTEGER PRIMARY KEY,             -- 1, 2, ...: below 2^20, part of the key of report_raw
    name TEXT NOT NULL UNIQUE,
    boot TEXT NOT NULL,                 -- boot id: another one voids what was known
    model TEXT NOT NULL,                -- of the processor
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL
) STRICT;

-- The newest report of each host: what the ranking starts from after a restart.
CREATE TABLE current (
    host_id INTEGER PRIMARY KEY REFERENCES host(id),
    at INTEGER NOT NULL,
    cpus INTEGER NOT NULL,
    hardware INTEGER NOT NULL,
    core_speed INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    hardware_us INTEGER NOT NULL,       -- hardware index, microseconds
    workload INTEGER NOT NULL,          -- workload index
    share INTEGER NOT NULL,             -- CPU time / elapsed time of the benchmark
    benchmark_at INTEGER NOT NULL,
    integer_hz INTEGER NOT NULL,        -- operations per CPU second of each kernel
    floating_hz INTEGER NOT NULL,
    memory_hz INTEGER NOT NULL,
    external INTEGER NOT NULL,
    running INTEGER NOT NULL,
    users INTEGER NOT NULL,
    terminals INTEGER NOT NULL,
    tasks INTEGER NOT NULL
) STRICT;

-- One row a report.  The key holds second and host, so that one tree serves both and a row takes few bytes:
-- key = at << 20 | host_id.
CREATE TABLE report_raw (
    key INTEGER PRIMARY KEY,
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

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    host_id INTEGER,
    what TEXT NOT NULL,                 -- joined, left, rebooted, database_reset, database_nearly_full
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX event_at ON event(at);
