import { createWorld, sentence } from "../../tasks/tasks/world.js";
import { question } from "../../tasks/task.js";
import { tasks } from "../../tasks/tasks/index.js";
import type { TokenizerFiles } from "../../model/tokenizer/tokenizer-files.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { resultBlock } from "../../base/text/result-block.js";

/** What a trajectory is built from; a tag is one token, so that the format is easy to learn. */
const tags = ["think", "search", "python", "result", "answer"].flatMap((t) => [
  `<${t}>`,
  `</${t}>`,
]);

const template =
  "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}" +
  "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|>{% endif %}";

/** Everything the families say, so that its words become tokens. */
function* texts(): Generator<string> {
  for (const make of Object.values(tasks)) {
    for (const task of make({ seed: 99, train: 60, test: 1 }).train) yield question(task);
  }
  for (let i = 0; i < 100; i++) yield `${String(i).padStart(2, "0")} `.repeat(8);
  const { facts, trades } = createWorld(1);
  for (const fact of facts) yield `\nPage 1: ${sentence(fact)}`;
  for (let i = 0; i < 40; i++) {
    yield "I look it up. I look up the mayor. I compute 1*2. It is 3. unknown\\boxed{4}";
    yield `${resultBlock("Page 2: x\nPage 3: y")} ${trades.join(" ")}`;
  }
}

/** Qwen2's own splitting: what loaders use for a model of its shape, whatever the file says. */
const ofQwen = { digits: "\\p{N}", normalizer: { type: "NFC" } };

/**
 * Pairs of digits become whole tokens, as tags are, with the numbers they have as merges: they are found
 * before a text is split, so every loader reads a number alike, though Qwen2's splitting parts all digits.
 */
function readAlike({ tokenizer, config }: TokenizerFiles): TokenizerFiles {
  const { pre_tokenizer: splitting, model, added_tokens: tags } = tokenizer as unknown as Split;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const pairs = Array.from({ length: 100 }, (_, i) => {
    const content = String(i).padStart(2, "0");
    return { id: model.vocab[content]!, content, ...flags, special: false };
  });
  const added = [...pairs, ...tags].sort((a, b) => a.id - b.id);
  const [words, bytes] = splitting.pretokenizers;
  const regex = words.pattern.Regex.replace("\\p{N}{1,2}", ofQwen.digits);
  return {
    tokenizer: {
      ...tokenizer,
      added_tokens: added,
      normalizer: ofQwen.normalizer,
      pre_tokenizer: {
        ...splitting,
        pretokenizers: [{ ...words, pattern: { Regex: regex } }, bytes],
      },
    },
    config: {
      ...config,
      added_tokens_decoder: Object.fromEntries(added.map(({ id, ...token }) => [id, token])),
    },
  };
}

/** What `readAlike` looks at of a trained tokenizer. */
interface Split {
  added_tokens: { id: number; content: string; special: boolean }[];
  pre_tokenizer: { pretokenizers: [{ pattern: { Regex: string } }, object] };
  model: { vocab: Record<string, number> };
}

/**
 * The tiny model's tokenizer, trained on what its tasks say: tags and the invented names are whole
 * tokens, numbers come in pairs of digits. (Copying a name of several tokens, or a number in single
 * digits, took many times the training.)
 */
export function tinyTokenizer(): TokenizerFiles {
  const { towns, people, rivers, trades } = createWorld();
  const files = trainBpe(texts(), {
    vocabSize: 640,
    specialTokens: ["<|end|>", "<|user|>", "<|assistant|>"],
    addedTokens: [...tags, ...towns, ...people, ...rivers, ...trades],
    eosToken: "<|end|>",
    padToken: "<|end|>",
    maxDigits: 2,
    chatTemplate: template,
  });
  return readAlike(files);
}
