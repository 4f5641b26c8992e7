// Written into the build folder of a package and run by node, so that imports resolve to what the package installed.
// Bundles the package's modules, takes the types off TypeScript, and has QuickJS and a snapshot of the modules made into
// a component. Arguments: the entry, the folder with the world, the world's name, the component to write.
import { readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { build, formatMessages } from 'esbuild';
import { componentize } from 'componentize-qjs';

const [entry, wit, world, out] = process.argv.slice(2);
const bundle = 'build/plugin.bundle.js';
try {
  const { warnings } = await build({
    entryPoints: [entry],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    // Packages have a form for browsers that does without node, as a plugin has to. The first of each that exists.
    mainFields: ['browser', 'module', 'main'],
    conditions: ['browser', 'module'],
    target: 'es2023',
    external: ['host:*'],
    charset: 'utf8',
    logLevel: 'silent',
  });
  console.error((await formatMessages(warnings, { kind: 'warning' })).join(''));
} catch (failure) {
  await explain(failure);
  process.exit(1);
}
const jsSource = await readFile(bundle, 'utf8');
// The engine without the component model's async, which this contract has no use for.
const { component } = await componentize({ jsSource, jsPath: bundle, witPath: wit, world, sync: true });
await writeFile(out, component);

// Says which modules of node are wanted and by which package, one line each; the other errors as esbuild words them.
async function explain(failure) {
  if (!failure.errors) throw failure;
  const wanted = new Map();
  const others = [];
  for (const error of failure.errors) {
    const name = /^Could not resolve "(.*)"$/.exec(error.text)?.[1];
    if (!name || !isBuiltin(name)) {
      others.push(error);
      continue;
    }
    const file = error.location?.file ?? entry;
    const inner = file.split('node_modules/').at(-1);
    const whose = file.includes('node_modules/')
      ? `the package \`${inner.split('/').slice(0, inner.startsWith('@') ? 2 : 1).join('/')}\``
      : `\`${file}\``;
    if (!wanted.has(whose)) wanted.set(whose, new Set());
    wanted.get(whose).add(`\`${name.replace(/^node:/, '')}\``);
  }
  for (const [whose, names] of wanted) {
    console.error(`${whose} imports ${[...names].join(', ')} of node, which a plugin does not have`);
  }
  if (wanted.size > 0) {
    console.error('help: use a package that works in browsers, and the capabilities of the host for files and requests');
  }
  console.error((await formatMessages(others, { kind: 'error' })).join(''));
}
