/** One of a kernel's ways to its front ends: messages as frames, in order. */
export interface FrameSocket extends AsyncIterable<Uint8Array[]> {
  send(frames: Uint8Array[]): Promise<void>;
  /** Waits for what is sent where the kernel's end would take it away. */
  close(): void | Promise<void>;
  readonly closed: boolean;
}

/** The five of them: zeromq's, or queues within a page. */
export interface Sockets {
  shell: FrameSocket;
  control: FrameSocket;
  stdin: FrameSocket;
  iopub: FrameSocket;
  heartbeat: FrameSocket;
}
