# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 1: the three questions of an administrator, one row each."""
from grafana import (CLUSTER, REASONS, bars, column, dashboard, good_above, good_below, lines, query, source, stat, table, to, verdict)

C = 'cluster="$cluster"'
SAVED = f'sum(increase(lbd_saved_core_seconds_total{{{C}}}[$__range]))'
SPENT = f'sum(sum_over_time(policy:lb_overhead_seconds:per_minute{{{C}}}[$__range]))'


def hosts():
    speed = f'lbd_host_effective_speed_ratio{{{C}}}'
    return [
        stat('Hosts that answer', 'Hosts that are measured, and lbds that do not answer, the controller\'s with them. A silent host still runs jobs; it is only not measured.',
             [query(f'count(max by (node) (lbd_host_cpus{{{C}}})) or vector(0)', 'measured'), query(f'count(up{{job="lbd", {C}}} == 0) or vector(0)', 'silent')],
             overrides=[{'matcher': {'id': 'byName', 'options': 'silent'}, 'properties': [
                 {'id': 'thresholds', 'value': {'mode': 'absolute', 'steps': [{'value': None, 'color': 'text'}, {'value': 1, 'color': 'red'}]}}]}]),
        verdict('As fast as they should be?', '''Hosts below 0.85 of the median of the cluster's hosts with the same processor, in their worst benchmark, or below 0.85 of
             their own past. Look at them in the table below: heat, a failed memory module, a wrong BIOS setting.''',
                query(f'count((node:lb_benchmark:relative_min{{{C}}} < 0.85) or on (node) (max by (node) (lbd_host_own_history_ratio{{{C}}}) < 1)) or vector(0)', 'hosts'), [(0, 0, 'yes, all')], good_below(1, 3), unit='suffix: slow', decimals=0),
        stat('Slowest host', 'The slowest host against the median of hosts with the same processor: 100 % is as fast as it should be.',
             query(f'min(node:lb_benchmark:relative_min{{{C}}})', 'slowest'), 'percentunit', thresholds=good_above(0.95, 0.85), decimals=0),
        stat('Capacity now', '''What one job would get of all hosts now, in reference cores (a core of hardware index 1), and the cores there are.''',
             [query(f'sum(lbd_host_capacity_ratio{{{C}}})', 'reference cores'), query(f'sum(lbd_host_cpus{{{C}}})', 'cores')], decimals=1),
        stat('Load not placed here', 'Cores used by what slurm-lb did not place: daemons, logins, jobs without --lb.',
             query(f'sum(lbd_host_external_load_cpus{{{C}}})', 'external load'), 'suffix: cores', decimals=1),
        stat('Oldest benchmark', 'Age of the oldest benchmark. Benchmarks run on idle hosts only; older than a week is an alert.',
             query(f'max(node:lb_benchmark_age_seconds:max{{{C}}})', 'age'), 's', thresholds=good_below(604800, 1209600), decimals=1),
        bars('Slowest hosts, against hosts alike',
             'Worst benchmark of a host over the median of the hosts with the same processor. Red is below 0.85, where LbdHostSlow fires.',
             query(f'sort(bottomk(10, node:lb_benchmark:relative_min{{{C}}}))', '{{node}}', instant=True), 'percentunit', 6, 9,
             good_above(0.95, 0.85), min=0, max=1.2, decimals=0, links=[to('lb-host', 'This host', node='${__field.labels.node}')]),
        lines('What one task gets now, of a reference core', '''Effective speed of a host against a reference core: hardware, less what competes for it.
              The slowest host far below the median: something else runs there.''',
              [query(f'max({speed})', 'fastest host'), query(f'quantile(0.5, {speed})', 'median'), query(f'min({speed})', 'slowest host')],
              'percentunit', 9, 9, min=0, calcs=['lastNotNull', 'min']),
        lines('Who uses the cores', '''All hosts. Cores there are, tasks of jobs with the plugin, and the cores that all else uses. More tasks than cores: they share
              them.''',
              [query(f'sum(lbd_host_cpus{{{C}}})', 'cores'), query(f'sum(lbd_host_tasks{{{C}}})', 'tasks of jobs'),
               query(f'sum(lbd_host_external_load_cpus{{{C}}})', 'external load')], 'short', 9, 9, min=0, calcs=['lastNotNull', 'max']),
        table('Hosts', '''Every host, the slowest first. Against hosts alike: worst benchmark over the median of the hosts with the same processor. Against its
              past: 100 % unless two benchmarks in a row were below 0.85 of its own. A task gets: now, of a reference core. Capacity: what one job gets of the whole
              host, in reference cores. Other load: cores used by what slurm-lb did not place. A host\'s name leads to its dashboard.''',
              [query(f'node:lb_benchmark:relative_min{{{C}}}', '', table=True),
               query(f'max by (node) (lbd_host_cpus{{{C}}})', '', table=True),
               query(f'max by (node) ({speed})', '', table=True), query(f'max by (node) (lbd_host_capacity_ratio{{{C}}})', '', table=True),
               query(f'max by (node) (lbd_host_external_load_cpus{{{C}}})', '', table=True),
               query(f'max by (node) (lbd_host_tasks{{{C}}})', '', table=True),
               query(f'node:lb_benchmark_age_seconds:max{{{C}}}', '', table=True),
               query(f'max by (node) (lbd_host_own_history_ratio{{{C}}})', '', table=True)],
              [column('node', 'Host', link=to('lb-host', 'This host', node='${__value.raw}')), column('cpu_model', 'Processor', width=270),
               column('Value #A', 'Against hosts alike', 'percentunit', cell='color-background', thresholds=good_above(0.95, 0.85), decimals=0),
               column('Value #H', 'Against its past', 'percentunit', cell='color-text', thresholds=good_above(1, 0.85), decimals=0),
               column('Value #B', 'Cores'), column('Value #C', 'A task gets', 'percentunit', decimals=0),
               column('Value #D', 'Capacity', decimals=1), column('Value #E', 'Other load', decimals=1),
               column('Value #F', 'Tasks'), column('Value #G', 'Benchmark age', 's', decimals=1)],
              join='node', sort='Value #A', height=10, order=['node', 'cpu_model', 'Value #A', 'Value #H', 'Value #B', 'Value #C', 'Value #D', 'Value #E', 'Value #F', 'Value #G'],
              hide=['Time 1', 'Time 2', 'Time 3', 'Time 4', 'Time 5', 'Time 6', 'Time 7', 'Time 8', '__name__', '__name__ 1', '__name__ 2', '__name__ 7',
                    'cluster', 'cluster 1', 'cluster 2', 'cluster 7']),
    ]


