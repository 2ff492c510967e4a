import type { JupyterFrontEndPlugin } from "@jupyterlab/application";
import { OutputAreaModel } from "@jupyterlab/outputarea";

interface Stream {
  output_type: string;
  name?: string;
  text?: string | string[];
}

interface Model {
  readonly length: number;
  get(index: number): { streamText?: { text: string; insert(at: number, text: string): void } };
  _add(value: Stream): number;
  _lastStreamName: string;
  /** Where the next character goes. */
  _streamIndex: number;
}

/**
 * Adds printed text to the end of what was printed before. JupyterLab compares all of both, character
 * by character, which is needed only where something goes back in its line.
 */
export const printedModel: JupyterFrontEndPlugin<void> = {
  id: "arpo-lab:printed-model",
  autoStart: true,
  activate: () => {
    const model = OutputAreaModel.prototype as unknown as Model;
    const add = model._add;
    model._add = function (this: Model, value: Stream): number {
      if (
        value.output_type !== "stream" ||
        value.name !== this._lastStreamName ||
        this.length === 0
      )
        return add.call(this, value);
      const { text = "" } = value;
      const { streamText } = this.get(this.length - 1);
      const end = streamText?.text.length;
      if (typeof text !== "string" || /[\b\r]/.test(text) || this._streamIndex !== end)
        return add.call(this, value);
      streamText!.insert(end, text);
      this._streamIndex = end + text.length;
      return this.length;
    };
  },
};
