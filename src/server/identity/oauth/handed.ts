import type { IncomingMessage } from "node:http";
import type { RequestOrigin } from "#storage/access/actor.ts";

/** What our own frame knows of a request that the library answers. */
export interface Handed {
  origin: RequestOrigin;
  /** Somebody is signed in in this browser. */
  hasSession: boolean;
}

const HANDED = new WeakMap<IncomingMessage, Handed>();

/** Notes it for the library's hooks, which see the Node request only. */
export function handOver(incoming: IncomingMessage, handed: Handed): void {
  HANDED.set(incoming, handed);
}

/** What was noted; undefined for a request that came by no other way than a test's. */
export function handedOf(incoming: IncomingMessage): Handed | undefined {
  return HANDED.get(incoming);
}

export function originOf(incoming: IncomingMessage): RequestOrigin | undefined {
  return HANDED.get(incoming)?.origin;
}
