# SPDX-License-Identifier: BSD-3-Clause
"""A reader of PromQL, enough for our queries: what labels and what unit has the result?

A unit is a dict of powers of "s" (seconds), "B" (bytes) and the like; {} is a plain number, and so is a ratio.
Mistakes raise Wrong with a text.
"""
import re


class Wrong(Exception):
    pass


TOKEN = re.compile(r'''\s*(?:
    (?P<time>(?:\d+(?:ms|[smhdwy]))+\b) |
    (?P<num>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|Inf\b|NaN\b) |
    (?P<str>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*') |
    (?P<range>\[[^\]]*\]) |
    (?P<name>[A-Za-z_:][\w:]*) |
    (?P<op>=~|!~|!=|==|>=|<=|[-+*/%^=<>(){},@])
)''', re.X)
AGGREGATES = {'sum', 'min', 'max', 'avg', 'group', 'stddev', 'stdvar', 'count', 'topk', 'bottomk', 'quantile', 'count_values'}
WITH_PARAMETER = {'topk', 'bottomk', 'quantile', 'count_values'}
LEVELS = [('or',), ('and', 'unless'), ('==', '!=', '>', '<', '>=', '<='), ('+', '-'), ('*', '/', '%'), ('^',)]
OF_COUNTERS = {'rate', 'irate', 'increase', 'resets'}
OVER_TIME = {'avg_over_time', 'max_over_time', 'min_over_time', 'sum_over_time', 'last_over_time', 'quantile_over_time',
             'stddev_over_time'}
PLAIN = {'abs', 'ceil', 'floor', 'round', 'clamp', 'clamp_min', 'clamp_max', 'sort', 'sort_desc', 'label_replace'}
COUNTING = {'changes', 'count_over_time', 'present_over_time', 'absent', 'absent_over_time'}


class Series:
    """What the result of a (part of a) query looks like."""

    def __init__(self, labels=(), unit=None, kind='value', scalar=False, name=''):
        self.labels, self.unit, self.kind, self.scalar, self.name = frozenset(labels), unit, kind, scalar, name


def tokens(text):
    at, out = 0, []
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise Wrong(f'cannot be read from: {text[at:at + 30]}')
        out.append((m.lastgroup, m.group(m.lastgroup)))
        at = m.end()
    return out


def times(a, b, sign=1):
    unit = dict(a)
    for k, v in b.items():
        unit[k] = unit.get(k, 0) + sign * v
    return {k: v for k, v in unit.items() if v}


def shown(unit):
    return ' '.join(f'{k}^{v}' if v != 1 else k for k, v in sorted(unit.items())) or 'a plain number'


