/**
 * How each agent program is connected: the only source of the page's ready-made lines; a test compares docs/clients.md
 * with it.
 */

export interface ClientLines {
  id: string;
  name: string;
  /** Lines for `kb mcp`, which manages the login itself. */
  bridge: Lines;
  /** Necessary changes to the bridge's lines if no lines are right for everyone. */
  note?: string;
  /** Lines for connecting directly to the MCP URL; null if the program can't do that, or can't do it with a token from outside its settings. */
  http: Lines | null;
}

/** The lines to type or write. */
export interface Lines {
  /** The file that contains the lines; null for a command line. */
  file: string | null;
  text: string;
}

/**
 * Returns the lines for every client. None contains a token: the bridge has its own, HTTP clients read `KB_TOKEN` or
 * ask for it.
 *
 * @param mcpUrl   such as `https://kb.example.com/mcp`
 * @param baseUrl  passed to the bridge; without it, the bridge uses the server of the last login
 */
export function clientLines({ mcpUrl, baseUrl }: { mcpUrl: string; baseUrl?: string }): ClientLines[] {
  const args = ["mcp", ...(baseUrl === undefined ? [] : ["--url", baseUrl])];
  const bridge = ["kb", ...args].join(" ");
  const server = { command: "kb", args };
  return [
    {
      id: "claude-code",
      name: "Claude Code",
      bridge: command(`claude mcp add -s user kb -- ${bridge}`),
      http: command(`claude mcp add --transport http kb ${mcpUrl} --header 'Authorization: Bearer \${KB_TOKEN}'`),
    },
    {
      id: "claude-desktop",
      name: "Claude Desktop",
      // A graphical program starts without the shell's `PATH`.
      bridge: settings("claude_desktop_config.json", {
        mcpServers: { kb: { ...server, command: "/path/to/kb" } },
      }),
      note: "Replace /path/to/kb with the path that `command -v kb` prints.",
      http: null,
    },
    {
      id: "cursor",
      name: "Cursor",
      bridge: settings("~/.cursor/mcp.json", { mcpServers: { kb: server } }),
      http: settings("~/.cursor/mcp.json", {
        mcpServers: { kb: { url: mcpUrl, headers: { Authorization: "Bearer ${env:KB_TOKEN}" } } },
      }),
    },
    {
      id: "vs-code",
      name: "VS Code",
      bridge: command(`code --add-mcp '${JSON.stringify({ name: "kb", type: "stdio", ...server })}'`),
      http: settings("mcp.json", {
        inputs: [{ id: "kb-token", type: "promptString", description: "kb token", password: true }],
        servers: {
          kb: { type: "http", url: mcpUrl, headers: { Authorization: "Bearer ${input:kb-token}" } },
        },
      }),
    },
    {
      id: "codex",
      name: "Codex",
      bridge: command(`codex mcp add kb -- ${bridge}`),
      http: {
        file: "~/.codex/config.toml",
        text: `[mcp_servers.kb]\nurl = "${mcpUrl}"\nbearer_token_env_var = "KB_TOKEN"`,
      },
    },
    {
      id: "gemini",
      name: "Gemini CLI",
      bridge: command(`gemini mcp add -s user kb ${bridge}`),
      http: settings("~/.gemini/settings.json", {
        mcpServers: { kb: { httpUrl: mcpUrl, headers: { Authorization: "Bearer $KB_TOKEN" } } },
      }),
    },
    {
      id: "windsurf",
      name: "Windsurf",
      bridge: settings("~/.codeium/windsurf/mcp_config.json", { mcpServers: { kb: server } }),
      http: null,
    },
    {
      id: "zed",
      name: "Zed",
      bridge: settings("~/.config/zed/settings.json", { context_servers: { kb: server } }),
      http: null,
    },
  ];
}

function command(text: string): Lines {
  return { file: null, text };
}

function settings(file: string, content: unknown): Lines {
  return { file, text: JSON.stringify(content, null, 2) };
}
