/** Receives the browser's answer at one address on 127.0.0.1, which accepts one answer, for a few minutes. Source: RFC 8252. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CliFailure, failure, interrupted } from "#cli/host/failure.ts";

export type Loopback = Awaited<ReturnType<typeof listenForCode>>;

export interface Expected {
  state: string;
  /** The issuer that the request was sent to; an answer from any other issuer is rejected (RFC 9207). */
  issuer: string;
}

/** Milliseconds that a person has to sign in. */
export const LOOPBACK_TIMEOUT_MS = 5 * 60_000;

/**
 * Listens on a free port of 127.0.0.1 for the answer with this state. Other requests (icons, preflights, other paths,
 * other states) are rejected and change nothing.
 */
export async function listenForCode(expected: Expected, signal: AbortSignal, timeoutMs = LOOPBACK_TIMEOUT_MS) {
  let settle: (result: { code: string } | { failure: CliFailure }) => void = () => undefined;
  const answered = new Promise<{ code: string } | { failure: CliFailure }>((resolve) => (settle = resolve));
  let isUsed = false;
  const server = createServer((request, response) => {
    const result = isUsed ? "refused" : readAnswer(request, expected, port);
    if (result === "refused") return void answerWith(response, isUsed ? 410 : 400, "");
    if (result === "elsewhere") return void answerWith(response, 404, "");
    isUsed = true;
    // The page is sent first, because the program may exit after it continues.
    answerWith(response, 200, PAGE, () => settle(result));
  });
  const port = await listen(server);
  const timer = setTimeout(() => settle({ failure: tooLate(timeoutMs) }), timeoutMs);
  const stop = (): void => settle({ failure: interrupted() });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  function close(): void {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    server.close();
    server.closeAllConnections();
  }
  const code = answered.then((result) => {
    if ("failure" in result) throw result.failure;
    return result.code;
  });
  // A caller that closes early doesn't handle the rejection.
  code.catch(() => undefined);
  return {
    redirectUri: `http://127.0.0.1:${port}${PATH}` /** The code. Rejects on refusal, another issuer's answer, timeout or abort. */,
    code,
    close,
  };
}

const PATH = "/callback";
/** The page contains nothing else: no name, no script, no link. */
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>kb</title><p>You can close this page and return to the terminal.</p></html>`;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  // The cast is safe because the address of a listening TCP server is an object.
  return (server.address() as AddressInfo).port;
}

function readAnswer(
  request: IncomingMessage,
  expected: Expected,
  port: number,
): "elsewhere" | "refused" | { code: string } | { failure: CliFailure } {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  if (request.method !== "GET" || url.pathname !== PATH) return "elsewhere";
  // Rejects requests from a page whose own host name resolves to this address, since they aren't the browser's answer.
  if (request.headers.host !== `127.0.0.1:${port}`) return "refused";
  const only = (name: string): string | undefined => {
    const values = url.searchParams.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
  if (!isSame(only("state") ?? "", expected.state)) return "refused";
  if (only("iss") !== expected.issuer) return { failure: otherServer(expected.issuer) };
  const error = only("error");
  if (error !== undefined) return { failure: refused(error) };
  const code = only("code");
  return code === undefined || code === "" ? "refused" : { code };
}

function isSame(received: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function answerWith(response: ServerResponse, status: number, page: string, onSent?: () => void): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(page, onSent);
}

function refused(error: string): CliFailure {
  const isDenied = error === "access_denied";
  return failure(
    "notSignedIn",
    isDenied ? "access_denied" : "sign_in_failed",
    isDenied
      ? "The sign-in was refused in the browser; nothing was changed."
      : `The sign-in failed in the browser (${error.slice(0, 60)}); nothing was changed.`,
    "Start again with kb login.",
  );
}

function otherServer(issuer: string): CliFailure {
  return failure(
    "notSignedIn",
    "other_issuer",
    `The answer in the browser did not come from ${issuer}, so kb ignored it.`,
    "Start again with kb login. If it happens again, someone may be tampering with your browser.",
  );
}

function tooLate(timeoutMs: number): CliFailure {
  return failure(
    "timedOut",
    "timed_out",
    `No one signed in within ${Math.round(timeoutMs / 60_000)} minutes.`,
    "Repeat the command, or use kb login --device on a machine without a browser.",
  );
}
