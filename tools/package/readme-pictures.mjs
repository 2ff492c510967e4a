// A package's page on a registry knows no folder, so its README names pictures by whole addresses: prepack
// writes them, postpack puts the README of the repository back.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = join(root, "README.md");
// A folder that is neither in the repository nor in the package.
const kept = join(root, "native", "build", "README.md");

/** A moving picture is not packed: there is a still one beside it. */
export const packedPicture = (path) => path.replace(/\.webp$/, ".png");

/** README's text with every picture below an address where the package's files are served. */
export function withAddresses(text, { name, version }) {
  return text.replace(
    /(!\[[^\]]*\]\()(?!https?:)(?:\.\/)?([^)\s]+)\)/g,
    (_, before, path) => `${before}https://unpkg.com/${name}@${version}/${packedPicture(path)})`,
  );
}

/** Puts back what an earlier, interrupted packing left. */
export function restoreReadme() {
  if (existsSync(kept)) renameSync(kept, readme);
}

export function addressPictures() {
  restoreReadme();
  const text = readFileSync(readme, "utf8");
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, text);
  writeFileSync(readme, withAddresses(text, about));
}
