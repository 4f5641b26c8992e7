// Puts the binary in the place of the script that starts it, which saves the start of node each time. Where no scripts run
// at an installation, or the file cannot be replaced, the script stays and does the same.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { binary } = require("./binary.js");

const place = path.join(__dirname, "bin", "host");
const beside = `${place}.new`;
try {
  const from = binary();
  fs.rmSync(beside, { force: true });
  try {
    fs.linkSync(from, beside);
  } catch {
    // On another file system.
    fs.copyFileSync(from, beside);
    fs.chmodSync(beside, 0o755);
  }
  // A new file under the name: a package manager may have the old one in a store, for all projects.
  fs.renameSync(beside, place);
} catch (error) {
  console.warn(`host starts by way of node: ${error.message}`);
}
