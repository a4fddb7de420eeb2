// SPDX-License-Identifier: BSD-3-Clause
// Dashboards against Grafana's own schema and a list of kinds of panels: node schema.mjs BOARD.json...
// The schema is made from the types that Grafana publishes, so that a key or a value that Grafana does not know is found.
import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

const PANELS = ['timeseries', 'stat', 'bargauge', 'table', 'text', 'row'];
// What the published types do not have, and Grafana does: the links' place holders of its own plugins are left as they are.
const types = path.resolve('node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts');
const schema = createGenerator({ path: types, type: 'Dashboard', skipTypeCheck: true, additionalProperties: false }).createSchema('Dashboard');
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
