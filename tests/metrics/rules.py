# SPDX-License-Identifier: BSD-3-Clause
"""Rules of Prometheus read from the plain YAML that our files are in; promtool judges the YAML itself."""
import re


def load(path):
    """[{'name': ..., 'rules': [{'record' or 'alert': ..., 'expr': ..., 'annotations': {...}, 'labels': {...}}]}]"""
    groups, rule, block, part = [], None, None, None
    with open(path, encoding='utf-8') as f:
        for line in f:
            depth, text = len(line) - len(line.lstrip(' ')), line.strip()
            if block is not None:
                if not text or depth > block:
                    rule['expr'] += ' ' + text
                    continue
                block = None
            if not text or text.startswith('#') or text == 'groups:':
                continue
            m = re.fullmatch(r'(- )?([a-z]+):\s*(.*)', text)
            if not m:
                raise ValueError(f'{path}: cannot be read: {text}')
            key, value = m[2], m[3].strip('"')
            if m[1] and key == 'name':
                groups.append({'name': value, 'rules': []})
            elif m[1]:
                rule = {key: value}
                part = None
                groups[-1]['rules'].append(rule)
            elif key in ('labels', 'annotations'):
                part = rule[key] = {}
            elif part is not None and depth >= 10:
                part[key] = value
            elif key == 'expr' and value == '|':
                rule['expr'], block = '', depth
            elif rule is not None:
                rule[key] = value
    return groups
