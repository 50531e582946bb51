import { createHash, createHmac, generateKeyPairSync, verify } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { AccountTokens, AuthWay } from "#sources/http-contract.ts";
import { chooseDigest, digestHeader, parseChallenges } from "#sources/http/digest.ts";
import { sigV4Headers } from "#sources/http/sigv4.ts";
import { type Answer, connectTo, failing, type Got, makePool, say, SECRET, serve } from "./fixture.ts";

const BASIC: AuthWay = { type: "credentials", scheme: "basic", username: "user", password: "password" };
const DIGEST: AuthWay = { type: "credentials", scheme: "digest", username: "user", password: "password" };
const PERSON = { user: "Mufasa", password: "Circle of Life" };

describe("bearer and basic", () => {
  test.each<[AuthWay, Record<string, string>, string, string]>([
    [{ type: "credentials", scheme: "bearer", token: "t" }, { t: " abc\n" }, "authorization", "Bearer abc"],
    [
      { type: "credentials", scheme: "bearer", token: "t", prefix: "token " },
      { t: "abc" },
      "authorization",
      "token abc",
    ],
    [{ type: "credentials", scheme: "bearer", token: "t", header: "x-key", prefix: "" }, { t: "abc" }, "x-key", "abc"],
    [BASIC, { user: "zoë", password: "a:b" }, "authorization", `Basic ${Buffer.from("zoë:a:b").toString("base64")}`],
  ])("%o", async (way, credentials, header, value) => {
    const { http, server } = await connectTo(say(200), { auth: [way], credentials });
    await http.request({ url: `${server.origin}/x`, auth: true, headers: { [header.toUpperCase()]: "of the caller" } });
    expect(server.requests[0]?.headers[header]).toBe(value);
  });

  test("the first way is taken whose keys are there", async () => {
    const { http, server } = await connectTo(say(200), {
      auth: [{ type: "none" }, { type: "credentials", scheme: "bearer", token: "token" }, BASIC],
      credentials: { user: "a", password: "b" },
    });
    await http.request({ url: `${server.origin}/x`, auth: true });
    expect(server.authorizations()).toEqual([`Basic ${Buffer.from("a:b").toString("base64")}`]);
  });

  test("in the name of someone, where the source has a header for it and nowhere else", async () => {
    const sudo = { type: "credentials", scheme: "bearer", token: "token", asHeader: "sudo" } as const;
    const { http, server } = await connectTo(say(200), { auth: [sudo] });
    await http.request({ url: `${server.origin}/x`, auth: { as: "ada" } });
    expect(server.requests[0]?.headers).toMatchObject({ sudo: "ada", authorization: `Bearer ${SECRET}` });
    const plain = await connectTo(say(200));
    await expect(plain.http.request({ url: `${plain.server.origin}/x`, auth: { as: "ada" } })).rejects.toThrow(
      "no one else",
    );
    expect(plain.server.requests).toEqual([]);
  });

  test("a secret that no header can hold is told without it", async () => {
    const { http, server } = await connectTo(say(200), { credentials: { token: `${SECRET}\r\nx: y` } });
    const error = await http.request({ url: `${server.origin}/x`, auth: true }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(failing("source_unauthorized"));
    expect(JSON.stringify([error, String(error), (error as Error).cause])).not.toContain(SECRET);
    expect(server.requests).toEqual([]);
  });
});

/** The examples of RFC 7616 §3.9. */
const RFC = {
  realm: "http-auth@example.org",
  nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
  opaque: "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
  cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
};

describe("digest", () => {
  test.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ])("%s as RFC 7616 computes it", (algorithm, response) => {
    const params = { realm: RFC.realm, nonce: RFC.nonce, opaque: RFC.opaque, qop: "auth, auth-int", algorithm };
    const header = digestHeader(
      { params, uses: 0 },
      {
        method: "GET",
        uri: "/dir/index.html",
        body: undefined,
        username: PERSON.user,
        password: PERSON.password,
        cnonce: RFC.cnonce,
      },
    );
    expect(header).toContain(`response="${response}"`);
    expect(header).toContain("nc=00000001");
  });

  test("of RFC 2617, without qop, as older servers ask for it", () => {
    const params = { realm: "testrealm@host.com", nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093" };
    const request = {
      method: "GET",
      uri: "/dir/index.html",
      body: undefined,
      username: "Mufasa",
      password: "Circle Of Life",
      cnonce: "x",
    };
    expect(digestHeader({ params, uses: 0 }, request)).toContain('response="670fd8c2df070c60b045671b8b24ff02"');
    expect(digestHeader({ params: { ...params, qop: "auth" }, uses: 0 }, { ...request, cnonce: "0a4f113b" })).toContain(
      'response="6629fae49393a05397450978507c4ef1"',
    );
  });

  test("challenges are read however they are written, the strongest one is answered", () => {
    const header =
      'Basic realm="a, b=\\"c\\"", Digest realm="r", qop="auth", algorithm=MD5, nonce="n1", Digest realm=r,algorithm=SHA-256 , nonce="n2", Negotiate';
    expect(parseChallenges(header)).toEqual([
      { scheme: "basic", params: { realm: 'a, b="c"' } },
      { scheme: "digest", params: { realm: "r", qop: "auth", algorithm: "MD5", nonce: "n1" } },
      { scheme: "digest", params: { realm: "r", algorithm: "SHA-256", nonce: "n2" } },
      { scheme: "negotiate", params: {} },
    ]);
    expect(chooseDigest(parseChallenges(header))?.params["nonce"]).toBe("n2");
    expect(chooseDigest(parseChallenges('Digest nonce="x", algorithm=TOKEN'))).toBeUndefined();
  });

  test("any challenge is read, and none takes long", () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => void parseChallenges(text)));
    expect(parseChallenges("=,".repeat(50_000))).toEqual([]);
  });

  /** A server that checks digests; each nonce holds `uses` times. */
  function digestServer(uses: number, algorithm = "SHA-256"): Answer {
    let made = 0;
    const used = new Map<string, number>();
    const hash = (text: string) =>
      createHash(algorithm.startsWith("SHA") ? "sha256" : "md5")
        .update(text)
        .digest("hex");
    return ({ headers, method, path }, response) => {
      const [challenge] = parseChallenges(headers.authorization ?? "");
      const { nonce = "", nc = "", cnonce = "", response: given, uri } = challenge?.params ?? {};
      const a1 = hash(`${PERSON.user}:r:${PERSON.password}`);
      const secret = algorithm.endsWith("-sess") ? hash(`${a1}:${nonce}:${cnonce}`) : a1;
      const isRight =
        given === hash(`${secret}:${nonce}:${nc}:${cnonce}:auth:${hash(`${method}:${path}`)}`) && uri === path;
      const count = (used.get(nonce) ?? 0) + 1;
      if (isRight && nonce.startsWith("n") && count <= uses && Number.parseInt(nc, 16) === count) {
        used.set(nonce, count);
        return void response.end("in");
      }
      response.writeHead(401, {
        "www-authenticate": `Digest realm="r", qop="auth", algorithm=${algorithm}, nonce="n${++made}"`,
      });
      return void response.end();
    };
  }

  test.each(["MD5", "SHA-256", "MD5-sess", "SHA-256-sess"])(
    "%s against a server that checks: asked once, counted after",
    async (algorithm) => {
      const { http, server } = await connectTo(digestServer(3, algorithm), { auth: [DIGEST], credentials: PERSON });
      for (let i = 0; i < 7; i++) {
        expect((await http.request({ url: `${server.origin}/a`, query: { i }, auth: true })).text()).toBe("in");
      }
      // Asked at first, and whenever a nonce had been used three times.
      expect(server.requests.length).toBe(7 + 3);
      expect(server.authorizations()[0]).toBeUndefined();
    },
  );

  test("a wrong password ends after one answer to a challenge", async () => {
    const { http, server } = await connectTo(digestServer(9), {
      auth: [DIGEST],
      credentials: { ...PERSON, password: "no" },
    });
    await expect(http.request({ url: `${server.origin}/a`, auth: true })).rejects.toMatchObject(
      failing("source_unauthorized"),
    );
    expect(server.requests.length).toBe(3);
  });

  test("with basic as the other way, the server's challenge decides", async () => {
    const ways = { auth: [BASIC, DIGEST], credentials: PERSON };
    const digest = await connectTo(digestServer(9), ways);
    await digest.http.request({ url: `${digest.server.origin}/a`, auth: true });
    const basic = await connectTo(
      ({ headers }, response) =>
        void response
          .writeHead(headers.authorization?.startsWith("Basic ") ? 200 : 401, { "www-authenticate": 'Basic realm="x"' })
          .end(),
      ways,
    );
    for (let i = 0; i < 3; i++) await basic.http.request({ url: `${basic.server.origin}/a`, auth: true });
    expect([digest.server.requests.length, basic.server.requests.length]).toEqual([2, 4]);
    const no = await connectTo(say(401, "", { "www-authenticate": 'Basic realm="x"' }), ways);
    await expect(no.http.request({ url: `${no.server.origin}/a`, auth: true })).rejects.toMatchObject(
      failing("source_unauthorized"),
    );
    expect(no.server.requests.length).toBe(2);
  });
});

