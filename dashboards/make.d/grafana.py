# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of a Grafana dashboard, in one style.  A dashboard is a list of rows, a row a list of panels that flow from left to right."""

PROMETHEUS = {'type': 'prometheus', 'uid': '${datasource}'}
SQLITE = {'type': 'frser-sqlite-datasource', 'uid': '${history}'}
WIDTH = 24
CALM = [(None, 'text')]
# One colour for one thing, on every dashboard.
COLOURS = {
    'computing': 'green', 'waiting': 'orange', 'moving and deciding': 'purple', 'saved': 'green', 'spent': 'purple',
    'proportional': 'green', 'dry': 'blue', 'below_threshold': 'super-light-blue', 'unprofitable': 'yellow', 'filtered': 'orange',
    'unstable': 'red', 'auto': 'green', 'siegell': 'blue', 'liu': 'yellow', 'static': 'orange', 'none': 'text',
    'slowest host': 'red', 'median': 'green', 'fastest host': 'blue', 'cores': 'text',
}
REASONS = {
    'proportional': 'moves work, by measured speed', 'dry': 'moves work to ranks that run out', 'below_threshold': 'is even enough',
    'fixed': 'nothing: its policy moves no work', 'quiet': 'nothing to decide yet',
    'unprofitable': 'moving costs more than it gains', 'filtered': 'waits for steady measurements', 'unstable': 'load changes too fast',
}


def steps(pairs):
    return {'mode': 'absolute', 'steps': [{'value': v, 'color': c} for v, c in pairs]}


def good_above(warn, bad):
    """Green from warn on, orange from bad on, red below."""
    return [(None, 'red'), (bad, 'orange'), (warn, 'green')]


def good_below(warn, bad):
    return [(None, 'green'), (warn, 'orange'), (bad, 'red')]


def query(expr, legend, instant=False, table=False, name='A'):
    t = {'refId': name, 'datasource': PROMETHEUS, 'expr': ' '.join(expr.split()), 'legendFormat': legend, 'editorMode': 'code',
         'instant': instant or table, 'range': not (instant or table)}
    if table:
        t['format'] = 'table'
    return t


def sql(text, times=(), series=False, name='A'):
    text = ' '.join(text.split())
    return {'refId': name, 'datasource': SQLITE, 'queryText': text, 'rawQueryText': text,
            'queryType': 'time series' if series else 'table', 'timeColumns': list(times)}


def override(field, **properties):
    return {'matcher': {'id': 'byName', 'options': field}, 'properties': [{'id': k, 'value': v} for k, v in properties.items()]}


def colour(field, name):
    return override(field, color={'mode': 'fixed', 'fixedColor': name})


def panel(kind, title, text, targets, width, height, unit, thresholds=None, **more):
    for i, t in enumerate(targets):
        t['refId'] = chr(ord('A') + i)
    defaults = {'unit': unit, 'color': {'mode': more.pop('color', 'thresholds')}, 'mappings': more.pop('mappings', []),
                'thresholds': steps(thresholds or [(None, 'green')])}
    for key in ('min', 'max', 'decimals', 'noValue', 'links', 'custom'):
        if key in more:
            defaults[key] = more.pop(key)
    overrides = more.pop('overrides', [])
    p = {'type': kind, 'title': title, 'description': ' '.join(text.split()), 'datasource': targets[0]['datasource'], 'targets': targets,
         'gridPos': {'w': width, 'h': height}, 'fieldConfig': {'defaults': defaults, 'overrides': overrides}, 'options': more.pop('options', {}),
         'transformations': more.pop('transformations', [])}
    p.update(more)
    return p


def stat(title, text, targets, unit='none', width=4, height=4, thresholds=None, spark=True, text_mode=None, **more):
    if isinstance(targets, dict):
        targets = [targets]
    options = {'reduceOptions': {'values': False, 'calcs': ['lastNotNull'], 'fields': ''}, 'graphMode': 'area' if spark else 'none',
               'colorMode': 'value', 'justifyMode': 'auto', 'textMode': text_mode or ('value_and_name' if len(targets) > 1 else 'value'),
               'orientation': 'auto', 'wideLayout': True, 'showPercentChange': False, 'percentChangeColorMode': 'standard'}
    return panel('stat', title, text, targets, width, height, unit, thresholds, options=options, **more)


