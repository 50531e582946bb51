import { defined } from "#core/defined.ts";
import { createPrivateKey, sign } from "node:crypto";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";

/** A token, and the time after which it is no longer used. */
export interface MintedToken {
  token: string;
  expiresAt: number;
}

/** A token is no longer used this long before it expires, because the request has to arrive before the expiry. */
const SPARE_MS = 60_000;
/** The lifetime of a token for which none is reported. */
const UNTOLD_MS = 10 * 60_000;

/** Makes a cache of minted tokens by key. Concurrent requests for a key share one mint. */
export function makeTokenCache(now: () => number) {
  const kept = new Map<string, MintedToken>();
  const minting = new Map<string, Promise<string>>();
  return {
    /** Returns the token for this key. A failed mint isn't cached. */
    get(key: string, mint: () => Promise<MintedToken>): Promise<string> {
      const known = kept.get(key);
      if (known !== undefined && known.expiresAt - SPARE_MS > now()) return Promise.resolve(known.token);
      const under = minting.get(key);
      if (under !== undefined) return under;
      const made = mint()
        .then((token) => {
          for (const [each, { expiresAt }] of kept) if (expiresAt <= now()) kept.delete(each);
          kept.set(key, token);
          return token.token;
        })
        .finally(() => minting.delete(key));
      minting.set(key, made);
      return made;
    },
    /**
     * Removes a token that was refused, so that the next request mints a new one. Does nothing if the token was already
     * replaced.
     */
    drop(key: string, token: string): void {
      if (kept.get(key)?.token === token) kept.delete(key);
    },
  };
}

/**
 * Returns a JSON Web Token, signed with RS256.
 *
 * @throws ApiError `source_unauthorized` if the key isn't a private key
 */
export function signJwt(claims: Readonly<Record<string, unknown>>, privateKey: string): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  try {
    return `${text}.${sign("RSA-SHA256", Buffer.from(text), createPrivateKey(privateKey)).toString("base64url")}`;
  } catch {
    // The cause is left out because it may repeat a part of the key.
    throw new ApiError("source_unauthorized", {
      message: "The private key can't be used. Give an RSA key in PEM form.",
      field: "credentials.privateKey",
    });
  }
}

/**
 * Returns the JWT of a GitHub App. Its times allow for a clock that is one minute off, within the maximum of ten
 * minutes.
 */
export function appJwt(appId: string, privateKey: string, now: number): string {
  const seconds = Math.floor(now / 1_000);
  return signJwt({ iat: seconds - 60, exp: seconds + 540, iss: appId }, privateKey);
}

/** Returns the assertion of a service account. Source: RFC 7523 §3. */
export function assertionJwt(
  at: { issuer: string; tokenUrl: string; scopes: readonly string[]; subject: string | undefined },
  privateKey: string,
  now: number,
): string {
  const seconds = Math.floor(now / 1_000);
  const { issuer, tokenUrl, scopes, subject } = at;
  const claims = { iss: issuer, aud: tokenUrl, iat: seconds, exp: seconds + 3_600 };
  return signJwt(
    {
      ...claims,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...defined({ sub: subject }),
    },
    privateKey,
  );
}

/** The response of a token endpoint, in GitHub's format or in OAuth's. */
export const MintAnswer = z.union([
  z.object({ token: z.string().min(1), expires_at: z.iso.datetime({ offset: true }).optional() }),
  z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() }),
]);

/** @param ahead  difference by which the server's clock is ahead of ours */
export function toMinted(answer: z.infer<typeof MintAnswer>, now: number, ahead: number): MintedToken {
  if ("token" in answer) {
    const { token, expires_at: end } = answer;
    return { token, expiresAt: end === undefined ? now + UNTOLD_MS : Date.parse(end) - ahead };
  }
  const { access_token: token, expires_in: seconds } = answer;
  return { token, expiresAt: now + (seconds === undefined ? UNTOLD_MS : seconds * 1_000) };
}
