import { createReadStream } from "node:fs";
import type { PushResult } from "#api/connectors.ts";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { makeApi, segment, type Api } from "#cli/api.ts";
import { argument, argumentList, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { type CliFailure, notSignedIn, usageFailure } from "#cli/failure.ts";
import { count, makeOutput, type Output } from "#cli/output.ts";
import { makeProgress } from "#cli/progress.ts";
import { loadSettings } from "#cli/settings.ts";
import { parseObject } from "#cli/state-file.ts";
import { readSecret } from "#cli/values.ts";

/** One request holds at most this much; the server takes 4 MiB, and one item may be larger than a batch. */
const BATCH_BYTES = 1_000_000;
const BATCH_LINES = 500;

/** `kb push CONNECTOR [FILE…]`: NDJSON events from files or stdin; the server's result per line goes to stdout. */
export async function push(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const api = makeApi(deps, settings, {
    kind: "token",
    value: await connectorKey(input, deps, settings.serverFrom),
    from: "KB_CONNECTOR_KEY",
  });
  const output = makeOutput(input, deps, settings.defaults);
  const path = `/api/connectors/${segment(argument(input, 0))}/items`;
  const files = argumentList(input, 1);
  if (files.length === 0 && deps.io.isStdinTty)
    throw usageFailure("There is nothing to push: name a file, or pipe NDJSON in.");
  const progress = makeProgress(deps, "push", "events");
  const totals = { sent: 0, failed: 0 };
  try {
    for (const stream of files.length === 0 ? [deps.io.stdin] : files.map((file) => createReadStream(file))) {
      await pushStream(stream, api, path, output, totals, () => progress.update({ done: totals.sent, total: null }));
    }
  } finally {
    progress.stop();
  }
  output.talk(`${count(totals.sent)} events sent, ${count(totals.failed)} refused.`);
  return totals.failed > 0 ? EXIT.finishedWithErrors : EXIT.ok;
}

async function connectorKey(input: CommandInput, deps: Deps, serverFrom: string): Promise<string> {
  const reference = textOption(input, "key") ?? (deps.env["KB_CONNECTOR_KEY"] ? "env:KB_CONNECTOR_KEY" : undefined);
  if (reference === undefined)
    throw notSignedIn(
      "No connector key.",
      "Set KB_CONNECTOR_KEY, or give --key @FILE. kb connectors rotate-key makes one.",
    );
  if (serverFrom === "profile") {
    throw usageFailure("A connector key is sent only to an address given beside it.", "Set KB_URL, or give --url.");
  }
  return await readSecret(reference, "--key", deps);
}

async function pushStream(
  stream: Readable,
  api: Api,
  path: string,
  output: Output,
  totals: { sent: number; failed: number },
  tick: () => void,
): Promise<void> {
  let batch: string[] = [];
  let size = 0;
  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const response = await api.send("POST", path, {
      content: `${batch.join("\n")}\n`,
      headers: { "content-type": "application/x-ndjson", accept: "application/x-ndjson, application/problem+json" },
    });
    totals.failed += printResults(await response.text(), totals.sent, output);
    totals.sent += batch.length;
    batch = [];
    size = 0;
    tick();
  }
  let number = 0;
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    number += 1;
    if (line.trim() === "") continue;
    if (parseObject(line) === undefined) throw notAnEvent(number);
    if (batch.length > 0 && (size + line.length > BATCH_BYTES || batch.length >= BATCH_LINES)) await flush();
    batch.push(line);
    size += line.length;
  }
  await flush();
}

/** Prints each result with its line in what was sent altogether; gives how many were refused. */
function printResults(text: string, linesBefore: number, output: Output): number {
  let failed = 0;
  for (const line of text.split("\n").filter((item) => item.trim() !== "")) {
    const record = parseObject(line);
    // The contract's PushResult, one per line sent.
    const result = record as PushResult | undefined;
    output.ndjson(result === undefined ? line : { ...result, line: linesBefore + result.line });
    if (result === undefined || result.result === "error" || result.result === "failed") failed += 1;
  }
  return failed;
}

function notAnEvent(line: number): CliFailure {
  return usageFailure(`Line ${line} is not a JSON object.`, "One event per line, as docs/reference/push.md shows.");
}