def lines(title, text, targets, unit='none', width=12, height=8, stack=False, bars=False, fill=None, limit=None, calcs=(), **more):
    if isinstance(targets, dict):
        targets = [targets]
    custom = {'drawStyle': 'bars' if bars else 'line', 'lineInterpolation': 'linear', 'lineWidth': 0 if bars else (1 if stack else 2),
              'fillOpacity': 80 if bars else (fill if fill is not None else (55 if stack else 0)), 'gradientMode': 'none',
              'showPoints': 'auto' if targets[0]['datasource'] is SQLITE else 'never', 'spanNulls': False, 'stacking': {'mode': 'normal' if stack else 'none', 'group': 'A'},
              'thresholdsStyle': {'mode': 'dashed' if limit is not None else 'off'}, 'axisPlacement': 'auto', 'pointSize': 5}
    if more.get('decimals') == 0:
        custom['axisSoftMax'] = 1  # a count that is 0 all the time lies on the axis of 0 to 1, not of 0 to 100
    # A table of numbers where there is room for all its lines; else names alone.
    many = len(targets) > 2 or any('{{' in t.get('legendFormat', '{{') for t in targets)
    side = many and width >= 12
    tabled = bool(calcs) and (side or not many)
    legend = {'showLegend': True, 'displayMode': 'table' if tabled else 'list', 'placement': 'right' if side and tabled else 'bottom', 'calcs': list(calcs) if tabled else []}
    overrides = more.pop('overrides', []) + [colour(n, c) for n, c in COLOURS.items() if any(n == t.get('legendFormat') for t in targets)]
    overrides += [colour(n, COLOURS[n]) for n in more.pop('named', ())]
    return panel('timeseries', title, text, targets, width, height, unit, [(None, 'green'), (limit, 'red')] if limit is not None else None,
                 color='palette-classic', custom=custom, overrides=overrides,
                 options={'legend': legend, 'tooltip': {'mode': 'multi', 'sort': 'desc'}}, **more)


def verdict(title, text, targets, mappings, thresholds, width=4, **more):
    """An answer in words.  mappings: (from, to, text), None where there is no bound."""
    ranges = [{'type': 'range', 'options': {'from': a, 'to': b, 'result': {'text': t, 'index': i}}} for i, (a, b, t) in enumerate(mappings)]
    return stat(title, text, targets, more.pop('unit', 'none'), width, spark=False, thresholds=thresholds, mappings=ranges, **more)


def bars(title, text, targets, unit='none', width=8, height=8, thresholds=None, **more):
    if isinstance(targets, dict):
        targets = [targets]
    options = {'reduceOptions': {'values': False, 'calcs': ['lastNotNull'], 'fields': ''}, 'displayMode': 'basic', 'orientation': 'horizontal',
               'showUnfilled': True, 'valueMode': 'color', 'minVizWidth': 8, 'minVizHeight': 16, 'namePlacement': 'auto', 'sizing': 'auto',
               'text': {'titleSize': 14, 'valueSize': 18},  # else few bars have letters so large that names are cut
               'maxVizHeight': 300,
               'legend': {'showLegend': True, 'displayMode': 'list', 'placement': 'bottom', 'calcs': []}}
    return panel('bargauge', title, text, targets, width, height, unit, thresholds, options=options, **more)


def column(field, title, unit=None, width=None, cell=None, thresholds=None, link=None, mappings=None, decimals=None):
    """How a column of a table is called and shown."""
    o = {'displayName': title}
    if unit:
        o['unit'] = unit
    if width:
        o['custom.width'] = width
    if decimals is not None:
        o['decimals'] = decimals
    if thresholds:
        o['thresholds'] = steps(thresholds)
        o['custom.cellOptions'] = {'type': cell or 'color-text'}
        # what is not known yet is neither good nor bad
        o['mappings'] = [{'type': 'special', 'options': {'match': 'null+nan', 'result': {'text': '-', 'color': 'transparent', 'index': 0}}}]
    if link:
        o['links'] = [link]
    if mappings:
        o['mappings'] = [{'type': 'value', 'options': {k: {'text': v, 'index': i} for i, (k, v) in enumerate(mappings.items())}}]
    return override(field, **o)


