import { originOf } from "#sources/contract.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { SourceProblem } from "#api/common.ts";
import type { SourceCheck } from "./check.ts";
import { contextOf, type KitFixture } from "./fixture.ts";

export const fixtureGives: SourceCheck = {
  id: "fixture",
  title:
    "the fixture gives what the spec makes checkable: failures, and where permissions are mirrored people and changes",
  isReading: true,
  async run({ source, ...fixture }) {
    const { acl, auth } = source.spec;
    const needed: (keyof KitFixture)[] = [
      ...(acl === "connector" ? [] : (["changeAccess", "people", "whoSees"] as const)),
      ...(auth.every(({ type }) => type === "none") ? [] : (["fail"] as const)),
      ...(source.webhook ? (["notification"] as const) : []),
      ...(source.webhook?.subscribe ? (["subscriptions"] as const) : []),
    ];
    const missing = needed.filter((name) => !(name in fixture)).map((name) => `The fixture has no ${name}().`);
    const hasPeople = source.spec.hasPeople === true && source.syncIdentities !== undefined;
    return acl === "connector" || hasPeople
      ? missing
      : [...missing, `The source has acl "${acl}" and tells of no people.`];
  },
};

export const configSchema: SourceCheck = {
  id: "config-schema",
  title: "the configuration is a strict object whose JSON Schema explains each key",
  isReading: true,
  async run({ source }) {
    const schema = JsonObjectSchema.safeParse(z.toJSONSchema(source.spec.config, { io: "input" }));
    if (!schema.success) return ["The JSON Schema is no object with additionalProperties: false."];
    return Object.entries(schema.data.properties)
      .filter(([, property]) => property.title === undefined || property.description === undefined)
      .map(([key]) => `The key ${key} has no title or no description.`);
  },
};

export const credentials: SourceCheck = {
  id: "credentials",
  title: "a source that takes credentials says which, strictly, and for which origin they are",
  isReading: true,
  async run({ source, config }) {
    const { auth, credentials: schema } = source.spec;
    const ways = new Set(auth.map(({ type }) => type));
    if (!ways.has("credentials") && !ways.has("account")) return [];
    const faults: string[] = [];
    const origin = originOf(source, config);
    if (origin === undefined) faults.push("There is no originOf: a password would go wherever the config leads.");
    else if (!isOrigin(origin)) faults.push(`originOf gives ${origin}, which is no origin.`);
    if (!ways.has("credentials")) return faults;
    if (schema === undefined) return [...faults, "There is no schema of credentials."];
    const masked = JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
    if (!masked.includes('"format":"password"')) faults.push("No credential has the format password: all are shown.");
    if (schema.safeParse({ "kb-kit-no-such-credential": "x" }).success)
      faults.push("Any name of a credential is accepted.");
    return faults;
  },
};

export const checkOk: SourceCheck = {
  id: "check-ok",
  title: "check accepts what works",
  isReading: true,
  async run(fixture) {
    const answer = await fixture.source.check(contextOf(fixture));
    return answer.ok ? [] : [`check refused the good configuration: ${answer.problem.message}`];
  },
};

export const badConfig: SourceCheck = {
  id: "bad-config",
  title: "a bad configuration or credential is a typed problem, never a throw",
  isReading: true,
  async run(fixture) {
    const faults: string[] = [];
    if (fixture.badConfigs.length === 0) faults.push("The fixture names no bad configuration.");
    for (const bad of fixture.badConfigs) {
      const parsed = fixture.source.spec.config.safeParse(bad);
      if (parsed.success)
        faults.push(...(await refusalFaults({ ...fixture, config: parsed.data }, JSON.stringify(bad))));
    }
    const { badCredentials } = fixture;
    if (badCredentials !== undefined) {
      faults.push(...(await refusalFaults({ ...fixture, credentials: badCredentials }, "bad credentials")));
    }
    return faults;
  },
};

const JsonObjectSchema = z.object({
  type: z.literal("object"),
  additionalProperties: z.literal(false),
  properties: z.record(z.string(), z.object({ title: z.string().optional(), description: z.string().optional() })),
});

async function refusalFaults(fixture: KitFixture, what: string): Promise<string[]> {
  try {
    const answer = await fixture.source.check(contextOf(fixture));
    if (answer.ok) return [`check accepted ${what}.`];
    const problem = SourceProblem.safeParse(answer.problem);
    if (!problem.success) return [`The problem for ${what} is none: ${z.prettifyError(problem.error)}`];
    return problem.data.message === "" ? [`The problem for ${what} has no message.`] : [];
  } catch (error) {
    return [`check threw for ${what}: ${String(error)}`];
  }
}

/** An origin, or `scheme://host` of another protocol. */
function isOrigin(text: string): boolean {
  return canParseUrl(text) && !/[/?#]$/.test(text) && ["", "/"].includes(new URL(text).pathname);
}
