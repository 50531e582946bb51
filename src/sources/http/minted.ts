import { defined } from "#core/defined.ts";
import { createPrivateKey, sign } from "node:crypto";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";

/** A token and the time until which it is used. */
export interface MintedToken {
  token: string;
  expiresAt: number;
}

/** A token is no longer used this long before it expires: the request has to arrive. */
const SPARE_MS = 60_000;
/** For a token without a reported lifetime. */
const UNTOLD_MS = 10 * 60_000;

/** Caches minted tokens by their key; concurrent requests for a key share one mint. */
export function makeTokenCache(now: () => number) {
  const kept = new Map<string, MintedToken>();
  const minting = new Map<string, Promise<string>>();
  return {
    /** The token of this key; a failed mint isn't kept. */
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
    /** It was refused: the next request mints a new one, unless that has happened already. */
    drop(key: string, token: string): void {
      if (kept.get(key)?.token === token) kept.delete(key);
    },
  };
}

/**
 * A JSON Web Token, signed with RS256.
 *
 * @throws ApiError `source_unauthorized` if it isn't a private key
 */
export function signJwt(claims: Readonly<Record<string, unknown>>, privateKey: string): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  try {
    return `${text}.${sign("RSA-SHA256", Buffer.from(text), createPrivateKey(privateKey)).toString("base64url")}`;
  } catch {
    // Without the cause: it may repeat a part of the key.
    throw new ApiError("source_unauthorized", {
      message: "The private key can't be used. Give an RSA key in PEM form.",
      field: "credentials.privateKey",
    });
  }
}

/** The JWT of a GitHub App: allows for a clock that is a minute off, within the maximum of ten minutes. */
export function appJwt(appId: string, privateKey: string, now: number): string {
  const seconds = Math.floor(now / 1_000);
  return signJwt({ iat: seconds - 60, exp: seconds + 540, iss: appId }, privateKey);
}

/** The assertion of a service account. Source: RFC 7523 §3. */
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

/** The response of a token endpoint, in GitHub's format or OAuth's. */
export const MintAnswer = z.union([
  z.object({ token: z.string().min(1), expires_at: z.iso.datetime({ offset: true }).optional() }),
  z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() }),
]);

/** @param ahead  by how much the server's clock is ahead of ours */
export function toMinted(answer: z.infer<typeof MintAnswer>, now: number, ahead: number): MintedToken {
  if ("token" in answer) {
    const { token, expires_at: end } = answer;
    return { token, expiresAt: end === undefined ? now + UNTOLD_MS : Date.parse(end) - ahead };
  }
  const { access_token: token, expires_in: seconds } = answer;
  return { token, expiresAt: now + (seconds === undefined ? UNTOLD_MS : seconds * 1_000) };
}
