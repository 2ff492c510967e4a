import { Command } from "commander";

/** `arpo-lab mcp`: what a coding agent sees of a running lab. */
export function mcpCommand(): Command {
  return new Command("mcp")
    .description("serve a running lab to a coding agent, as an MCP server over standard streams")
    .option(
      "--dir <folder>",
      "folder of the lab; default: the current one, or that of the only lab that runs",
    )
    .addHelpText(
      "after",
      "\nStart it from the agent's own configuration; arpo-lab lab must run. What acts is asked for in the lab's page.",
    )
    .action(async (options: { dir?: string }) => {
      const { runMcp } = await import("../mcp/run-mcp.js");
      await runMcp(options);
    });
}
