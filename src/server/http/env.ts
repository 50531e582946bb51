import type { Context, Hono } from "hono";
import { cleanField } from "#api/clean.ts";
import type { Actor, ConnectorCaller, RequestOrigin } from "#storage/access/actor.ts";

/** What every request carries through the app. */
export interface AppEnv {
  Bindings: {
    /** The Node request, as `@hono/node-server` hands it over; absent when the handler is called without a socket. */
    incoming?: { socket?: { remoteAddress?: string | undefined } };
  };
  Variables: {
    requestId: string;
    clientIp: string | null;
    actor?: Actor;
    connector?: ConnectorCaller;
  };
}

export type App = Hono<AppEnv>;
export type AppContext = Context<AppEnv>;

/** What is written down of a program's own name. */
const MAX_CLIENT_CHARS = 160;

/** The request as it looks from outside. */
export function originOf(c: AppContext): RequestOrigin {
  const client = cleanField(c.req.header("user-agent") ?? "", MAX_CLIENT_CHARS);
  return { requestId: c.get("requestId"), clientIp: c.get("clientIp"), ...(client !== "" && { client }) };
}
