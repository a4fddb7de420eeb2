# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 5: is slurm-lb itself well?"""
from grafana import (CLUSTER, NODES, colour, column, dashboard, good_below, lines, query, source, stat, table, to)

C = 'cluster="$cluster"'
N = C + ', node=~"$node"'
RATE = '[$__rate_interval]'


def now():
    return [
        stat('Daemons', 'lbds that answer Prometheus, and those that do not.',
             [query(f'count(up{{job="lbd", {N}}} == 1) or vector(0)', 'up'), query(f'count(up{{job="lbd", {N}}} == 0) or vector(0)', 'down')],
             overrides=[{'matcher': {'id': 'byName', 'options': 'down'}, 'properties': [
                 {'id': 'thresholds', 'value': {'mode': 'absolute', 'steps': [{'value': None, 'color': 'text'}, {'value': 1, 'color': 'red'}]}}]}]),
        stat('Without controller', 'lbds that have lost the controller. They answer from the last ranking: marked after 60 s, unused after 300 s.',
             query(f'count(lbd_uplink_connected{{{N}}} == 0) or vector(0)', 'hosts'), 'short', width=3, thresholds=good_below(1, 5)),
        stat('Oldest ranking', 'Age of the oldest ranking that jobs are answered from.', query(f'max(lbd_ranking_age_seconds{{{N}}})', 'age'), 's', width=3,
             thresholds=good_below(60, 300), decimals=0),
        stat('Database', 'Whether rows go to disk.', query(f'min(lbd_database_open{{{C}}})', 'open'), width=3, spark=False,
             thresholds=[(None, 'red'), (1, 'green')], mappings=[{'type': 'value', 'options': {'0': {'text': 'closed', 'index': 0}, '1': {'text': 'open', 'index': 1}}}]),
        stat('Database errors', 'In the time shown. Above none LbdDatabaseErrors fires.',
             query(f'sum(increase(lbd_database_errors_total{{{C}}}[$__range])) or vector(0)', 'errors', instant=True), 'short', width=3, spark=False, thresholds=good_below(1, 10), decimals=0),
        stat('Restarts', 'Starts of lbds in the time shown.', query(f'sum(changes(process_start_time_seconds{{{N}}}[$__range])) or vector(0)', 'restarts', instant=True), 'short',
             spark=False, thresholds=good_below(3, 20), decimals=0),
        stat('Memory of a daemon', 'The largest resident memory of an lbd.', query(f'max(process_resident_memory_bytes{{{N}}})', 'largest'), 'bytes', decimals=1,
             thresholds=good_below(67108864, 134217728)),
    ]


