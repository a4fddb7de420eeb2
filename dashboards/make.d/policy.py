# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 4: do the site's defaults pay?"""
from grafana import (CLUSTER, POLICY, colour, column, dashboard, good_above, good_below, lines, query, source, stat, table)

P = 'cluster="$cluster", policy=~"$policy"'
NAMES = ['auto', 'siegell', 'liu', 'static', 'none']
SAVED = f'increase(lbd_saved_core_seconds_total{{{P}}}[$__range])'


def total():
    return [
        stat('Core time saved', 'Time of cores saved in the time shown by jobs that ended, by the balancers\' own estimate.',
             query(f'sum({SAVED}) or vector(0)', 'saved', instant=True), 's', spark=False, decimals=1),
        stat('Core time spent', 'Time of cores that balancing has cost in the time shown: moving work, and the balancers.',
             query(f'sum(sum_over_time(policy:lb_overhead_seconds:per_minute{{{P}}}[$__range]))', 'spent', instant=True), 's',
             spark=False, thresholds=[(None, 'purple')], decimals=1),
        stat('Saved for each hour spent', 'Above 1 balancing pays. Red: it costs more than it saves; look at which policy.',
             query(f'sum({SAVED}) / sum(sum_over_time(policy:lb_overhead_seconds:per_minute{{{P}}}[$__range]))', 'times', instant=True), 'suffix: hours',
             spark=False, thresholds=good_above(2, 1), decimals=0),
        stat('Jobs ended', 'Balanced jobs that have ended in the time shown.',
             query(f'sum(increase(lbd_jobs_finished_total{{{P}}}[$__range])) or vector(0)', 'jobs', instant=True), 'short', spark=False, decimals=0),
        stat('Saved by each job', 'Time of cores saved by a job that ended, in the mean.',
             query(f'sum({SAVED}) / sum(increase(lbd_jobs_finished_total{{{P}}}[$__range]))', 'mean', instant=True), 's', spark=False, decimals=1),
        stat('No layout found', 'Jobs for which a layout of tasks was looked for and none could be made, of all for which one was looked for. They start by Slurm\'s own.',
             query(f'''(sum(increase(lbd_placement_failures_total{{{P}}}[$__range])) / (sum(increase(lbd_placements_total{{{P}}}[$__range])) > 0)) or vector(0)''', 'none', instant=True),
             'percentunit', spark=False, thresholds=good_below(0.02, 0.1), decimals=1),
        table('Policies side by side', '''Of the time shown. Saved: by jobs that ended. Cost: of what the jobs computed. Balance: median at the end of jobs. Prediction:
              median difference between predicted and seen run time.''',
              [query(f'sum by (policy) (increase(lbd_jobs_finished_total{{{P}}}[$__range]))', '', table=True),
               query(f'sum by (policy) ({SAVED})', '', table=True),
               query(f'sum by (policy) ({SAVED}) / (sum by (policy) (increase(lbd_jobs_finished_total{{{P}}}[$__range])) > 0)', '', table=True),
               query(f'sum by (policy) (sum_over_time(policy:lb_overhead:rate5m{{{P}}}[$__range])) / sum by (policy) (sum_over_time(policy:lb_compute:rate5m{{{P}}}[$__range]))', '', table=True),
               query(f'histogram_quantile(0.5, sum by (le, policy) (increase(lbd_job_final_load_balance_ratio_bucket{{{P}}}[$__range]))) >= 0', '', table=True),
               query(f'histogram_quantile(0.5, sum by (le, policy) (increase(lbd_placement_prediction_error_ratio_bucket{{{P}}}[$__range]))) >= 0', '', table=True)],
              [column('policy', 'Policy'), column('Value #A', 'Jobs ended', decimals=0), column('Value #B', 'Core time saved', 's', decimals=1),
               column('Value #C', 'Saved by each job', 's', decimals=1), column('Value #D', 'Cost', 'percentunit', None, 'color-text', good_below(0.02, 0.05), decimals=2),
               column('Value #E', 'Balance at the end', 'percentunit', None, 'color-background', good_above(0.85, 0.7), decimals=0),
               column('Value #F', 'Prediction off by', 'percentunit', decimals=0)],
              height=7, join='policy', sort='Value #B', down=True, order=['policy', 'Value #A', 'Value #B', 'Value #C', 'Value #D', 'Value #E', 'Value #F'],
              hide=[f'Time {i}' for i in range(1, 7)]),
    ]


