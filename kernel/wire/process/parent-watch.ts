/**
 * Calls `gone` once when the front end that started the kernel is gone, as Jupyter's own kernels notice: a
 * killed front end cannot say goodbye, and a kernel without one would compute for nobody. Runs beside the
 * sockets, since the thread of the cells may be busy.
 */
export function watchParent(
  gone: () => void,
  parent = Number(process.env["JPY_PARENT_PID"]),
  every = 1000,
): void {
  if (!Number.isInteger(parent) || parent <= 1) return;
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid && isAlive(parent)) return;
    clearInterval(timer);
    gone();
  }, every);
  timer.unref();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // somebody else's, but alive
  }
}
