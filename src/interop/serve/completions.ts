import { z } from "#zod";
import type { Policy } from "../../policy/policies.js";
import { ModelPolicy } from "../../policy/policy-from-model.js";
import { tf } from "../../tensor/tf.js";
import { type Finished, generateChoice, type Piece } from "./choice.js";
import {
  checkModel,
  finishReason,
  type Handling,
  remainingContext,
  together,
  usageOf,
  withRows,
} from "./handler.js";
import { ApiError, EventStream } from "./http/api-error.js";
import { completionLogprobs, type TokenReport } from "./logprobs.js";
import { commonFields, generationRequest, MAX_TOP, neutral, readRequest } from "./schema/common.js";
import { randomUUID } from "node:crypto";

const ids = z.array(z.int().min(0)).min(1);

/** The body of `/v1/completions`. */
const completionBody = z.object({
  ...commonFields,
  prompt: z.union([z.string(), z.array(z.string()).min(1), ids, z.array(ids).min(1)]),
  echo: z.boolean().nullish(),
  logprobs: z.int().min(0).max(MAX_TOP).nullish(),
  best_of: z.int().nullish(),
  suffix: neutral((value) => value === "", "an empty suffix"),
});
type CompletionBody = z.infer<typeof completionBody>;

/** Log-probs of a prompt's own tokens at temperature 1, in one pass, with the most likely alternatives. */
async function scorePrompt(
  policy: Policy,
  tokens: readonly number[],
  top: number,
): Promise<Omit<TokenReport, "offset">[]> {
  if (!(policy instanceof ModelPolicy)) {
    throw new ApiError(400, "'echo' with 'logprobs' needs a model on this machine.", {
      param: "echo",
    });
  }
  const { model } = policy;
  if (tokens.length === 1) return [{ id: tokens[0]!, top: [] }];
  const found = tf.tidy(() => {
    const hidden = model.forward(model.batch([tokens.slice(0, -1)]));
    const logits = model.logits(hidden).squeeze<tf.Tensor2D>([0]);
    const all = logits.sub<tf.Tensor2D>(logits.logSumExp(1, true));
    const next = tf.tensor1d(tokens.slice(1), "int32");
    const rows = tf.range(0, tokens.length - 1, 1, "int32");
    const own = tf.gatherND(all, tf.stack([rows, next], 1)) as tf.Tensor1D;
    const { values, indices } = tf.topk(all, Math.max(1, top));
    return { own, values, indices };
  });
  try {
    const [own, values, indices] = await Promise.all([
      found.own.data(),
      found.values.data(),
      found.indices.data(),
    ]);
    const width = Math.max(1, top);
    return tokens.map((id, i) => {
      if (i === 0) return { id, top: [] };
      const at = (i - 1) * width;
      const alternatives = Array.from({ length: top }, (_, k) => ({
        id: indices[at + k]!,
        logprob: values[at + k]!,
      }));
      return { id, logprob: own[i - 1]!, top: alternatives };
    });
  } finally {
    tf.dispose(found);
  }
}

async function promptsOf(
  prompt: CompletionBody["prompt"],
  encode: (text: string) => Promise<number[]>,
): Promise<number[][]> {
  if (typeof prompt === "string") return [await encode(prompt)];
  if (typeof prompt[0] === "number") return [prompt as number[]];
  const encoded: number[][] = [];
  for (const one of prompt as (string | number[])[]) {
    encoded.push(typeof one === "string" ? await encode(one) : one);
  }
  return encoded;
}

