console.error("Cannot run arpo-lab: no command exists yet");
process.exitCode = 1;
