import { createECDH, createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** A signing key in the format that the authorization server needs. */
export interface SigningKey {
  kty: "EC";
  crv: "P-256";
  alg: "ES256";
  use: "sig";
  kid: string;
  x: string;
  y: string;
  d: string;
}

export type OAuthKeys = ReturnType<typeof makeOAuthKeys>;

/**
 * Derives every key from the installation's secret. The keys are therefore the same after a restart, and stored
 * nowhere.
 */
export function makeOAuthKeys(secret: Uint8Array) {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", secret, "kb", `oauth|${purpose}`, 32));
  const proofKey = derive("proof");
  const prove = (...parts: string[]) =>
    createHmac("sha256", proofKey).update(JSON.stringify(parts)).digest("base64url");
  return {
    /**
     * This key is published because the protocol requires it. Nothing that leaves this server is signed with it, since
     * tokens are opaque.
     */
    signing: signingKeyOf(derive("signing")),
    /** Key that signs the cookies of an authorization in progress. */
    cookies: derive("cookies").toString("base64url"),
    /** Makes a proof that a page was made for exactly these values. The same values always give the same proof. */
    prove,
    isProof(proof: string, ...parts: string[]): boolean {
      const [actual, expected] = [proof, prove(...parts)].map((text) => createHash("sha256").update(text).digest());
      return actual !== undefined && expected !== undefined && timingSafeEqual(actual, expected);
    },
  };
}

/**
 * A private key of P-256 is a number below the curve's order. 32 random bytes satisfy that in all but one of 2^32
 * cases.
 */
function signingKeyOf(d: Buffer): SigningKey {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  return {
    kty: "EC",
    crv: "P-256",
    alg: "ES256",
    use: "sig",
    kid: createHash("sha256").update(point).digest("base64url").slice(0, 16),
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33, 65).toString("base64url"),
    d: d.toString("base64url"),
  };
}
