import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { startProgram } from "#core/spawn.ts";
import type { AddressGuard, PinnedAddress } from "#net/address-guard.ts";
import type { SourceContext } from "#sources/context.ts";
import type { GitConfig } from "./config.ts";
import { remoteFailure, type Talk } from "./failures.ts";
import { KNOWN_HOST_KEYS } from "./host-keys.ts";
import { type GitCall, type GitOutput, type GitProgram, runGit } from "./program.ts";
import type { Remote } from "./remote.ts";

/** A connection to one remote, whose address is checked and pinned. The caller closes it. */
export type Transport = Awaited<ReturnType<typeof openTransport>>;

export interface TransportDeps {
  program: GitProgram;
  guard: AddressGuard;
  /** A temporary folder for files that are needed as long as the transport is open. */
  folder: string;
  /** The askpass program, which prints the lines of file descriptors 3 and 4. */
  askpass: string;
}

/**
 * Opens a connection to a remote. The address is resolved and checked once, and pinned for every connection. Secrets
 * are passed through pipes to the askpass program, and keys to a separate ssh agent. They are never part of an
 * argument, a URL, the environment or a file.
 *
 * @throws ApiError `address_not_allowed`, `source_unavailable`, `source_unauthorized` if the key can't be used
 */
export async function openTransport(
  ctx: SourceContext<GitConfig>,
  remote: Exclude<Remote, { type: "path" }>,
  deps: TransportDeps,
) {
  const usualPorts = remote.type === "ssh" ? [22] : remote.scheme === "https" ? [443] : [];
  const credentials = (await ctx.git?.credentialsFor(remote.url)) ?? {};
  // The remote is in the config or at the config's origin. Credentials belong to no other host.
  const pinned = await deps.guard.resolveConfigured({ host: remote.host, port: remote.port, usualPorts });
  const talk: Talk = {
    place: pinned.host,
    hasCredentials: Object.keys(credentials).length > 0,
    isSsh: remote.type === "ssh",
    secrets: Object.values(credentials),
  };
  const way =
    remote.type === "ssh" ? await overSsh(ctx, credentials, pinned, deps) : overHttp(credentials, remote, pinned, deps);
  return {
    /** Runs git with this remote under the name `kb`. @throws ApiError the errors of `remoteFailure` */
    async run(
      args: readonly string[],
      call: Pick<GitCall, "gitDir" | "timeoutMs" | "maxBytes" | "env"> & { signal?: AbortSignal },
    ): Promise<GitOutput> {
      const output = await runGit(deps.program, args, {
        ...call,
        ...way.call,
        env: { ...way.call.env, ...call.env },
        options: ["-c", `remote.kb.url=${remote.url}`, ...way.call.options],
        signal: call.signal ?? ctx.signal,
      });
      if (output.code === 0) return output;
      throw remoteFailure(output, talk);
    },
    close: way.close,
  };
}

interface Way {
  call: Required<Pick<GitCall, "options" | "env">> & Pick<GitCall, "secrets">;
  close(): Promise<void>;
}

/**
 * The most times that one command asks for a password. It asks once for each connection it makes, so a few times at
 * most.
 */
const ASKED_AT_MOST = 8;

type Credentials = Readonly<Record<string, string>>;

function overHttp(
  credentials: Credentials,
  remote: Extract<Remote, { type: "http" }>,
  pinned: PinnedAddress,
  { askpass }: TransportDeps,
): Way {
  if (credentials["privateKey"] !== undefined) {
    throw new ApiError("source_unauthorized", {
      message: "A private key works only with ssh. Give a token, or a user name and password.",
      field: "credentials",
    });
  }
  const address = pinned.family === 6 ? `[${pinned.address}]` : pinned.address;
  const word = credentials["token"] ?? credentials["password"];
  const name = credentials["username"] ?? tokenUser(pinned.host);
  const secrets = word === undefined ? undefined : { names: repeated(name), words: repeated(word) };
  return {
    call: {
      options: ["-c", `http.curloptResolve=${remote.host.replace(/^\[|\]$/g, "")}:${remote.port}:${address}`],
      env: { GIT_ALLOW_PROTOCOL: remote.scheme, ...(secrets && { GIT_ASKPASS: askpass }) },
      ...defined({ secrets }),
    },
    close: async () => undefined,
  };
}

/** Returns the user name that a host expects with a token. */
function tokenUser(host: string): string {
  if (host === "gitlab.com" || host.startsWith("gitlab.")) return "oauth2";
  return host === "bitbucket.org" ? "x-token-auth" : "x-access-token";
}

function repeated(line: string): string {
  return `${line}\n`.repeat(ASKED_AT_MOST);
}

