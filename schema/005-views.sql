-- Version 5: what readers see.  Cores of a host are kept in thousandths, and it was seen when it reported last; means of five minutes for a look at a day or less.
DROP VIEW history_host;
CREATE VIEW history_host AS
    SELECT h.name AS host, h.model, c.cpus / 1e3 AS cpus, c.hardware / 1e3 AS speed,
        coalesce((SELECT max(1e6 / b.hardware_us) FROM benchmark b WHERE b.key & 0xfffff = h.id AND b.hardware_us > 0), c.hardware / 1e3) AS best_speed,
        c.capacity / 1e3 AS capacity, c.benchmark_at, h.first_seen, max(h.last_seen, c.at) AS last_seen
    FROM host h JOIN current c ON c.host_id = h.id;

CREATE VIEW history_load_5m AS
    SELECT r.key >> 20 AS at, h.name AS host, r.core_speed / 1e3 AS core_speed, r.capacity / 1e3 AS capacity, r.busy / 1e3 AS busy_cpus,
        r.external / 1e3 AS external_cpus, r.tasks / 1e3 AS tasks
    FROM report_5m r JOIN host h ON h.id = r.key & 0xfffff;