def jobs():
    by = 'by (jobid, stepid)'
    return [
        verdict('Are all balanced?', 'Job steps whose load balance is below 0.7 now. Which, and why, is in the table below.',
                query(f'count(max {by} (lb_job_load_balance_ratio{{{C}}}) < 0.7) or vector(0)', 'unbalanced'), [(0, 0, 'yes, all')], [(None, 'green'), (1, 'orange')],
                unit='suffix: unbalanced', decimals=0),
        stat('Balanced jobs', 'Job steps with a balancer that run now.', query(f'count(count {by} (lb_job_info{{{C}}})) or vector(0)', 'running'), 'suffix: running', decimals=0, spark=False),
        stat('Load balance, median job', 'Mean over largest compute time of a job\'s ranks; 100 % is perfect.',
             query(f'quantile(0.5, lb_job_load_balance_ratio{{{C}}})', 'median'), 'percentunit', 4, thresholds=good_above(0.85, 0.7), decimals=0, spark=False),
        stat('Ranks kept waiting', 'Ranks of balanced jobs that wait for work or for others, in the mean of 5 minutes.',
             query(f'sum(jobid_stepid:lb_wait:rate5m{{{C}}}) or vector(0)', 'waiting'), 'suffix: ranks', 6, decimals=1),
        stat('Cost of balancing', 'Moving work and the balancers themselves, as a part of what the jobs compute. Above 5 % in one job is an alert.',
             query(f'sum(jobid_stepid:lb_overhead:rate5m{{{C}}}) / sum(jobid_stepid:lb_compute:rate5m{{{C}}})', 'cost'), 'percentunit', 6,
             thresholds=good_below(0.02, 0.05), decimals=2),
        table('Jobs, the least balanced first', '''Balance: mean over largest compute time. Efficiency: computing over computing and waiting. Mostly: what the
              balancer decided most often in the last 15 minutes, and so why work moved or stayed. A job's number leads to its dashboard.''',
              [query(f'max by (jobid, stepid) (lb_job_load_balance_ratio{{{C}}})', '', table=True),
               query(f'max by (jobid, stepid, username, partition, policy) (lb_job_info{{{C}}})', '', table=True),
               query(f'max by (jobid, stepid) (lb_job_nodes{{{C}}})', '', table=True),
               query(f'max by (jobid, stepid) (lb_job_parallel_efficiency_ratio{{{C}}})', '', table=True),
               query(f'max by (jobid, stepid) (jobid_stepid:lb_overhead:ratio5m{{{C}}}) and on (jobid, stepid) lb_job_info{{{C}}}', '', table=True),
               query(f'''topk by (jobid, stepid) (1, (sum by (jobid, stepid, reason) (increase(lb_job_redistributions_skipped_total{{{C}}}[15m]))
                     or sum by (jobid, stepid, reason) (increase(lb_job_redistributions_total{{{C}}}[15m]))) > 0)
                     and on (jobid, stepid) lb_job_info{{{C}}}
                     or on (jobid, stepid) label_replace(max by (jobid, stepid) (lb_job_info{{{C}, policy=~"static|none"}}), "reason", "fixed", "", "")
                     or on (jobid, stepid) label_replace(max by (jobid, stepid) (lb_job_info{{{C}, policy!~"static|none"}}), "reason", "quiet", "", "")''', '', table=True)],
              [column('jobid', 'Job', width=75, link=to('lb-job', 'This job', jobid='${__value.raw}')), column('stepid', 'Step', width=55),
               column('username', 'User', width=80), column('partition', 'Partition', width=90), column('policy', 'Policy', width=80),
               column('Value #C', 'Hosts', width=70),
               column('Value #A', 'Balance', 'percentunit', 90, 'color-background', good_above(0.85, 0.7), decimals=0),
               column('Value #D', 'Efficiency', 'percentunit', 95, decimals=0),
               column('Value #E', 'Cost', 'percentunit', 80, 'color-text', good_below(0.02, 0.05), decimals=1),
               column('reason', 'Mostly', width=230, mappings=REASONS)],
              sort='Value #A', width=16, height=9,
              order=['jobid', 'stepid', 'username', 'partition', 'policy', 'Value #C', 'Value #A', 'Value #D', 'Value #E', 'reason'],
              hide=['Value #B', 'Value #F', '__name__']),
        lines('What the balancers decided', '''Decisions a second by what came of them: work moved by measured speed or because a rank was about to
              run out; or left: too even to be worth it, would cost more than it gains, measurements not yet steady, load changes too fast.''',
              [query(f'sum by (reason) (rate(lb_job_redistributions_total{{{C}}}[$__rate_interval]))', '{{reason}}'),
               query(f'sum by (reason) (rate(lb_job_redistributions_skipped_total{{{C}}}[$__rate_interval]))', '{{reason}}')],
              'suffix:/s', 8, 9, stack=True, min=0, named=['proportional', 'dry', 'below_threshold', 'unprofitable', 'filtered', 'unstable']),
    ]


