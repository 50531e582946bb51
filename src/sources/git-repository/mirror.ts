import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import type { SourceContext } from "#sources/context.ts";
import type { GitConfig } from "./config.ts";
import { importLocal } from "./import.ts";
import { type LocalPlaces, openLocal } from "./local.ts";
import { makeObjectReader } from "./objects.ts";
import { GitFailed, type GitProgram, runGit } from "./program.ts";
import { findRemoteRef, type RemoteRef, resolveLocal } from "./refs.ts";
import { parseRemote, type Remote } from "./remote.ts";
import { openTransport, type Transport } from "./transport.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

/** The machine's settings that the source needs. */
export interface GitEnvironment extends LocalPlaces {
  guard: AddressGuard;
  program: GitProgram;
  /** The folder of the mirrors, with one subfolder for each connector. */
  folder: string;
  askpass: string;
}

/** The bare mirror of a connector's repository, which is the only place where git runs. */
export type Mirror = Awaited<ReturnType<typeof openMirror>>;

/** The time limit for fetching a repository. */
const FETCH_MS = 2 * 3_600_000;
const ASK_MS = 60_000;
const LOCAL_MS = 600_000;
/** The most bytes of one mirror. A fetch that exceeds the limit is ended. */
const MAX_MIRROR_BYTES = 20 * 1024 ** 3;
/** The most packs in a mirror. Each incremental run adds one, and above the limit they are combined into one. */
const MAX_PACKS = 40;

/**
 * Opens the mirror of a connector, and creates it if needed. A mirror that was made for another URL or other limits is
 * recreated.
 */
