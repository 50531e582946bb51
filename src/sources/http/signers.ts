import { defined } from "#core/defined.ts";
import { randomBytes } from "node:crypto";
import { ApiError } from "#api/errors.ts";
import { expandTemplate } from "#core/url-template.ts";
import type { AccountTokens, AuthWay, CredentialScheme, RequestAuth } from "#sources/http-contract.ts";
import { chooseDigest, digestHeader, type DigestNonce, parseChallenges } from "./digest.ts";
import { type KeyHolder, readKeyFile } from "./key-file.ts";
import { appJwt, assertionJwt, type makeTokenCache, type MintedToken } from "./minted.ts";
import { sigV4Headers } from "./sigv4.ts";

export interface ToSign {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | undefined;
}

export interface Signed {
  headers: Record<string, string>;
  /**
   * The credential in the form that the server gets. Undefined if none was sent yet, because the server has to send a
   * challenge first.
   */
  used?: string;
}

/** Signs the requests of one credential. */
export interface Signer {
  sign(request: ToSign): Promise<Signed>;
  /** Called after a 401: returns whether another try can succeed. Called at most twice for a request. */
  renew(signed: Signed, origin: string, challenge: string): Promise<boolean>;
}

/** The state that the signers of one credential share, for all connectors with that credential. */
export interface SigningState {
  tokens: ReturnType<typeof makeTokenCache>;
  nonces: Map<string, DigestNonce | "basic">;
  refreshing: Map<string, Promise<string>>;
}

export interface SigningOptions {
  ways: readonly AuthWay[];
  credentials: Readonly<Record<string, string>>;
  account: AccountTokens | undefined;
  /** The values of the templates. */
  values: Readonly<Record<string, unknown>>;
  state: SigningState;
  now(): number;
  /** Requests a token. `make` builds the request for a time, which is the server's time if our clock is wrong. */
  mint(url: string, make: (now: number) => { headers: Record<string, string>; body?: string }): Promise<MintedToken>;
}

/**
 * Makes the signer of a request; undefined if the source is used without signing in.
 *
 * @throws ApiError `source_unauthorized` if there is no credential to sign with
 */
export function makeSigner(options: SigningOptions, auth: RequestAuth): Signer | undefined {
  const { ways, account, credentials } = options;
  const way = ways.find((each) => each.type === "account");
  if (way !== undefined && account !== undefined) return named(accountSigner(account, options.state), way, auth);
  const schemes = schemesFor(ways, credentials);
  const [first] = schemes;
  if (first !== undefined) return schemeSigner(first, schemes, options, auth);
  if (auth === true && ways.some(({ type }) => type === "none")) return undefined;
  throw new ApiError("source_unauthorized", { message: "There are no credentials for this.", field: "credentials" });
}

/** Returns the ways whose keys are all present. */
export function schemesFor(
  ways: readonly AuthWay[],
  credentials: Readonly<Record<string, string>>,
): Extract<AuthWay, { type: "credentials" }>[] {
  const has = (name: string) => Object.hasOwn(credentials, name) && credentials[name] !== "";
  return ways.flatMap((way) => (way.type === "credentials" && keysOf(way).every(has) ? [way] : []));
}

/** Returns the names of the credentials that a way requires. */
function keysOf(way: CredentialScheme): string[] {
  switch (way.scheme) {
    case "bearer":
      return [way.token];
    case "basic":
    case "digest":
      return [way.username, way.password];
    case "sigv4":
      return [way.accessKeyId, way.secretAccessKey];
    case "installation":
      return [way.appId, way.privateKey, way.installation];
    case "assertion":
      return [way.issuer, way.privateKey];
    case "key_file":
      return [way.key];
    case "git":
      return [];
  }
}

function schemeSigner(
  way: CredentialScheme,
  all: readonly CredentialScheme[],
  options: SigningOptions,
  auth: RequestAuth,
): Signer {
  const value = (name: string) => options.credentials[name] ?? "";
  switch (way.scheme) {
    case "bearer":
      return named(
        fixed({ [way.header ?? "authorization"]: `${way.prefix ?? "Bearer "}${value(way.token).trim()}` }),
        way,
        auth,
      );
    case "basic":
    case "digest": {
      const person = { username: value(way.username), password: value(way.password) };
      const schemes = new Set(all.map(({ scheme }) => scheme));
      if (!schemes.has("digest")) return named(fixed(basicHeaders(person)), way, auth);
      return named(challenged(person, schemes.has("basic"), options.state), way, auth);
    }
    case "sigv4":
      refuseSubject(auth);
      return sigV4Signer(way, options);
    case "installation":
      refuseSubject(auth);
      return installationSigner(way, options);
    case "assertion": {
      const holder = { issuer: value(way.issuer), privateKey: value(way.privateKey) };
      return assertionSigner(way, holder, options, subjectOf(auth));
    }
    case "key_file": {
      const subject =
        subjectOf(auth) ?? (way.subject === undefined ? undefined : value(way.subject).trim() || undefined);
      const scopes = auth !== true && "scopes" in auth ? auth.scopes : way.scopes;
      return assertionSigner({ ...way, scopes }, readKeyFile(value(way.key)), options, subject);
    }
    case "git":
      throw new Error("The git program signs in by itself.");
  }
}

