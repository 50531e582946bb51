import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import type { Source, SourceSpec } from "./contract.ts";

/** The server's dependencies for sources. Each source uses only the dependencies that it needs. */
export interface SourceRegistryOptions {
  /** Returns the folders that `filesystem` (and git by path) may read now. */
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder, which no source may read. */
  dataFolder: string;
  /** True = anyone can own a workspace on this server, so nothing on the machine itself can be connected. */
  isOpenToStrangers: boolean;
  /** Checks the addresses that connectors name. */
  guard: AddressGuard;
  /** The `PATH` in which programs such as git are found. */
  searchPath: string;
}

export type SourceRegistry = ReturnType<typeof makeSourceRegistry>;

/** Makes the registry of all source kinds. To add a source, add a folder and a line here: docs/add-a-source.md. */
export function makeSourceRegistry(options: SourceRegistryOptions) {
  const loaded = new Map<string, Promise<Source>>();
  const load = (providerId: string): Promise<Source> => {
    const known = loaded.get(providerId);
    if (known !== undefined) return known;
    const loader = LOADERS.get(providerId);
    if (loader === undefined) throw unknownProvider(providerId);
    const source = loader(options);
    loaded.set(providerId, source);
    return source;
  };
  return {
    /** Every kind, in order of importance. */
    providerIds: [...LOADERS.keys()],
    /**
     * Returns the source of this kind, which is loaded on first use.
     * @throws ApiError `provider_unknown` with the known kinds
     */
    get: async (providerId: string): Promise<Source> => load(providerId),
    /** Returns the source of this kind; undefined if there is none. */
    find: async (providerId: string): Promise<Source | undefined> =>
      LOADERS.has(providerId) ? load(providerId) : undefined,
    list: async (): Promise<Source[]> => Promise.all([...LOADERS.keys()].map(load)),
  };
}

/**
 * The configuration of a kind as JSON Schema, for forms and prompts. It describes the input, so values with defaults
 * are optional.
 */
export function configJsonSchema(spec: SourceSpec<unknown>): Record<string, unknown> {
  return z.toJSONSchema(spec.config, { io: "input" });
}

/** Returns a kind's capabilities besides `check`. Each method is a capability by its presence. */
export function capabilitiesOf(source: Source): ("sync" | "browse" | "content" | "push" | "scope")[] {
  return [
    ...(source.sessions === undefined ? [] : (["sync"] as const)),
    ...(source.browse === undefined ? [] : (["browse"] as const)),
    ...(source.fetchContent === undefined ? [] : (["content"] as const)),
    ...(source.inScope === undefined ? [] : (["scope"] as const)),
    ...(source.spec.auth.some(({ type }) => type === "key") ? (["push"] as const) : []),
  ];
}

type Loader = (options: SourceRegistryOptions) => Promise<Source>;

const LOADERS: ReadonlyMap<string, Loader> = new Map<string, Loader>([
  ["filesystem", async (options) => (await import("./filesystem/index.ts")).makeFilesystemSource(options)],
  ["git", async (options) => (await import("./git/index.ts")).makeGitSource(options)],
  ["webdav", async () => (await import("./webdav/index.ts")).makeWebdavSource()],
  ["s3", async () => (await import("./s3/index.ts")).makeS3Source()],
  ["web", async (options) => (await import("./web/index.ts")).makeWebSource(options)],
  ["gitea", async (options) => (await import("./gitea/index.ts")).makeGiteaSource(options)],
  ["github", async (options) => (await import("./github/index.ts")).makeGithubSource(options)],
  ["slack", async () => (await import("./slack/index.ts")).makeSlackSource()],
  ["matrix", async () => (await import("./matrix/index.ts")).makeMatrixSource()],
  ["google-drive", async () => (await import("./google-drive/index.ts")).makeGoogleDriveSource()],
  ["confluence", async () => (await import("./confluence/index.ts")).makeConfluenceSource()],
  ["notion", async () => (await import("./notion/index.ts")).makeNotionSource()],
  ["jira", async () => (await import("./jira/index.ts")).makeJiraSource()],
  ["imap", async () => (await import("./imap/index.ts")).makeImapSource()],
  ["mcp", async () => (await import("./mcp/index.ts")).makeMcpSource()],
  ["push", async () => (await import("./push/index.ts")).makePushSource()],
]);

function unknownProvider(providerId: string): ApiError {
  return new ApiError("provider_unknown", {
    message: `There is no source kind ${JSON.stringify(providerId.slice(0, 64))}. Known: ${[...LOADERS.keys()].join(", ")}.`,
    field: "providerId",
  });
}
