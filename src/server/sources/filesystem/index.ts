import { ApiError, isApiError } from "#api/errors.ts";
import type { Scope, Source, SourceContext } from "#server/ports/source.ts";
import { isSecretFile } from "#server/sources/file-scope/secret-files.ts";
import { browseFolders } from "./browse.ts";
import { FilesystemConfig, type Places } from "./config.ts";
import { isRestricted } from "./judge.ts";
import { mimeHintOf } from "./mime-hints.ts";
import { openFolderInside, openInside } from "./open-inside.ts";
import { openRoot } from "./root.ts";
import { compileScope, type CompiledScope } from "#server/sources/file-scope/scope.ts";
import { DEFAULT_BATCHING, maxFileBytes, syncFolder, type Batching, type FilesystemCursor } from "./sync.ts";

export interface FilesystemOptions extends Places {
  /** In managed mode the provider is off. */
  isManaged?: boolean;
  /** How much goes between two checkpoints. */
  batching?: Batching;
}

/** Folders of the server: every regular file below an allowed root is an item. Reads only when called. Source: S36. */
export function makeFilesystemSource(options: FilesystemOptions): Source<FilesystemConfig, FilesystemCursor> {
  const { batching = DEFAULT_BATCHING, isManaged = false } = options;
  const places: Places = {
    allowedRoots: async () => (isManaged ? [] : options.allowedRoots()),
    dataFolder: options.dataFolder,
  };
  const inScope = makeInScope();
  return {
    spec: {
      providerId: "filesystem",
      name: "Folder",
      kinds: ["file"],
      auth: "none",
      config: FilesystemConfig,
      acl: "connector",
    },
    check: (ctx) => checkRoot(ctx, places),
    sync: (ctx, run) => syncFolder(ctx, run, places, batching),
    async browse(ctx, at) {
      const root = await openRoot(ctx.config.root, places);
      const scope = compileScope({ include: [], exclude: [] });
      return browseFolders({ root, config: ctx.config, scope, isPrivate: isPrivate(ctx) }, at);
    },
    fetchContent: (ctx, item) => fetchFile(ctx, item.externalId, places),
    inScope: (scope, item) => inScope(scope, item.externalId),
    async unavailable() {
      if (isManaged) return "Folders of the server can't be connected in managed mode.";
      const roots = await places.allowedRoots();
      return roots.length > 0 ? undefined : "No folder may be read: KB_LOCAL_ROOTS names none.";
    },
  };
}

type Context = SourceContext<FilesystemConfig>;

async function checkRoot(ctx: Context, places: Places) {
  try {
    const root = await openRoot(ctx.config.root, places);
    await (await openFolderInside(root, "")).close();
    return { ok: true } as const;
  } catch (error) {
    if (!isApiError(error)) throw error;
    const problem = { code: error.code, message: error.message, field: error.field ?? "root" };
    return { ok: false, problem } as const;
  }
}

/** Asks again what the walk asked by policy: what became restricted since is not read for a wider connector. */
async function fetchFile(ctx: Context, externalId: string, places: Places) {
  const root = await openRoot(ctx.config.root, places);
  const fileName = externalId.slice(externalId.lastIndexOf("/") + 1);
  const file = await openInside(root, externalId);
  try {
    const isSecret = !ctx.config.secretFiles && isSecretFile(fileName);
    if (isSecret || isRestricted({ config: ctx.config, isPrivate: isPrivate(ctx) }, file.stats)) {
      throw new ApiError("source_not_found", { message: `${JSON.stringify(externalId)} is left out by policy.` });
    }
    const mimeType = mimeHintOf(fileName);
    const bytes = await file.read(maxFileBytes(ctx.config));
    return { bytes, fileName, ...(mimeType === undefined ? {} : { mimeType }) };
  } finally {
    await file.close();
  }
}

function isPrivate(ctx: Context): boolean {
  return ctx.connector.visibility === "private";
}

/** Remembers the last scope compiled: the engine asks for every stored item in a row. */
function makeInScope(): (scope: Scope, rel: string) => boolean {
  let last: { scope: Scope; compiled: CompiledScope } | undefined;
  return (scope, rel) => {
    if (last?.scope !== scope) last = { scope, compiled: compileScope(scope) };
    return !last.compiled.excludes(rel, false) && last.compiled.includes(rel);
  };
}
