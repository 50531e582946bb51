import type { Context, Hono } from "hono";
import { cleanField } from "#api/clean.ts";
import type { Actor, ConnectorCaller, RequestOrigin } from "#storage/access/actor.ts";

/** The context of every request in the app. */
export interface AppEnv {
  Bindings: {
    /** The Node request, from `@hono/node-server`. Absent if the handler is called without a socket. */
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

/** Maximum recorded length of a client's name. */
const MAX_CLIENT_CHARS = 160;

/** The origin of a request: its id, client address and client name. */
export function originOf(c: AppContext): RequestOrigin {
  const client = cleanField(c.req.header("user-agent") ?? "", MAX_CLIENT_CHARS);
  return { requestId: c.get("requestId"), clientIp: c.get("clientIp"), ...(client !== "" && { client }) };
}
