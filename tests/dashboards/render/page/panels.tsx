// SPDX-License-Identifier: BSD-3-Clause
// The kinds of panels that our dashboards have, by the components that Grafana's own plugins are made of.
import * as D from '@grafana/data';
import { sceneUtils } from '@grafana/scenes';
import * as U from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { report } from './report';

const theme = D.createTheme({ colors: { mode: 'dark' } });
const editor = () => null;

// Custom options of the fields, with the defaults of Grafana's plugins.
const LINES = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, gradientMode: 'none', spanNulls: false, insertNulls: false, showPoints: 'auto', pointSize: 5,
  stacking: { mode: 'none', group: 'A' }, axisPlacement: 'auto', axisLabel: '', axisColorMode: 'text', axisBorderShow: false, axisCenteredZero: false, scaleDistribution: { type: 'linear' },
  hideFrom: { tooltip: false, viz: false, legend: false }, thresholdsStyle: { mode: 'off' }, barAlignment: 0, barWidthFactor: 0.6, lineStyle: undefined, axisSoftMin: undefined,
  axisSoftMax: undefined, axisGridShow: undefined, axisWidth: undefined, barMaxWidth: undefined, transform: undefined, fillBelowTo: undefined, lineColor: undefined,
  fillColor: undefined, pointColor: undefined, pointSymbol: undefined, showValues: false,
};
const CELLS = { align: 'auto', cellOptions: { type: 'auto' }, inspect: false, width: undefined, minWidth: 50, hideFrom: {}, filterable: false };
const REDUCE = { values: false, calcs: ['lastNotNull'], fields: '' };

function register(id: string, Body: any, options: any, custom: any, colour: string) {
  const plugin = new D.PanelPlugin<any, any>(Body);
  plugin.useFieldConfig({
    standardOptions: { color: { defaultValue: { mode: colour } } } as any,
    useCustomConfig: (b: any) => Object.entries(custom).forEach(([path, defaultValue]) => b.addCustomEditor({
      id: path, path, name: path, defaultValue, editor, override: editor, process: D.identityOverrideProcessor, shouldApply: () => true })),
  });
  plugin.setPanelOptions((b: any) => Object.entries(options).forEach(([path, defaultValue]) => b.addCustomEditor({ id: path, path, name: path, defaultValue, editor })));
  sceneUtils.registerRuntimePanelPlugin({ pluginId: id, plugin: plugin as any });
}

const drawn = (props: any, type: string, n: number) => { report.panels[props.id] = { type, drawn: n }; };
const Empty = () => <div style={{ padding: 16, color: '#8e8e8e' }}>No data</div>;
const valuesOf = (props: any) => D.getFieldDisplayValues({
  data: props.data.series, fieldConfig: props.fieldConfig, reduceOptions: props.options.reduceOptions, replaceVariables: props.replaceVariables, theme,
  sparkline: props.options.graphMode === 'area', timeZone: props.timeZone } as any);

const Repeated = ({ props, render, grid }: any) => (
  <U.VizRepeater source={props.data} getValues={() => valuesOf(props)} renderValue={render} width={props.width} height={props.height} orientation={props.options.orientation}
    renderCounter={props.renderCounter} itemSpacing={8} minVizWidth={60} minVizHeight={16} autoGrid={grid} getAlignmentFactors={D.getDisplayValueAlignmentFactors} />
);

// Where points are missing there is to be a gap and no line across it, as in Grafana.
function gapped(frame: any) {
  const time = frame.fields.find((f: any) => f.type === D.FieldType.time), step = time?.config.interval;
  if (!step) return frame;
  const at: number[] = [], from: number[] = [];
  time.values.forEach((t: number, i: number) => {
    for (let missing = i ? time.values[i - 1] + step : t; missing < t - step / 2; missing += step) { at.push(missing); from.push(-1); }
    at.push(t);
    from.push(i);
  });
  return { ...frame, length: at.length, fields: frame.fields.map((f: any) => ({ ...f, values: f === time ? at : from.map((i) => (i < 0 ? null : f.values[i])) })) };
}

function Lines(props: any) {
  const withNumbers = props.data.series.map(gapped).filter((f: any) => f.fields.some((x: any) => x.type === D.FieldType.number) && f.length > 0);
  drawn(props, 'timeseries', withNumbers.length);
  if (!withNumbers.length) return <Empty />;
  return <U.TimeSeries frames={withNumbers} structureRev={props.data.structureRev} timeRange={props.timeRange} timeZone={props.timeZone} width={props.width} height={props.height}
    legend={props.options.legend} options={props.options} replaceVariables={props.replaceVariables} />;
}

function Stat(props: any) {
  drawn(props, 'stat', valuesOf(props).filter((v: any) => v.display.text !== 'No data').length);
  return <Repeated props={props} grid render={(v: any) => (
    <U.BigValue value={v.value.display} sparkline={v.value.sparkline} count={v.count} width={v.width} height={v.height} colorMode={props.options.colorMode}
      graphMode={props.options.graphMode} justifyMode={props.options.justifyMode} textMode={props.options.textMode} alignmentFactors={v.alignmentFactors} theme={theme} />)} />;
}

function Bars(props: any) {
  drawn(props, 'bargauge', valuesOf(props).length);
  return <Repeated props={props} render={(v: any) => (
    <U.BarGauge value={v.value.display} width={v.width} height={v.height} orientation={v.orientation} field={v.value.field}
      display={v.value.view?.getFieldDisplayProcessor(v.value.colIndex)} theme={theme} itemSpacing={8} lcdCellWidth={8} displayMode={props.options.displayMode}
      showUnfilled={props.options.showUnfilled} alignmentFactors={v.alignmentFactors} valueDisplayMode={props.options.valueMode} />)} />;
}

function Table(props: any) {
  D.cacheFieldDisplayNames(props.data.series);
  const frame = props.data.series[0];
  drawn(props, 'table', frame?.length ?? 0);
  if (!frame?.length) return <Empty />;
  return <TableNG data={frame} width={props.width} height={props.height} timeRange={props.timeRange} structureRev={props.data.structureRev} fieldConfig={props.fieldConfig}
    enableVirtualization={false} />;
}

function Text(props: any) {
  drawn(props, 'text', props.options.content ? 1 : 0);
  return <div className="markdown-html" dangerouslySetInnerHTML={{ __html: D.renderMarkdown(props.replaceVariables(props.options.content)) }} />;
}

export function registerPanels() {
  register('timeseries', Lines, { legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] }, tooltip: { mode: 'single', sort: 'none' } }, LINES, 'palette-classic');
  register('stat', Stat, { reduceOptions: REDUCE, graphMode: 'area', colorMode: 'value', justifyMode: 'auto', textMode: 'auto', orientation: 'auto' }, {}, 'thresholds');
  register('bargauge', Bars, { reduceOptions: REDUCE, displayMode: 'gradient', orientation: 'auto', showUnfilled: true, valueMode: 'color' }, {}, 'thresholds');
  register('table', Table, { showHeader: true, cellHeight: 'sm' }, CELLS, 'thresholds');
  register('text', Text, { mode: 'markdown', content: '' }, {}, 'thresholds');
}
