import { defined } from "../../../common/options/defined.js";
import { type Finished, generateChoice, type Piece } from "./choice.js";
import {
  checkModel,
  type Handling,
  remainingContext,
  together,
  usageOf,
  withRows,
} from "./handler.js";
import { ApiError } from "./http/api-error.js";
import { type KeptTurn, promptOf } from "./kept-prompt.js";
import type { TokenReport } from "./logprobs.js";
import { type ChatBody, type GenerationRequest, generationRequest } from "./schema/common.js";
import type { ToolCall } from "./tools/tool-format.js";
import { constraintOf } from "./structured-output.js";
import { ToolReader } from "./tools/tool-reader.js";

/** A chat whose prompt is known. */
export interface BegunChat {
  prompt: readonly number[];
  /** The prompt as text; answers that were kept stand in it by a mark. */
  text: string;
  request: GenerationRequest;
  /** Its place among the requests of a recorder. */
  number?: number;
}

/** A choice with what it says and calls. */
export interface FinishedChat extends Finished {
  content: string;
  /** The end of the content, which no piece had. */
  rest: string;
  /** How many tokens the pieces told. */
  told: number;
  calls: ToolCall[];
}

/** How a dialect shows a chat while it is answered. */
export interface ChatView {
  opened(index: number): void;
  piece(index: number, said: string, tokens: readonly TokenReport[]): void;
  ended(index: number, finished: FinishedChat): void;
  done(all: readonly FinishedChat[], usage: ReturnType<typeof usageOf>): void;
}

/** The ids that a chat's prompt has, without an answer. */
export async function countPrompt(
  handling: Handling,
  read: ChatBody,
  kept: readonly KeptTurn[],
): Promise<number> {
  checkModel(handling, generationRequest(read));
  return (await promptOf(handling, read, kept)).ids.length;
}

/** Answers a chat: its sequences are decoded, and what they say is shown by a view. */
export async function answerChat(
  handling: Handling,
  read: ChatBody,
  viewOf: (begun: BegunChat) => ChatView,
  kept: readonly KeptTurn[] = [],
): Promise<void> {
  const { policy, signal, texts } = handling;
  const { tokenizer } = policy;
  const asked = generationRequest(read);
  checkModel(handling, asked);
  const { prompt, ids } = await promptOf(handling, read, kept);
  const capacity = remainingContext(policy, ids, "messages");
  const beginningIds = await Promise.all(
    prompt.beginnings.map(async (beginning) => await texts.encode(beginning)),
  );
  const limit = read.max_completion_tokens ?? read.max_tokens ?? capacity;
  if (limit === 0) {
    throw new ApiError(400, "At least one token must be asked for.", {
      param: "max_completion_tokens",
    });
  }
  const maxTokens = Math.min(limit, capacity);
  const constraint = constraintOf(handling, read, prompt);
  const call = handling.recorder?.begin({ prompt: ids, request: asked, body: read });
  const request = call?.request ?? asked;
  const answered = async () => {
    const { number } = call ?? {};
    const view = viewOf({ prompt: ids, text: prompt.text, request, ...defined({ number }) });
    await withRows(handling, [ids], request.n, async (rows) => {
      const done = await together(
        signal,
        rows.map(({ session, row, index }) => async (either): Promise<FinishedChat> => {
          view.opened(index);
          const { format, prefix, forced, beginnings } = prompt;
          const reader = format && new ToolReader(format, prefix, forced, beginnings);
          let content = "";
          let told = 0;
          const onPiece = ({ text, tokens }: Piece) => {
            const said = reader ? reader.push(text) : text;
            content += said;
            told += tokens.length;
            view.piece(index, said, tokens);
          };
          const finished = await generateChoice(session, row, tokenizer, {
            ...{ request, index, maxTokens, signal: either, onPiece },
            ownStops: format?.stops ?? [],
            // A constraint says it as well.
            beginnings: constraint ? [] : beginningIds,
            ...defined({ given: call?.given(index), constraint }),
            ...(call ? { onToken: (token) => call.token(index, token) } : {}),
          });
          const { content: rest, calls } = reader?.end() ?? { content: "", calls: [] };
          const { finish, stop } = finished.segment;
          call?.finished(index, { finish, ...defined({ stop }), calls });
          const all = { ...finished, content: content + rest, rest, told, calls };
          view.ended(index, all);
          return all;
        }),
      );
      const count = done.reduce((sum, { segment }) => sum + segment.tokens.length, 0);
      view.done(done, usageOf(ids.length, count));
    });
  };
  try {
    await answered();
    call?.closed();
  } catch (error) {
    call?.closed(error);
    throw error;
  }
}
