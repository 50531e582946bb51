import { z } from "zod";
import { makeAddressGuard } from "#net/address-guard.ts";
import type { AccountSettings } from "#server/accounts/providers.ts";
import type { Source } from "#sources/contract.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, type TestServerOptions, type TestUser } from "../../helpers.ts";
import { fakeExtractor, item, listing } from "../sync/harness.ts";

/** A source in the form of Gitea that reads with an account: one item, for the users that `readers` names. */
export function forgeSource(readers: () => readonly string[]): Source {
  return {
    spec: {
      providerId: "gitea",
      name: "Gitea",
      kinds: ["file"],
      auth: [{ type: "account" }, { type: "none" }],
      config: z.strictObject({ baseUrl: z.string().meta({ fromAccount: "baseUrl" }) }),
      acl: "per_item",
      hasPeople: true,
    },
    originOf: (config) => new URL((config as { baseUrl: string }).baseUrl).origin,
    baseUrlOf: (config) => (config as { baseUrl: string }).baseUrl,
    check: async ({ http, config }) => {
      await http.request({ url: `${(config as { baseUrl: string }).baseUrl}/api/v1/user`, auth: true });
      return { ok: true };
    },
    sessions: scripted(async function* (context) {
      const { http, config } = context;
      await http.request({ url: `${(config as { baseUrl: string }).baseUrl}/api/v1/user`, auth: true });
      const one = item("a.md", "alpha");
      const access = { known: true, all: [readers()] } as const;
      yield* listing(() => [{ ...one, access }])(context);
    }),
    async *syncIdentities() {
      yield { t: "end", listing: "complete" };
    },
  };
}

/** The app with accounts at these providers, which are on loopback. */
export async function makeAccountServer(
  accounts: Record<string, AccountSettings>,
  {
    readers = () => [],
    isReachable = true,
    sources = [forgeSource(readers)],
    hosts = [],
    ...options
  }: TestServerOptions & {
    readers?: () => readonly string[];
    isReachable?: boolean;
    sources?: readonly Source[];
    /** What else is on loopback. */
    hosts?: readonly string[];
  } = {},
) {
  const urls = Object.values(accounts).flatMap(({ baseUrl, apiUrl }) => [baseUrl, apiUrl]);
  const privateHosts = urls.flatMap((url) => (url === undefined ? [] : [new URL(url).host]));
  const instances = Object.entries(accounts).flatMap(([providerId, { baseUrl }]) =>
    baseUrl === undefined ? [] : [{ providerId, baseUrl }],
  );
  const kb = await makeServer(
    {
      addressGuard: makeAddressGuard({
        lookup: () => Promise.resolve([]),
        privateHosts: isReachable ? [...privateHosts, ...hosts] : [],
        isOwn: () => false,
      }),
      ...options,
      settings: { accounts, instances, rateLimits: "off", ...options.settings },
    },
    (core, database) =>
      composeFeatures(core, database, {
        sources: {
          find: async (id) => sources.find(({ spec }) => spec.providerId === id),
          list: async () => [...sources],
        },
        extractor: fakeExtractor,
      }),
  );
  const owner = await kb.addOwner();
  const anna = await kb.addMember(owner.workspaceId, "member");
  const ben = await kb.addMember(owner.workspaceId, "member");
  const get = async (user: TestUser | undefined, path: string, headers: Record<string, string> = {}) => {
    const answer = await (user ? kb.as(user) : kb.anyone()).request("GET", path, { headers });
    return { ...answer, location: answer.headers.get("location") ?? "" };
  };
  return {
    ...kb,
    owner,
    anna,
    ben,
    worker: kb.deps.worker,
    go: get,
    /** The provider's address for this person. */
    async begin(user: TestUser, providerId: string, body: Record<string, string> = {}): Promise<string> {
      const { status, json, text } = await kb.as(user).post(`/api/accounts/${providerId}/authorize`, body);
      if (status !== 200) throw new Error(text);
      return json.url;
    },
    /** Says yes to who was found. */
    async accept(user: TestUser, location: string) {
      const id = /#found=(.+)$/.exec(location)?.[1];
      if (id === undefined) throw new Error(`No one was found: ${location}`);
      return kb.as(user).post("/api/accounts/confirm", { id, isAccepted: true });
    },
    accountsOf: async (user: TestUser) => (await kb.as(user).get("/api/accounts")).json.accounts,
  };
}
