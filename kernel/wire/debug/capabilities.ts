const exceptionBreakpointFilters = [
  { filter: "uncaught", label: "Uncaught errors", default: false },
  { filter: "all", label: "All errors", default: false },
];

/** What the debugger says of itself. */
export const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsEvaluateForHovers: true,
  supportsSetVariable: true,
  supportsExceptionInfoRequest: true,
  supportsModulesRequest: true,
  supportsDelayedStackTraceLoading: true,
  exceptionBreakpointFilters,
};
