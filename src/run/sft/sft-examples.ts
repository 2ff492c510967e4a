import { stat } from "#platform/files";
import { resolve } from "#platform/path";
import type { Conversation } from "../../learn/sft/conversation.js";
import { type Example, encodeConversation, pack } from "../../learn/sft/encode.js";
import { loadDataset } from "../../learn/sft/dataset-info.js";
import type { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Random } from "../../random/random.js";
import type { SftConfig } from "./sft-config.js";

/** The examples that a configuration names, to train on and to evaluate on. */
export async function readExamples(
  config: SftConfig,
  base: string,
  tokenizer: HfTokenizer,
  note: (message: string) => void,
): Promise<{ train: Example[]; evaluation: Example[] }> {
  const here = resolve(config.dataset_dir);
  const inWorkingFolder = await stat(here).then(
    () => true,
    () => false,
  );
  const folder = inWorkingFolder ? here : resolve(base, config.dataset_dir);
  const encode = (conversation: Conversation) =>
    encodeConversation(conversation, tokenizer, {
      cutoff: config.cutoff_len,
      maskResults: config.mask_results,
    });
  const read = async (names: string) => {
    const { conversations, skipped } = await loadDataset(names, folder);
    for (const [reason, count] of Object.entries(skipped)) {
      note(`${count} rows of ${names} skipped: ${reason}`);
    }
    if (conversations.length > 0) return conversations.slice(0, config.max_samples).map(encode);
    throw new RangeError(
      `Cannot fine-tune: there must be a conversation in ${names} (${folder}), got none`,
    );
  };
  const all = Random.from(config.seed)
    .split("split")
    .shuffle(await read(config.dataset));
  const held =
    config.eval_dataset !== null
      ? 0
      : config.val_size < 1
        ? Math.floor(all.length * config.val_size)
        : config.val_size;
  const evaluation =
    config.eval_dataset === null ? all.slice(0, held) : await read(config.eval_dataset);
  const train = all.slice(held);
  return { train: config.packing ? pack(train, config.cutoff_len) : train, evaluation };
}
