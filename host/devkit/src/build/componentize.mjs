// Written into the build folder of a package and run by node, so that imports resolve to what the package installed.
// Bundles the package's modules, takes the types off TypeScript, and has QuickJS and a snapshot of the modules made into
// a component. Arguments: the entry, the folder with the world, the world's name, the component to write.
import { readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { build, formatMessages } from 'esbuild';
import { componentize } from 'componentize-qjs';

const [entry, wit, world, out] = process.argv.slice(2);
const bundle = 'build/plugin.bundle.js';
let inputs = [];
try {
  const { warnings, metafile } = await build({
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
    metafile: true,
  });
  inputs = Object.keys(metafile.inputs);
  console.error((await formatMessages(warnings, { kind: 'warning' })).join(''));
} catch (failure) {
  await explain(failure);
  process.exit(1);
}
const bundled = await readFile(bundle, 'utf8');
// esbuild names each module above its code. The binding finds there what lacks a global during a call.
const known = new Set(inputs);
const modules = bundled.split('\n').flatMap((line, at) => {
  const name = /^\s*\/\/ (\S.*)$/.exec(line)?.[1];
  return known.has(name) ? [[at + 1, name]] : [];
});
const table = JSON.stringify(modules.map(([line, name]) => [line, named(name)]));
const jsSource = `${bundled}\nglobalThis[Symbol.for('host.modules')] = ${table};\n`;
// The engine without the component model's async, which this contract has no use for.
try {
  const { component } = await componentize({ jsSource, jsPath: bundle, witPath: wit, world, sync: true });
  await writeFile(out, component);
} catch (failure) {
  await explainLoading(String(failure?.message ?? failure));
  process.exit(1);
}

// Says why the modules cannot be loaded: which of them failed, and which global it lacks.
async function explainLoading(message) {
  const file = origin(message);
  const name = /Error: '?([\w$]+)'? is not defined/.exec(message)?.[1];
  if (!name) {
    console.error(`${named(file)} cannot be loaded: ${message.replace(/^.*module evaluation: /, '').trimEnd()}`);
    return;
  }
  console.error(`${named(file)} uses \`${name}\` when it is loaded, which a plugin does not have`);
  const others = await forBrowsers(file);
  if (others.length > 0) {
    console.error(`help: import the form of the package for browsers: ${others.map((other) => `\`${other}\``).join(', ')}`);
  } else if (name === 'console') {
    console.error('help: import `./host.js` before it, which sets `console`');
  } else if (file.includes('node_modules/')) {
    console.error('help: use a package that needs neither node nor a page, or import before it a module of yours that sets');
    console.error(`\`globalThis.${name}\``);
  }
}

// The module that failed: that of the innermost line of the stack which is in one.
function origin(stack) {
  for (const [, line] of stack.matchAll(/plugin\.bundle\.js:(\d+)/g)) {
    const module = modules.findLast(([first]) => first <= line);
    if (module) return module[1];
  }
  return entry;
}

// The modules that the package of a file exports for browsers, those first that end as what the plugin imports.
async function forBrowsers(file) {
  const at = file.lastIndexOf('node_modules/');
  if (at < 0) return [];
  const name = packageOf(file);
  try {
    const described = JSON.parse(await readFile(`${file.slice(0, at)}node_modules/${name}/package.json`, 'utf8'));
    const forms = Object.keys(described.exports ?? {}).filter((key) => /(^|\/)browser(\/|$)/.test(key) && !key.includes('*'));
    const last = file.split('/').at(-1).replace(/\.\w+$/, '');
    const rank = (form) => (form.split('/').at(-1) === last ? 0 : 1) + (form.includes('esm') ? 0 : 2);
    return forms.sort((one, other) => rank(one) - rank(other)).slice(0, 2).map((form) => name + form.slice(1));
  } catch {
    return [];
  }
}

function packageOf(file) {
  const inner = file.split('node_modules/').at(-1);
  return inner.split('/').slice(0, inner.startsWith('@') ? 2 : 1).join('/');
}

function named(file) {
  return file.includes('node_modules/') ? `the package \`${packageOf(file)}\`` : `\`${file}\``;
}

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
    const whose = named(error.location?.file ?? entry);
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
