# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 3: one job: who has what share, where its time goes, why work moved and why not."""
from grafana import (CLUSTER, JOB, STEP, column, colour, dashboard, good_above, good_below, lines, query, source, stat, table)

J = 'cluster="$cluster", jobid="$jobid", stepid=~"$stepid"'
BY = 'by (stepid)'


def now():
    return [
        table('Job', 'Whose job it is, and the policy that balances it.',
              query(f'max by (jobid, stepid, username, account, partition, policy) (last_over_time(lb_job_info{{{J}}}[$__range]))', '', table=True),
              [column('jobid', 'Job'), column('stepid', 'Step'), column('username', 'User'), column('account', 'Account'),
               column('partition', 'Partition'), column('policy', 'Policy')], width=24, height=4,
              order=['jobid', 'stepid', 'username', 'account', 'partition', 'policy'], hide=['Value']),
        stat('Load balance', 'Mean over largest compute time of its ranks; 100 % is perfect. Below 0.7 for 15 minutes LbJobUnbalanced fires.',
             query(f'max {BY} (lb_job_load_balance_ratio{{{J}}})', 'step {{stepid}}'), 'percentunit', thresholds=good_above(0.85, 0.7), decimals=0),
        stat('Efficiency', 'Time of computing over computing and waiting, of all its ranks in loops.',
             query(f'max {BY} (lb_job_parallel_efficiency_ratio{{{J}}})', 'step {{stepid}}'), 'percentunit', thresholds=good_above(0.8, 0.6), decimals=0),
        stat('Cost of balancing', 'Moving and deciding, as a part of the compute time. Above 5 % for 10 minutes LbOverheadHigh fires.',
             query(f'jobid_stepid:lb_overhead:ratio5m{{{J}}}', 'step {{stepid}}'), 'percentunit', thresholds=good_below(0.02, 0.05), decimals=2),
        stat('Running for', 'Time since its balancer began.', query(f'time() - min(lb_job_start_timestamp_seconds{{{J}}})', 'age'), 's', spark=False, decimals=1,
             thresholds=[(None, 'text')]),
        stat('Hosts and loops', 'Hosts of the job, and loops that it has opened.',
             [query(f'max(lb_job_nodes{{{J}}})', 'hosts'), query(f'sum(lb_job_loops_total{{{J}}})', 'loops')], spark=False, thresholds=[(None, 'text')]),
        stat('Moved', 'Data that has moved with its iterations since the job began.', query(f'sum(lb_job_moved_bytes_total{{{J}}})', 'bytes'), 'bytes',
             decimals=1, thresholds=[(None, 'purple')]),
    ]


def shares():
    return [
        lines('Shares by host', 'Part of the iterations that the ranks of each host own. A host that slows down should lose share within some periods.',
              query(f'max by (host) (lb_job_share_ratio{{{J}}})', '{{host}}'), 'percentunit', stack=True, min=0, max=1, height=9, calcs=['lastNotNull', 'min', 'max']),
        lines('Load balance and efficiency', 'Below the dashed line (0.7) the job counts as unbalanced.',
              [query(f'min(lb_job_load_balance_ratio{{{J}}})', 'load balance'), query(f'min(lb_job_parallel_efficiency_ratio{{{J}}})', 'efficiency')],
              'percentunit', min=0, max=1, limit=0.7, height=9, calcs=['lastNotNull', 'min'], overrides=[colour('load balance', 'blue'), colour('efficiency', 'green')]),
    ]


def time():
    spent = (f'sum(rate(lb_job_redistribution_seconds_total{{{J}}}[$__rate_interval]))'
             f' + sum(rate(lb_job_balancer_cpu_seconds_total{{{J}}}[$__rate_interval]))')
    return [
        lines('Where the time goes', 'Ranks that compute, that wait for work or for others, and that move work or decide. More ranks than cores share them: what counts is the parts.',
              [query(f'sum(rate(lb_job_compute_seconds_total{{{J}}}[$__rate_interval]))', 'computing'),
               query(f'sum(rate(lb_job_wait_seconds_total{{{J}}}[$__rate_interval]))', 'waiting'), query(spent, 'moving and deciding')],
              'suffix: ranks', 8, stack=True, min=0, calcs=['lastNotNull', 'mean']),
        lines('Speed by host', 'Iterations a second of the ranks of each host, filtered: what the shares follow.',
              query(f'max by (host) (lb_job_rate_iterations_per_second{{{J}}})', '{{host}}'), 'si: iterations/s', 8, min=0, calcs=['lastNotNull']),
        lines('Waiting by host', 'Ranks that wait on each host. The host that waits least is the one that the others wait for.',
              query(f'sum by (host) (rate(lb_job_wait_seconds_total{{{J}}}[$__rate_interval]))', '{{host}}'), 'suffix: ranks', 8, min=0, calcs=['lastNotNull', 'mean']),
    ]


def why():
    return [
        lines('Why work moved', 'Proportional: shares brought in step with measured speed. Dry: a rank was about to run out.',
              query(f'sum by (reason) (rate(lb_job_redistributions_total{{{J}}}[$__rate_interval]))', '{{reason}}'), 'suffix:/s', 8, stack=True, min=0,
              named=['proportional', 'dry'], calcs=['mean']),
        lines('Why it did not', '''below_threshold: too even to be worth it. unprofitable: would cost more than it gains. filtered: waits for steadier
              measurements. unstable: load changes faster than work could follow.''',
              query(f'sum by (reason) (rate(lb_job_redistributions_skipped_total{{{J}}}[$__rate_interval]))', '{{reason}}'), 'suffix:/s', 8, stack=True, min=0,
              named=['below_threshold', 'unprofitable', 'filtered', 'unstable'], calcs=['mean']),
        lines('Data moved', 'Bytes a second that move with iterations.', query(f'sum(rate(lb_job_moved_bytes_total{{{J}}}[$__rate_interval]))', 'moved'), 'Bps', 8, min=0,
              overrides=[colour('moved', 'purple')], calcs=['lastNotNull', 'max']),
        lines('Iterations', 'Iterations a second executed, and moved.',
              [query(f'sum(rate(lb_job_iterations_total{{{J}}}[$__rate_interval]))', 'executed'), query(f'sum(rate(lb_job_moved_iterations_total{{{J}}}[$__rate_interval]))', 'moved')],
              'si: iterations/s', 8, min=0, overrides=[colour('executed', 'green'), colour('moved', 'purple')], calcs=['lastNotNull', 'max']),
        lines('Period', 'Time between balancing decisions, as chosen: shorter while load changes, longer when moving costs.',
              query(f'max {BY} (lb_job_period_seconds{{{J}}})', 'step {{stepid}}'), 's', 8, min=0, calcs=['lastNotNull', 'min', 'max']),
        lines('Block', 'Iterations of one chunk handed to the program, as chosen.',
              query(f'max {BY} (lb_job_block_iterations{{{J}}})', 'step {{stepid}}'), 'short', 8, min=0, calcs=['lastNotNull', 'min', 'max']),
    ]


def make():
    return dashboard('lb-job', 'slurm-lb: job', 'One job: its shares, its balance, where its time goes, why work moved and why not.',
                     [source(), CLUSTER, JOB, STEP], [('Now', now()), ('Shares and balance', shares()), ('Time', time()), ('Decisions', why())], since='now-1h', refresh='30s')