export async function openMirror(
  environment: GitEnvironment,
  connectorId: string,
  config: GitConfig,
  signal: AbortSignal,
) {
  const folder = folderOf(environment, connectorId);
  const gitDir = join(folder, "mirror.git");
  const madeFor = JSON.stringify([MIRROR_VERSION, config.url, config.history, config.maxFileMb]);
  if ((await readText(join(folder, "made-for"))) !== madeFor) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await makeEmpty(environment, folder, "sha1", signal);
    await writeFile(join(folder, "made-for.new"), madeFor);
    await rename(join(folder, "made-for.new"), join(folder, "made-for"));
  }
  const run = (args: readonly string[]) => local(environment, args, signal, gitDir);
  const objects = makeObjectReader(environment.program, gitDir);
  return {
    gitDir,
    objects,
    /** Fetches the commit that the ref points at now. Undefined if the repository is empty. */
    async refresh(ctx: SourceContext<GitConfig>): Promise<{ ref: RemoteRef; commit: string } | undefined> {
      await clearRests(gitDir);
      await joinPacks(environment, gitDir, signal);
      const begin = async (ref: RemoteRef) => {
        if (await fitsObjects(environment, gitDir, ref, signal)) return;
        objects.close();
        await rm(gitDir, { recursive: true, force: true });
        await makeEmpty(environment, folder, formatOf(ref), signal);
      };
      const brought = await bring(environment, gitDir, ctx, begin).finally(() => forgetPromises(folder, gitDir));
      if (!brought) return undefined;
      const commit = (
        await run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${INCOMING}^{commit}`])
      ).trim();
      await run(["update-ref", TARGET, commit]);
      return { ref: brought, commit };
    },
    /** Returns true if the mirror contains the commit and its tree. */
    async has(commit: string): Promise<boolean> {
      if (!/^[0-9a-f]{40,64}$/.test(commit)) return false;
      return (await objects.info(`${commit}^{tree}`))?.type === "tree";
    },
    /**
     * Returns the commit from which the connector's stored files were read, as far as the mirror records it. The record
     * keeps the commit from garbage collection.
     */
    async base(): Promise<string | undefined> {
      const output = await runGit(environment.program, ["rev-parse", "--verify", "--quiet", "--end-of-options", BASE], {
        gitDir,
        signal,
        timeoutMs: ASK_MS,
      });
      return output.code === 0 ? output.stdout.toString("utf8").trim() : undefined;
    },
    setBase: async (commit: string): Promise<void> => void (await run(["update-ref", BASE, commit])),
    close: async (): Promise<void> => objects.close(),
  };
}

/**
 * Returns the folder of a connector's mirror, or of the mirror of one of its repositories.
 * @throws RangeError for an invalid id
 */
export function folderOf({ folder }: Pick<GitEnvironment, "folder">, connectorId: string): string {
  if (!/^con_[a-z0-9]+(?:\/r\d+)?$/.test(connectorId)) throw new RangeError("This is not a connector ID.");
  return join(folder, connectorId);
}

/**
 * Asks the remote which object its ref points at, without fetching anything.
 *
 * @throws ApiError the remote's failure; `source_not_found` for a branch that doesn't exist
 */
export async function askRemote(
  environment: GitEnvironment,
  ctx: SourceContext<GitConfig>,
): Promise<RemoteRef | undefined> {
  const remote = requireRemote(ctx.config);
  if (remote.type === "path") return resolveLocal(await openLocal(remote.path, environment), ctx.config.ref);
  const transport = await openTransport(ctx, remote, environment);
  try {
    return await findRemoteRef(transport, ctx.config.ref, ASK_MS);
  } finally {
    await transport.close();
  }
}

/** Returns the parsed address of a configuration. The schema has already validated it. */
export function requireRemote({ url }: Pick<GitConfig, "url">): Remote {
  const remote = parseRemote(url);
  if ("fault" in remote) throw new ApiError("connector_config_invalid", { message: remote.fault, field: "config.url" });
  return remote;
}

const MIRROR_VERSION = 1;
const INCOMING = "refs/kb/incoming";
const TARGET = "refs/kb/target";
const BASE = "refs/kb/base";

type ObjectFormat = "sha1" | "sha256";

/** Returns the hash function of a repository. All of its ids use the same one, which the length of an id shows. */
function formatOf({ oid }: RemoteRef): ObjectFormat {
  return oid.length === 64 ? "sha256" : "sha1";
}

async function makeEmpty(
  environment: GitEnvironment,
  folder: string,
  format: ObjectFormat,
  signal: AbortSignal,
): Promise<void> {
  const gitDir = join(folder, "mirror.git");
  await local(environment, ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, gitDir], signal);
  await copyFile(join(gitDir, "config"), join(folder, "config"));
}

async function fitsObjects(
  environment: GitEnvironment,
  gitDir: string,
  ref: RemoteRef,
  signal: AbortSignal,
): Promise<boolean> {
  return (await local(environment, ["rev-parse", "--show-object-format"], signal, gitDir)).trim() === formatOf(ref);
}

/** Fetches the ref's commit. `begin` prepares the mirror for the repository's hash function. */
async function bring(
  environment: GitEnvironment,
  gitDir: string,
  ctx: SourceContext<GitConfig>,
  begin: (ref: RemoteRef) => Promise<void>,
): Promise<RemoteRef | undefined> {
  const remote = requireRemote(ctx.config);
  if (remote.type === "path") {
    const repository = await openLocal(remote.path, environment);
    const ref = await resolveLocal(repository, ctx.config.ref);
    if (ref) await begin(ref);
    if (ref)
      await importLocal(repository, ref.oid, { program: environment.program, gitDir, ref: INCOMING }, ctx.signal);
    return ref;
  }
  const transport = await openTransport(ctx, remote, environment);
  try {
    const ref = await findRemoteRef(transport, ctx.config.ref, ASK_MS);
    if (ref) await begin(ref);
    if (ref) await fetchRef(environment, transport, ref, { gitDir, ctx });
    return ref;
  } finally {
    await transport.close();
  }
}

interface Fetching {
  gitDir: string;
  ctx: SourceContext<GitConfig>;
}

/**
 * Fetches a ref. The first time takes two steps: the newest commit with its files up to the size limit, and then the
 * history without any file. Later fetches take one step: the new commits since, with files up to the limit. A mirror
 * therefore contains each file once, without its past contents.
 */
async function fetchRef(
  environment: GitEnvironment,
  transport: Transport,
  ref: RemoteRef,
  fetching: Fetching,
): Promise<void> {
  const { gitDir, ctx } = fetching;
  const { history } = ctx.config;
  const known = await runGit(environment.program, ["rev-parse", "--verify", "--quiet", "--end-of-options", INCOMING], {
    gitDir,
    signal: ctx.signal,
    timeoutMs: ASK_MS,
  });
  if (known.code === 0 && known.stdout.toString("utf8").trim() === ref.oid) return;
  // The limit is one byte more, so that a file of exactly the configured size is read.
  const files = `--filter=blob:limit=${maxFileBytes(ctx.config) + 1}`;
  const watch = watchSize(gitDir);
  const signal = AbortSignal.any([ctx.signal, watch.signal]);
  const fetch = (...more: string[]) =>
    transport.run(["fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--update-shallow", ...more], {
      gitDir,
      timeoutMs: FETCH_MS,
      signal,
    });
  try {
    const isFirst = known.code !== 0;
    if (history === 0) {
      await fetch("--depth=1", files, "kb", `+${ref.name}:${INCOMING}`);
    } else if (isFirst) {
      await fetch("--depth=1", files, "kb", `+${ref.name}:refs/kb/first`);
      await fetch(`--depth=${history}`, "--filter=blob:none", "kb", `+${ref.name}:${INCOMING}`);
    } else {
      await fetch(files, "kb", `+${ref.name}:${INCOMING}`);
    }
  } finally {
    watch.stop();
  }
}

/** Watches the size of the fetched data, and ends the fetch if it is too much. */
function watchSize(gitDir: string): { signal: AbortSignal; stop(): void } {
  const ending = new AbortController();
  const check = async () => {
    if ((await sizeOf(join(gitDir, "objects", "pack"))) <= MAX_MIRROR_BYTES) return;
    const message = "The repository is larger than 20 GiB. Set history to 0, or a smaller largest file.";
    ending.abort(new ApiError("source_unavailable", { message, field: "history" }));
  };
  const timer = setInterval(() => void check(), 2_000);
  timer.unref();
  return { signal: ending.signal, stop: () => clearInterval(timer) };
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Removes lock files of a git that was killed, which would stop every later git. No other process works in the mirror.
 */
async function clearRests(gitDir: string): Promise<void> {
  const folders = ["", "refs/kb", "objects/pack", "objects/info"];
  for (const folder of folders) {
    for (const name of await readdir(join(gitDir, folder)).catch(() => [])) {
      const isRest = name.endsWith(".lock") || name.startsWith("tmp_") || name.startsWith(".tmp-");
      if (isRest) await rm(join(gitDir, folder, name), { force: true });
    }
  }
}

/**
 * Removes git's record of where left-out files could be fetched later. With the record, every later command would fetch
 * these files. Without it, they are simply missing.
 */
async function forgetPromises(folder: string, gitDir: string): Promise<void> {
  await copyFile(join(folder, "config"), join(gitDir, "config.lock"));
  await rename(join(gitDir, "config.lock"), join(gitDir, "config"));
}

async function joinPacks(environment: GitEnvironment, gitDir: string, signal: AbortSignal): Promise<void> {
  const names = await readdir(join(gitDir, "objects", "pack")).catch(() => []);
  if (names.filter((name) => name.endsWith(".pack")).length <= MAX_PACKS) return;
  // The option is set for this command only, because the missing files are missing on purpose.
  await local(environment, ["-c", "remote.kb.promisor=true", "repack", "-a", "-d", "-q"], signal, gitDir, FETCH_MS);
}

/** Runs a command that works only on the mirror's own files. @throws GitFailed */
async function local(
  { program }: GitEnvironment,
  args: readonly string[],
  signal: AbortSignal,
  gitDir?: string,
  timeoutMs = LOCAL_MS,
): Promise<string> {
  const output = await runGit(program, args, { ...defined({ gitDir }), signal, timeoutMs });
  if (output.code !== 0) throw new GitFailed(args, output);
  return output.stdout.toString("utf8");
}

async function readText(path: string): Promise<string | undefined> {
  // The file doesn't exist yet or is unreadable: the mirror is recreated.
  return readFile(path, "utf8").catch(() => undefined);
}
