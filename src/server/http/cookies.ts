import { serialize } from "hono/utils/cookie";

/** A cookie with this installation's attributes. */
export type SecretCookie = ReturnType<typeof makeSecretCookie>;

export type SessionCookie = SecretCookie;

/**
 * The session cookie: `__Host-kb` with Secure on https, `kb_session` on plain http, where a browser refuses Secure.
 * Source: S32.
 */
export function makeSessionCookie(baseUrl: string): SessionCookie {
  return makeSecretCookie(baseUrl, { onHttps: "__Host-kb", onHttp: "kb_session" });
}

/**
 * Makes a cookie that scripts can't read. Browsers send it with a request from another site only if a person follows a
 * link.
 */
export function makeSecretCookie(baseUrl: string, names: { onHttps: string; onHttp: string }) {
  const isHttps = baseUrl.startsWith("https:");
  const name = isHttps ? names.onHttps : names.onHttp;
  const write = (value: string, maxAge: number) =>
    serialize(name, value, { httpOnly: true, secure: isHttps, sameSite: "Lax", path: "/", maxAge });
  return {
    name /** The `Set-Cookie` value that stores the secret for `maxAge` seconds. */,
    set: write /** The `Set-Cookie` value that clears the cookie. */,
    clear: (): string => write("", 0),
  };
}
