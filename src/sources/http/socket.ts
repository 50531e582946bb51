import { canParseUrl } from "#api/parse-url.ts";
import type { Socket } from "node:net";
import { ApiError } from "#api/errors.ts";
import { isLoopbackAddress } from "#net/addresses.ts";
import type { GuardedClient, Reach } from "#net/guarded-client.ts";
import type { AccountTokens, AuthWay, SourceConnect, SourceSocket } from "#sources/http-contract.ts";
import { abortable } from "./exchange.ts";
import { unreachable } from "./failures.ts";
import { schemesFor } from "./signers.ts";

export interface SocketOptions {
  client: GuardedClient;
  reach: Reach;
  /** Ports that need no permission from the operator. */
  usualPorts: readonly number[];
  signal: AbortSignal;
  /** Origins to which credentials may be sent, in the form of `signedOrigins`. */
  origins: ReadonlySet<string>;
  ways: readonly AuthWay[];
  credentials: Readonly<Record<string, string>>;
  account: AccountTokens | undefined;
}

const CONNECT_MS = 30_000;

/**
 * Makes the function that opens connections of other protocols. The connection writes the credential itself, so the
 * source never gets it.
 */
export function makeConnect(options: SocketOptions): SourceConnect {
  const { client, reach, usualPorts, origins } = options;
  return async (host, port, tls, signal = options.signal) => {
    const pinned = await abortable(client.resolveHost({ host, port, usualPorts, ...reach }), signal);
    const isOwn = [...origins].some((origin) => isSamePlace(origin, host, port, tls));
    const isSafe = tls || pinned.isListed || isLoopbackAddress(pinned.address);
    const socket = await client.open(pinned, { tls, signal, timeoutMs: CONNECT_MS }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(pinned.host, error);
    });
    const authenticate: SourceSocket["authenticate"] = async (mechanism, before = "") => {
      if (!isOwn || !isSafe) {
        const why = isOwn ? "can't be sent without TLS" : "are not for";
        throw new ApiError("address_not_allowed", { message: `The connector's credentials ${why}: ${host}:${port}.` });
      }
      const words = await abortable(wordsFor(options, mechanism), signal);
      await write(socket, `${before}${words}\r\n`);
    };
    return Object.assign(socket, { authenticate });
  };
}

async function wordsFor(options: SocketOptions, mechanism: "login" | "plain" | "xoauth2"): Promise<string> {
  if (mechanism === "xoauth2") {
    const { account } = options;
    if (account?.login === undefined) throw noCredential();
    const token = await account.accessToken();
    return Buffer.from(`user=${account.login}\x01auth=Bearer ${token}\x01\x01`).toString("base64");
  }
  const way = schemesFor(options.ways, options.credentials).find(({ scheme }) => scheme === "basic");
  if (way === undefined || !("password" in way)) throw noCredential();
  const username = options.credentials[way.username] ?? "";
  const password = options.credentials[way.password] ?? "";
  if (mechanism === "plain") return Buffer.from(`\0${username}\0${password}`).toString("base64");
  return `${quoted(username)} ${quoted(password)}`;
}

/**
 * Returns a quoted string. Characters that a quoted string can't contain are refused: a line end in it would begin a
 * new command. Source: RFC 3501 §4.3.
 */
function quoted(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `"${text.replace(/["\\]/g, "\\$&")}"`;
  throw new ApiError("source_unauthorized", {
    message: "The user name or password contains characters that this server's sign-in can't carry.",
    field: "credentials",
  });
}

function isSamePlace(origin: string, host: string, port: number, tls: boolean): boolean {
  if (!canParseUrl(origin)) return false;
  const url = new URL(origin);
  const isTls = url.protocol.endsWith("s:");
  return url.hostname === host.toLowerCase() && Number(url.port) === port && isTls === tls;
}

function write(socket: Socket, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(line, (error) => {
      if (error) reject(new ApiError("source_unavailable", { message: "The connection broke.", cause: error }));
      else resolve();
    });
  });
}

function noCredential(): ApiError {
  return new ApiError("source_unauthorized", { message: "There are no credentials for this.", field: "credentials" });
}