/** Adds the header for requests on behalf of another user, if the source has such a header. */
function named(signer: Signer, { asHeader }: { asHeader?: string }, auth: RequestAuth): Signer {
  const subject = subjectOf(auth);
  if (subject === undefined) return signer;
  if (asHeader === undefined) refuseSubject(auth);
  return {
    ...signer,
    async sign(request) {
      const signed = await signer.sign(request);
      return { ...signed, headers: { ...signed.headers, [asHeader ?? ""]: subject } };
    },
  };
}

/** Returns the user on whose behalf a request is sent; undefined for the credential's own user. */
function subjectOf(auth: RequestAuth): string | undefined {
  return auth !== true && "as" in auth ? auth.as : undefined;
}

function refuseSubject(auth: RequestAuth): void {
  if (subjectOf(auth) !== undefined) throw new Error("This source's way to sign in speaks for no one else.");
}

function fixed(headers: Record<string, string>): Signer {
  return { sign: async () => ({ headers, used: "fixed" }), renew: async () => false };
}

function basicHeaders({ username, password }: { username: string; password: string }): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/**
 * Makes a signer that waits for a challenge, and then answers it in advance in every later request to the same origin.
 */
function challenged(
  person: { username: string; password: string },
  takesBasic: boolean,
  { nonces }: SigningState,
): Signer {
  return {
    async sign({ method, url, body }) {
      const known = nonces.get(url.origin);
      if (known === undefined) return { headers: {} };
      if (known === "basic") return { headers: basicHeaders(person), used: "basic" };
      const uri = `${url.pathname}${url.search}`;
      const cnonce = randomBytes(16).toString("base64url");
      const authorization = digestHeader(known, { ...person, method, uri, body, cnonce });
      return { headers: { authorization }, used: known.params["nonce"] ?? "" };
    },
    async renew({ used }, origin, challenge) {
      const challenges = parseChallenges(challenge);
      const digest = chooseDigest(challenges);
      // The server sent the same nonce again, so the nonce wasn't too old and the password is wrong.
      if (digest && digest.params["nonce"] !== used)
        return Boolean(nonces.set(origin, { params: digest.params, uses: 0 }));
      if (digest || !takesBasic || used === "basic" || !challenges.some(({ scheme }) => scheme === "basic"))
        return false;
      return Boolean(nonces.set(origin, "basic"));
    },
  };
}

function sigV4Signer(way: Extract<CredentialScheme, { scheme: "sigv4" }>, options: SigningOptions): Signer {
  const { credentials, values, now } = options;
  const session = way.sessionToken === undefined ? undefined : credentials[way.sessionToken];
  const keys = {
    accessKeyId: credentials[way.accessKeyId] ?? "",
    secretAccessKey: credentials[way.secretAccessKey] ?? "",
    service: way.service,
    region: expandTemplate(way.region, values),
    ...defined({ sessionToken: session }),
  };
  return {
    sign: async (request) => ({ headers: await sigV4Headers(keys, request, now()), used: "sigv4" }),
    renew: async () => false,
  };
}

function installationSigner(
  { appId, privateKey, installation, tokenUrl }: Extract<CredentialScheme, { scheme: "installation" }>,
  { credentials, values, state, mint }: SigningOptions,
): Signer {
  const url = expandTemplate(tokenUrl, { ...values, installation: credentials[installation] });
  return mintedSigner(url, state, () =>
    mint(url, (now) => {
      const jwt = appJwt(credentials[appId] ?? "", credentials[privateKey] ?? "", now);
      return { headers: { authorization: `Bearer ${jwt}`, accept: "application/json" } };
    }),
  );
}

function assertionSigner(
  { tokenUrl, scopes }: { tokenUrl: string; scopes: readonly string[] },
  { issuer, privateKey }: KeyHolder,
  { values, state, mint }: SigningOptions,
  subject: string | undefined,
): Signer {
  const url = expandTemplate(tokenUrl, values);
  return mintedSigner(JSON.stringify([url, subject, scopes]), state, () =>
    mint(url, (now) => {
      const assertion = assertionJwt({ issuer, tokenUrl: url, scopes, subject }, privateKey, now);
      const grant = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
      const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
      return { headers, body: grant.toString() };
    }),
  );
}

function mintedSigner(key: string, { tokens }: SigningState, mint: () => Promise<MintedToken>): Signer {
  return {
    async sign() {
      const token = await tokens.get(key, mint);
      return { headers: { authorization: `Bearer ${token}` }, used: token };
    },
    async renew({ used }) {
      if (used !== undefined) tokens.drop(key, used);
      return true;
    },
  };
}

function accountSigner(account: AccountTokens, { refreshing }: SigningState): Signer {
  return {
    async sign() {
      const token = await account.accessToken();
      return { headers: { authorization: `Bearer ${token}` }, used: token };
    },
    async renew({ used = "" }) {
      await refreshOnce(account, used, refreshing);
      return true;
    },
  };
}

/** Refreshes a token once, even if several requests were refused with it. */
async function refreshOnce(
  account: AccountTokens,
  stale: string,
  refreshing: SigningState["refreshing"],
): Promise<void> {
  const under = refreshing.get(account.key);
  if (under !== undefined) return void (await under);
  const made = account
    .accessToken()
    .then((current) => (current === stale ? account.refresh(stale) : current))
    .finally(() => refreshing.delete(account.key));
  refreshing.set(account.key, made);
  await made;
}
