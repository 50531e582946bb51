import { ApiError } from "#api/errors.ts";
import { isRefName } from "./config.ts";
import type { LocalRepository } from "./local.ts";
import type { Transport } from "./transport.ts";

/** The present target of a branch or tag. */
export interface RemoteRef {
  /** The full name, or `HEAD` if a commit without a branch is checked out. */
  name: string;
  /** The short name, as web pages show it. */
  short: string;
  isTag: boolean;
  /** The id of the object that the ref points at: a commit, or a tag. */
  oid: string;
}

/**
 * Finds the wanted branch or tag, by default the branch that is checked out. Undefined if the repository is empty.
 *
 * @throws ApiError `source_not_found` if no branch or tag has that name
 */
export async function findRemoteRef(
  transport: Transport,
  wanted: string | undefined,
  timeoutMs: number,
): Promise<RemoteRef | undefined> {
  const patterns = wanted === undefined ? ["HEAD"] : [`refs/heads/${wanted}`, `refs/tags/${wanted}`, "HEAD"];
  const { stdout } = await transport.run(["ls-remote", "--symref", "kb", ...patterns], {
    timeoutMs,
    maxBytes: MAX_BYTES,
  });
  const found = new Map<string, string>();
  let head: string | undefined;
  for (const line of stdout.toString("utf8").split("\n")) {
    const [what = "", name = ""] = line.split("\t");
    if (what.startsWith("ref: ") && name === "HEAD") head = what.slice("ref: ".length);
    else if (/^[0-9a-f]{40,64}$/.test(what)) found.set(name, what);
  }
  if (wanted !== undefined) return chooseWanted(wanted, (name) => found.get(name), found.size > 0);
  const oid = found.get("HEAD");
  if (found.size === 0) await requireServer(transport, timeoutMs);
  // Without a `HEAD`, the repository is empty, or its checked-out branch no longer exists.
  return oid === undefined ? undefined : toDefault(head, oid);
}

/** Finds the branch or tag in a repository on this machine. @throws ApiError `source_not_found` */
export async function resolveLocal(
  repository: LocalRepository,
  wanted: string | undefined,
): Promise<RemoteRef | undefined> {
  if (wanted !== undefined) {
    const names = [`refs/heads/${wanted}`, `refs/tags/${wanted}`];
    const found = new Map<string, string>();
    for (const name of names) {
      const oid = await repository.resolve(name);
      if (oid !== undefined) found.set(name, oid);
    }
    return chooseWanted(wanted, (name) => found.get(name), true);
  }
  const head = await repository.head();
  const oid = head.ref === undefined ? head.oid : await repository.resolve(head.ref);
  return oid === undefined ? undefined : toDefault(head.ref, oid);
}

const MAX_BYTES = 1024 * 1024;

/**
 * Checks that the server speaks git's protocol. On the oldest kind of server, any web page would look like an empty
 * repository, but a real server responds in packets.
 */
async function requireServer(transport: Transport, timeoutMs: number): Promise<void> {
  const call = { timeoutMs, maxBytes: MAX_BYTES, env: { GIT_TRACE_PACKET: "2" } };
  const { stderr } = await transport.run(["ls-remote", "kb"], call);
  if (stderr.includes("packet:")) return;
  throw new ApiError("source_not_found", { message: "No git server answers at this URL.", field: "url" });
}

function chooseWanted(
  wanted: string,
  oidOf: (name: string) => string | undefined,
  hasAny: boolean,
): RemoteRef | undefined {
  const [branch, tag] = [oidOf(`refs/heads/${wanted}`), oidOf(`refs/tags/${wanted}`)];
  if (branch !== undefined) return { name: `refs/heads/${wanted}`, short: wanted, isTag: false, oid: branch };
  if (tag !== undefined) return { name: `refs/tags/${wanted}`, short: wanted, isTag: true, oid: tag };
  throw new ApiError("source_not_found", {
    message: hasAny
      ? `The repository has no branch or tag ${JSON.stringify(wanted)}. Nothing was removed.`
      : `The repository is empty, so there is no ${JSON.stringify(wanted)}.`,
    field: "ref",
  });
}

function toDefault(head: string | undefined, oid: string): RemoteRef {
  const isNamed = head !== undefined && head.startsWith("refs/heads/") && isRefName(head);
  if (!isNamed) return { name: "HEAD", short: "HEAD", isTag: false, oid };
  return { name: head, short: head.slice("refs/heads/".length), isTag: false, oid };
}
