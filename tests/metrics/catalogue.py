# SPDX-License-Identifier: BSD-3-Clause
"""schema/metrics.json read, and held to the conventions of Prometheus and of the house."""
import json
import re

import promql
from promql import Reader, Series, Wrong

TARGET = frozenset({'cluster', 'node', 'instance', 'job'})  # put there by service discovery
GROUPS = {'host': TARGET, 'controller': TARGET, 'job': TARGET, 'job_host': TARGET}
LABELS = {'host': (), 'controller': (), 'job': ('jobid', 'stepid'), 'job_host': ('jobid', 'stepid', 'host')}
KINDS = ('gauge', 'counter', 'histogram')
ENDINGS = (('_bytes_per_second', {'B': 1, 's': -1}), ('_per_second', {'s': -1}), ('_seconds', {'s': 1}), ('_bytes', {'B': 1}))
# What is not ours: made by Prometheus itself.
FOREIGN = {'up': Series(TARGET, {}), 'scrape_duration_seconds': Series(TARGET, {'s': 1}),
           'ALERTS': Series(TARGET | {'alertname', 'alertstate', 'severity', 'jobid', 'stepid'}, {})}


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def unit_of(name):
    name = name.removesuffix('_total')
    return next((unit for end, unit in ENDINGS if name.endswith(end)), {})


def mistakes(catalogue):
    """Everything in the catalogue that breaks a rule, as texts."""
    seen = set()
    for m in catalogue['metrics']:
        name, kind, labels = m['name'], m['type'], m['labels']
        base = name.removesuffix('_total')
        if name in seen:
            yield f'{name}: is there twice'
        seen.add(name)
        if not re.fullmatch(r'(lbd|lb_job|process)_[a-z0-9_]+', name):
            yield f'{name}: names begin with lbd_, lb_job_ or process_'
        if kind not in KINDS:
            yield f'{name}: type {kind!r}'
        if (kind == 'counter') != name.endswith('_total'):
            yield f'{name}: counters, and only they, end in _total'
        if m.get('unit') not in (None, 'seconds', 'bytes', 'ratio') or (m.get('unit') and not base.endswith('_' + m['unit'])):
            yield f'{name}: unit {m.get("unit")!r} is not a base unit that ends the name'
        if not m.get('unit') and re.search(r'(?<!_per)_(second|minute|byte|kilobyte|percent|ratio|milli\w+|micro\w+|nano\w+)s?$', base) \
                and not base.endswith('_per_second'):
            yield f'{name}: ends in a unit that the entry does not have'
        if m['group'] not in GROUPS:
            yield f'{name}: group {m["group"]!r}'
        elif tuple(labels[:len(LABELS[m['group']])]) != LABELS[m['group']]:
            yield f'{name}: a metric of group {m["group"]} begins its labels with {", ".join(LABELS[m["group"]])}'
        for label in labels:
            if label in TARGET | {'le', 'quantile'} or not re.fullmatch(r'[a-z_]+', label):
                yield f'{name}: label {label!r}'
        if (kind == 'histogram') != (m.get('buckets') in catalogue['buckets']):
            yield f'{name}: histograms, and only they, have buckets of the list'
        if not re.fullmatch(r'[A-Z0-9][^"\\\n]*\.', m['help']):
            yield f'{name}: help is a sentence'


def series(catalogue):
    """name -> Series, for every name that a query may have."""
    out = dict(FOREIGN)
    for m in catalogue['metrics']:
        name, labels, unit = m['name'], TARGET | set(m['labels']), unit_of(m['name'])
        out[name] = Series(labels, unit, m['type'], False, name)
        if m['type'] == 'histogram':
            out[name + '_bucket'] = Series(labels | {'le'}, {}, 'counter', False, name)
            out[name + '_sum'] = Series(labels, unit, 'counter', False, name)
            out[name + '_count'] = Series(labels, {}, 'counter', False, name)
    return out


def read(known, text):
    """What a query gives; (Series, names used), or Wrong."""
    r = Reader(known, text)
    return r.read(), r.used


def add_rules(known, groups):
    """Recording rules, in their order, become known names; yields mistakes."""
    for group in groups:
        for rule in group['rules']:
            name = rule.get('record') or rule['alert']
            try:
                result, _ = read(known, rule['expr'])
            except Wrong as e:
                yield f'rule {name}: {e}'
                continue
            if 'record' in rule:
                if not re.fullmatch(r'[a-z_]+:[a-z_]+:[a-z0-9_]+', name):
                    yield f'rule {name}: is called level:metric:operations'
                known[name] = Series(result.labels | set(rule.get('labels', {})), result.unit, 'gauge', False, name)
                level = name.split(':')[0]
                for label in level.split('_'):
                    if label not in known[name].labels | {'lb'}:
                        yield f'rule {name}: its level names {label}, which its result does not have'
