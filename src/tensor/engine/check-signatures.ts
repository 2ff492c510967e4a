import { engineSignatures } from "./engine-functions.js";

/** Throws unless an engine's functions are the ones that are called here, argument for argument. */
export function checkSignatures(engine: string, found: Readonly<Record<string, string>>): void {
  for (const [name, signature] of Object.entries(engineSignatures)) {
    if (found[name] === signature) continue;
    throw new Error(
      `Cannot load the ${engine} engine: it must be built from these sources; its ${name} must have the signature ${signature}, got ${found[name]}`,
    );
  }
}
