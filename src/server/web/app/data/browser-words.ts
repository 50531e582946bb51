const PROGRAMS: readonly [RegExp, string][] = [
  [/\bEdg\//, "Edge"],
  [/\bFirefox\//, "Firefox"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Headless)?Chrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^kb\b/, "kb command line"],
  [/^node\b|^undici\b/i, "a script"],
  [/^curl\//, "curl"],
  [/^Mozilla\//, "a browser"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone|iPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/**
 * Returns a `User-Agent` header in a few words: `Firefox on Linux`. The result only helps people recognize a session,
 * because any client can send any value.
 */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "an unknown client";
  const program = PROGRAMS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? userAgent.slice(0, 40);
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  return system === undefined ? program : `${program} on ${system}`;
}

/** Agents whose programs identify themselves by a name other than the product's. */
const AGENTS: Readonly<Record<string, string>> = {
  "claude-ai": "Claude",
  "claude-code": "Claude Code",
  "codex-mcp-client": "Codex",
  "cursor-vscode": "Cursor",
  "gemini-cli-mcp-client": "Gemini CLI",
  "Visual Studio Code": "VS Code",
};

/**
 * Returns the program as which a client identifies itself, from its `User-Agent` or its name in MCP: `claude-code/2.0
 * kb/0.1.0` is Claude Code. Undefined if they name only the bridge or an MCP client library.
 */
export function programIn(client: string | null): { name: string; version: string } | undefined {
  const [, name = "", version = ""] = /^([^/]+)(?:\/(\S*))?/.exec(client ?? "") ?? [];
  const known = name.trim();
  if (known === "" || /^(?:kb|node|undici)$/i.test(known)) return undefined;
  return { name: AGENTS[known] ?? known, version };
}

/** Returns the client's own description: `Claude Code 2.0`, or a browser; undefined if it gave none. */
export function describeClient(client: string | null): string | undefined {
  if (client === null) return undefined;
  const program = client.startsWith("Mozilla/") ? undefined : programIn(client);
  if (program === undefined) return describeBrowser(client);
  return `“${[program.name, program.version].join(" ").trimEnd()}”`;
}
