// SPDX-License-Identifier: BSD-3-Clause
// What the test reads from the page: which panels were drawn with how many things in them, and how each query went.
export interface Asked { panel?: number; text: string; ok: boolean; count: number; error?: string }
export const report = { panels: {} as Record<string, { type: string; drawn: number }>, queries: [] as Asked[], pending: 0, ready: false, fatal: '' };
(window as any).__report__ = report;

export async function asked<T>(what: { panel?: number; text: string }, run: () => Promise<{ count: number; result: T }>): Promise<T> {
  report.pending++;
  try {
    const { count, result } = await run();
    report.queries.push({ ...what, ok: true, count });
    return result;
  } catch (e: any) {
    report.queries.push({ ...what, ok: false, count: 0, error: String(e?.message ?? e) });
    throw e;
  } finally {
    report.pending--;
  }
}
