import { command } from "#cli/line/command.ts";
import { DATA_DIR } from "#cli/line/options.ts";
import { makePaint } from "#cli/terminal/paint.ts";

/** `kb serve`: runs the server in this process until the process receives a signal to end. */
export const serve = command(
  {
    summary: "Run the server in this process.",
    options: {
      "--port <port>": "the port to listen on (default: KB_PORT, else 7700)",
      "--host <host>": "the address to listen on (default: KB_HOST, else 127.0.0.1)",
      ...DATA_DIR,
      "--config <file>": "read settings from this YAML file",
      "--insecure-http":
        "let people sign in over plain HTTP from other machines; anyone on the network can read their passwords",
    },
    examples: ["kb serve --port 7700"],
    exitCodes: [7],
  },
  async (input, deps) => {
    const isTerminal = deps.io.isStdoutTty;
    const { port, host, dataDir, config, insecureHttp } = input.options;
    const { runServer } = await import("#server/main.ts");
    return await runServer({
      flags: { port, host, dataDir, config, insecureHttp: insecureHttp ? "on" : undefined },
      env: deps.env,
      log: { fd: deps.outliveStdout(), isTerminal, hasColour: makePaint(input, deps, isTerminal).isColorSupported },
      stderr: deps.io.stderr,
      onReady: deps.announceReady,
      signal: deps.signal,
    });
  },
);
