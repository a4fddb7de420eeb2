// SPDX-License-Identifier: BSD-3-Clause
// Dashboards against Grafana's own schema and a list of kinds of panels: node schema.mjs BOARD.json...
// The schema is made from the types that Grafana publishes, so that a key or a value that Grafana does not know is found.
import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';

const PANELS = ['timeseries', 'stat', 'bargauge', 'table', 'text', 'row'];
// What the published types do not have, and Grafana does: the links' place holders of its own plugins are left as they are.
const types = path.resolve('node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts');
// It takes seconds to make, so it stays beside the types; with other packages it goes with them.
const options = { path: types, type: 'Dashboard', skipTypeCheck: true, additionalProperties: false };
const kept = path.resolve('node_modules/.dashboard-schema.json');

async function makeSchema() {
  const had = fs.existsSync(kept) ? JSON.parse(fs.readFileSync(kept, 'utf8')) : {};
  if (had.of === JSON.stringify(options)) return had.schema;
  const { createGenerator } = await import('ts-json-schema-generator'); // slow to load, too
  const schema = createGenerator(options).createSchema('Dashboard');
  fs.writeFileSync(`${kept}.${process.pid}`, JSON.stringify({ of: JSON.stringify(options), schema }));
  fs.renameSync(`${kept}.${process.pid}`, kept);
  return schema;
}

const schema = await makeSchema();
const valid = new Ajv({ allErrors: true, strict: false, allowUnionTypes: true }).compile(schema);
let bad = 0;

for (const file of process.argv.slice(2)) {
  const board = JSON.parse(fs.readFileSync(file, 'utf8'));
  const wrong = valid(board) ? [] : valid.errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`);
  const ids = board.panels.map((p) => p.id);
  if (new Set(ids).size !== ids.length) wrong.push('two panels have the same id');
  for (const p of board.panels) {
    if (!PANELS.includes(p.type)) wrong.push(`panel '${p.title}' is of type ${p.type}`);
    const g = p.gridPos;
    if (!(g.x >= 0 && g.w > 0 && g.x + g.w <= 24 && g.h > 0)) wrong.push(`panel '${p.title}' is outside of the grid`);
    for (const q of board.panels) {
      const h = q.gridPos;
      if (p.id < q.id && g.x < h.x + h.w && h.x < g.x + g.w && g.y < h.y + h.h && h.y < g.y + g.h) wrong.push(`panels '${p.title}' and '${q.title}' overlap`);
    }
  }
  bad += wrong.length;
  console.log(`${path.basename(file)}: ${board.panels.length} panels, ${wrong.length} mistakes`);
  for (const w of wrong.slice(0, 30)) console.log(`  ${w}`);
}
process.exit(bad ? 1 : 0);
