// Written into the build folder of a package and run by node, so that imports resolve to what the package installed.
// Bundles the package's modules, takes the types off TypeScript, and has QuickJS and a snapshot of the modules made into
// a component. Arguments: the entry, the folder with the world, the world's name, the component to write.
import { readFile, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { componentize } from 'componentize-qjs';

const [entry, wit, world, out] = process.argv.slice(2);
const bundle = 'build/plugin.bundle.js';
await build({
  entryPoints: [entry],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2023',
  external: ['host:*'],
  charset: 'utf8',
  logLevel: 'warning',
});
const jsSource = await readFile(bundle, 'utf8');
// The engine without the component model's async, which this contract has no use for.
const { component } = await componentize({ jsSource, jsPath: bundle, witPath: wit, world, sync: true });
await writeFile(out, component);
