import { createHash } from "node:crypto";

/** A challenge of a `WWW-Authenticate` header. */
export interface Challenge {
  scheme: string;
  params: Readonly<Record<string, string>>;
}

/** A digest challenge in use, and how often it was used. */
export interface DigestNonce {
  params: Readonly<Record<string, string>>;
  uses: number;
}

export interface DigestRequest {
  method: string;
  /** The path and query in the form in which they are sent. */
  uri: string;
  body: Uint8Array | undefined;
  username: string;
  password: string;
  /** The client's nonce, which is new for each request. */
  cnonce: string;
}

/** The most characters of the header. All headers of a response together are no longer. */
const MOST_CHARS = 16_384;

/**
 * Returns every challenge of a header, in order. Challenges that can't be parsed are left out. Source: RFC 9110
 * §11.6.1.
 */
export function parseChallenges(header: string): Challenge[] {
  const found: { scheme: string; params: Record<string, string> }[] = [];
  const token = /[\s,]*([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gy;
  const read = header.slice(0, MOST_CHARS);
  for (let match = token.exec(read); match !== null; match = token.exec(read)) {
    const [, name = "", quoted, plain] = match;
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain;
    if (value === undefined)
      found.push({ scheme: name.toLowerCase(), params: Object.create(null) as Record<string, string> });
    else {
      const last = found.at(-1);
      if (last) last.params[name.toLowerCase()] = value;
    }
  }
  return found;
}

/** Returns the strongest digest challenge that is supported. */
export function chooseDigest(challenges: readonly Challenge[]): Challenge | undefined {
  const usable = challenges.filter(
    ({ scheme, params }) =>
      scheme === "digest" && params["nonce"] !== undefined && hashOf(params["algorithm"]) !== undefined,
  );
  const order = Object.keys(HASHES);
  const rank = ({ params }: Challenge) => order.indexOf(plainAlgorithm(params["algorithm"]));
  return usable.toSorted((a, b) => rank(a) - rank(b))[0];
}

/**
 * Returns the `Authorization` header that answers a challenge, and counts the challenge's use. Source: RFC 7616 §3.4.
 */
export function digestHeader(nonce: DigestNonce, request: DigestRequest): string {
  const { realm = "", nonce: value = "", opaque, algorithm, qop: offered } = nonce.params;
  const hash = hashOf(algorithm) ?? md5;
  const { username, password, cnonce, method, uri, body } = request;
  const qops = offered?.split(",").map((word) => word.trim().toLowerCase());
  const qop =
    qops === undefined ? undefined : qops.includes("auth") || !qops.includes("auth-int") ? "auth" : "auth-int";
  const nc = (++nonce.uses).toString(16).padStart(8, "0");
  const secret = hash(`${username}:${realm}:${password}`);
  const a1 = algorithm?.toLowerCase().endsWith("-sess") ? hash(`${secret}:${value}:${cnonce}`) : secret;
  const a2 = hash(`${method}:${uri}${qop === "auth-int" ? `:${hash(body ?? "")}` : ""}`);
  const response = hash(qop === undefined ? `${a1}:${value}:${a2}` : `${a1}:${value}:${nc}:${cnonce}:${qop}:${a2}`);
  const isHashed = nonce.params["userhash"]?.toLowerCase() === "true";
  const fields = [
    `username=${quote(isHashed ? hash(`${username}:${realm}`) : username)}`,
    `realm=${quote(realm)}`,
    `uri=${quote(uri)}`,
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    `nonce=${quote(value)}`,
    ...(qop === undefined ? [] : [`nc=${nc}`, `cnonce=${quote(cnonce)}`, `qop=${qop}`]),
    `response=${quote(response)}`,
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(isHashed ? ["userhash=true"] : []),
  ];
  return `Digest ${fields.join(", ")}`;
}

type Hash = (text: string | Uint8Array) => string;

const md5: Hash = (text) => createHash("md5").update(text).digest("hex");

/** The supported hashes, the strongest first. */
const HASHES: Readonly<Record<string, Hash>> = {
  "sha-512-256": (text) => createHash("sha512-256").update(text).digest("hex"),
  "sha-256": (text) => createHash("sha256").update(text).digest("hex"),
  md5,
};

function plainAlgorithm(algorithm = "md5"): string {
  return algorithm.toLowerCase().replace(/-sess$/, "");
}

function hashOf(algorithm: string | undefined): Hash | undefined {
  const name = plainAlgorithm(algorithm);
  return Object.hasOwn(HASHES, name) ? HASHES[name] : undefined;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
