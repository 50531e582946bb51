import { createHmac, timingSafeEqual } from "node:crypto";
import { parse as parseCookies } from "hono/utils/cookie";
import type { SecretCookie } from "#server/http/cookies.ts";
import type { RandomBytes } from "#core/clock.ts";

/**
 * Browsers in which someone has signed in. The cookie that records this outlives the session, and grants no access by
 * itself.
 */
export type KnownBrowsers = ReturnType<typeof makeKnownBrowsers>;

const LIFETIME_S = 180 * 86_400;
/** Maximum people remembered per browser. The person who signed in longest ago is dropped. */
const MAX_PEOPLE = 5;
/** The value of a tag for no person, which proves only that this server made the cookie. */
const NOBODY = "";

/**
 * Makes and reads the cookie `<id>.<tag>.<tag>…`, with a tag for each person and a last tag for the browser alone. A
 * tag is an HMAC over the ids of the browser and the person. The cookie therefore reveals no names, and a person can't
 * make one for an account to which they couldn't sign in.
 */
export function makeKnownBrowsers(options: { key: Uint8Array; cookie: SecretCookie; randomBytes: RandomBytes }) {
  const { key, cookie, randomBytes } = options;
  const tagOf = (id: string, userId: string) =>
    createHmac("sha256", key).update(`known browser\0${id}\0${userId}`).digest("base64url").slice(0, 22);

  function read(value: string | undefined): { id: string; tags: string[] } | undefined {
    if (value === undefined || !/^[\w-]{22}(?:\.[\w-]{22}){1,6}$/.test(value)) return undefined;
    const [id = "", ...tags] = value.split(".");
    return { id, tags };
  }

  const cookieIn = (header: string | undefined) => parseCookies(header ?? "", cookie.name)[cookie.name];

  function idFor(value: string | undefined, userId: string): string | undefined {
    const known = read(value);
    if (!known) return undefined;
    const tag = Buffer.from(tagOf(known.id, userId));
    return known.tags.some((each) => timingSafeEqual(Buffer.from(each), tag)) ? known.id : undefined;
  }

  return {
    /**
     * Reads the browser's cookie from a `Cookie` header. If the cookie was set twice, it is ignored, which only affects
     * how attempts are counted.
     */
    cookieIn,
    /** Returns the id of the browser if this person has signed in there, otherwise undefined. */
    idFor,
    /** Returns the id of a browser in which anyone has signed in, by its `Cookie` header, otherwise undefined. */
    browserIn: (header: string | undefined): string | undefined => idFor(cookieIn(header), NOBODY),
    /** Returns the `Set-Cookie` value that adds this person. */
    remember(value: string | undefined, userId: string): string {
      const known = read(value) ?? { id: Buffer.from(randomBytes(16)).toString("base64url"), tags: [] };
      const tag = tagOf(known.id, userId);
      const own = tagOf(known.id, NOBODY);
      const others = known.tags.filter((each) => each !== tag && each !== own);
      return cookie.set([known.id, ...[tag, ...others].slice(0, MAX_PEOPLE), own].join("."), LIFETIME_S);
    },
  };
}
