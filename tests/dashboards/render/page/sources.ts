// SPDX-License-Identifier: BSD-3-Clause
// Data sources for the scene: Prometheus by its HTTP API, SQLite through the test's own little server.
import { DataFrame, FieldType, LoadingState, escapeRegex, toDataFrame } from '@grafana/data';
import { RuntimeDataSource, sceneGraph } from '@grafana/scenes';
import { from } from 'rxjs';
import { asked } from './report';

const page = new URLSearchParams(location.search);
const scrape = Number(page.get('scrape') ?? 15);
const fixed = (vars: Record<string, string>) => Object.fromEntries(Object.entries(vars).map(([k, value]) => [k, { text: value, value }]));
const object = (request: any) => { const o = request.scopedVars.__sceneObject.value; return o.valueOf ? o.valueOf() : o; };

async function prometheus(path: string, args: Record<string, string>) {
  const answer = await (await fetch(`/api/v1/${path}?${new URLSearchParams(args)}`)).json();
  if (answer.status !== 'success') throw new Error(answer.error);
  return answer.data;
}

const legend = (target: any, labels: Record<string, string>) => {
  const { __name__: name, ...rest } = labels;
  if (target.legendFormat) return target.legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_: string, l: string) => labels[l] ?? '');
  return (name ?? '') + '{' + Object.entries(rest).map(([k, v]) => `${k}="${v}"`).join(', ') + '}';
};

// Grafana draws a gap where a point is missing, for which it must know how far apart points are.
const seriesFrame = (target: any, labels: Record<string, string>, points: Array<[number, string]>, step = 0) => toDataFrame({
  refId: target.refId,
  fields: [
    { name: 'Time', type: FieldType.time, config: step ? { interval: step * 1000 } : {}, values: points.map((p) => p[0] * 1000) },
    { name: 'Value', type: FieldType.number, labels, config: { displayNameFromDS: legend(target, labels) }, values: points.map((p) => (p[1] === 'NaN' ? null : Number(p[1]))) },
  ],
});

// As Grafana's own Prometheus source names the column of values when a panel has several queries.
const tableFrame = (target: any, rows: any[], alone: boolean) => {
  const labels = [...new Set(rows.flatMap((r) => Object.keys(r.metric)))].sort();
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: rows.map((r) => r.value[0] * 1000) },
      ...labels.map((l) => ({ name: l, type: FieldType.string, config: { filterable: true }, values: rows.map((r) => r.metric[l] ?? '') })),
      { name: alone ? 'Value' : `Value #${target.refId}`, type: FieldType.number, values: rows.map((r) => Number(r.value[1])) },
    ],
  });
};

export class Prometheus extends RuntimeDataSource<any> {
  constructor() { super('prometheus', 'prometheus'); }

  query(request: any) {
    const span = (request.range.to.valueOf() - request.range.from.valueOf()) / 1000;
    const step = Math.max(scrape, Math.ceil(span / 300));
    const to = Math.floor(request.range.to.valueOf() / 1000 / step) * step;
    const vars = { ...request.scopedVars, ...fixed({ __rate_interval: `${Math.max(step + scrape, 4 * scrape)}s`, __interval: `${step}s`, __range: `${span}s`, __range_s: `${span}` }) };
    const regex = (v: any) => (Array.isArray(v) ? `(${v.map((x) => escapeRegex(String(x))).join('|')})` : String(v));
    const one = (target: any): Promise<DataFrame[]> => {
      const text = sceneGraph.interpolate(object(request), target.expr, vars, regex);
      return asked({ panel: request.panelId, text }, async () => {
        if (target.instant) {
          const rows = (await prometheus('query', { query: text, time: String(to) })).result;
          const result = target.format === 'table' ? [tableFrame(target, rows, request.targets.length === 1)] : rows.map((r: any) => seriesFrame(target, r.metric, [r.value]));
          return { count: rows.length, result };
        }
        const rows = (await prometheus('query_range', { query: text, start: String(to - Math.floor(span / step) * step), end: String(to), step: String(step) })).result;
        return { count: rows.length, result: rows.map((r: any) => seriesFrame(target, r.metric, r.values, step)) };
      });
    };
    return from(Promise.all(request.targets.map(one)).then((frames: any) => ({ data: frames.flat(), state: LoadingState.Done }))) as any;
  }

  async metricFindQuery(query: any, options: any): Promise<any> {
    const text = sceneGraph.interpolate(object(options), query.query ?? query, options.scopedVars);
    const m = /^label_values\((.+), (\w+)\)$/.exec(text);
    if (!m) throw new Error(`a variable asks: ${text}`);
    const range = options.range;
    return asked({ text }, async () => {
      const args: any = { 'match[]': m[1] };
      if (range) Object.assign(args, { start: String(range.from.valueOf() / 1000), end: String(range.to.valueOf() / 1000) });
      const values = await prometheus(`label/${m[2]}/values`, args);
      return { count: values.length, result: values.map((x: string) => ({ text: x })) };
    });
  }
}

async function sqlite(text: string) {
  const answer = await (await fetch(`/sqlite?${new URLSearchParams({ q: text })}`)).json();
  if (answer.error) throw new Error(answer.error);
  return answer.rows as any[];
}

// The plugin makes of a long table one series for each combination of its strings; so do we.
function wide(refId: string, rows: any[], time: string): DataFrame[] {
  const texts = Object.keys(rows[0] ?? {}).filter((k) => k !== time && typeof rows[0][k] === 'string');
  const numbers = Object.keys(rows[0] ?? {}).filter((k) => k !== time && typeof rows[0][k] === 'number');
  const groups = new Map<string, any[]>();
  for (const r of rows) {
    const key = JSON.stringify(texts.map((t) => r[t]));
    groups.set(key, [...(groups.get(key) ?? []), r]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, g]) => toDataFrame({
    refId,
    fields: [
      { name: 'time', type: FieldType.time, values: g.map((r) => r[time] * 1000) },
      ...numbers.map((n) => ({ name: n, type: FieldType.number, labels: Object.fromEntries(texts.map((t) => [t, g[0][t]])), values: g.map((r) => r[n]) })),
    ],
  }));
}

export class Sqlite extends RuntimeDataSource<any> {
  constructor() { super('frser-sqlite-datasource', 'sqlite'); }

  query(request: any) {
    const vars = { ...request.scopedVars, ...fixed({ __from: String(request.range.from.valueOf()), __to: String(request.range.to.valueOf()) }) };
    const one = (target: any): Promise<DataFrame[]> => {
      const text = sceneGraph.interpolate(object(request), target.rawQueryText, vars);
      return asked({ panel: request.panelId, text }, async () => {
        const rows = await sqlite(text);
        if (target.queryType === 'time series') return { count: rows.length, result: wide(target.refId, rows, target.timeColumns[0]) };
        const fields = Object.keys(rows[0] ?? {}).map((k) => ({ name: k, type: typeof rows[0][k] === 'number' ? FieldType.number : FieldType.string, values: rows.map((r) => r[k]) }));
        return { count: rows.length, result: [toDataFrame({ refId: target.refId, fields })] };
      });
    };
    return from(Promise.all(request.targets.map(one)).then((frames: any) => ({ data: frames.flat(), state: LoadingState.Done }))) as any;
  }

  async metricFindQuery(query: any): Promise<any> {
    const text = query.rawQueryText;
    return asked({ text }, async () => {
      const rows = await sqlite(text);
      return { count: rows.length, result: rows.map((r) => ({ text: String(Object.values(r)[0]) })) };
    });
  }
}