def trend():
    return [
        lines('Core time saved each hour', 'Time of cores saved by the jobs that ended within the hour.',
              query(f'sum by (policy) (increase(lbd_saved_core_seconds_total{{{P}}}[1h]))', '{{policy}}'), 's', stack=True, min=0, named=NAMES, calcs=['lastNotNull', 'max']),
        lines('Cost of balancing', 'Moving work and the balancers, of what the running jobs compute. Above the dashed line (5 %) in one job LbOverheadHigh fires.',
              query(f'policy:lb_overhead:rate5m{{{P}}} / on (cluster, policy) (policy:lb_compute:rate5m{{{P}}} > 0)', '{{policy}}'), 'percentunit', min=0, limit=0.05, named=NAMES,
              calcs=['mean', 'max']),
        lines('Load balance of ended jobs', 'Median of the jobs that ended within the hour.',
              query(f'histogram_quantile(0.5, sum by (le, policy) (increase(lbd_job_final_load_balance_ratio_bucket{{{P}}}[1h])))', '{{policy}}'), 'percentunit', min=0, max=1,
              named=NAMES, calcs=['lastNotNull', 'min']),
        lines('Load balance of running jobs', 'Mean of the jobs that run.',
              query('''avg by (policy) (max by (jobid, stepid) (lb_job_load_balance_ratio{cluster="$cluster"})
                    * on (jobid, stepid) group_left (policy) max by (jobid, stepid, policy) (lb_job_info{cluster="$cluster", policy=~"$policy"}))''', '{{policy}}'),
              'percentunit', min=0, max=1, named=NAMES, calcs=['lastNotNull', 'min']),
    ]


def placing():
    return [
        lines('Prediction of the run time, off by', 'Difference between predicted and seen run time of the loops of ended jobs: median of the hour.',
              query(f'histogram_quantile(0.5, sum by (le, policy) (increase(lbd_placement_prediction_error_ratio_bucket{{{P}}}[1h])))', '{{policy}}'), 'percentunit', 8, min=0,
              named=NAMES, calcs=['lastNotNull', 'mean']),
        lines('Layouts', '''Jobs that ended within the hour: laid out by slurm-lb, left as Slurm had it because that was as good, no layout found, and those where none was
              looked for: one task a host, or the user\'s own choice of hosts.''',
              [query(f'''sum(increase(lbd_placements_total{{{P}}}[1h])) - sum(increase(lbd_placements_kept_total{{{P}}}[1h]))
                     - sum(increase(lbd_placement_failures_total{{{P}}}[1h]))''', 'laid out'),
               query(f'sum(increase(lbd_placements_kept_total{{{P}}}[1h]))', 'as good'), query(f'sum(increase(lbd_placement_failures_total{{{P}}}[1h]))', 'none found'),
               query(f'sum(increase(lbd_jobs_finished_total{{{P}}}[1h])) - sum(increase(lbd_placements_total{{{P}}}[1h]))', 'not looked for')], 'suffix: jobs', 8, stack=True, min=0,
              decimals=0, overrides=[colour('laid out', 'green'), colour('as good', 'blue'), colour('none found', 'red'), colour('not looked for', 'text')], calcs=['lastNotNull', 'max']),
        lines('Why no layout was found', '''Jobs an hour, by reason. stale_ranking, no_ranking: the controller is away. no_lbd, deadline: the lbd of the host where srun ran. unknown_hosts: not measured.
              None of them waited for it.''',
              query(f'sum by (reason) (increase(lbd_placement_failures_total{{{P}}}[1h]))', '{{reason}}'), 'suffix: jobs', 8, stack=True, min=0, decimals=0, calcs=['lastNotNull', 'max']),
    ]


def make():
    return dashboard('lb-policy', 'slurm-lb: policy', 'Do the site\'s defaults pay? What balancing saves and costs, by policy.', [source(), CLUSTER, POLICY],
                     [('In the time shown', total()), ('Over time', trend()), ('Placement', placing())], since='now-24h', refresh='5m')
