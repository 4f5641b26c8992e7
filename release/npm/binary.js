// Where the binary for this platform is: in a package that npm installs beside this one.
"use strict";

const { name, version } = require("./package.json");

exports.binary = () => {
  const platform = `${name}-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${platform}/bin/host`);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    // Optional dependencies are left out by `--omit=optional`, and by a lock file that another platform wrote.
    throw new Error(
      `the package \`${platform}\` is not installed, which has the program for this platform. ` +
        `Install it: npm install ${platform}@${version}`,
    );
  }
};
