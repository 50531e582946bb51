import { analyzeDocument } from "#text/analyzer.ts";
import { runChild } from "./child-loop.ts";

// Entry point of the extraction child, where its parts are connected.
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

await runChild(process.argv[2] ?? "{}", { analyze: analyzeDocument, now: () => performance.now(), cpuMs });
