# SPDX-License-Identifier: BSD-3-Clause
"""Dashboard 2: one host."""
from grafana import (CLUSTER, NODE, colour, dashboard, good_above, good_below, lines, query, source, stat, to)

C = 'cluster="$cluster"'
H = C + ', node="$node"'


def now():
    return [
        stat('Processor', 'What the host says of its processor. Hosts are compared with those that say the same.',
             query(f'max by (cpu_model) (lbd_host_info{{{H}}})', '{{cpu_model}}'), width=8, spark=False, text_mode='name', thresholds=[(None, 'text')]),
        stat('As fast as it should be?', '''The worst benchmark over the median of the hosts with the same processor; below 0.85 LbdHostSlow fires.
             And over the median of this host's own history; other than 1 once two benchmarks in a row were slow.''',
             [query(f'node:lb_benchmark:relative_min{{{H}}}', 'hosts like it'), query(f'lbd_host_own_history_ratio{{{H}}}', 'own history')], 'percentunit', thresholds=good_above(0.95, 0.85), decimals=0),
        stat('A task gets', 'Effective speed now: what one more task would get, of a reference core.',
             query(f'lbd_host_effective_speed_ratio{{{H}}}', 'speed'), 'percentunit', decimals=0, thresholds=[(None, 'blue')]),
        stat('A job gets', 'What one job would get of the whole host now, in reference cores, and the cores that there are.',
             [query(f'lbd_host_capacity_ratio{{{H}}}', 'reference cores'), query(f'lbd_host_cpus{{{H}}}', 'cores')], decimals=1),
        stat('Benchmark age', 'Time since the host was last measured. It is measured when idle, and never while a job runs on it.',
             query(f'node:lb_benchmark_age_seconds:max{{{H}}}', 'age'), 's', thresholds=good_below(604800, 1209600), decimals=1),
    ]


def speed():
    return [
        lines('Benchmarks, against hosts like it', 'Each kernel over the median of the hosts with the same processor. Below the dashed line LbdHostSlow fires.',
              query(f'node_kernel:lb_benchmark:relative{{{H}}}', '{{kernel}}'), 'percentunit', limit=0.85, min=0, max=1.2, calcs=['lastNotNull', 'min']),
        lines('What one task gets', 'Effective speed against a reference core, and the median of the cluster.',
              [query(f'lbd_host_effective_speed_ratio{{{H}}}', 'this host'), query(f'quantile(0.5, lbd_host_effective_speed_ratio{{{C}}})', 'median of the cluster')],
              'percentunit', min=0, calcs=['lastNotNull', 'min'], overrides=[colour('this host', 'blue'), colour('median of the cluster', 'text')]),
        lines('Who uses the cores', 'Cores there are, tasks of jobs with the plugin, and the load of all else.',
              [query(f'lbd_host_cpus{{{H}}}', 'cores'), query(f'lbd_host_tasks{{{H}}}', 'tasks of jobs'),
               query(f'lbd_host_external_load_cpus{{{H}}}', 'external load')], 'short', min=0, calcs=['lastNotNull', 'max']),
        lines('Indices', '''Performance index as placement ranks by (lower is better) = hardware x workload x what users and tasks add. Workload index:
              elapsed over CPU time that a task would see; 1 is an idle host.''',
              [query(f'lbd_host_performance_index{{{H}}}', 'performance index'), query(f'lbd_host_workload_index_ratio{{{H}}}', 'workload index')], min=0,
              calcs=['lastNotNull', 'max']),
    ]


def measuring():
    return [
        lines('Operations of the benchmark', 'Operations per CPU second of each kernel. A step down that stays: heat, a BIOS setting, a virtual machine moved.',
              query(f'lbd_benchmark_operations_per_second{{{H}}}', '{{kernel}}'), 'ops', 8, min=0, calcs=['lastNotNull', 'min']),
        lines('Memory bandwidth of the benchmark', 'Bytes copied per CPU second, one core.',
              query(f'lbd_benchmark_memory_bytes_per_second{{{H}}}', '{{kernel}}'), 'Bps', 8, min=0, calcs=['lastNotNull', 'min']),
        lines('Spread of the repetitions', 'Range over median of the repetitions of a kernel. Above some percent the host was not quiet while it was measured.',
              query(f'lbd_benchmark_dispersion_ratio{{{H}}}', '{{kernel}}'), 'percentunit', 8, min=0, calcs=['lastNotNull', 'max']),
        lines('Benchmarks run and not run', 'In the last 6 hours. Cancelled: a job began. That is as it should be; only errors need a look.',
              [query(f'max(increase(lbd_benchmark_runs_total{{{H}}}[6h]))', 'ran'),
               query(f'max by (reason) (increase(lbd_benchmark_failures_total{{{H}}}[6h]))', '{{reason}}')], 'short', 6, min=0, decimals=0,
              overrides=[colour('ran', 'green'), colour('cancelled', 'blue'), colour('error', 'red')]),
        lines('Error of the load forecast', 'Difference between the load that was forecast and the load that came, in cores.',
              [query(f'histogram_quantile({q}, sum by (le) (rate(lbd_load_forecast_error_cpus_bucket{{{H}}}[1h])))', n) for q, n in ((0.5, 'median'), (0.9, 'nine of ten'))],
              'suffix: cores', 6, min=0, calcs=['lastNotNull', 'max']),
        lines('Samples of the load', 'Samples taken, and those that failed.',
              [query(f'rate(lbd_load_samples_total{{{H}}}[$__rate_interval])', 'taken'), query(f'rate(lbd_load_sample_failures_total{{{H}}}[$__rate_interval])', 'failed')],
              'suffix:/s', 6, min=0, overrides=[colour('failed', 'red')]),
        lines('Hardware index', 'CPU time of the standard piece of work: 1 s on a reference core, lower is better. Measured on the idle host only.',
              query(f'lbd_host_hardware_index_seconds{{{H}}}', 'hardware index'), 's', 6, min=0, calcs=['lastNotNull', 'max']),
    ]


def jobs():
    here = C + ', host="$node"'
    one = to('lb-job', 'This job', jobid='${__field.labels.jobid}')
    return [
        lines('Shares of jobs on this host', 'Part of each job\'s iterations that the ranks on this host own.',
              query(f'max by (jobid, stepid) (lb_job_share_ratio{{{here}}})', '{{jobid}}.{{stepid}}'), 'percentunit', 12, min=0, links=[one], calcs=['lastNotNull']),
        lines('Computing for jobs', 'Ranks on this host that compute, by job.',
              query(f'sum by (jobid, stepid) (rate(lb_job_compute_seconds_total{{{here}}}[$__rate_interval]))', '{{jobid}}.{{stepid}}'), 'suffix: ranks', 12, stack=True, min=0, links=[one],
              calcs=['lastNotNull']),
        lines('Waiting in jobs', 'Ranks on this host that wait for work or for others, by job.',
              query(f'sum by (jobid, stepid) (rate(lb_job_wait_seconds_total{{{here}}}[$__rate_interval]))', '{{jobid}}.{{stepid}}'), 'suffix: ranks', 24, stack=True, min=0, links=[one],
              calcs=['lastNotNull']),
    ]


def make():
    return dashboard('lb-host', 'slurm-lb: host', 'One host: as fast as it should be? What runs there?', [source(), CLUSTER, NODE],
                     [('Now', now()), ('Speed and load', speed()), ('Jobs here', jobs()), ('Measuring', measuring())])
