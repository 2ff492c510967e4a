import type { PackedFile } from "../ray/zip.js";

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Shorter values are words that any file may hold. */
const shortest = 8;

/**
 * Refuses to send what holds the value of a variable that is named as secrets are: all that is sent can
 * be read by everyone who reaches the cluster.
 */
export function refuseSecrets(
  files: readonly PackedFile[],
  texts: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = process.env,
): void {
  const secrets = Object.entries(env).filter(
    ([name, value]) => secretName.test(name) && value !== undefined && value.length >= shortest,
  );
  for (const [name, value] of secrets) {
    const file = files.find(({ data }) => Buffer.from(data).includes(value!));
    const text = Object.entries(texts).find(([, said]) => said.includes(value!));
    const where = file?.name ?? text?.[0];
    if (where === undefined) continue;
    throw new RangeError(
      `Cannot send the job: no secret may be in it, got the value of ${name} in ${where}; name the variable instead, and set it on the cluster's nodes`,
    );
  }
}