async function overSsh(
  ctx: SourceContext<GitConfig>,
  { privateKey, passphrase }: Credentials,
  pinned: PinnedAddress,
  deps: TransportDeps,
): Promise<Way> {
  if (privateKey === undefined) {
    throw new ApiError("source_unauthorized", {
      message: "ssh needs a private key. Give one as a credential.",
      field: "credentials.privateKey",
    });
  }
  const folder = await mkdtemp(join(deps.folder, "ssh-"));
  const agent = startAgent(join(folder, "agent"), deps.program.searchPath);
  const close = async () => {
    agent.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const knownHosts = join(folder, "known_hosts");
    await writeFile(knownHosts, hostKeyLines(pinned, ctx.config.hostKeys), { mode: 0o600 });
    await agent.add(privateKey, passphrase, deps, ctx.signal);
    const command = sshCommand({ pinned, knownHosts, socket: agent.socket });
    return {
      call: { options: [], env: { GIT_ALLOW_PROTOCOL: "ssh", GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: "ssh" } },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Builds an ssh command that uses none of the user's files: checked address, pinned host key, separate agent, no
 * forwarding, no prompts.
 */
function sshCommand(options: { pinned: PinnedAddress; knownHosts: string; socket: string }): string {
  const { pinned, knownHosts, socket } = options;
  const settings = {
    HostName: pinned.address,
    HostKeyAlias: pinned.host,
    Port: String(pinned.port),
    UserKnownHostsFile: knownHosts,
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: "yes",
    UpdateHostKeys: "no",
    CheckHostIP: "no",
    CanonicalizeHostname: "no",
    IdentityAgent: socket,
    IdentityFile: "none",
    PreferredAuthentications: "publickey",
    BatchMode: "yes",
    ProxyCommand: "none",
    ProxyJump: "none",
    ForwardAgent: "no",
    ForwardX11: "no",
    ClearAllForwardings: "yes",
    PermitLocalCommand: "no",
    ControlMaster: "no",
    ControlPath: "none",
    ConnectTimeout: "15",
    ServerAliveInterval: "20",
    ServerAliveCountMax: "3",
    LogLevel: "ERROR",
  };
  const words = ["ssh", "-F", "/dev/null", "-T"];
  for (const [name, value] of Object.entries(settings)) words.push("-o", `${name}=${value}`);
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** Returns the known-hosts lines for the pinned alias only. Keys of other hosts in the text are ignored. */
function hostKeyLines({ host, port }: PinnedAddress, configured: string | undefined): string {
  const names = new Set(port === 22 ? [host, `[${host}]:22`] : [`[${host}]:${port}`]);
  const knownHosts = (configured ?? "").split("\n").flatMap((line) => {
    const [hosts = "", type, key] = line.trim().split(/\s+/);
    const isOurs = hosts.split(",").some((name) => names.has(name.toLowerCase()));
    return isOurs && type && key ? [`${host} ${type} ${key}`] : [];
  });
  const known = port === 22 ? (KNOWN_HOST_KEYS[host] ?? []).map((key) => `${host} ${key}`) : [];
  return [...(knownHosts.length > 0 ? knownHosts : known), ""].join("\n");
}

/** The agent forgets the key after this time, even if this process was killed. */
const KEY_LIFETIME_S = 3_600;

/** Starts a separate ssh agent that ends with this process: it runs a program that waits for the end of a pipe. */
function startAgent(socket: string, searchPath: string) {
  const child = startProgram("ssh-agent", ["-a", socket, "cat"], {
    env: { PATH: searchPath },
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.unref();
  return {
    socket,
    async add(key: string, passphrase: string | undefined, { program, askpass }: TransportDeps, signal: AbortSignal) {
      // The agent creates its socket before it starts that program. If ssh-add is called too early, it finds no socket.
      for (let tries = 0; ; tries++) {
        const code = await addKey({ key, passphrase, socket, searchPath, home: program.home, askpass });
        signal.throwIfAborted();
        if (code === 0) return;
        // Code 2 means that no agent is running.
        if (code !== 2 || tries >= 20) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new ApiError("source_unauthorized", {
        message: "The private key can't be used: its format or passphrase is wrong, or ssh-agent is missing.",
        field: "credentials.privateKey",
      });
    },
    stop: () => void child.stdin?.end(),
  };
}

function addKey(options: {
  key: string;
  passphrase: string | undefined;
  socket: string;
  searchPath: string;
  home: string;
  askpass: string;
}): Promise<number | null> {
  const { key, passphrase, socket, searchPath, home, askpass } = options;
  const child = startProgram("ssh-add", ["-q", "-t", String(KEY_LIFETIME_S), "-"], {
    cwd: home,
    env: {
      PATH: searchPath,
      HOME: home,
      SSH_AUTH_SOCK: socket,
      SSH_ASKPASS: passphrase === undefined ? "false" : askpass,
      SSH_ASKPASS_REQUIRE: "force",
      DISPLAY: "none",
    },
    stdio: ["pipe", "ignore", "ignore", "pipe", "pipe"],
  });
  const pipes = [
    [child.stdin, `${key.trim()}\n`],
    [child.stdio[4], passphrase === undefined ? "" : `${passphrase}\n`],
    [child.stdio[3], ""],
  ] as const;
  for (const [pipe, text] of pipes) {
    pipe?.on("error", () => undefined);
    if (pipe && "end" in pipe) pipe.end(text);
  }
  return new Promise((resolve) => {
    child.on("error", () => resolve(127));
    child.on("close", resolve);
  });
}
