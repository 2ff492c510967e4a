// Why a test may be skipped in CI (ARPO_LAB_TEST_SKIPS=strict): what no installation changes. Every other skip
// has a cause that CI should have removed, and fails.
const allowed = [
  /shared\/(data|design).* is not here/, // the public release and designs, which are kept beside the checkout
  /\bthis user\b|\broot\b/, // rights that the user who runs CI has, or lacks
  /^only (Linux|Windows|macOS|an x64 processor)\b/, // another system or processor
  /no (NVIDIA|GPU) card/,
  /test262 cannot be fetched/, // no network beyond the package registries
  /ARPO_LAB_KERNEL_TESTBED/, // a program that is in no registry
];

/** Whether CI may leave out a test for this reason. */
export const maySkip = (reason) => allowed.some((pattern) => pattern.test(reason));
