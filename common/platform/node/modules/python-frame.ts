/** How one interpreter is started. */
export interface FrameSettings {
  memoryBytes: number;
  /** A module that is imported ahead, which brings the large packages with it. */
  preload?: string;
}

/** An interpreter in a frame of the page: a port for its messages, and its end. */
export interface FramedPython {
  port: MessagePort;
  end(): void;
}

/** Starts interpreters in a frame of the page; undefined where each has a process instead. */
export const pythonFrame = undefined as ((settings: FrameSettings) => FramedPython) | undefined;
