# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 6: months, from the snapshot of the controller's database (views history_* of the schema)."""
from grafana import (SQLITE, column, dashboard, good_above, lines, source, sql, stat, table, variable)

SPAN = 'at BETWEEN $__from / 1000 AND $__to / 1000'
HOST = 'host IN (${host:singlequote})'
POLICIES = ['auto', 'siegell', 'liu', 'static', 'none']
POLICY = 'policy IN (${policy:singlequote})'
# Days where many are shown, hours of some days, minutes of an hour or two.
LONG = '$__to - $__from > 172800000'
WIDTH = f'(CASE WHEN {LONG} THEN 86400 WHEN $__to - $__from > 14400000 THEN 3600 ELSE 60 END)'
LOAD = f'(SELECT * FROM history_load WHERE {LONG} AND {SPAN} UNION ALL SELECT * FROM history_load_5m WHERE NOT {LONG} AND {SPAN})'
SLOT = f'at / {WIDTH} * {WIDTH}'


def hosts():
    return [
        stat('Hosts known', 'Hosts that have ever reported, and those that have within the last day of the snapshot.',
             [sql('SELECT count(*) AS "ever" FROM history_host'),
              sql('SELECT count(*) AS "last day" FROM history_host WHERE last_seen > (SELECT max(last_seen) FROM history_host) - 86400')], width=6, spark=False),
        stat('Snapshot', 'When the newest report in the snapshot was made. The controller publishes a new one every hour.',
             sql('SELECT max(last_seen) * 1000 AS "newest report" FROM history_host'), 'dateTimeAsIso', width=6, spark=False, thresholds=[(None, 'text')]),
        stat('Jobs', 'Balanced jobs that ended in the time shown.', sql(f'SELECT count(*) AS jobs FROM history_job WHERE {SPAN} AND {POLICY}'), 'short', width=6, spark=False),
        stat('Core time saved', 'Time of cores that balancing saved in the time shown, by its own estimate.',
             sql(f'SELECT coalesce(sum(saved_core_seconds), 0) AS saved FROM history_job WHERE {SPAN} AND {POLICY}'), 's', width=6, spark=False, decimals=1),
        lines('Benchmarks over months', '''A point a benchmark. Hardware speed of each host by its benchmarks, against a reference core. A host that leaves its own line has changed: heat, memory,
              firmware.''',
              sql(f'SELECT at AS time, host, speed AS "Value" FROM history_benchmark WHERE {SPAN} AND {HOST} ORDER BY at, host', ['time'], True), 'percentunit', 24, 9, calcs=['lastNotNull', 'min', 'max']),
        table('Hosts', 'The newest that is known of each host. Now and best: benchmark of the last run and the best ever; far apart, the host has slowed down.',
              sql(f'''SELECT h.host, h.model, h.cpus, h.speed, h.best_speed, h.speed / h.best_speed AS kept, h.first_seen * 1000 AS first_seen, h.last_seen * 1000 AS last_seen
                  FROM history_host h WHERE h.{HOST} ORDER BY kept'''),
              [column('host', 'Host', width=110), column('model', 'Processor', width=330), column('cpus', 'Cores', width=80), column('speed', 'Now', 'percentunit', 100, decimals=1),
               column('best_speed', 'Best', 'percentunit', 100, decimals=1),
               column('kept', 'Now over best', 'percentunit', 130, 'color-background', good_above(0.95, 0.85), decimals=0),
               column('first_seen', 'First seen', 'dateTimeAsIso'), column('last_seen', 'Last seen', 'dateTimeAsIso')], height=9),
        lines('Capacity of all hosts', 'Reference cores that all hosts together gave a job, and the load not placed by slurm-lb: means of a day, of an hour or of five minutes, as the time shown is long.',
              [sql(f'SELECT {SLOT} AS time, sum(capacity) / count(DISTINCT at) AS "capacity" FROM {LOAD} GROUP BY 1 ORDER BY 1', ['time'], True),
               sql(f'SELECT {SLOT} AS time, sum(external_cpus) / count(DISTINCT at) AS "external load" FROM {LOAD} GROUP BY 1 ORDER BY 1', ['time'], True)],
              'suffix: cores', 12, min=0, calcs=['mean', 'max']),
        table('Events', 'Hosts that joined, left or rebooted, and what happened to the database.',
              sql(f'SELECT at * 1000 AS at, host, what, detail FROM history_event WHERE {SPAN} ORDER BY at DESC LIMIT 200'),
              [column('at', 'When', 'dateTimeAsIso', 190), column('host', 'Host', width=110), column('what', 'What', width=150), column('detail', 'Detail')], width=12, height=8),
    ]


