// SPDX-License-Identifier: BSD-3-Clause
// What Grafana's application sets up at its start, so that its libraries work without it.
import * as D from '@grafana/data';
import * as R from '@grafana/runtime';
import { from, of } from 'rxjs';
import { catchError, map, startWith } from 'rxjs/operators';

const nothing: any = () => undefined;
const editor = () => null;
const option = (id: string, process: any, more: any = {}) => ({ id, path: id, name: id, description: '', editor, override: editor, process, settings: {}, shouldApply: () => true, ...more });

export function fill(sources: any[]) {
  D.standardFieldConfigEditorRegistry.setInit(() => [
    option('unit', D.unitOverrideProcessor), option('color', D.identityOverrideProcessor), option('noValue', D.stringOverrideProcessor),
    ...['min', 'max', 'decimals'].map((id) => option(id, D.numberOverrideProcessor)),
    ...['filterable', 'fieldMinMax'].map((id) => option(id, D.booleanOverrideProcessor)),
    option('displayName', D.displayNameOverrideProcessor, { settings: { expandTemplateVars: true } }),
    option('links', D.dataLinksOverrideProcessor),
    option('mappings', D.valueMappingsOverrideProcessor, { defaultValue: [] }),
    option('thresholds', D.thresholdsOverrideProcessor, { defaultValue: { mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }] } }),
  ] as any);
  D.standardEditorsRegistry.setInit(() => ['number', 'slider', 'text', 'strings', 'boolean', 'select', 'multi-select', 'radio', 'color', 'unit', 'fieldColor',
    'thresholds', 'mappings', 'links', 'stats-picker', 'field-name', 'timezone', 'actions', 'dashboard-uid'].map((id) => ({ id, name: id, editor })) as any);
  const transformers = new Map(Object.values(D.standardTransformers as any).map((t: any) => [t.id, t]));
  D.standardTransformersRegistry.setInit(() => [...transformers.values()].map((t: any) => ({ id: t.id, name: t.name, description: '', aliasIds: [], editor, transformation: async () => t })) as any);

  const settings = sources.map((s) => ({ ...s.instanceSettings, uid: s.uid, name: s.uid, type: s.type, isDefault: s === sources[0], meta: s.meta ?? { id: s.type } }));
  const find = (ref: any) => Math.max(0, sources.findIndex((s) => s.type === ref?.type || s.uid === (ref?.uid ?? ref)));
  R.setDataSourceSrv({
    get: async (ref: any) => sources[find(ref)], getInstanceSettings: (ref: any) => settings[find(ref)], registerRuntimeDataSource: nothing, reload: nothing,
    getList: (f: any) => settings.filter((s) => !f?.pluginId || s.type === f.pluginId),
  } as any);
  R.setRunRequest(((source: any, request: any) => {
    const shown = (state: any, more: any) => ({ state, series: [], annotations: [], request, timeRange: request.range, structureRev: 1, ...more });
    return from(source.query(request)).pipe(
      map((r: any) => shown(r.state, { series: r.data.map((f: any) => D.toDataFrame(f)) })),
      startWith(shown(D.LoadingState.Loading, {})),
      catchError((e: any) => of(shown(D.LoadingState.Error, { error: { message: String(e?.message ?? e) } }))));
  }) as any);
  R.setPluginImportUtils({ importPanelPlugin: async (id: string) => { throw new Error(`no panel of type ${id}`); }, getPanelPluginFromCache: nothing } as any);
  R.setTemplateSrv({ getVariables: () => [], replace: (s: any) => s ?? '', containsTemplate: () => false, updateTimeRange: nothing } as any);
  R.setAppEvents(new D.EventBusSrv() as any);
  R.setEchoSrv({ addBackend: nothing, addEvent: nothing, flush: nothing } as any);
  R.setBackendSrv({ fetch: () => of({ data: {} }), get: async () => ({}) } as any);
  (R as any).setPluginLinksHook?.(() => ({ links: [], isLoading: false }));
  (R as any).setPluginComponentsHook?.(() => ({ components: [], isLoading: false }));
  (R as any).setPluginFunctionsHook?.(() => ({ functions: [], isLoading: false }));
}
