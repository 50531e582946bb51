/** Prints the commands and settings that connect an agent to the server that quickstart started, ready to paste. */
import { realpath } from "node:fs/promises";
import { delimiter, join, resolve, sep } from "node:path";
import type { ServerUrl } from "#api/server-url.ts";
import type { Deps } from "#cli/host/deps.ts";
import type { Output } from "#cli/terminal/output.ts";

type ClientDeps = Pick<Deps, "env" | "io" | "platform" | "program">;

/** Prints the lines. None contains a token: the bridge has its own, and HTTP clients read `KB_TOKEN`. */
export async function printClients(server: ServerUrl, deps: ClientDeps, output: Output): Promise<void> {
  const { command, prefix } = deps.program;
  const bridge = ["mcp", "--url", server.baseUrl];
  const typed = [...(await typedCommand(deps)), ...bridge].map((word) => quoted(word, deps));
  // Lines aren't wrapped in a pipe, because a program reads whole lines, nor on Windows, where a backslash doesn't continue a line.
  const width = deps.io.isStdoutTty && deps.platform !== "win32" ? deps.io.columns() : Infinity;
  const paste = (...words: string[]): void => pasteable([...words, ...typed], width).forEach(output.layout);
  const title = (text: string): void => ["", text].forEach(output.layout);
  title(`MCP URL: ${server.mcpUrl}`);
  title("Connect an agent (the bridge has its own token; nothing to paste):");
  output.layout("  Claude Code");
  paste("claude", "mcp", "add", "-s", "user", "kb", "--");
  output.layout("  Codex");
  paste("codex", "mcp", "add", "kb", "--");
  output.layout("  Gemini CLI");
  paste("gemini", "mcp", "add", "-s", "user", "kb");
  output.layout("  Any other, in its settings");
  // Graphical programs don't have the shell's PATH.
  output.layout(`    "command": ${JSON.stringify(command)},`);
  const args = [...prefix, ...bridge].map((word) => JSON.stringify(word));
  const listed = `    "args": [${args.join(", ")}]`;
  if (listed.length <= width) output.layout(listed);
  else
    ['    "args": [', ...args.map((arg, at) => `      ${arg}${at < args.length - 1 ? "," : ""}`), "    ]"].forEach(
      output.layout,
    );
  output.layout("  Over HTTP: kb tokens create NAME, keep it in KB_TOKEN, then");
  // In single quotes, so that the program reads the variable and its settings contain no token.
  const header = "--header 'Authorization: Bearer ${KB_TOKEN}'";
  const http = ["claude", "mcp", "add", "--transport", "http", "kb", server.mcpUrl, header];
  pasteable(http, width).forEach(output.layout);
}

/** Returns how the person types this program: `kb` if the PATH finds it under that name, otherwise its paths. */
async function typedCommand({ env, program }: ClientDeps): Promise<string[]> {
  const script = program.prefix.at(-1);
  const whole = [program.command, ...(script === undefined ? [] : [script])];
  if (script === undefined) return whole;
  const own = await realpath(script).catch(() => script);
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const found = folder === "" ? undefined : await realpath(join(folder, "kb")).catch(() => undefined);
    if (found === undefined) continue;
    // npx and npm run put such a folder first in the PATH only while they run.
    const isLasting = !resolve(folder).endsWith(`${sep}node_modules${sep}.bin`);
    if (isLasting) return found === own ? ["kb"] : whole;
  }
  return whole;
}

function quoted(word: string, { platform }: ClientDeps): string {
  if (/^[\w@%+=:,./~^\\-]+$/.test(word) && (platform === "win32" || !word.includes("\\"))) return word;
  return platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Formats words as one command below a heading, on continued lines if the command doesn't fit in `width`. */
function pasteable(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let current = `    ${words[0] ?? ""}`;
  for (const word of words.slice(1)) {
    // Leaves two columns for the continuation mark.
    if (`${current} ${word}`.length > width - 2) {
      lines.push(`${current} \\`);
      current = `      ${word}`;
    } else current += ` ${word}`;
  }
  return [...lines, current];
}