def daemons():
    return [
        lines('CPU', 'CPU time of the five busiest lbds, and the mean of all, of a core.',
              [query(f'topk(5, rate(process_cpu_seconds_total{{{N}}}{RATE}))', '{{node}}'), query(f'avg(rate(process_cpu_seconds_total{{{N}}}{RATE}))', 'mean of all')],
              'percentunit', 8, min=0, links=[to('lb-host', 'This host', node='${__field.labels.node}')], calcs=['lastNotNull', 'max']),
        lines('Memory', 'Resident memory of the five largest lbds.', query(f'topk(5, process_resident_memory_bytes{{{N}}})', '{{node}}'), 'bytes', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Open descriptors', 'Of the five lbds that have most.', query(f'topk(5, process_open_fds{{{N}}})', '{{node}}'), 'short', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Unix socket', 'Requests a second from srun, balancers and lbctl; connections refused by a cap, and closed for garbage.',
              [query(f'sum(rate(lbd_local_requests_total{{{N}}}{RATE}))', 'requests'), query(f'sum(rate(lbd_local_refused_total{{{N}}}{RATE}))', 'refused'),
               query(f'sum(rate(lbd_local_bad_total{{{N}}}{RATE}))', 'bad')], 'reqps', 8, min=0, overrides=[colour('refused', 'orange'), colour('bad', 'red')], calcs=['lastNotNull', 'max']),
        lines('Connections on the unix socket', 'Open now, all hosts.', query(f'sum(lbd_local_connections{{{N}}})', 'open'), 'short', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Figures of jobs', 'Balanced steps that show figures, and messages of their balancers in 5 minutes, all hosts.',
              [query(f'sum(lbd_host_jobs{{{N}}})', 'steps'), query(f'sum(increase(lbd_job_messages_total{{{N}}}[5m]))', 'messages in 5 minutes')], 'short', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Figures refused', 'An hour, by reason. stranger: a process of no step. garbage: not what a balancer says. jobs, series, rate: a user has more than a user may have.',
              query(f'sum by (reason) (increase(lbd_job_messages_refused_total{{{N}}}[1h]))', '{{reason}}'), 'short', 8, min=0, decimals=0, calcs=['lastNotNull', 'max']),
        lines('Way to the controller', 'Connections lost or failed an hour, reports that wait, reports dropped an hour. A node keeps 360: then the oldest go.',
              [query(f'sum(increase(lbd_uplink_failures_total{{{N}}}[1h]))', 'lost an hour'), query(f'sum(lbd_uplink_pending_reports{{{N}}})', 'reports waiting'),
               query(f'sum(increase(lbd_uplink_dropped_reports_total{{{N}}}[1h]))', 'reports dropped an hour')], 'short', 8, min=0,
              overrides=[colour('reports dropped an hour', 'red')], calcs=['lastNotNull', 'max']),
        lines('How full', 'Reports that wait on a node, of as many as it keeps: the fullest node. Rows that wait for the disk, and the database, of its cap. At 100 % the oldest go.',
              [query(f'max(lbd_uplink_pending_reports{{{N}}} / lbd_uplink_pending_reports_max{{{N}}})', 'reports of a node'),
               query(f'max(lbd_database_waiting_rows{{{C}}} / lbd_database_waiting_rows_max{{{C}}})', 'rows of the controller'),
               query(f'max(lbd_database_size_bytes{{{C}}} / (lbd_database_max_bytes{{{C}}} > 0))', 'database')], 'percentunit', 8, min=0, max=1, calcs=['lastNotNull', 'max']),
        lines('What failed', 'An hour: samples of the load, benchmarks with an error, reloads of policy.conf refused, values that found no room on a page.',
              [query(f'sum(increase(lbd_load_sample_failures_total{{{N}}}[1h]))', 'load samples'), query(f'sum(increase(lbd_benchmark_failures_total{{{N}, reason="error"}}[1h]))', 'benchmarks'),
               query(f'sum(increase(lbd_config_reload_failures_total{{{N}}}[1h]))', 'reloads'), query(f'sum(increase(lbd_metrics_left_out_total{{{N}}}[1h]))', 'left out')], 'short', 8, min=0, decimals=0, calcs=['max']),
        table('Versions', 'Hosts by version of lbd. More than one line: an update is under way, or was forgotten somewhere.',
              query(f'count by (version, revision) (lbd_build_info{{{N}}})', '', table=True),
              [column('version', 'Version'), column('revision', 'Revision'), column('Value', 'Hosts')], width=8, height=8, order=['version', 'revision', 'Value'], sort='Value', down=True),
        lines('Scrapes', 'Time that Prometheus takes to read /metrics: the slowest lbd, and the mean.',
              [query(f'max(scrape_duration_seconds{{job="lbd", {N}}})', 'slowest'), query(f'avg(scrape_duration_seconds{{job="lbd", {N}}})', 'mean')], 's', 8, min=0, calcs=['lastNotNull', 'max']),
    ]