def table(title, text, targets, columns, width=24, height=8, sort=None, down=False, order=(), hide=(), join=None, **more):
    """columns: from column(); order: names of fields from left to right; join: the field on which several queries meet."""
    if isinstance(targets, dict):
        targets = [targets]
    transformations = []
    if len(targets) > 1:
        transformations.append({'id': 'joinByField', 'options': {'byField': join, 'mode': 'outer'}} if join else {'id': 'merge', 'options': {}})
    if order or hide:
        hidden = set(hide) | {'Time'}
        transformations.append({'id': 'organize', 'options': {'excludeByName': {h: True for h in sorted(hidden)}, 'renameByName': {},
                                                              'indexByName': {n: i for i, n in enumerate(order)}}})
    if sort:
        transformations.append({'id': 'sortBy', 'options': {'fields': {}, 'sort': [{'field': sort, 'desc': down}]}})
    options = {'showHeader': True, 'cellHeight': 'sm', 'footer': {'show': False, 'reducer': ['sum'], 'countRows': False, 'fields': ''}}
    return panel('table', title, text, targets, width, height, 'none', CALM, overrides=columns, options=options,
                 custom={'align': 'auto', 'cellOptions': {'type': 'auto'}, 'inspect': False, 'filterable': True},
                 transformations=transformations, **more)


def note(title, text, width=24, height=3):
    return {'type': 'text', 'title': title, 'description': 'How to read this dashboard.', 'gridPos': {'w': width, 'h': height},
            'options': {'mode': 'markdown', 'content': text}}


# Variables
def variable(name, label, ask, multi=False, source=PROMETHEUS):
    v = {'type': 'query', 'name': name, 'label': label, 'datasource': source, 'refresh': 2, 'sort': 4 if name == 'jobid' else 1, 'multi': multi,
         'includeAll': multi, 'hide': 0, 'options': [], 'regex': ''}
    if source is PROMETHEUS:
        v.update(query={'query': ask, 'refId': name})
    else:
        v.update(query={'rawQueryText': ask, 'queryText': ask, 'queryType': 'table', 'timeColumns': [], 'refId': name})
    if multi:
        v.update(allValue='.*' if source is PROMETHEUS else None, current={'text': ['All'], 'value': ['$__all']})
        if v['allValue'] is None:
            del v['allValue']
    return v


def source(name='datasource', label='Prometheus', kind='prometheus'):
    return {'type': 'datasource', 'name': name, 'label': label, 'query': kind, 'refresh': 1, 'hide': 0, 'multi': False, 'includeAll': False,
            'options': [], 'regex': ''}


CLUSTER = variable('cluster', 'Cluster', 'label_values(lbd_build_info, cluster)')
NODE = variable('node', 'Host', 'label_values(lbd_host_cpus{cluster="$cluster"}, node)')
NODES = variable('node', 'Hosts', 'label_values(lbd_build_info{cluster="$cluster"}, node)', multi=True)
JOB = variable('jobid', 'Job', 'label_values(lb_job_info{cluster="$cluster"}, jobid)')
STEP = variable('stepid', 'Step', 'label_values(lb_job_info{cluster="$cluster", jobid="$jobid"}, stepid)', multi=True)
POLICY = variable('policy', 'Policy', 'label_values(lbd_jobs_finished_total{cluster="$cluster"}, policy)', multi=True)


def to(uid, title, **variables):
    """A link from a cell or a line to another dashboard, keeping cluster and time."""
    args = ''.join(f'&var-{k}={v}' for k, v in variables.items())
    return {'title': title, 'url': f'/d/{uid}?${{__url_time_range}}&var-datasource=${{datasource}}&var-cluster=${{cluster}}{args}'}


def dashboard(uid, title, text, variables, rows, since='now-6h', refresh='1m'):
    panels, y, number = [], 0, 0
    for name, inside in rows:
        if name:
            number += 1
            panels.append({'id': number, 'type': 'row', 'title': name, 'collapsed': False, 'panels': [], 'gridPos': {'x': 0, 'y': y, 'w': WIDTH, 'h': 1}})
            y += 1
        x = tallest = 0
        for p in inside:
            w, h = p['gridPos']['w'], p['gridPos']['h']
            if x + w > WIDTH:
                x, y, tallest = 0, y + tallest, 0
            number += 1
            panels.append({'id': number, **p, 'gridPos': {'x': x, 'y': y, 'w': w, 'h': h}})
            x, tallest = x + w, max(tallest, h)
        y += tallest
    return {'uid': uid, 'title': title, 'description': ' '.join(text.split()), 'tags': ['slurm-lb'], 'schemaVersion': 41, 'version': 1,
            'editable': True, 'graphTooltip': 1, 'timezone': 'browser', 'refresh': refresh, 'time': {'from': since, 'to': 'now'},
            'timepicker': {}, 'annotations': {'list': []},
            'links': [{'type': 'dashboards', 'title': 'slurm-lb', 'tags': ['slurm-lb'], 'asDropdown': False, 'includeVars': True,
                       'keepTime': True, 'targetBlank': False, 'icon': 'dashboard', 'tooltip': '', 'url': ''}],
            'templating': {'list': variables}, 'panels': panels}
