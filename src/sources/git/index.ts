import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import type { Scope } from "#core/scope.ts";
import type { Source, SourceContext } from "#sources/contract.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { type CompiledScope, compileScope } from "#sources/file-scope/scope.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { type Batching, DEFAULT_BATCHING } from "#sources/git-repository/batch.ts";
import { browseRepository } from "./browse.ts";
import { GitConfig, GitCredentials } from "#sources/git-repository/config.ts";
import type { GitCursor } from "#sources/git-repository/cursor.ts";
import { toCheckProblem } from "#sources/git-repository/failures.ts";
import { COMMIT_PREFIX, isItemPath } from "#sources/git-repository/judge.ts";
import { askRemote, folderOf, type GitEnvironment, requireRemote } from "#sources/git-repository/mirror.ts";
import { makeObjectReader, type ObjectReader } from "#sources/git-repository/objects.ts";
import { runGit } from "#sources/git-repository/program.ts";
import { originOfRemote } from "#sources/git-repository/remote.ts";
import { syncRepository } from "#sources/git-repository/sync.ts";

export interface GitOptions {
  /** Folders that repositories of this machine may be in. */
  allowedRoots(): Promise<readonly string[]>;
  /** kb's own data folder: the mirrors are kept there. */
  dataFolder: string;
  isOpenToStrangers: boolean;
  guard: AddressGuard;
  /** `PATH`: where git and ssh are. */
  searchPath: string;
  batching?: Batching;
}

type Context = SourceContext<GitConfig>;

/**
 * Repositories: each file of one branch or tag is an item, with who changed it last. Works on a bare mirror of its own;
 * nothing of a repository is ever run. Source: S38.
 */
export function makeGitSource(options: GitOptions): Source<GitConfig, GitCursor> {
  const environment = makeEnvironment(options);
  const contents = makeContents(environment);
  const inScope = makeInScope();
  let browsed = 0;
  return {
    spec: {
      providerId: "git",
      name: "Git repository",
      kinds: ["file", "message"],
      auth: [{ type: "none" }, { type: "credentials", scheme: "git" }],
      config: GitConfig,
      // Every key is a string or absent, and absent ones are left out of JSON.
      credentials: GitCredentials as unknown as NonNullable<Source["spec"]["credentials"]>,
      acl: "connector",
    },
    async check(ctx) {
      try {
        refusePathOfTheServer(ctx, options);
        await environment.prepare();
        const ref = await askRemote(environment, ctx);
        return ref ? { ok: true } : { ok: true, warnings: ["The repository is empty."] };
      } catch (error) {
        return { ok: false, problem: toCheckProblem(error) };
      }
    },
    async *sync(ctx, run) {
      refusePathOfTheServer(ctx, options);
      await environment.prepare();
      const { batching = DEFAULT_BATCHING } = options;
      yield* syncRepository(ctx, run, { environment, batching });
    },
    async browse(ctx, at) {
      refusePathOfTheServer(ctx, options);
      await environment.prepare();
      return browseRepository(environment, ctx, at, `${process.pid}x${++browsed}`);
    },
    fetchContent: (ctx, item) => contents.read(ctx, item),
    inScope: (scope, { externalId }) => inScope(scope, externalId),
    childRules: makeChildRules,
    originOf: (config) => originOfRemote(requireRemote(config)),
    isForAdmins: (config, { hasCredentials }) => requireRemote(config).type === "path" || !hasCredentials,
    async forget(connectorId) {
      contents.close(connectorId);
      await rm(folderOf(environment, connectorId), { recursive: true, force: true });
    },
    unavailable: () => whyUnavailable(environment),
  };
}

/** The oldest git that reads names with line feeds safely and pins addresses. */
const OLDEST = [2, 38] as const;

async function whyUnavailable({ program }: GitEnvironment): Promise<string | undefined> {
  const { home: _home, ...rest } = program;
  const call = { signal: AbortSignal.timeout(10_000), timeoutMs: 5_000 };
  const output = await runGit({ ...rest, home: "/" }, ["--version"], call).catch(() => undefined);
  const [, major = "0", minor = "0"] = /^git version (\d+)\.(\d+)/.exec(output?.stdout.toString("utf8") ?? "") ?? [];
  if (output?.code !== 0) return "git is not installed here, or not in PATH.";
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  return isOld ? `git ${major}.${minor} is too old. kb needs ${OLDEST.join(".")} or newer.` : undefined;
}

