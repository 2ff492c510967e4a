/**
 * Ends the kernel when the front end that started it is gone, as Jupyter's own kernels do: a killed
 * front end cannot say goodbye, and a kernel without one would compute for nobody. Runs beside the
 * sockets, since the thread of the cells may be busy.
 */
export function watchParent(parent = Number(process.env["JPY_PARENT_PID"])): void {
  if (!Number.isInteger(parent) || parent <= 1) return;
  const timer = setInterval(() => {
    try {
      process.kill(parent, 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") return; // somebody else's, but alive
      clearInterval(timer);
      process.kill(process.pid, "SIGKILL");
    }
  }, 1000);
  timer.unref();
}
