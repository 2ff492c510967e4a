import { mkdir, writeFile } from "#platform/files";
import { join } from "#platform/path";
import { SafetensorsFile } from "../../model/files/safetensors-file.js";
import { TinkerError } from "./client/errors.js";

const [weights, settings] = ["adapter_model.safetensors", "adapter_config.json"];

/**
 * Writes the files of a server's adapter archive into a folder, as PEFT and the lab read them. SkyRL's
 * says no target modules; they are those that the weights are of.
 */
export async function writeAdapter(
  files: ReadonlyMap<string, Uint8Array>,
  folder: string,
): Promise<void> {
  const [tensors, said] = [files.get(weights), files.get(settings)];
  if (!tensors || !said) {
    throw new TinkerError(
      `Cannot fetch adapters: the archive must hold ${weights} and ${settings}, got ${[...files.keys()].join(", ") || "nothing"}`,
    );
  }
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const config = JSON.parse(new TextDecoder().decode(said)) as Record<string, unknown>;
  if (config["target_modules"]) return;
  const file = await SafetensorsFile.open(join(folder, weights));
  const modules = new Set(
    [...file.tensors.keys()].flatMap((name) => /(\w+)\.lora_[AB]\.weight$/.exec(name)?.[1] ?? []),
  );
  await file.close();
  const whole = { ...config, target_modules: [...modules] };
  await writeFile(join(folder, settings), JSON.stringify(whole, undefined, 2));
}