describe("AWS Signature Version 4", () => {
  const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
  const AT = Date.parse("2013-05-24T00:00:00Z");

  // Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, its examples.
  test.each([
    ["?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    ["?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  ])("is what AWS computes for its own example of GET %s", async (query, signature) => {
    const keys = {
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      region: "us-east-1",
      service: "s3",
    };
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${query}`);
    const headers = await sigV4Headers(keys, { method: "GET", url, headers: {}, body: undefined }, AT);
    expect(headers["authorization"]).toContain("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request");
    expect(headers["authorization"]).toContain(`Signature=${signature}`);
  });

  test("covers nothing that is rewritten on the way", async () => {
    const request = { method: "GET", url: new URL("https://b.test/k"), body: undefined };
    const headers = { "accept-encoding": "gzip, br", "user-agent": "kb", "x-amz-request-payer": "requester" };
    const keys = { accessKeyId: "a", secretAccessKey: "b", service: "s3", region: "auto" };
    const { authorization } = await sigV4Headers(keys, { ...request, headers }, 0);
    expect(authorization).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-request-payer,");
  });

  /** The signature again, from what a server gets. */
  function signatureOf({ method, path, headers, body }: Got): string {
    const hash = (text: string) => createHash("sha256").update(text).digest("hex");
    const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
    const encode = (text: string) =>
      encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const url = new URL(path, "http://x");
    const [, date = "", scope = "", names = ""] =
      /Credential=[^/]+\/(\d+)\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
    const query = [...url.searchParams]
      .map(([k, v]) => `${encode(k)}=${encode(v)}`)
      .sort()
      .join("&");
    const canonical = [
      method,
      // A key of S3 has slashes, however they were written.
      encode(decodeURIComponent(url.pathname)).replaceAll("%2F", "/"),
      query,
      ...names.split(";").map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
      "",
      names,
      hash(body),
    ].join("\n");
    const text = `AWS4-HMAC-SHA256\n${String(headers["x-amz-date"])}\n${date}/${scope}\n${hash(canonical)}`;
    const [region = "", service = ""] = scope.split("/");
    const key = mac(mac(mac(mac(`AWS4${KEYS.secretAccessKey}`, date), region), service), "aws4_request");
    return mac(key, text).toString("hex");
  }

  test("holds for any path, query and body, as a server that checks sees them", async () => {
    const way: AuthWay = {
      type: "credentials",
      scheme: "sigv4",
      accessKeyId: "id",
      secretAccessKey: "key",
      sessionToken: "session",
      service: "s3",
      region: "{region}",
    };
    const credentials = { id: KEYS.accessKeyId, key: KEYS.secretAccessKey, session: "temporary" };
    const server = await serve((got, response) => void response.end(signatureOf(got)));
    const { open } = makePool([server]);
    const { http } = open({
      servers: [server],
      auth: [way],
      credentials,
      config: { url: server.origin, region: "eu-west-1" },
    });
    const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => !/^\.+$/.test(text));
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 3 }),
        fc.dictionary(part, part, { maxKeys: 3 }),
        fc.string(),
        async (path, query, body) => {
          const url = `${server.origin}/${path.map(encodeURIComponent).join("/")}`;
          const answer = await http.request({ method: "PUT", url, query, body, auth: true });
          const got = server.requests.at(-1);
          expect(got?.headers.authorization).toContain(`Signature=${answer.text()}`);
          expect(got?.headers["x-amz-security-token"]).toBe("temporary");
        },
      ),
      { numRuns: 60 },
    );
  });
});

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = privateKey.export({ type: "pkcs1", format: "pem" }).toString();

/** The claims of a JWT whose signature holds. */
function claimsOf(jwt: string): Record<string, unknown> {
  const [head = "", claims = "", signature = ""] = jwt.split(".");
  const isRight = verify(
    "RSA-SHA256",
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  if (!isRight) throw new Error("The signature is wrong.");
  return JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
}

describe("minted tokens", () => {
  const INSTALLATION: AuthWay = {
    type: "credentials",
    scheme: "installation",
    appId: "app",
    privateKey: "pem",
    installation: "installation",
    tokenUrl: "{+url}/app/installations/{installation}/access_tokens",
  };
  const credentials = { app: "12345", pem: PEM, installation: "42" };

  test("of an installation: one for all who ask at once, and a new one a minute before its end or when it is refused", async () => {
    let minted = 0;
    const dead = new Set<string>();
    const server = await serve(({ path, headers }, response) => {
      if (path === "/app/installations/42/access_tokens") {
        const expires_at = new Date(clock.now + 3_600_000).toISOString();
        return void response.writeHead(201).end(JSON.stringify({ token: `t${++minted}`, expires_at }));
      }
      return void response.writeHead(dead.has(headers.authorization ?? "") ? 401 : 200).end();
    });
    const { open, clock } = makePool([server]);
    const [one, two] = [
      open({ servers: [server], auth: [INSTALLATION], credentials }),
      open({ servers: [server], auth: [INSTALLATION], credentials }),
    ];
    const ask = ({ http }: typeof one) => http.request({ url: `${server.origin}/x`, auth: true });
    await Promise.all([ask(one), ask(two), ask(one), ask(two)]);
    expect(minted).toBe(1);
    const { iat, exp, iss } = claimsOf(server.authorizations()[0]?.replace("Bearer ", "") ?? "");
    expect([iat, exp, iss]).toEqual([clock.now / 1_000 - 60, clock.now / 1_000 + 540, "12345"]);
    clock.now += 58 * 60_000;
    await ask(one);
    expect(minted).toBe(1);
    clock.now += 61_000;
    await ask(two);
    expect(minted).toBe(2);
    dead.add("Bearer t2");
    await Promise.all([ask(one), ask(two)]);
    expect(minted).toBe(3);
    dead.add("Bearer t3").add("Bearer t4");
    await expect(ask(one)).rejects.toMatchObject(failing("source_unauthorized"));
    expect(minted).toBe(4);
  });

  test.each([-2, 3])("a clock that is %d hours off costs a second try, and no new key", async (hours) => {
    let minted = 0;
    const server = await serve(({ path, headers }, response) => {
      const now = clock.now + hours * 3_600_000;
      response.setHeader("date", new Date(now).toUTCString());
      if (!path.endsWith("/access_tokens")) return void response.writeHead(200).end();
      const { iat, exp } = claimsOf(headers.authorization?.replace("Bearer ", "") ?? "");
      const isInTime = Number(iat) * 1_000 <= now && Number(exp) * 1_000 > now && Number(exp) * 1_000 <= now + 600_000;
      if (!isInTime) return void response.writeHead(401).end('{"message":"exp"}');
      const expires_at = new Date(now + 3_600_000).toISOString();
      response.writeHead(201).end(JSON.stringify({ token: `t${++minted}`, expires_at }));
    });
    const { open, clock } = makePool([server]);
    const { http } = open({ servers: [server], auth: [INSTALLATION], credentials });
    const ask = () => http.request({ url: `${server.origin}/x`, auth: true });
    await ask();
    clock.now += 50 * 60_000;
    await ask();
    expect(minted).toBe(1);
    clock.now += 11 * 60_000;
    await ask();
    expect(minted).toBe(2);
    const refused = await connectTo(
      (_got, response) => {
        response.setHeader("date", new Date(refused.clock.now + hours * 3_600_000).toUTCString());
        response.writeHead(401).end();
      },
      { auth: [INSTALLATION], credentials },
    );
    await expect(refused.http.request({ url: `${refused.server.origin}/x`, auth: true })).rejects.toMatchObject({
      code: "source_unauthorized",
      message: expect.stringContaining(`clock is ${Math.abs(hours) * 60} minutes off`),
    });
    expect(refused.server.requests.length).toBe(2);
  });

  test.each([400, 401, 403, 404])(
    "a mint that is refused with %d is a matter of the credentials, told without the key",
    async (status) => {
      const { http, server } = await connectTo(say(status, PEM), { auth: [INSTALLATION], credentials });
      const error = await http.request({ url: `${server.origin}/x`, auth: true }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject(failing("source_unauthorized"));
      expect(server.requests.length).toBe(1);
      const bad = await connectTo(say(200), { auth: [INSTALLATION], credentials: { ...credentials, pem: SECRET } });
      const unusable = await bad.http
        .request({ url: `${bad.server.origin}/x`, auth: true })
        .catch((thrown: unknown) => thrown);
      expect(unusable).toMatchObject(failing("source_unauthorized"));
      for (const each of [error, unusable])
        expect(`${JSON.stringify(each)} ${String(each)}`).not.toMatch(/PRIVATE KEY|kb-canary/);
    },
  );

  test("of a service account: each subject has a token of its own", async () => {
    const way: AuthWay = {
      type: "credentials",
      scheme: "assertion",
      issuer: "issuer",
      privateKey: "pem",
      tokenUrl: "{+url}/token",
      scopes: ["files.read", "users.read"],
    };
    const server = await serve(({ path, body }, response) => {
      const jwt = path === "/token" ? new URLSearchParams(body).get("assertion") : null;
      const { sub = "itself" } = jwt === null ? {} : claimsOf(jwt);
      response.end(jwt === null ? "" : JSON.stringify({ access_token: `of-${String(sub)}`, expires_in: 3_600 }));
    });
    const { open } = makePool([server]);
    const { http } = open({ servers: [server], auth: [way], credentials: { issuer: "kb@corp.test", pem: PEM } });
    for (const auth of [true, { as: "ada@corp.test" }, { as: "bob@corp.test" }, { as: "ada@corp.test" }] as const) {
      await http.request({ url: `${server.origin}/x`, auth });
    }
    const used = server.requests.filter(({ path }) => path === "/x").map(({ headers }) => headers.authorization);
    expect(used).toEqual([
      "Bearer of-itself",
      "Bearer of-ada@corp.test",
      "Bearer of-bob@corp.test",
      "Bearer of-ada@corp.test",
    ]);
    expect(server.requests.length).toBe(4 + 3);
    expect(claimsOf(new URLSearchParams(server.requests[0]?.body).get("assertion") ?? "")).toMatchObject({
      iss: "kb@corp.test",
      scope: "files.read users.read",
      aud: `${server.origin}/token`,
    });
  });
});

test("a key file's account signs for its subject, with scopes apart, and where its own file would send it nothing goes", async () => {
  const way: AuthWay = {
    type: "credentials",
    scheme: "key_file",
    key: "key",
    subject: "subject",
    tokenUrl: "{+url}/token",
    scopes: ["files.read"],
  };
  const server = await serve(({ path, body }, response) => {
    const jwt = path === "/token" ? new URLSearchParams(body).get("assertion") : null;
    const { sub = "itself", scope = "" } = jwt === null ? {} : claimsOf(jwt);
    if (scope === "users.read") return void response.writeHead(401).end();
    response.end(jwt === null ? "" : JSON.stringify({ access_token: `of-${String(sub)}`, expires_in: 3_600 }));
  });
  const elsewhere = await serve(say(200, { access_token: "stolen" }));
  const key = JSON.stringify({
    client_email: "kb@corp.test",
    private_key: PEM,
    token_uri: `${elsewhere.origin}/token`,
  });
  const { open } = makePool([server, elsewhere]);
  const given = { servers: [server], auth: [way] };
  const { http } = open({ ...given, credentials: { key, subject: "ada@corp.test" } });
  const url = `${server.origin}/x`;
  await http.request({ url, auth: true });
  // A scope that was not granted takes nothing else with it.
  await expect(http.request({ url, auth: { scopes: ["users.read"] } })).rejects.toMatchObject({
    code: "source_unauthorized",
  });
  await http.request({ url, auth: true });
  await open({ ...given, credentials: { key } }).http.request({ url, auth: true });
  const used = server.requests.filter(({ path }) => path === "/x").map(({ headers }) => headers.authorization);
  expect(used).toEqual(["Bearer of-ada@corp.test", "Bearer of-ada@corp.test", "Bearer of-itself"]);
  expect(elsewhere.requests).toEqual([]);
  const broken = open({ ...given, credentials: { key: "kb-canary-no-json" } }).http.request({ url, auth: true });
  await expect(broken).rejects.toMatchObject({
    code: "source_unauthorized",
    message: expect.not.stringContaining("canary"),
  });
});

describe("an account", () => {
  function makeAccount(refresh: (stale: string) => string, origins: readonly string[] = []) {
    const refreshed: string[] = [];
    let token = "t0";
    const account: AccountTokens = {
      key: "acc_1",
      origins,
      accessToken: async () => token,
      async refresh(stale) {
        refreshed.push(stale);
        await new Promise((resolve) => setImmediate(resolve));
        token = refresh(stale);
        return token;
      },
    };
    return { account, refreshed };
  }

  test("is refreshed once, however many of its requests were refused", async () => {
    const server = await serve(
      ({ headers }, response) => void response.writeHead(headers.authorization === "Bearer t1" ? 200 : 401).end(),
    );
    const { account, refreshed } = makeAccount(() => "t1", [server.origin]);
    const { open } = makePool([server]);
    const given = { servers: [server], auth: [{ type: "account" }] as const, credentials: {}, account };
    const [one, two] = [open(given), open(given)];
    const ask = ({ http }: typeof one) => http.request({ url: `${server.origin}/x`, auth: true });
    await Promise.all([ask(one), ask(two), ask(one), ask(two)]);
    await ask(one);
    expect(refreshed).toEqual(["t0"]);
  });

  test("that is refused after its refresh, or can't be refreshed, is unauthorized", async () => {
    const server = await serve(say(401));
    const { account, refreshed } = makeAccount((stale) => `${stale}x`, [server.origin]);
    const signedBy = { servers: [server], auth: [{ type: "account" }] as const, credentials: {} };
    const { http } = makePool([server]).open({ ...signedBy, account });
    await expect(http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_unauthorized"),
    );
    expect([refreshed, server.requests.length]).toEqual([["t0"], 2]);
    const ended = makeAccount(() => {
      throw new ApiError("source_unauthorized", { message: "The account was disconnected." });
    }, [server.origin]);
    const other = makePool([server]).open({ ...signedBy, account: ended.account });
    await expect(other.http.request({ url: `${server.origin}/x`, auth: true })).rejects.toThrow("was disconnected");
  });
});
