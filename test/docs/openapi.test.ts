/** The published document against two validators of JSON Schema 2020-12, and the server against the document. */
import { readFileSync } from "node:fs";
import { registerSchema, validate, type Validator } from "@hyperjump/json-schema/draft-2020-12";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, test } from "vitest";
import { ROUTE_GROUPS } from "#api/index.ts";
import { PROTOCOL_ROUTES } from "#api/protocol-routes.ts";
import { Email, PersonName } from "#api/session.ts";
import { composeFeatures } from "../features.ts";
import { makeServer } from "../helpers.ts";
import { GOOD_BODIES } from "./good-bodies.ts";

interface Operation {
  parameters?: { name: string; schema: { pattern?: string } }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, Answer | { $ref: string }>;
}

interface Answer {
  content?: Record<string, { schema: object }>;
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; responses: Record<string, Answer> };
}

// The generator writes it in this shape.
const DOCUMENT = JSON.parse(readFileSync("docs/openapi.json", "utf8")) as OpenApi;
const BASE = "https://kb.test/openapi";
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);
const BODIES = OPERATIONS.flatMap(({ name, operation }) => {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema === undefined ? [] : [{ name, schema }];
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
// Its types are those of CommonJS: the function is the default of the default.
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

/** References lead to the components, which both validators know by this address. */
const COMPONENTS = `${BASE}/components`;
const COMPONENTS_SCHEMA = withReferences({ $id: COMPONENTS, $schema: DIALECT, $defs: DOCUMENT.components.schemas });
ajv.addSchema(COMPONENTS_SCHEMA);
registerSchema(COMPONENTS_SCHEMA as never, COMPONENTS, DIALECT);

function withReferences(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", `${COMPONENTS}#/$defs/`));
}

/** By their text: hundreds of answers name one schema of a problem. */
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
function compile(schema: object): ReturnType<typeof ajv.compile> {
  const key = JSON.stringify(schema);
  const known = compiled.get(key) ?? ajv.compile(withReferences(schema));
  compiled.set(key, known);
  return known;
}

function schemaOf(wanted: string): object {
  const found = BODIES.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`${wanted} takes no body.`);
  return found.schema;
}

/** Names and addresses, and whether they are good. */
const LINES: readonly (readonly ["name" | "address", string, boolean])[] = [
  ["name", "Anna Berger", true],
  ["name", "Bo O'Neill /u", true],
  ["name", "Ácme & Söhne 🌱 你好", true],
  ["name", "two\nlines", false],
  ["name", "nul\u0000l", false],
  ["name", "c1 \u0085 control", false],
  ["name", "soft\u00adhyphen", false],
  ["name", "zero\u200bwidth", false],
  ["name", "turned \u202e round", false],
  ["name", "line\u2028separator", false],
  ["name", "mark\ufeffed", false],
  ["name", "a".repeat(121), false],
  ["address", "anna@acme.test", true],
  ["address", "admin@localhost", true],
  ["address", "jürgen+a@bücher.test", true],
  ["address", "anna", false],
  ["address", "anna@acme.test,bo@acme.test", false],
  ["address", "anna @acme.test", false],
  ["address", "an\u200bna@acme.test", false],
  ["address", "anna@acme.test\u0000x", false],
];

const registered = new Map<string, Promise<Validator>>();
async function validateByHyperjump(schema: object, value: unknown): Promise<boolean> {
  const key = JSON.stringify(schema);
  let validator = registered.get(key);
  if (validator === undefined) {
    const uri = `${BASE}/${registered.size + 1}`;
    registerSchema(withReferences(schema) as never, uri, DIALECT);
    registered.set(key, (validator = validate(uri)));
  }
  return (await validator)(value as never).valid;
}

const VALIDATORS: readonly [string, (schema: object, value: unknown) => Promise<boolean>][] = [
  ["ajv", async (schema, value) => compile(schema)(value) === true],
  ["hyperjump", validateByHyperjump],
];

describe.each(VALIDATORS)("the document, to %s", (_name, fits) => {
  test("takes a good body of every operation, and no unknown key where the server takes none", async ({ expect }) => {
    expect(BODIES.map(({ name }) => name).toSorted()).toEqual(Object.keys(GOOD_BODIES).toSorted());
    const wrong: string[] = [];
    for (const { name, schema } of BODIES) {
      const good = GOOD_BODIES[name];
      if (!(await fits(schema, good))) wrong.push(`${name} refuses a good body`);
      const isOpen = /^POST \/(?:mcp|oauth\/(?:register|authorize))$/.test(name);
      const more = { ...(good as object), surprise: 1 };
      if ((await fits(schema, more)) !== isOpen) wrong.push(`${name} takes an unknown key`);
    }
    expect(wrong).toEqual([]);
  });

  test("takes and refuses the names and addresses that the server does", async ({ expect }) => {
    const profile = schemaOf("PATCH /api/profile");
    const reset = schemaOf("POST /api/password-reset");
    for (const [kind, value, isGood] of LINES) {
      const [schema, taken, body] =
        kind === "name" ? [profile, PersonName, { name: value }] : [reset, Email, { email: value }];
      expect([value, taken.safeParse(value).success, await fits(schema, body)]).toEqual([value, isGood, isGood]);
    }
  });

  test("fits its own examples", async ({ expect }) => {
    const examples = schemasWith("example");
    expect(examples.length).toBeGreaterThan(5);
    for (const schema of examples) expect([schema, await fits(schema, schema["example"])]).toEqual([schema, true]);
  });
});

test("every pattern of the document is one, with and without the flag u", ({ expect }) => {
  const patterns = [...new Set(schemasWith("pattern").map((schema) => String(schema["pattern"])))];
  expect(patterns.length).toBeGreaterThan(15);
  for (const pattern of patterns) {
    expect(() => new RegExp(pattern, "u")).not.toThrow();
    expect(() => new RegExp(pattern)).not.toThrow();
    expect(pattern).not.toMatch(/\/[dgimsuvy]+$/);
    expect(pattern).not.toMatch(/\\p\{/i);
  }
});

test("every operation lists what it may fail with, and nothing stands for the rest", ({ expect }) => {
  const groups = [...Object.values(ROUTE_GROUPS), ...Object.values(PROTOCOL_ROUTES)];
  const routes = groups.flatMap((group): { method: string; path: string }[] => Object.values(group));
  expect(new Set(OPERATIONS.map(({ name }) => name))).toEqual(
    new Set(routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`)),
  );
  for (const { name, operation } of OPERATIONS) {
    const statuses = Object.keys(operation.responses);
    expect([name, statuses]).toEqual([name, expect.arrayContaining(["400", "403", "429", "431", "500", "503"])]);
    expect([name, statuses.includes("default")]).toEqual([name, false]);
  }
});

test("the server answers every kind of request as the document says, status and body", async ({ expect }) => {
  const kb = await makeServer({ settings: { rateLimits: "off" } }, composeFeatures);
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId);
  const others = [kb.anyone(), kb.as(member), kb.withToken(await kb.token(owner))];
  const wrong: string[] = [];
  let checks = 0;
  for (const { name, operation } of OPERATIONS) {
    const [method = "", template = ""] = name.split(" ");
    // These need a socket of Node's own, or end what the other requests need.
    if (/^\/oauth\/(?:authorize|token|revoke|device_auth|jwks)|^\/api\/session/.test(template)) continue;
    const [first, ...rest] = requestsOf(name, template, operation);
    const sent = [...rest, first].map((one) => [kb.as(owner), one] as const);
    for (const [client, { path, request }] of [...others.map((client) => [client, first] as const), ...sent]) {
      const answer = await client.request(method, path, request);
      const problem = misfit(operation, answer);
      if (problem !== undefined) wrong.push(`${method} ${path}: ${problem}`);
      checks++;
    }
  }
  expect(wrong).toEqual([]);
  expect(checks).toBeGreaterThan(400);
});

type Sent = { path: string; request: { raw?: string; headers?: Record<string, string> } };

/** A request that fits, to a thing that is not there where the path names one; then ones that don't fit. */
function requestsOf(name: string, template: string, { parameters = [] }: Operation): [Sent, ...Sent[]] {
  const headers = { "content-type": "application/json" };
  const path = template.replaceAll(/\{(\w+)\}/g, (_match, key: string) => {
    const pattern = parameters.find((one) => one.name === key)?.schema.pattern;
    return `${/^\^(\w+_)/.exec(pattern ?? "")?.[1] ?? "con_"}2222222222222222`;
  });
  const body = GOOD_BODIES[name];
  const good = body === undefined ? {} : { raw: JSON.stringify(body), headers };
  const badBodies =
    body === undefined
      ? []
      : [
          { raw: "{", headers },
          { raw: "{}", headers: {} },
        ];
  return [
    { path, request: good },
    ...badBodies.map((request) => ({ path, request })),
    ...(path === template ? [] : [{ path: template.replaceAll(/\{\w+\}/g, "usr_1"), request: good }]),
    { path: `${path}?nope=1&limit=0&cursor=zzz`, request: good },
    { path: `${path}?cursor=zzz`, request: good },
  ];
}

/** What is wrong with an answer by the document; undefined when nothing is. */
function misfit(
  { responses }: Operation,
  { status, headers, json }: { status: number; headers: Headers; json?: unknown },
): string | undefined {
  const listed = responses[String(status)];
  if (listed === undefined) return `${status} is not listed ${JSON.stringify(json)}`;
  const answer = "$ref" in listed ? DOCUMENT.components.responses[listed.$ref.split("/").at(-1) ?? ""] : listed;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  if (type === "" && answer?.content === undefined) return undefined;
  const schema = answer?.content?.[type]?.schema;
  if (schema === undefined) return `${status} gives ${type}, which is not listed`;
  if (json === undefined) return undefined;
  const fits = compile(schema);
  return fits(json) ? undefined : `${status}: ${ajv.errorsText(fits.errors)}`;
}

function schemasWith(key: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  JSON.parse(JSON.stringify(DOCUMENT), (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && key in value && !("$ref" in value)) {
      found.push(value as Record<string, unknown>);
    }
    return value;
  });
  return found.filter((one) => typeof one[key] === "string" && "type" in one);
}

test("what an answer may have as null is null in the document too", ({ expect }) => {
  const { post } = DOCUMENT.paths["/api/connectors"] ?? {};
  const created = post?.responses["201"];
  const schema =
    created !== undefined && "content" in created ? created.content?.["application/json"]?.schema : undefined;
  const propertyOf = (of: object | undefined, name: string) =>
    (of as { properties?: Record<string, object> } | undefined)?.properties?.[name] ?? {};
  for (const nullable of [propertyOf(schema, "sync"), propertyOf(DOCUMENT.components.schemas["Sync"], "problem")]) {
    expect(compile({ $id: `${BASE}/${crypto.randomUUID()}`, ...nullable })(null)).toBe(true);
  }
});
