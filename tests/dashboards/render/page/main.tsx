// SPDX-License-Identifier: BSD-3-Clause
// Draw one dashboard: /?board=NAME&to=SECONDS&scrape=SECONDS&value=VARIABLE=VALUE, as Grafana would.
import 'uplot/dist/uPlot.min.css';
import '@grafana/react-data-grid/lib/styles.css';
import * as D from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import * as R from '@grafana/runtime';
import * as S from '@grafana/scenes';
import * as U from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { Router } from 'react-router-dom';
import { registerPanels } from './panels';
import { fill } from './registries';
import { report } from './report';
import { Prometheus, Sqlite } from './sources';

const page = new URLSearchParams(location.search);
const sources = [new Prometheus(), new Sqlite()];
const wanted = Object.fromEntries(page.getAll('value').map((v) => v.split('=')));
const reference = (ref: any) => { const s = sources.find((x) => x.type === ref?.type); return { type: s?.type ?? ref?.type, uid: s?.uid ?? 'none' }; };

function variable(v: any) {
  const common: any = { name: v.name, label: v.label, hide: v.hide, isMulti: v.multi, includeAll: v.includeAll, allValue: v.allValue };
  if (v.includeAll) Object.assign(common, { value: ['$__all'], text: ['All'] });
  if (wanted[v.name]) Object.assign(common, { value: wanted[v.name], text: wanted[v.name] });
  if (v.type === 'datasource') return new S.DataSourceVariable({ name: v.name, label: v.label, pluginId: v.query });
  if (v.type === 'query') return new S.QueryVariable({ ...common, query: v.query, datasource: reference(v.datasource), refresh: v.refresh, sort: v.sort });
  throw new Error(`a variable of type ${v.type}`);
}

function panel(p: any) {
  const queries = p.targets?.map((t: any) => ({ ...t, datasource: reference(t.datasource) }));
  const data = queries?.length && new S.SceneDataTransformer({
    transformations: p.transformations ?? [],
    $data: new S.SceneQueryRunner({ datasource: queries[0].datasource, queries }),
  });
  return new S.SceneGridItem({
    x: p.gridPos.x, y: p.gridPos.y, width: p.gridPos.w, height: p.gridPos.h,
    body: new S.VizPanel({ key: `panel-${p.id}`, title: p.title, description: p.description, pluginId: p.type, options: p.options, fieldConfig: p.fieldConfig, ...(data ? { $data: data } : {}) } as any),
  });
}

function scene(board: any) {
  const children: any[] = [];
  let row: S.SceneGridRow | undefined;
  for (const p of board.panels) {
    if (p.type === 'row') {
      row = new S.SceneGridRow({ title: p.title, y: p.gridPos.y, isCollapsed: p.collapsed, children: [] });
      children.push(row);
    } else if (row) row.setState({ children: [...row.state.children, panel(p)] });
    else children.push(panel(p));
  }
  const to = Number(page.get('to')) * 1000 || Date.now();
  const [, n, unit] = /^now-(\d+)([hd])$/.exec(board.time.from)!;
  const span = Number(page.get('span')) * 1000 || Number(n) * (unit === 'h' ? 3600e3 : 86400e3);
  return new S.EmbeddedScene({
    $timeRange: new S.SceneTimeRange({ from: new Date(to - span).toISOString(), to: new Date(to).toISOString(), timeZone: 'utc' }),
    $variables: new S.SceneVariableSet({ variables: board.templating.list.map(variable) }),
    controls: [new S.VariableValueSelectors({}), new S.SceneControlsSpacer(), new S.SceneTimePicker({})],
    body: new S.SceneGridLayout({ children, isLazy: false } as any),
  });
}

// Grafana shows the dashboards with the same tag on top; the names come from the test's server.
const Links = ({ boards, now }: any) => (
  <div style={{ display: 'flex', gap: 8, flexWrap: 'wrap' }}>
    {boards.map((b: any) => <span key={b.uid} style={{ padding: '4px 10px', borderRadius: 2, fontSize: 12, background: b.uid === now ? '#3d71d9' : '#22252b', color: '#ccccdc' }}>{b.title}</span>)}
  </div>
);

async function main() {
  (R.config as any).theme2 = D.createTheme({ colors: { mode: 'dark' } });
  (R.config as any).bootData ??= { user: {}, settings: {}, navTree: [] };
  fill(sources);
  registerPanels();
  await initPluginTranslations('slurm-lb', [async () => ({})]).catch(() => undefined);
  sources.forEach((dataSource) => S.sceneUtils.registerRuntimeDataSource({ dataSource }));
  const board = await (await fetch(`/boards/${page.get('board')}.json`)).json();
  const boards = await (await fetch('/boards')).json();
  const made = scene(board);
  createRoot(document.getElementById('root')!).render(
    <D.ThemeContext.Provider value={D.createTheme({ colors: { mode: 'dark' } })}>
      <R.LocationServiceProvider service={R.locationService}>
        <Router location={R.locationService.getLocation()} navigator={R.locationService.getHistory() as any}>
          <U.GlobalStyles {...({} as any)} />
          <U.PortalContainer />
          <div style={{ padding: 12, display: 'flex', flexDirection: 'column', minHeight: '100vh' }}>
            <div style={{ display: 'flex', alignItems: 'center', justifyContent: 'space-between' }}>
              <h3 style={{ margin: '2px 0 8px' }}>{board.title}</h3><Links boards={boards} now={board.uid} />
            </div>
            <made.Component model={made} />
          </div>
        </Router>
      </R.LocationServiceProvider>
    </D.ThemeContext.Provider>);
  report.ready = true;
}

main().catch((e) => { report.fatal = String(e?.stack ?? e); });