def controller():
    return [
        lines('Nodes', 'Connected to the controller, and hosts with a report of the last 300 s.',
              [query(f'sum(lbd_controller_nodes_connected{{{C}}})', 'connected'), query(f'sum(lbd_controller_hosts{{{C}}})', 'fresh')], 'suffix: hosts', 8, min=0, decimals=0, calcs=['lastNotNull', 'min']),
        lines('Reports', 'A second.', query(f'sum(rate(lbd_controller_reports_total{{{C}}}{RATE}))', 'reports'), 'suffix:/s', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Nodes refused', 'An hour, by reason: credential and address are worth a look by those who guard the network.',
              query(f'sum by (reason) (increase(lbd_controller_refused_total{{{C}}}[1h]))', '{{reason}}'), 'short', 8, stack=True, min=0, decimals=0, calcs=['max']),
        lines('Time to place a job', 'Median, and 99 of 100.',
              [query(f'histogram_quantile({q}, sum by (le) (rate(lbd_placement_duration_seconds_bucket{{{C}}}[1h])))', n) for q, n in ((0.5, 'median'), (0.99, '99 of 100'))], 's', 8, min=0,
              calcs=['lastNotNull', 'max']),
        lines('Time of a database commit', 'Median, and 99 of 100. Reads for jobs are from memory and never wait for it.',
              [query(f'histogram_quantile({q}, sum by (le) (rate(lbd_database_write_duration_seconds_bucket{{{C}}}[1h])))', n) for q, n in ((0.5, 'median'), (0.99, '99 of 100'))], 's', 8,
              min=0, calcs=['lastNotNull', 'max']),
        lines('Size of the database', 'The file, and its write-ahead log.',
              [query(f'max(lbd_database_size_bytes{{{C}}})', 'database'), query(f'max(lbd_database_wal_bytes{{{C}}})', 'log')], 'bytes', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Rows', 'Committed, and dropped because the database could not be written.',
              [query(f'sum(rate(lbd_database_rows_total{{{C}}}{RATE}))', 'committed'), query(f'sum(rate(lbd_database_dropped_rows_total{{{C}}}{RATE}))', 'dropped')], 'rowsps', 12, min=0,
              overrides=[colour('dropped', 'red')], calcs=['lastNotNull', 'max']),
        lines('Database errors', 'In 15 minutes, by operation.', query(f'sum by (op) (increase(lbd_database_errors_total{{{C}}}[15m]))', '{{op}}'), 'short', 12, stack=True, min=0, decimals=0,
              calcs=['max']),
        lines('Age of the copies and the means', 'Nightly backup, snapshot for readers, and how far behind the means of five minutes are. Above two days LbdBackupStale fires.',
              [query(f'max(time() - lbd_database_backup_timestamp_seconds{{{C}}})', 'backup'), query(f'max(time() - lbd_database_snapshot_timestamp_seconds{{{C}}})', 'snapshot'),
               query(f'max(lbd_database_snapshot_interval_seconds{{{C}}})', 'between snapshots'),
               query(f'max(time() - lbd_database_means_timestamp_seconds{{{C}}})', 'means')], 's', 12, min=0, calcs=['lastNotNull', 'max']),
        lines('Copies of the database', 'Made and failed within a day, and damaged files put aside.',
              [query(f'sum(increase(lbd_database_backups_total{{{C}}}[1d]))', 'backups'), query(f'sum(increase(lbd_database_snapshots_total{{{C}}}[1d]))', 'snapshots'),
               query(f'sum(increase(lbd_database_backup_failures_total{{{C}}}[1d])) + sum(increase(lbd_database_snapshot_failures_total{{{C}}}[1d]))', 'failed'),
               query(f'sum(increase(lbd_database_resets_total{{{C}}}[1d]))', 'put aside')], 'short', 12, min=0, decimals=0,
              overrides=[colour('failed', 'red'), colour('put aside', 'orange')], calcs=['lastNotNull', 'max']),
    ]


def make():
    return dashboard('lb-daemon', 'slurm-lb: daemon health', 'Is slurm-lb itself well: the lbds, the controller, its database?', [source(), CLUSTER, NODES],
                     [('Now', now()), ('Daemons', daemons()), ('Controller', controller())])
