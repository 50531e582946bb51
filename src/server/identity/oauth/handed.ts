import type { IncomingMessage } from "node:http";
import type { RequestOrigin } from "#storage/access/actor.ts";

/** This server's context for a request that the library answers. */
export interface Handed {
  origin: RequestOrigin;
  /** Whether someone is signed in in this browser. */
  hasSession: boolean;
}

const HANDED = new WeakMap<IncomingMessage, Handed>();

/** Stores the context for the library's hooks, which see only the Node request. */
export function handOver(incoming: IncomingMessage, handed: Handed): void {
  HANDED.set(incoming, handed);
}

/** Returns the stored context. Undefined only in tests, for requests that didn't pass through this server. */
export function handedOf(incoming: IncomingMessage): Handed | undefined {
  return HANDED.get(incoming);
}

export function originOf(incoming: IncomingMessage): RequestOrigin | undefined {
  return HANDED.get(incoming)?.origin;
}
