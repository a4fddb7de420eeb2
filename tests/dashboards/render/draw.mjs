// SPDX-License-Identifier: BSD-3-Clause
// Draw dashboards in headless Chromium and say how it went, a line for each; exit status 1 when something was not drawn.
//   node draw.mjs --page DIR --prometheus URL --history FILE --to SECONDS --scrape SECONDS --png DIR [--span SECONDS] [--value NAME=VALUE]... [--among BOARD.json]... BOARD.json...
// --among: the dashboards that are linked on top; else those that are drawn.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { parseArgs } from 'node:util';
import puppeteer from 'puppeteer-core';

const { values: o, positionals: boards } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries([...['page', 'prometheus', 'history', 'to', 'scrape', 'png', 'span'].map((n) => [n, { type: 'string' }]), ['value', { type: 'string', multiple: true }], ['among', { type: 'string', multiple: true }],
    ['may-be-empty', { type: 'string' }]]),
});
const name = (file) => path.basename(file, '.json');
const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };

// The page, the dashboards, Prometheus and SQLite behind one port on loopback.
function serve(request, response) {
  const url = new URL(request.url, 'http://page');
  const json = (x) => { response.writeHead(200, { 'content-type': 'application/json' }); response.end(JSON.stringify(x)); };
  if (url.pathname.startsWith('/api/v1/')) {
    http.get(o.prometheus + request.url, (r) => { response.writeHead(r.statusCode, r.headers); r.pipe(response); })
      .on('error', (e) => { response.writeHead(502); response.end(JSON.stringify({ status: 'error', error: String(e) })); });
  } else if (url.pathname === '/sqlite') {
    execFile('sqlite3', ['-json', '-readonly', o.history, url.searchParams.get('q')], { maxBuffer: 1 << 27 }, (e, out, err) => json(e ? { error: err || String(e) } : { rows: JSON.parse(out || '[]') }));
  } else if (url.pathname === '/boards') {
    json((o.among ?? boards).map((b) => ({ uid: read(b).uid, title: read(b).title.replace('slurm-lb: ', '') })));
  } else {
    const board = boards.find((b) => url.pathname === `/boards/${name(b)}.json`);
    const file = board ?? path.join(o.page, url.pathname === '/' ? 'index.html' : path.normalize(url.pathname));
    if (!fs.existsSync(file)) { response.writeHead(404); response.end(); return; }
    response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    fs.createReadStream(file).pipe(response);
  }
}

async function settle(page, wanted) {
  let quiet = 0, report;
  for (let i = 0; i < 240 && quiet < 6; i++) {
    await new Promise((r) => setTimeout(r, 250));
    report = await page.evaluate(() => window.__report__);
    if (report?.fatal) break;
    const all = wanted.every((p) => report?.panels[p.id]);
    quiet = report?.ready && report.pending === 0 && (all || i > 80) ? quiet + 1 : 0;
  }
  return report ?? { panels: {}, queries: [], fatal: 'the page did not start' };
}

function mistakes(wanted, report, errors, shown) {
  const out = report.fatal ? [`the page: ${report.fatal}`] : [];
  const free = o['may-be-empty'] && new RegExp(o['may-be-empty']);
  for (const q of report.queries) if (!q.ok) out.push(`a query failed: ${q.error}: ${q.text}`);
  for (const p of wanted) {
    const r = report.panels[p.id];
    if (!r) out.push(`panel '${p.title}' (${p.type}) was not drawn`);
    else if (r.type !== p.type) out.push(`panel '${p.title}' was drawn as ${r.type}`);
    else if (!(r.drawn > 0) && !free?.test(p.title)) out.push(`panel '${p.title}' has nothing in it`);
    if (!shown.text.includes(p.title)) out.push(`panel '${p.title}': its title is not on the page`);
  }
  const graphs = wanted.filter((p) => p.type === 'timeseries' && report.panels[p.id]?.drawn > 0).length;
  if (shown.canvases < graphs) out.push(`${graphs} graphs, but only ${shown.canvases} canvases`);
  return out.concat(errors);
}

const server = http.createServer(serve).listen(0, '127.0.0.1');
await new Promise((r) => server.on('listening', r));
const profile = fs.mkdtempSync(path.join(o.png, 'profile-'));
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  userDataDir: profile,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--force-color-profile=srgb'],
});
let bad = 0;
try {
  for (const file of boards) {
    const board = read(file), wanted = board.panels.filter((p) => p.type !== 'row');
    const bottom = Math.max(...board.panels.map((p) => p.gridPos.y + p.gridPos.h));
    const page = await browser.newPage(), errors = [];
    page.setDefaultNavigationTimeout(180000); // a busy machine is slow to begin; what is drawn has limits of its own
    await page.setViewport({ width: 1600, height: bottom * 38 + 120 });
    page.on('pageerror', (e) => errors.push(`an error in the page: ${String(e?.message ?? e).slice(0, 300)}`));
    const args = new URLSearchParams({ board: name(file), scrape: o.scrape ?? '15', ...(o.to ? { to: o.to } : {}), ...(o.span ? { span: o.span } : {}) });
    for (const v of o.value ?? []) args.append('value', v);
    await page.goto(`http://127.0.0.1:${server.address().port}/?${args}`);
    const report = await settle(page, wanted);
    const shown = await page.evaluate(() => ({ text: document.body.innerText, canvases: document.querySelectorAll('canvas').length }));
    await page.screenshot({ path: path.join(o.png, `${name(file)}.png`) });
    const wrong = mistakes(wanted, report, [...new Set(errors)], shown);
    bad += wrong.length;
    console.log(`${name(file)}: ${Object.keys(report.panels).length} of ${wanted.length} panels, ${report.queries.length} queries, ${wrong.length} mistakes`);
    for (const w of wrong) console.log(`  ${w}`);
    await page.close();
  }
} finally {
  await browser.close();
  server.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
process.exit(bad ? 1 : 0);
