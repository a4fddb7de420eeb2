-- All kernels of the newest benchmark, on one core and on all of them, how far their repetitions lay apart, what the host is made
-- of, and whether it is slower than it was.  Until now fma_hz, triad_hz and dispersion of old benchmarks were never filled in.

ALTER TABLE current ADD COLUMN fma_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN triad_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN integer_all_hz INTEGER NOT NULL DEFAULT 0;   -- per CPU second of a core, summed over all cores at work
ALTER TABLE current ADD COLUMN floating_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN memory_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN fma_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN triad_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN integer_dispersion INTEGER NOT NULL DEFAULT 0; -- range / median of the repetitions on one core
ALTER TABLE current ADD COLUMN floating_dispersion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN memory_dispersion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN fma_dispersion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN triad_dispersion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN slow INTEGER NOT NULL DEFAULT 1000;          -- of what is usual on this host; 1000: as usual
ALTER TABLE current ADD COLUMN slow_kernel INTEGER NOT NULL DEFAULT 0;      -- which one, from 0 in the order of the columns
ALTER TABLE current ADD COLUMN packages INTEGER NOT NULL DEFAULT 0;         -- 0: not known
ALTER TABLE current ADD COLUMN cores INTEGER NOT NULL DEFAULT 0;
ALTER TABLE current ADD COLUMN numa_nodes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE benchmark ADD COLUMN integer_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE benchmark ADD COLUMN floating_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE benchmark ADD COLUMN memory_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE benchmark ADD COLUMN fma_all_hz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE benchmark ADD COLUMN triad_all_hz INTEGER NOT NULL DEFAULT 0;

DROP VIEW history_benchmark;
CREATE VIEW history_benchmark AS
    SELECT b.key >> 20 AS at, h.name AS host, 1e6 / b.hardware_us AS speed, b.integer_hz, b.floating_hz, b.memory_hz, b.fma_hz, b.triad_hz,
        b.integer_all_hz, b.floating_all_hz, b.memory_all_hz, b.fma_all_hz, b.triad_all_hz, b.dispersion / 1e3 AS dispersion
    FROM benchmark b JOIN host h ON h.id = b.key & 0xfffff WHERE b.hardware_us > 0;
