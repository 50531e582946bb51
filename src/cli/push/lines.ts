/** Sends lines of NDJSON: splits them into requests, numbers them, and sends them again when an answer was lost. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { PushResult } from "#api/connector-records.ts";
import { ERROR_CLASSES, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { CliFailure, usageFailure } from "#cli/host/failure.ts";
import { parseObject } from "#cli/host/state-file.ts";
import type { Sender } from "./sender.ts";

/** Where lines are sent. */
export interface LineTarget {
  sender: Sender;
  connectorId: string;
  /** The upload that the lines belong to, if any. */
  uploadId: string | undefined;
  /** The number of the first line; default 1. */
  firstNumber?: number;
  onResult(result: PushResult): void;
}

/** Collects lines and sends them in requests. */
export type LineQueue = ReturnType<typeof makeLineQueue>;

/** Size of a request in characters: small enough that a lost answer costs little, large enough that the overhead doesn't matter. */
const BATCH_CHARS = 1_000_000;
const BATCH_LINES = 1_000;

/** @param skip  lines that the server has from an earlier run: these are numbered but not sent */
export function makeLineQueue(target: LineTarget, skip: number) {
  let batch: string[] = [];
  let chars = 0;
  let last = (target.firstNumber ?? 1) - 1;
  async function flush(): Promise<void> {
    const lines = batch;
    [batch, chars] = [[], 0];
    await sendAll(target, lines, last - lines.length + 1);
  }
  return {
    /** The number of the last added line. */
    get last() {
      return last;
    },
    async add(line: string): Promise<void> {
      if (batch.length > 0 && (chars + line.length > BATCH_CHARS || batch.length >= BATCH_LINES)) await flush();
      last += 1;
      if (last <= skip) return;
      batch.push(line);
      chars += line.length;
    },
    flush,
  };
}

/** Adds every line of these files, or of stdin, to the queue; blank lines are ignored. @throws CliFailure if it isn't NDJSON */
export async function readLines(files: readonly { path: string }[], stdin: Readable | undefined, queue: LineQueue) {
  for (const stream of stdin ? [stdin] : files.map(({ path }) => createReadStream(path))) {
    let isFirst = true;
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      if (line.trim() === "") continue;
      // A whole file in another format would produce an error for each of its lines, so the first line is checked.
      if (isFirst && parseObject(line.replace(/^\uFEFF/, "")) === undefined) throw notNdjson();
      isFirst = false;
      await queue.add(line);
    }
  }
  await queue.flush();
}

async function sendAll(
  { sender, connectorId, uploadId, onResult }: LineTarget,
  lines: string[],
  first: number,
): Promise<void> {
  let rest = lines;
  let next = first;
  for (let tries = 1; rest.length > 0; tries += 1) {
    const query = uploadId === undefined ? undefined : { upload: uploadId, firstLine: next };
    const content = `${rest.join("\n")}\n`;
    const text = await sender.run(async (api) => {
      const answer = await api.open.post("/api/connectors/{id}/items", {
        params: { path: { id: connectorId }, query },
        content,
        headers: { "content-type": "application/x-ndjson", accept: "application/x-ndjson, application/problem+json" },
      });
      return await answer.text();
    });
    const { results, failure } = readAnswer(text, rest.length);
    // Without an upload, the server numbers lines from 1 in each request.
    const offset = uploadId === undefined ? next - 1 : 0;
    for (const result of results) onResult(offset === 0 ? result : { ...result, line: result.line + offset });
    if (results.length > 0) tries = 1;
    rest = rest.slice(results.length);
    next += results.length;
    if (rest.length > 0) await sender.waitAfter(failure ?? tooShort(), tries);
  }
}

/** Results that mean that neither this line nor any line after it was accepted. */
const ENDS = new Set([
  "unauthenticated",
  "connector_state_conflict",
  "push_upload_over",
  "push_cut",
  "storage_full",
  "database_unusable",
  "resources_exhausted",
  "internal",
]);

function readAnswer(text: string, sent: number): { results: PushResult[]; failure?: CliFailure } {
  const results: PushResult[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const record = parseObject(line);
    // An incomplete line can only be the last one: the answer broke off there.
    if (record === undefined) break;
    // Read like every answer of the typed client: the server follows the contract, which is one PushResult per line.
    const result = record as unknown as PushResult;
    const isBeyond = results.length >= sent;
    if (result.error !== undefined && (ENDS.has(result.error.code) || isBeyond)) {
      return { results, failure: toFailure(result.error) };
    }
    if (!isBeyond) results.push(result);
  }
  return { results };
}

function toFailure({ code, message }: { code: string; message: string }): CliFailure {
  const known = Object.hasOwn(ERROR_CODES, code) ? ERROR_CLASSES[ERROR_CODES[code as ErrorCode]] : undefined;
  return new CliFailure({ code, message, exit: known?.exit ?? 1 });
}

function tooShort(): CliFailure {
  return new CliFailure({ code: "unreachable", exit: 7, message: "The answer ended early." });
}

function notNdjson(): CliFailure {
  return usageFailure(
    "The first line is not a JSON object.",
    "Write one event per line (see docs/sources/push.md), or send files for their text with --as documents.",
  );
}