class Reader:
    """metrics: name -> Series of what a selector of it gives."""

    def __init__(self, metrics, text):
        self.metrics, self.t, self.i, self.used, self.of_buckets = metrics, tokens(text), 0, set(), None

    def read(self):
        result = self.binary(0)
        if self.i != len(self.t):
            raise Wrong(f'{self.t[self.i][1]!r} is not expected here')
        if result.kind == 'range':
            raise Wrong('a range is no result')
        return result

    def peek(self, *values):
        return self.i < len(self.t) and self.t[self.i][1] in values and self.t[self.i][0] in ('op', 'name')

    def take(self, *values):
        if self.i >= len(self.t) or (values and self.t[self.i][1] not in values):
            raise Wrong(f'{" or ".join(values) or "more"} expected, not {self.t[self.i][1] if self.i < len(self.t) else "the end"}')
        self.i += 1
        return self.t[self.i - 1][1]

    def label_list(self):
        out = []
        self.take('(')
        while not self.peek(')'):
            out.append(self.take())
            if not self.peek(')'):
                self.take(',')
        self.take(')')
        return out

    def known(self, labels, series, what):
        for label in labels:
            if label not in series.labels:
                raise Wrong(f'{what} {label!r}: there are {", ".join(sorted(series.labels)) or "no labels"}')

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek(*LEVELS[level]):
            op = self.take()
            if self.peek('bool'):
                self.take()
            on, card, extra = None, None, []
            if self.peek('on', 'ignoring'):
                how = self.take()
                on = (how, self.label_list())
            if self.peek('group_left', 'group_right'):
                card = self.take()
                extra = self.label_list() if self.peek('(') else []
            left = self.join(op, left, self.binary(level + 1), on, card, extra)
        return left

    def join(self, op, a, b, on, card, extra):
        if 'range' in (a.kind, b.kind):
            raise Wrong(f'{op} of a range')
        if on and on[0] == 'on':
            self.known(on[1], a, 'on')
            self.known(on[1], b, 'on')
        many, one = (b, a) if card == 'group_right' else (a, b)
        self.known(extra, one, str(card))
        if op == 'or':
            labels = a.labels | b.labels
        elif op in ('and', 'unless') or a.scalar or b.scalar:
            labels = b.labels if a.scalar else a.labels
        elif card:
            labels = many.labels | set(extra)
        elif on:
            labels = frozenset(on[1]) if on[0] == 'on' else a.labels - set(on[1])
        else:
            if a.labels != b.labels and 'le' not in a.labels | b.labels:
                self.loose(op, a, b)
            labels = a.labels & b.labels
        unit = self.unit_of(op, a, b)
        return Series(labels, unit, 'value', a.scalar and b.scalar)

    @staticmethod
    def loose(op, a, b):
        odd = sorted(a.labels ^ b.labels)
        raise Wrong(f'the sides of {op} differ in labels ({", ".join(odd)}) and nothing says on which to join')

    @staticmethod
    def unit_of(op, a, b):
        if op in ('and', 'unless'):
            return a.unit
        if op == 'or':
            return a.unit if a.unit is not None else b.unit
        if op in ('*', '/'):
            if a.unit is None and b.unit is None:
                return None
            return times(a.unit or {}, b.unit or {}, 1 if op == '*' else -1)
        if op == '^':
            return {}
        if a.unit is not None and b.unit is not None and a.unit != b.unit:
            raise Wrong(f'{op} of {shown(a.unit)} and {shown(b.unit)}')
        return a.unit if a.unit is not None else b.unit

    def unary(self):
        if self.peek('-', '+'):
            self.take()
            return self.unary()
        return self.postfix(self.primary())

    def postfix(self, s):
        while self.i < len(self.t):
            if self.t[self.i][0] == 'range':
                self.i += 1
                s = Series(s.labels, s.unit, 'range', False, s.name)
            elif self.peek('offset'):
                self.take()
                if self.peek('-'):
                    self.take()
                if self.i >= len(self.t) or self.t[self.i][0] != 'time':
                    raise Wrong('a time expected behind offset')
                self.i += 1
            else:
                break
        return s

    def primary(self):
        kind, text = self.t[self.i] if self.i < len(self.t) else ('end', 'the end')
        if kind == 'num':
            self.i += 1
            return Series(scalar=True)
        if kind == 'str':
            self.i += 1
            return Series(scalar=True, name=text[1:-1])
        if text == '(':
            self.take()
            s = self.binary(0)
            self.take(')')
            return s
        if kind != 'name':
            raise Wrong(f'{text!r} is not expected here')
        self.i += 1
        if text in AGGREGATES and self.peek('(', 'by', 'without'):
            return self.aggregate(text)
        if self.peek('('):
            return self.call(text)
        return self.selector(text)

    def aggregate(self, op):
        by = None
        if self.peek('by', 'without'):
            by = (self.take(), self.label_list())
        self.take('(')
        if op in WITH_PARAMETER:
            self.binary(0)
            self.take(',')
        s = self.binary(0)
        self.take(')')
        if self.peek('by', 'without'):
            by = (self.take(), self.label_list())
        if s.kind == 'range' or s.scalar:
            raise Wrong(f'{op} wants a vector')
        labels = s.labels if op in ('topk', 'bottomk') else frozenset()
        if by:
            self.known(by[1], s, by[0])
            if op not in ('topk', 'bottomk'):
                labels = frozenset(by[1]) if by[0] == 'by' else s.labels - set(by[1])
        return Series(labels, {} if op in ('count', 'group') else s.unit)

    def call(self, name):
        args = []
        self.take('(')
        while not self.peek(')'):
            args.append(self.binary(0))
            if not self.peek(')'):
                self.take(',')
        self.take(')')
        ranges = [a for a in args if a.kind == 'range']
        if name == 'time':
            return Series(unit={'s': 1}, scalar=True)
        if name in ('vector', 'scalar'):
            return Series(unit=args[0].unit, scalar=name == 'scalar')
        if name in OF_COUNTERS or name in OVER_TIME or name in COUNTING or name in ('delta', 'deriv', 'predict_linear'):
            if not ranges and name != 'absent':
                raise Wrong(f'{name} wants a range')
            s = ranges[0] if ranges else args[0]
            if name in OF_COUNTERS and s.name and self.metrics[s.name].kind != 'counter':
                raise Wrong(f'{name} of {s.name}, which is no counter')
            if name in ('delta', 'deriv') and s.name and self.metrics[s.name].kind == 'counter':
                raise Wrong(f'{name} of the counter {s.name}')
            unit = {} if name in COUNTING or name == 'resets' else s.unit
            if name in ('rate', 'irate', 'deriv'):
                unit = times(unit or {}, {'s': -1})
            return Series(s.labels, unit)
        if ranges:
            raise Wrong(f'{name} of a range')
        if name == 'histogram_quantile':
            self.known(['le'], args[1], name)
            return Series(args[1].labels - {'le'}, self.of_buckets)
        if name in PLAIN:
            labels = args[0].labels | ({args[1].name} if name == 'label_replace' else set())
            return Series(labels, args[0].unit)
        raise Wrong(f'function {name} is not known here')

    def selector(self, name):
        if name not in self.metrics:
            raise Wrong(f'no such metric: {name}')
        s = self.metrics[name]
        self.used.add(name)
        if name.endswith('_bucket'):
            self.of_buckets = self.metrics[name.removesuffix('_bucket')].unit
        if self.peek('{'):
            self.take()
            while not self.peek('}'):
                self.known([self.take()], s, f'{name}: label')
                self.take('=', '!=', '=~', '!~')
                self.i += 1
                if not self.peek('}'):
                    self.take(',')
            self.take('}')
        return Series(s.labels, s.unit, 'value', False, name)
