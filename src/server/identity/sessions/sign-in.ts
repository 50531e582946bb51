import type { Session } from "#api/session.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";

/** The origin of a sign-in, and the previous session of the browser. */
export interface SignInContext {
  origin: RequestOrigin;
  userAgent: string | null;
  /** Secret of the cookie in the request. The session with this secret ends. */
  formerSecret: string | null;
  /** The cookie of a browser in which someone has signed in before. It grants no access by itself. */
  knownBrowser?: string | undefined;
}

/** A session that was just opened. The cookie has the only copy of the secret. */
export interface OpenedSession {
  session: Session;
  setCookie: string;
}
