import type { Clock, Log, RandomBytes } from "#server/ports/clock.ts";
import type { Store } from "#server/ports/store.ts";
import type { Authenticator } from "./http/authenticate.ts";
import type { CursorCodec } from "./http/cursor.ts";
import type { Guard } from "./http/guard.ts";

/** What the app needs to know of the settings. */
export interface AppSettings {
  /** The one origin of links, `mcpUrl` and cookies, without a trailing slash. */
  baseUrl: string;
  mode: "self-hosted" | "managed";
  signup: "invite" | "open" | "closed";
  allowedHosts: readonly string[];
  trustedProxies: readonly string[];
}

/** Everything the routes are hung on. Each feature appends its service here, and its `mountX` in `app.ts`. */
export interface Deps {
  settings: AppSettings;
  store: Store;
  clock: Clock;
  log: Log;
  randomBytes: RandomBytes;
  /** False from the moment the server shuts down; `/readyz` follows it. */
  isReady(): boolean;
  guard: Guard;
  authenticator: Authenticator;
  cursors: CursorCodec;
}
