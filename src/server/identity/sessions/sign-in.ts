import type { Session } from "#api/session.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";

/** Where somebody signs in from, and the session that the browser held before. */
export interface SignInContext {
  origin: RequestOrigin;
  userAgent: string | null;
  /** Secret of the cookie that came along; that session ends. */
  formerSecret: string | null;
  /** The cookie of a browser in which somebody has signed in before; opens nothing by itself. */
  knownBrowser?: string | undefined;
}

/** A session that was just opened; the cookie is its only copy of the secret. */
export interface OpenedSession {
  session: Session;
  setCookie: string;
}