/** `POST /v1/completions`. */
export async function completions(
  handling: Handling,
  body: Record<string, unknown>,
): Promise<void> {
  const { policy, response, signal, model, texts } = handling;
  const { tokenizer } = policy;
  const read = readRequest(completionBody, body);
  const request = generationRequest(read);
  checkModel(handling, request);
  if (read.best_of !== null && read.best_of !== undefined && read.best_of !== request.n) {
    throw new ApiError(400, "'best_of' must be as many as 'n' here.", { param: "best_of" });
  }
  const prompts = await promptsOf(read.prompt, async (text) => await texts.encode(text));
  const limits = prompts.map((prompt) =>
    Math.min(read.max_tokens ?? 16, remainingContext(policy, prompt, "prompt")),
  );
  const top = read.logprobs ?? undefined;
  const about = {
    id: `cmpl-${randomUUID()}`,
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model,
  };
  const show = (tokens: readonly TokenReport[]) =>
    top === undefined ? null : completionLogprobs(tokens, top, { tokenizer, asIds: request.asIds });
  const echoes = await Promise.all(
    prompts.map(async (prompt): Promise<Piece> => {
      if (!read.echo) return { text: "", tokens: [] };
      const scored = top === undefined ? [] : await scorePrompt(policy, prompt, top);
      let offset = 0;
      const tokens = scored.map((token) => {
        const at = offset;
        offset += tokenizer.decode([token.id], { skipSpecial: request.skipSpecial }).length;
        return { ...token, offset: at };
      });
      return { text: tokenizer.decode(prompt, { skipSpecial: request.skipSpecial }), tokens };
    }),
  );
  const behind = ({ text, tokens }: Piece, { text: more, tokens: next }: Piece): Piece => ({
    text: text + more,
    tokens: [...tokens, ...next.map((t) => ({ ...t, offset: t.offset + text.length }))],
  });
  const stream = request.stream ? new EventStream(response) : undefined;

  await withRows(handling, prompts, request.n, async (rows) => {
    const done = await together(
      signal,
      rows.map(({ session, row, prompt, index }, at) => async (either): Promise<Finished> => {
        const echo = echoes[prompt]!;
        // As vLLM sends them: each choice's first chunk has its prompt's ids.
        let promptIds: object = request.returnIds ? { prompt_token_ids: prompts[prompt] } : {};
        const send = (piece: Piece, finish: object = { finish_reason: null }) => {
          stream?.send({
            ...about,
            choices: [
              {
                index: at,
                text: piece.text,
                logprobs: show(piece.tokens),
                ...finish,
                ...promptIds,
              },
            ],
            ...(request.includeUsage ? { usage: null } : {}),
          });
          promptIds = {};
        };
        if (read.echo) send(echo);
        const maxTokens = limits[prompt]!;
        const onPiece = (piece: Piece) => {
          if (piece.text === "" && top === undefined) return;
          const moved = piece.tokens.map((t) => ({ ...t, offset: t.offset + echo.text.length }));
          send({ text: piece.text, tokens: moved });
        };
        const finished =
          maxTokens === 0
            ? nothing
            : await generateChoice(session, row, tokenizer, {
                ...{ request, index, maxTokens, signal: either },
                ...(stream ? { onPiece } : {}),
              });
        send({ text: "", tokens: [] }, ending(finished));
        return finished;
      }),
    );
    const usage = usageOf(
      prompts.reduce((sum, { length }) => sum + length, 0),
      done.reduce((sum, { segment }) => sum + segment.tokens.length, 0),
    );
    if (stream) {
      if (request.includeUsage) stream.send({ ...about, choices: [], usage });
      stream.end();
      return;
    }
    const choices = done.map((finished, at) => {
      const piece = behind(echoes[rows[at]!.prompt]!, finished);
      return { index: at, text: piece.text, logprobs: show(piece.tokens), ...ending(finished) };
    });
    const prompted = request.returnIds
      ? choices.map((choice, at) => ({ ...choice, prompt_token_ids: prompts[rows[at]!.prompt] }))
      : choices;
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ ...about, choices: prompted, usage }));
  });

  function ending({ segment }: Finished): object {
    return {
      finish_reason: finishReason(segment.finish),
      stop_reason: segment.stop ?? null,
      ...(request.returnIds ? { token_ids: [...segment.tokens] } : {}),
      ...(request.returnEntropies ? { entropies: [...segment.entropies] } : {}),
    };
  }
}

/** The choice of a request for no tokens at all: only its prompt is of interest. */
const nothing: Finished = {
  text: "",
  tokens: [],
  segment: {
    tokens: new Int32Array(),
    logprobs: new Float32Array(),
    entropies: new Float32Array(),
    top: { width: 0, ids: new Int32Array(), logprobs: new Float32Array() },
    finish: "length",
  },
};
