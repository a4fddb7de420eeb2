// SPDX-License-Identifier: BSD-3-Clause
// Bundle the page: node bundle.mjs SOURCE-FOLDER OUT-FOLDER, from the folder that has node_modules.
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const [from, to] = process.argv.slice(2);
await build({
  entryPoints: [path.join(from, 'main.tsx')],
  outdir: to,
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  jsx: 'automatic',
  target: 'es2022',
  mainFields: ['module', 'browser', 'main'],
  conditions: ['import', 'module', 'browser'],
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.NODE_DEBUG': 'undefined', global: 'globalThis' },
  alias: { 'react-router-dom-v5-compat': 'react-router-dom' },
  loader: Object.fromEntries(['.svg', '.png', '.woff', '.woff2', '.ttf'].map((x) => [x, 'dataurl'])),
  nodePaths: [path.resolve('node_modules')],
  logLevel: 'warning',
});
fs.copyFileSync(path.join(from, 'index.html'), path.join(to, 'index.html'));
