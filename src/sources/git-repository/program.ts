import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { defined } from "#core/defined.ts";
import { startProgram } from "#core/spawn.ts";

/** The location of git, and the environment that git gets. */
export interface GitProgram {
  /** The `PATH`. */
  searchPath: string;
  /** An empty folder that git uses as the user's home. */
  home: string;
}

export interface GitCall {
  /** The mirror's git directory. Without it, the command has no repository. */
  gitDir?: string;
  /** Options before the command, each preceded by `-c`. */
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Input for stdin. A number is an open file. */
  input?: Uint8Array | string | number | undefined;
  /** True = stdin stays open for later requests. */
  keepStdin?: boolean;
  /** Lines for the file descriptors 3 and 4, which the askpass program prints. */
  secrets?: { names: string; words: string };
  signal: AbortSignal;
  timeoutMs: number;
  /** The most bytes of stdout. If there are more, the command is ended. */
  maxBytes?: number;
}

export interface GitOutput {
  code: number | null;
  stdout: Buffer;
  stderr: string;
  /** Why kb ended the command. */
  ended?: "timeout" | "too_much";
}

/**
 * Runs git and waits for its end.
 *
 * @throws the signal's reason if the signal is aborted
 */
export async function runGit(program: GitProgram, args: readonly string[], call: GitCall): Promise<GitOutput> {
  const child = startGit(program, args, call);
  let ended: GitOutput["ended"];
  const end = (why?: GitOutput["ended"]) => {
    ended ??= why;
    killGit(child);
  };
  const timer = setTimeout(() => end("timeout"), call.timeoutMs);
  const onAbort = () => end();
  call.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const [stdout, stderr, code] = await Promise.all([
      collect(child.stdout, call.maxBytes ?? MAX_STDOUT, () => end("too_much")),
      collect(child.stderr, MAX_STDERR),
      exitOf(child),
    ]);
    call.signal.throwIfAborted();
    return { code, stdout, stderr: stderr.toString("utf8"), ...(ended && { ended }) };
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Yields git's output as it arrives, split at every NUL.
 * @throws Error if git fails; the signal's reason if the signal is aborted
 */
export async function* readTokens(
  program: GitProgram,
  args: readonly string[],
  call: Omit<GitCall, "maxBytes">,
): AsyncGenerator<Buffer, void> {
  const child = startGit(program, args, call);
  const kill = () => killGit(child);
  const timer = setTimeout(kill, call.timeoutMs);
  call.signal.addEventListener("abort", kill, { once: true });
  const stderr = collect(child.stderr, MAX_STDERR);
  const exit = exitOf(child);
  let isOver = false;
  try {
    yield* cutAtNul(child.stdout);
    isOver = true;
    call.signal.throwIfAborted();
    const code = await exit;
    if (code !== 0)
      throw new GitFailed(args, { code, stdout: Buffer.alloc(0), stderr: (await stderr).toString("utf8") });
  } finally {
    if (!isOver) kill();
    clearTimeout(timer);
    call.signal.removeEventListener("abort", kill);
  }
}

/**
 * Starts git with the settings of every command here: no user settings, no hooks, no helpers, no work tree. Source:
 * S38.
 */
export function startGit(program: GitProgram, args: readonly string[], call: Omit<GitCall, "signal" | "timeoutMs">) {
  const { gitDir, options = [], env = {}, input, keepStdin = false, secrets } = call;
  const stdin = typeof input === "number" ? input : input === undefined && !keepStdin ? "ignore" : "pipe";
  const child = startProgram("git", [...SETTINGS, ...options, ...args], {
    cwd: program.home,
    env: { ...environment(program), ...defined({ GIT_DIR: gitDir }), ...env },
    // Git gets a separate process group, so that its helpers end with it, and no terminal for prompts.
    detached: true,
    stdio: [stdin, "pipe", "pipe", ...(secrets ? (["pipe", "pipe"] as const) : [])],
  });
  // If a write to stdin fails, the exit code reports the cause.
  child.stdin?.on("error", () => undefined);
  if (input !== undefined && typeof input !== "number") child.stdin?.end(input);
  if (secrets) {
    for (const [fd, lines] of [
      [3, secrets.names],
      [4, secrets.words],
    ] as const) {
      const pipe = child.stdio[fd];
      pipe?.on("error", () => undefined);
      if (pipe && "end" in pipe) pipe.end(lines);
    }
  }
  // With these stdio settings, both streams exist.
  return child as ChildProcess & { stdout: Readable; stderr: Readable };
}

function killGit({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The whole process group has already ended.
  }
}

/** The failure of a command that doesn't involve the remote. */
export class GitFailed extends Error {
  override readonly name = "GitFailed";
  readonly output: GitOutput;
  constructor(args: readonly string[], output: GitOutput) {
    super(`git ${args[0] ?? ""} failed (${output.code ?? output.ended ?? "killed"}): ${output.stderr.slice(0, 500)}`);
    this.output = output;
  }
}

const MAX_STDOUT = 64 * 1024 * 1024;
const MAX_STDERR = 64 * 1024;

function environment({ searchPath, home }: GitProgram): Record<string, string> {
  return {
    PATH: searchPath,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
    // No command uses the network unless its call allows the protocol.
    GIT_ALLOW_PROTOCOL: "",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CEILING_DIRECTORIES: home,
    GIT_SSH_COMMAND: "false",
  };
}

/** Faults in old repositories that git would refuse. Without a work tree they have no effect. */
const HARMLESS_FAULTS = [
  "badDate",
  "badDateOverflow",
  "badEmail",
  "badName",
  "badTimezone",
  "emptyName",
  "fullPathname",
  "gitattributesBlob",
  "gitattributesLarge",
  "gitattributesLineLength",
  "gitattributesMissing",
  "gitattributesSymlink",
  "gitignoreSymlink",
  "gitmodulesBlob",
  "gitmodulesLarge",
  "gitmodulesMissing",
  "gitmodulesName",
  "gitmodulesParse",
  "gitmodulesPath",
  "gitmodulesSymlink",
  "gitmodulesUpdate",
  "gitmodulesUrl",
  "hasDot",
  "hasDotdot",
  "hasDotgit",
  "mailmapSymlink",
  "missingEmail",
  "missingNameBeforeEmail",
  "missingSpaceBeforeDate",
  "missingSpaceBeforeEmail",
  "missingTaggerEntry",
  "multipleAuthors",
  "nullSha1",
  "zeroPaddedDate",
  "zeroPaddedFilemode",
] as const;

const SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "core.gitProxy=",
  "core.alternateRefsCommand=",
  "credential.helper=",
  "http.followRedirects=false",
  "http.proxy=",
  "http.sslVerify=true",
  "http.lowSpeedLimit=1",
  "http.lowSpeedTime=60",
  "protocol.version=2",
  "fetch.fsckObjects=true",
  "fetch.recurseSubmodules=false",
  "submodule.recurse=false",
  "fetch.writeCommitGraph=false",
  "fetch.unpackLimit=1",
  "fetch.uriProtocols=",
  "transfer.bundleURI=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "mailmap.file=",
  ...HARMLESS_FAULTS.map((fault) => `fetch.fsck.${fault}=ignore`),
].flatMap((setting) => ["-c", setting]);

async function collect(stream: Readable, maxBytes: number, onTooMuch?: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // A pipe without an encoding yields Buffers.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length + chunk.length > maxBytes) onTooMuch?.();
    if (length < maxBytes) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** Waits for the exit code; null if the process was killed. @throws Error if git can't be found */
function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code));
  });
}

/** Splits a stream at every NUL. The last token may lack its NUL. */
async function* cutAtNul(stream: Readable): AsyncGenerator<Buffer, void> {
  let rest: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, from)) {
      const part = chunk.subarray(from, at);
      yield rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
