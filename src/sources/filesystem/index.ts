import { notFound } from "#sources/errors.ts";
import { type CheckOutcome, runCheck } from "#sources/check.ts";
import { defined } from "#core/defined.ts";
import { EVERYTHING } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import type { Batching } from "#sources/session.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { browseFolder } from "./browse.ts";
import { countFiles } from "./count.ts";
import { FilesystemConfig, type Places } from "./config.ts";
import { isLeftOut } from "./judge.ts";
import { versionRead } from "./map.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { lastSegmentOf, plainPath, readableSegment } from "#sources/file-scope/paths.ts";
import { openFolderInside, openInside } from "./open-inside.ts";
import { openRoot, type RootFolder } from "./root.ts";
import { compileScope, makeInScope } from "#sources/file-scope/scope.ts";
import { filesystemSessions } from "./sync.ts";
import { watchFolder, type WatchTuning } from "./watch.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

export interface FilesystemOptions extends Places {
  /** True = anyone can own a workspace on this server, so the provider is disabled. */
  isOpenToStrangers?: boolean;
  /** How much is processed between two checkpoints. */
  batching?: Partial<Batching>;
  watching?: WatchTuning;
}

/**
 * Makes the source for folders of the server: every regular file below an allowed root is an item. Nothing is read
 * before a method is called. Source: S36.
 */
export function makeFilesystemSource(options: FilesystemOptions): Source<FilesystemConfig> {
  const { batching = {}, isOpenToStrangers = false } = options;
  const places: Places = {
    allowedRoots: async () => (isOpenToStrangers ? [] : options.allowedRoots()),
    dataFolder: options.dataFolder,
  };
  const inScope = makeInScope();
  const roots = makeSharedRoots(places);
  return {
    spec: {
      providerId: "filesystem",
      name: "Folder",
      kinds: ["file", "message"],
      auth: [{ type: "none" }],
      config: FilesystemConfig,
      acl: "connector",
    },
    check: (ctx) => checkRoot(ctx, places),
    sessions: { ...filesystemSessions(places), batching },
    async browse(ctx, at) {
      const root = await openRoot(ctx.config.root, places);
      const scope = compileScope(EVERYTHING);
      return browseFolder({ root, config: ctx.config, scope, isPrivate: isPrivate(ctx) }, at);
    },
    fetchContent: (ctx, item) => roots.withRoot(ctx, (root) => fetchFile(ctx, item, root)),
    watch: (ctx, scope, listener) => watchFolder(ctx, scope, places, listener, options.watching),
    inScope: (scope, item) => inScope(scope, item.externalId),
    async countAdded(ctx, { from, to }) {
      const root = await openRoot(ctx.config.root, places);
      const options = { root, config: ctx.config, scope: compileScope(to), isPrivate: isPrivate(ctx) };
      const items = await countFiles(options, ctx.signal, (rel) => !inScope(from, rel));
      // Counting needs no requests, since the files are on this machine.
      return items === undefined ? undefined : { items, calls: 0 };
    },
    childRules: makeChildRules,
    placeOf: ({ root }) => root,
    async unavailable() {
      if (isOpenToStrangers) return "Local folders can't be connected on a server with open sign-up.";
      const roots = await places.allowedRoots();
      return roots.length > 0
        ? undefined
        : "No folder is allowed yet. The operator allows one on the server: kb roots add PATH";
    },
  };
}

type Context = SourceContext<FilesystemConfig>;

function checkRoot(ctx: Context, places: Places): Promise<CheckOutcome> {
  return runCheck(ctx, { otherwise: { field: "root" } }, async () => {
    const root = await openRoot(ctx.config.root, places);
    await (await openFolderInside(root, "")).close();
    return { warnings: [] };
  });
}

/** Larger files are read in chunks. */
const IN_ONE_PIECE_BYTES = 1024 * 1024;

/**
 * Reads a file after repeating the walk's policy checks: a file that was restricted after the walk isn't read for a
 * connector with more readers than its owner.
 */
async function fetchFile(
  ctx: Context,
  { externalId, version }: { externalId: string; version?: string },
  root: RootFolder,
) {
  const name = lastSegmentOf(externalId);
  const fileName = readableSegment(name);
  const file = await openInside(root, externalId);
  const most = maxFileBytes(ctx.config);
  let isOver = true;
  try {
    const isSecret = !ctx.config.secretFiles && isSecretFile(plainPath(name));
    if (isSecret || isLeftOut({ config: ctx.config, isPrivate: isPrivate(ctx) }, file.stats)) {
      throw notFound(`${JSON.stringify(externalId)} is left out by the connector's settings.`);
    }
    const mimeType = mimeHintOf(fileName);
    const notify = () => {
      const read = version === undefined ? undefined : versionRead(file.stats, ctx.now(), version);
      return { fileName, ...defined({ mimeType, version: read }) };
    };
    if (file.stats.size <= IN_ONE_PIECE_BYTES) return { bytes: await file.read(most), ...notify() };
    isOver = false;
    return { stream: file.pieces(most), ...notify() };
  } finally {
    if (isOver) await file.close();
  }
}

/** The number of files that share one check of their root, and how long the check is valid. */
const FILES_PER_CHECK = 64;
const CHECK_MS = 1_000;

/**
 * Shares one check of the root among files that are read for one purpose, such as a sync, since the check takes more
 * system calls than reading a small file. Reads with the same signal share a check. Another sync, or a single file that
 * is read, gets a separate check. The check that each file is inside the root is never shared (`open-inside.ts`).
 */
function makeSharedRoots(places: Places) {
  const checks = new WeakMap<AbortSignal, { of: string; root: Promise<RootFolder>; at: number; begun: number }>();
  return {
    async withRoot<Result>({ signal, config, now }: Context, use: (root: RootFolder) => Promise<Result>) {
      const at = now();
      let check = checks.get(signal);
      const isOver = !check || check.begun >= FILES_PER_CHECK || Math.abs(at - check.at) > CHECK_MS;
      if (!check || isOver || check.of !== config.root) {
        check = { of: config.root, root: openRoot(config.root, places), at, begun: 0 };
        checks.set(signal, check);
      }
      check.begun += 1;
      const root = await check.root.catch((error: unknown) => {
        checks.delete(signal);
        throw error;
      });
      return use(root);
    },
  };
}

function isPrivate(ctx: Context): boolean {
  return ctx.connector.visibility === "private";
}