def pays():
    return [
        verdict('Do they pay?', 'Core time saved over core time spent, in the time shown: above 1 they do.',
                query(f'({SAVED}) / ({SPENT} > 0)', 'saved over spent', instant=True), [(None, 0.999, 'no'), (1, None, 'yes')], good_above(1, 1), 4, noValue='no job ended yet'),
        stat('Core time saved', 'Time of cores that balancing has saved in the time shown, by its own estimate, of jobs that have ended.',
             query(f'{SAVED} or vector(0)', 'saved', instant=True), 's', 5, spark=False, decimals=1),
        stat('Core time spent', 'Time of cores that balancing has cost in the time shown: moving work, and the balancers.',
             query(f'{SPENT} or vector(0)', 'spent', instant=True), 's', 5, spark=False, thresholds=[(None, 'purple')], decimals=1),
        stat('Saved for each hour spent', 'Hours of cores. Above 1 the site\'s defaults pay.', query(f'({SAVED}) / ({SPENT} > 0)', 'times', instant=True), 'suffix: hours', 5,
             spark=False, thresholds=good_above(2, 1), decimals=0),
        stat('Jobs ended', 'Balanced jobs that have ended in the time shown.',
             query(f'sum(increase(lbd_jobs_finished_total{{{C}}}[$__range])) or vector(0)', 'jobs', instant=True), 'short', 5, spark=False, decimals=0),
        lines('Core time saved each hour, by policy', 'Time of cores saved by the jobs that ended within the hour, by policy.',
              query(f'sum by (policy) (increase(lbd_saved_core_seconds_total{{{C}}}[1h]))', '{{policy}}'), 's', 12, stack=True, min=0,
              named=['auto', 'siegell', 'liu', 'static', 'none'], links=[to('lb-policy', 'This policy', policy='${__field.labels.policy}')],
              calcs=['lastNotNull', 'max']),
        lines('Load balance at the end of jobs, by policy', 'Median load balance of the jobs that ended within the hour, by policy.',
              query(f'histogram_quantile(0.5, sum by (le, policy) (increase(lbd_job_final_load_balance_ratio_bucket{{{C}}}[1h])))', '{{policy}}'), 'percentunit', 12,
              min=0, max=1, named=['auto', 'siegell', 'liu', 'static', 'none'], calcs=['lastNotNull', 'min']),
    ]


def make():
    return dashboard('lb-cluster', 'slurm-lb: cluster', '''Are the hosts as fast as they should be, which jobs are unbalanced and why, do the site's
                     defaults pay?''', [source(), CLUSTER],
                     [('Are the hosts as fast as they should be?', hosts()), ('Which jobs are unbalanced, and why?', jobs()),
                      ('Do the site\'s defaults pay?', pays())])
