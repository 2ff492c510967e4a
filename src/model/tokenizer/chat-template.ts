import { checkArguments } from "../../arguments/check-arguments.js";
import { boundedJinja, renderBounded } from "./bounded-jinja.js";
import type * as Jinja from "@huggingface/jinja";
import type { ChatMessage, ChatOptions } from "./tokenizer.js";

/**
 * The ChatML template: `<|im_start|>role`, the content, `<|im_end|>`. What {@link trainBpe} gives a new
 * tokenizer unless told otherwise.
 */
export const chatMl = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`;

/** Longer ones are no templates. */
const mostSource = 1 << 20;

/** A chat template in the Jinja dialect of Hugging Face tokenizers, compiled once. */
export class ChatTemplate {
  readonly #compiled: Jinja.Template;

  /** `specials` are the names a template may use for special tokens, such as `bos_token`. */
  constructor(
    readonly source: string,
    readonly specials: Readonly<Record<string, string>> = {},
  ) {
    checkArguments("compile the chat template", { source }, { source: "text" });
    if (source.length > mostSource) {
      throw new RangeError(
        `Cannot compile the chat template: it must have at most ${mostSource} characters, got ${source.length}`,
      );
    }
    const { Template } = boundedJinja();
    try {
      this.#compiled = new Template(source);
    } catch (error) {
      throw new SyntaxError(
        `Cannot compile the chat template: it must be Jinja, got ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** The prompt text of a chat. */
  render(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    try {
      const items = {
        ...options.variables,
        ...this.specials,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: options.addGenerationPrompt ?? false,
        ...(options.tools ? { tools: [...options.tools] } : {}),
      };
      return renderBounded(this.#compiled, items, messages.length);
    } catch (error) {
      throw new SyntaxError(
        `Cannot render the chat: the template must accept these messages, got ${(error as Error).message}`,
        { cause: error },
      );
    }
  }
}
