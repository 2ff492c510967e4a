// `npm publish` in a clone would publish this machine's addon alone.
console.error(
  "Cannot publish a clone: run `npm run release:pack`, then `npm publish` the file that it makes",
);
process.exit(1);