function makeEnvironment({
  allowedRoots,
  dataFolder,
  guard,
  searchPath,
}: GitOptions): GitEnvironment & { prepare(): Promise<void> } {
  const folder = join(dataFolder, "git");
  const home = join(folder, "home");
  const askpass = join(folder, "askpass");
  return {
    allowedRoots,
    dataFolder,
    guard,
    program: { searchPath, home },
    folder,
    askpass,
    async prepare() {
      await mkdir(home, { recursive: true, mode: 0o700 });
      await writeFile(askpass, ASKPASS, { mode: 0o700 });
    },
  };
}

/** Hands on what waits at descriptors 3 (names) and 4 (words): it knows no secret itself. */
const ASKPASS = `#!/bin/sh
case "$1" in
  [Uu]sername*) IFS= read -r line <&3 ;;
  *) IFS= read -r line <&4 ;;
esac
printf '%s\\n' "$line"
`;

function refusePathOfTheServer({ config }: Context, { isOpenToStrangers }: GitOptions): void {
  if (!isOpenToStrangers || requireRemote(config).type !== "path") return;
  throw new ApiError("root_not_allowed", {
    message: "Local repositories can't be connected on a server with open sign-up.",
    field: "url",
  });
}

/** The contents of items, by one reader for each connector. */
function makeContents(environment: GitEnvironment) {
  const readers = new Map<string, ObjectReader>();
  const readerOf = (connectorId: string): ObjectReader => {
    const gitDir = join(folderOf(environment, connectorId), "mirror.git");
    const reader = readers.get(connectorId) ?? makeObjectReader(environment.program, gitDir);
    readers.set(connectorId, reader);
    return reader;
  };
  return {
    close(connectorId: string): void {
      readers.get(connectorId)?.close();
      readers.delete(connectorId);
    },
    async read(ctx: Context, { externalId, ref, version }: { externalId: string; ref?: string; version?: string }) {
      const fileName = externalId.slice(externalId.lastIndexOf("/") + 1);
      const isCommit = externalId.startsWith(COMMIT_PREFIX);
      const isAllowed = isItemPath(externalId) && (ctx.config.secretFiles || !isSecretFile(fileName));
      if (isCommit || !isAllowed) throw notFound(externalId);
      const name = ref ?? (await nameOf(environment, ctx, externalId));
      const bytes = await readerOf(ctx.connector.id).contents(name, Math.floor(ctx.config.maxFileMb * 1024 * 1024));
      if (!bytes) throw notFound(externalId);
      const mimeType = mimeHintOf(fileName);
      // What a reference names never changes.
      return { bytes, fileName, ...defined({ mimeType, version: ref === undefined ? undefined : version }) };
    },
  };
}

/** The object at a path of the newest commit that the mirror has. */
async function nameOf(environment: GitEnvironment, ctx: Context, path: string): Promise<string> {
  const gitDir = join(folderOf(environment, ctx.connector.id), "mirror.git");
  const args = ["ls-tree", "-z", "--full-tree", "refs/kb/target", "--", path];
  const output = await runGit(environment.program, args, { gitDir, signal: ctx.signal, timeoutMs: 30_000 }).catch(
    (cause: unknown) => {
      ctx.signal.throwIfAborted();
      throw notFound(path, cause);
    },
  );
  const [, mode, oid] = /^(100\d{3}) blob ([0-9a-f]{40,64})\t/.exec(output.stdout.toString("latin1")) ?? [];
  if (output.code !== 0 || mode === undefined || oid === undefined) throw notFound(path);
  return oid;
}

function notFound(externalId: string, cause?: unknown): ApiError {
  return new ApiError("source_not_found", {
    message: `This repository has no readable file ${JSON.stringify(externalId.slice(0, 200))}.`,
    cause,
  });
}

/** Remembers the last scope compiled: the engine asks for every stored item in a row. */
function makeInScope(): (scope: Scope, path: string) => boolean {
  let last: { scope: Scope; compiled: CompiledScope } | undefined;
  return (scope, path) => {
    if (path.startsWith(COMMIT_PREFIX)) return true;
    if (last?.scope !== scope) last = { scope, compiled: compileScope(scope) };
    return !last.compiled.excludes(path, false) && last.compiled.includes(path);
  };
}
