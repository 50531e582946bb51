import { createReadStream } from "node:fs";
import type { PushResult } from "#api/connectors.ts";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { makeApi, segment, type Api } from "#cli/api.ts";
import { argument, argumentList, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { type CliFailure, notSignedIn, usageFailure } from "#cli/failure.ts";
import { count, makeOutput, plural, type Output } from "#cli/output.ts";
import { makeProgress } from "#cli/progress.ts";
import { findCredential, loadSettings, type Settings } from "#cli/settings.ts";
import { parseObject } from "#cli/state-file.ts";
import { readSecret } from "#cli/values.ts";
import { findConnector } from "./connectors.ts";

/** One request holds at most this much; the server takes 4 MiB, and one item may be larger than a batch. */
const BATCH_BYTES = 1_000_000;
const BATCH_LINES = 500;
/** `kb_con_` and characters that tell keys apart: a server that claims less can't know the key. */
const TELLING_PREFIX = "kb_con_".length + 4;

/** `kb push CONNECTOR [FILE…]`: NDJSON events from files or stdin; the server's result per line goes to stdout. */
export async function push(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const files = argumentList(input, 1);
  if (files.length === 0 && deps.io.isStdinTty)
    throw usageFailure("There is nothing to push: name a file, or pipe NDJSON in.");
  const key = await connectorKey(input, deps);
  const connectorId = await findTarget(argument(input, 0), key, settings, deps);
  const api = makeApi(deps, settings, { kind: "token", value: key, from: "KB_CONNECTOR_KEY" });
  const output = makeOutput(input, deps, settings.defaults);
  const path = `/api/connectors/${segment(connectorId)}/items`;
  const progress = makeProgress(deps, "push", "events");
  const totals = { sent: 0, failed: 0 };
  try {
    for (const stream of files.length === 0 ? [deps.io.stdin] : files.map((file) => createReadStream(file))) {
      await pushStream(stream, api, path, output, totals, () => progress.update({ done: totals.sent, total: null }));
    }
  } finally {
    progress.stop();
  }
  output.talk(`${plural(totals.sent, "event")} sent, ${count(totals.failed)} refused.`);
  return totals.failed > 0 ? EXIT.finishedWithErrors : EXIT.ok;
}

async function connectorKey(input: CommandInput, deps: Deps): Promise<string> {
  const reference = textOption(input, "key") ?? (deps.env["KB_CONNECTOR_KEY"] ? "env:KB_CONNECTOR_KEY" : undefined);
  if (reference === undefined)
    throw notSignedIn(
      "No connector key.",
      "Set KB_CONNECTOR_KEY, or give --key @FILE. kb connectors rotate-key makes one.",
    );
  const key = await readSecret(reference, "--key", deps);
  // One word of visible ASCII; anything else would make a header of its own.
  if (!/^[\x21-\x7e]{8,512}$/.test(key)) throw usageFailure(`${reference} does not hold a connector key.`);
  return key;
}

/**
 * The id of the connector to push to. An id beside an address (--url, KB_URL) is taken as it is, so that a machine needs
 * nothing but the key. Everything else is looked up with the stored login; to a server that only a profile names, which a
 * kb.json may choose, the key goes only when that server lists it as the connector's own. Source: S48.
 */
async function findTarget(word: string, key: string, settings: Settings, deps: Deps): Promise<string> {
  const isBeside = settings.serverFrom !== "profile";
  if (isBeside && /^con_[a-z0-9]+$/.test(word)) return word;
  const credential = await findCredential(deps, settings, "api");
  if (credential === undefined) {
    throw isBeside
      ? notSignedIn(
          `Not signed in to ${settings.server.baseUrl}, so "${word}" can't be looked up.`,
          `Give the connector's id, con_…, or sign in: kb login ${settings.server.baseUrl}`,
        )
      : usageFailure(
          "A connector key is sent only to an address given beside it, or to a server you are signed in to.",
          `Set KB_URL, give --url, or sign in: kb login ${settings.server.baseUrl}`,
        );
  }
  const connector = await findConnector(makeApi(deps, settings, credential), word);
  if (connector.providerId !== "push")
    throw usageFailure(
      `"${connector.name}" is a ${connector.providerId} connector: it reads its source itself.`,
      "Only push connectors take items: kb connectors list --provider push",
    );
  const { keyPrefix } = connector;
  const isKnownThere = typeof keyPrefix === "string" && keyPrefix.length >= TELLING_PREFIX && key.startsWith(keyPrefix);
  if (!isBeside && !isKnownThere)
    throw usageFailure(
      `This is not the key of "${connector.name}" on ${settings.server.baseUrl}, so it is not sent there.`,
      "Name the key's server with KB_URL or --url, or make a new key: kb connectors rotate-key",
    );
  return connector.id;
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
  return usageFailure(`Line ${line} is not a JSON object.`, "One event per line, as docs/sources/push.md shows.");
}