def jobs():
    return [
        lines('Core time saved, by policy', 'Time of cores saved by the jobs that ended on a day, in an hour or in a minute, as the time shown is long.',
              sql(f'SELECT {SLOT} AS time, policy, sum(saved_core_seconds) AS "Value" FROM history_job WHERE {SPAN} AND {POLICY} GROUP BY 1, 2 ORDER BY 1, 2',
                  ['time'], True), 's', 12, 9, stack=True, bars=True, named=POLICIES, calcs=['sum', 'max']),
        lines('Load balance at the end of jobs', 'Mean of the jobs that ended on a day, in an hour or in a minute, by policy.',
              sql(f'SELECT {SLOT} AS time, policy, avg(load_balance) AS "Value" FROM history_job WHERE {SPAN} AND {POLICY} GROUP BY 1, 2 ORDER BY 1, 2', ['time'], True),
              'percentunit', 12, 9, min=0, max=1, named=POLICIES, calcs=['mean', 'min']),
        table('Jobs that ended', 'The newest first; 500 at most.',
              sql(f'''SELECT at * 1000 AS at, jobid, stepid, username, partition, policy, hosts, run_seconds, load_balance, efficiency,
                  overhead_core_seconds / (overhead_core_seconds + compute_core_seconds) AS cost, saved_core_seconds AS saved
                  FROM history_job WHERE {SPAN} AND {POLICY} ORDER BY at DESC LIMIT 500'''),
              [column('at', 'Ended', 'dateTimeAsIso', 190), column('jobid', 'Job', width=90), column('stepid', 'Step', width=60), column('username', 'User', width=100),
               column('partition', 'Partition', width=110), column('policy', 'Policy', width=90), column('hosts', 'Hosts', width=70), column('run_seconds', 'Ran', 's', decimals=1),
               column('load_balance', 'Balance', 'percentunit', None, 'color-background', good_above(0.85, 0.7), decimals=0),
               column('efficiency', 'Efficiency', 'percentunit', decimals=0), column('cost', 'Cost', 'percentunit', decimals=2), column('saved', 'Core time saved', 's', decimals=1)],
              height=10),
        table('Who gains', 'Jobs that ended in the time shown, by account: what balancing saved and what it cost.',
              sql(f'''SELECT CASE account WHEN '' THEN '(none)' ELSE account END AS account, count(*) AS jobs, avg(load_balance) AS balance, sum(saved_core_seconds) AS saved, sum(overhead_core_seconds) AS spent
                  FROM history_job WHERE {SPAN} AND {POLICY} GROUP BY account ORDER BY saved DESC LIMIT 50'''),
              [column('account', 'Account'), column('jobs', 'Jobs'), column('balance', 'Balance', 'percentunit', None, 'color-background', good_above(0.85, 0.7), decimals=0),
               column('saved', 'Core time saved', 's', decimals=1), column('spent', 'Core time spent', 's', decimals=1)], height=7),
    ]


def make():
    variables = [source(), source('history', 'History', 'frser-sqlite-datasource'),
                 variable('host', 'Hosts', 'SELECT host FROM history_host ORDER BY host', multi=True, source=SQLITE),
                 variable('policy', 'Policy', 'SELECT DISTINCT policy FROM history_job ORDER BY policy', multi=True, source=SQLITE)]
    return dashboard('lb-history', 'slurm-lb: history', 'Months of hosts and jobs, from the controller\'s database.', variables,
                     [('Hosts', hosts()), ('Jobs', jobs())], since='now-90d', refresh='')
