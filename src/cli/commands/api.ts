import { notKb } from "#cli/calls/api-failures.ts";
import { connect, type AnyCall, type Api } from "#cli/calls/api.ts";
import { command, type CommandData, type InputOf, several } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { safeJson, safeText } from "#cli/terminal/output.ts";
import { parseObject, textOf } from "#cli/host/state-file.ts";
import { parsePair, readInput } from "#cli/line/values.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

const API = {
  summary: "Call a path of the server's API.",
  arguments: { "<method>": "GET, POST, PATCH, PUT, DELETE", "<path>": "the path, such as /api/connectors" },
  options: {
    "-f, --raw-field <key=value>": several("a field as text; may be repeated"),
    "-F, --field <key=value>": several("a field as JSON, or key=@FILE; may be repeated"),
    "--body <file>": "read the whole body from a file, or - for stdin",
    "--paginate": "fetch all pages, and print one JSON document per line",
    "-i, --include": "print the status and headers on stderr",
  },
  examples: ["kb api GET /api/connectors", "kb api POST /api/groups -f name=Team"],
  exitCodes: [3, 4, 5, 6, 7],
  isRemote: true,
} as const satisfies CommandData;

type ApiInput = InputOf<typeof API>;

/** `kb api METHOD PATH`: a call to a path of the server, never to another origin. */
export const api = command(API, async (input, deps) => {
  const { path } = input.args;
  const method = input.args.method.toUpperCase();
  if (!METHODS.includes(method)) throw usageFailure(`"${method}" is not a method.`, `One of ${METHODS.join(", ")}.`);
  if (!path.startsWith("/") || path.startsWith("//") || path.includes("\\")) {
    throw usageFailure(
      `"${path}" is not a path.`,
      "Give a path such as /api/connectors; the server comes from --url, KB_URL or the profile.",
    );
  }
  const api = await connect(input, deps);
  const fields = await bodyFieldsOf(input, deps);
  const options: AnyCall = method === "GET" || method === "HEAD" ? { query: queryOf(fields) } : { body: fields };
  if (input.options.paginate) return await printPages(api, method, path, options, deps);
  const response = await api.send(method, path, { ...options, timeoutMs: 0 });
  if (input.options.include) {
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    deps.io.stderr.write(`${safeText([`HTTP ${response.status}`, ...headers].join("\n"))}\n\n`);
  }
  if (!deps.io.isStdoutTty) {
    if (response.body !== null) for await (const part of response.body) deps.io.stdout.write(part);
    return;
  }
  const text = await response.text();
  const value = parseObject(text);
  deps.io.stdout.write(`${value === undefined ? safeText(text) : safeJson(value, 2)}\n`);
});

type Fields = Record<string, unknown>;

/**
 * Reads the fields of the body: `-f key=value` is text, `-F key=value` is JSON, `key=@file` and `key=@-` read a file or stdin, and `--body` is the
 * whole body.
 */
async function bodyFieldsOf(input: ApiInput, deps: Deps): Promise<Fields> {
  const whole = input.options.body;
  const fields: Fields = typeof whole === "string" ? await objectFrom(whole, deps) : {};
  for (const text of input.options.rawField) {
    const [key, value] = parsePair(text, "-f");
    fields[key] = value;
  }
  for (const text of input.options.field) {
    const [key, value] = parsePair(text, "-F");
    fields[key] = value.startsWith("@") ? await textFrom(value.slice(1), deps) : typed(value);
  }
  return fields;
}

async function objectFrom(path: string, deps: Deps): Promise<Fields> {
  const value = parseObject(await textFrom(path, deps));
  if (value === undefined) throw usageFailure(`--body ${path} is not a JSON object.`);
  return value;
}

async function textFrom(path: string, deps: Deps): Promise<string> {
  return await readInput(path, `--body ${path}`, deps);
}

function typed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A plain word.
    return text;
  }
}

function queryOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** Prints one JSON document per page, each on one line. */
async function printPages(api: Api, method: string, path: string, options: AnyCall, deps: Deps): Promise<void> {
  if (method !== "GET") throw usageFailure("--paginate works with GET only.");
  let cursor: string | undefined;
  do {
    const answer = await api.send(method, path, { query: { ...options.query, cursor } });
    const page = parseObject(await answer.text());
    if (page === undefined) throw notKb(api.settings.server, answer.status);
    deps.io.stdout.write(`${safeJson(page, 0)}\n`);
    cursor = textOf(page["nextCursor"]);
  } while (cursor !== undefined);
}
