import { serialize } from "hono/utils/cookie";

/** The session cookie as this installation sets it. */
export interface SessionCookie {
  name: string;
  /** The `Set-Cookie` value that keeps the secret for so long. */
  set(secret: string, maxAgeSeconds: number): string;
  /** The `Set-Cookie` value that forgets it. */
  clear(): string;
}

/** `__Host-kb` with Secure on https; `kb_session` on plain http, where a browser refuses Secure. Source: S32. */
export function makeSessionCookie(baseUrl: string): SessionCookie {
  const isHttps = baseUrl.startsWith("https:");
  const name = isHttps ? "__Host-kb" : "kb_session";
  const write = (value: string, maxAge: number) =>
    serialize(name, value, { httpOnly: true, secure: isHttps, sameSite: "Lax", path: "/", maxAge });
  return { name, set: write, clear: () => write("", 0) };
}
