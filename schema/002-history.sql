-- What is kept for months: benchmarks, hourly load, ended jobs; and the views that dashboards read, in plain units.
-- Tables: thousandths and milliseconds, as in 001.  Views: seconds, ratios, reference cores.

-- One row a benchmark: key = at << 20 | host_id, as in report_raw.
CREATE TABLE benchmark (
    key INTEGER PRIMARY KEY,
    hardware_us INTEGER NOT NULL,       -- hardware index, microseconds
    integer_hz INTEGER NOT NULL,        -- operations per CPU second of each kernel
    floating_hz INTEGER NOT NULL,
    memory_hz INTEGER NOT NULL,
    dispersion INTEGER NOT NULL         -- the largest of the kernels
) STRICT;

-- Means over an hour: key = beginning of the hour << 20 | host_id.
CREATE TABLE report_1h (
    key INTEGER PRIMARY KEY,
    reports INTEGER NOT NULL,           -- how many it is the mean of
    core_speed INTEGER NOT NULL,
    capacity INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    external INTEGER NOT NULL,
    tasks INTEGER NOT NULL
) STRICT;

-- A job step that has ended.
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    jobid INTEGER NOT NULL,
    stepid INTEGER NOT NULL,
    username TEXT NOT NULL,
    account TEXT NOT NULL,
    partition TEXT NOT NULL,
    policy TEXT NOT NULL,
    hosts INTEGER NOT NULL,
    ranks INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    load_balance INTEGER NOT NULL,
    efficiency INTEGER NOT NULL,
    compute_ms INTEGER NOT NULL,        -- summed over ranks, like the three below
    wait_ms INTEGER NOT NULL,
    overhead_ms INTEGER NOT NULL,       -- moving, and the balancer's CPU time
    saved_ms INTEGER NOT NULL,
    moved_bytes INTEGER NOT NULL,
    moves INTEGER NOT NULL,
    predicted_ms INTEGER                -- run time that placement expected; NULL: it did not
) STRICT;
CREATE INDEX job_ended ON job(ended);

CREATE TABLE job_host (
    job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
    host_id INTEGER NOT NULL REFERENCES host(id),
    share INTEGER NOT NULL,             -- of the iterations, at the end
    iterations INTEGER NOT NULL,
    compute_ms INTEGER NOT NULL,
    wait_ms INTEGER NOT NULL,
    PRIMARY KEY (job_id, host_id)
) STRICT, WITHOUT ROWID;

CREATE VIEW history_benchmark AS
    SELECT b.key >> 20 AS at, h.name AS host, 1e6 / b.hardware_us AS speed, b.integer_hz, b.floating_hz, b.memory_hz,
        b.dispersion / 1e3 AS dispersion
    FROM benchmark b JOIN host h ON h.id = b.key & 0xfffff WHERE b.hardware_us > 0;

CREATE VIEW history_host AS
    SELECT h.name AS host, h.model, c.cpus, c.hardware / 1e3 AS speed,
        coalesce((SELECT max(1e6 / b.hardware_us) FROM benchmark b WHERE b.key & 0xfffff = h.id AND b.hardware_us > 0), c.hardware / 1e3) AS best_speed,
        c.capacity / 1e3 AS capacity, c.benchmark_at, h.first_seen, h.last_seen
    FROM host h JOIN current c ON c.host_id = h.id;

CREATE VIEW history_load AS
    SELECT r.key >> 20 AS at, h.name AS host, r.core_speed / 1e3 AS core_speed, r.capacity / 1e3 AS capacity, r.busy / 1e3 AS busy_cpus,
        r.external / 1e3 AS external_cpus, r.tasks
    FROM report_1h r JOIN host h ON h.id = r.key & 0xfffff;

CREATE VIEW history_event AS
    SELECT e.at, coalesce(h.name, '') AS host, e.what, e.detail FROM event e LEFT JOIN host h ON h.id = e.host_id;

CREATE VIEW history_job AS
    SELECT ended AS at, jobid, stepid, username, account, partition, policy, hosts, ranks, ended - started AS run_seconds,
        load_balance / 1e3 AS load_balance, efficiency / 1e3 AS efficiency, compute_ms / 1e3 AS compute_core_seconds,
        wait_ms / 1e3 AS wait_core_seconds, overhead_ms / 1e3 AS overhead_core_seconds, saved_ms / 1e3 AS saved_core_seconds,
        moved_bytes, moves, predicted_ms / 1e3 AS predicted_seconds
    FROM job;
