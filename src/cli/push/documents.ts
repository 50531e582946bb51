/** Sends files as documents: first asks which of them the server already has, then sends the others with their bytes. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { PushResult } from "#api/connector-records.ts";
import { isoOf } from "#core/instant.ts";
import { CliFailure } from "#cli/host/failure.ts";
import type { DocumentFile } from "./inputs.ts";
import type { LineQueue } from "./lines.ts";
import type { Sender } from "./sender.ts";

export interface DocumentTarget {
  sender: Sender;
  connectorId: string;
  uploadId: string | undefined;
  /** The readers of the documents, as one list of principals. */
  access: readonly string[];
  onResult(result: Omit<PushResult, "line">): void;
}

/** The server's limit for a document. Source: docs/sources/push.md. */
const MAX_BYTES = 50 * 1024 * 1024;
/** Maximum number of concurrent documents, and of their bytes: the server reads two large ones at a time. */
const AT_ONCE = 4;
const BYTES_AT_ONCE = 64 * 1024 * 1024;

/**
 * Asks for each file whether the server has its current version, and returns those it doesn't have. A file that is too large is sent as a line
 * without text, so that its name can be found.
 *
 * @param queue   sends lines, whose results are passed to `onAsked` in order
 */
export async function askForDocuments(
  files: readonly DocumentFile[],
  access: readonly string[],
  queue: LineQueue,
  onAsked: (handler: (result: PushResult) => void) => void,
  onResult: DocumentTarget["onResult"],
): Promise<DocumentFile[]> {
  const asked: ((result: PushResult) => void)[] = [];
  const missing: DocumentFile[] = [];
  let at = 0;
  onAsked((result) => asked[at++]?.(result));
  const report = (result: PushResult): void => onResult(withoutLine(result));
  const ask = async (line: object, then: (result: PushResult) => void): Promise<void> => {
    asked.push(then);
    await queue.add(JSON.stringify(line));
  };
  for (const file of files) {
    const { externalId } = file;
    if (file.size > MAX_BYTES) {
      const content = { type: "none", reason: "too_large" };
      await ask({ t: "upsert", item: { ...itemOf(file, access), content } }, report);
      continue;
    }
    const digest = await digestOf(file.path).catch((error: NodeJS.ErrnoException) => error);
    if (typeof digest === "string") {
      const seen = { t: "seen", externalId, version: versionOf(file, access, digest) };
      await ask(seen, (result) => (result.result === "absent" ? void missing.push(file) : report(result)));
      continue;
    }
    onResult({ externalId, result: "error", error: { code: "unreadable", message: `${digest.message}.` } });
    // The file still exists, so the end of a set must not remove the version that was pushed earlier.
    if (digest.code !== "ENOENT") await ask({ t: "seen", externalId }, () => undefined);
  }
  await queue.flush();
  return missing;
}

/** Sends the files with their bytes, several at once. A rejected one is a result and doesn't stop the others. */
export async function sendDocuments(target: DocumentTarget, files: readonly DocumentFile[]): Promise<void> {
  const running = new Set<Promise<void>>();
  let bytes = 0;
  let failure: unknown;
  for (const file of files) {
    while (running.size >= AT_ONCE || (running.size > 0 && bytes + file.size > BYTES_AT_ONCE))
      await Promise.race(running);
    if (failure !== undefined) break;
    bytes += file.size;
    const sending = sendDocument(target, file)
      .catch((error: unknown) => void (failure ??= error))
      .finally(() => {
        running.delete(sending);
        bytes -= file.size;
      });
    running.add(sending);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
}

async function sendDocument(
  { sender, connectorId, uploadId, access, onResult }: DocumentTarget,
  file: DocumentFile,
): Promise<void> {
  const { content, boundary } = await readForm(file, access);
  try {
    const result = await sender.run((api) =>
      api.post("/api/connectors/{id}/documents", {
        params: { path: { id: connectorId }, query: { upload: uploadId } },
        content,
        headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      }),
    );
    onResult(withoutLine(result));
  } catch (error) {
    if (!(error instanceof CliFailure) || !REFUSALS.has(error.code)) throw error;
    const { code, message } = error;
    onResult({ externalId: file.externalId, result: "error", error: { code, message } });
  }
}

/** Errors that concern only this document. */
const REFUSALS = new Set(["invalid_request", "payload_too_large", "unprocessable", "unsupported_media_type"]);

async function readForm(
  file: DocumentFile,
  access: readonly string[],
): Promise<{ content: Uint8Array; boundary: string }> {
  const handle = await open(file.path);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(size);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) {
      read = (await handle.read(bytes, length, size - length, length)).bytesRead;
    }
    const body = bytes.subarray(0, length);
    const digest = createHash("sha256").update(body).digest("hex");
    const item = { ...itemOf(file, access), version: versionOf(file, access, digest) };
    // The boundary doesn't occur in the bytes, because it is derived from them and from what is sent with them.
    const boundary = `kb-${digest}`;
    const name = basename(file.path).replaceAll(/["\r\n\\]/g, "_");
    const head = [
      `--${boundary}\r\nContent-Disposition: form-data; name="line"\r\n\r\n${JSON.stringify({ t: "upsert", item })}`,
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ].join("\r\n");
    return { content: Buffer.concat([Buffer.from(head), body, Buffer.from(`\r\n--${boundary}--\r\n`)]), boundary };
  } finally {
    await handle.close();
  }
}

function itemOf({ externalId, modifiedMs }: DocumentFile, access: readonly string[]) {
  const parts = externalId.split("/");
  return {
    externalId,
    kind: "file",
    title: (parts.at(-1) ?? externalId).slice(0, 2_000),
    path: parts.slice(0, -1),
    updatedAt: isoOf(modifiedMs),
    access: { known: true, all: [access] },
  };
}

/** Makes a version that changes with the bytes and with who may read them, but not with the file's modification time. */
function versionOf({ externalId }: DocumentFile, access: readonly string[], digest: string): string {
  const hash = createHash("sha256").update(JSON.stringify([externalId, access, digest]));
  return `sha256:${hash.digest("base64url").slice(0, 22)}`;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function withoutLine({ line: _line, ...result }: PushResult): Omit<PushResult, "line"> {
  return result;
}
