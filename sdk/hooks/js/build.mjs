// Makes a component of hook.js: `node build.mjs [WIT] [OUT]`, where WIT is the folder with hook.wit.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { componentize } from "componentize-qjs";

const [wit = "wit/hook", out = "hook.wasm"] = process.argv.slice(2);
const bundled = await build({
  entryPoints: ["hook.js"],
  bundle: true,
  write: false,
  format: "esm",
  platform: "neutral",
  target: "es2023",
  charset: "utf8",
  logLevel: "warning",
});
const jsSource = bundled.outputFiles[0].text;
const { component } = await componentize({ jsSource, jsPath: "hook.js", witPath: wit, world: "hook", sync: true });
await writeFile(out, component);
