/**
 * A kernel that is started again answers nothing that was asked before. JupyterLab's debugger asks after
 * every cell and waits for it nowhere, so each such question would be an error of the page.
 */
export function forgetUnanswered(): void {
  addEventListener("unhandledrejection", (event) => {
    const { reason } = event as { reason: unknown };
    if (reason instanceof Error && reason.message.startsWith("Canceled future for debug_request "))
      event.preventDefault();
  });
}
