import { parse as parseCookies } from "hono/utils/cookie";
import { HOME_PATH } from "#api/return-to.ts";

/** Returns the address to which `/` redirects a person. */
export type Front = (cookieHeader: string | undefined) => Promise<string>;

/**
 * Decides where `/` redirects: to the setup while there is no user, to the sign-in without a session, else to the app.
 * The server decides, so that the first page that a browser loads is the one that is shown.
 */
export function makeFront({
  onboarding,
  sessions,
  cookie,
}: {
  onboarding: { isNeeded(): Promise<boolean> };
  sessions: { findActor(secret: string): Promise<object | undefined> };
  cookie: { name: string };
}): Front {
  return async (cookieHeader) => {
    const secret = parseCookies(cookieHeader ?? "", cookie.name)[cookie.name];
    if (secret !== undefined && (await sessions.findActor(secret)) !== undefined) return HOME_PATH;
    return (await onboarding.isNeeded()) ? "/welcome" : "/sign-in";
  };
}
