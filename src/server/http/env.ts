import type { Context, Hono } from "hono";
import type { Actor, ConnectorCaller } from "#server/ports/actor.ts";

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
