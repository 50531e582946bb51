import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, sep } from "node:path";
import { makeId } from "#api/common.ts";
import { ApiError, noSuchThing, forbidden } from "#api/errors.ts";
import { LocalRoot, type localRootRoutes } from "#api/workspace.ts";
import { actOn } from "#storage/audit-act.ts";
import { defined } from "#core/defined.ts";
import { isOperatorProof, OPERATOR_HEADER } from "#core/operator-proof.ts";

export interface LocalRootOptions extends Pick<Parts, "store" | "clock" | "randomBytes"> {
  audit: AuditRecorder;
  /** Key of the operator's proofs, from the data folder. */
  operatorKey: Uint8Array;
  /** Whether strangers can own workspaces here. */
  isOpenToStrangers: boolean;
  /** Parsed value of `KB_LOCAL_ROOTS`. */
  settingsRoots: readonly string[];
  /** The data folder. Connectors may never read it, nor any folder above it. */
  dataDir: string;
  /** The home folder of the server's user, which is too broad to allow. */
  homeDir: string | undefined;
}

/** Folders that can't be allowed, nor anything inside them. On macOS some of them are in `/private`. */
const CLOSED_TREES = ["/proc", "/sys", "/dev", "/run", "/boot", "/etc", "/private/etc", "/System"];
/** Folders that can't be allowed as a whole. A folder inside them can be. */
const CLOSED_FOLDERS = (
  "/ /bin /home /lib /lib32 /lib64 /opt /root /sbin /usr /var /tmp /usr/bin /usr/lib /usr/sbin /var/lib /var/log " +
  "/Applications /Library /Users /Volumes /private /private/tmp /private/var"
).split(" ");

/**
 * Makes the service for folders of this machine that connectors may read. Only the operator can allow them, by proving
 * access to the data folder: behind a proxy, every client has a local address. Source: S34, S36, docs/decisions/0051.
 */
export function makeLocalRootService(options: LocalRootOptions) {
  const { store, clock, randomBytes, audit, settingsRoots } = options;

  function requireOperator(headers: Headers): void {
    if (options.isOpenToStrangers) {
      throw forbidden("Local folders can't be connected on a server with open sign-up.");
    }
    if (isOperatorProof(headers.get(OPERATOR_HEADER), options.operatorKey, clock.now())) return;
    throw forbidden(
      "Only the server's operator, who can read its data folder, can allow folders.",
      "On the server, as the user that runs it: kb roots add PATH --data-dir FOLDER. Or set KB_LOCAL_ROOTS there.",
    );
  }

  const handlers: MemberHandlers<typeof localRootRoutes> = {
    /** Lists the allowed folders, those of the settings first. */
    async list({ c }) {
      requireOperator(c.req.raw.headers);
      const fixed = settingsRoots.map((path) => ({ id: null, path, createdBy: null, createdAt: null }));
      const stored = await store.installation.listLocalRoots();
      return { roots: [...fixed, ...stored.map(toRoot)], nextCursor: null };
    },

    /**
     * Allows a folder, by its real path. Adding an allowed folder again returns the same record.
     *
     * @throws ApiError `root_not_allowed`, `forbidden` without the operator's proof, or if strangers can own workspaces
     */
    async add({ actor, c, body: { path } }) {
      requireOperator(c.req.raw.headers);
      const real = await resolveFolder(path);
      await refuseClosed(real, options);
      return store.transaction(async (tx) => {
        const rootId = makeId("root", randomBytes);
        const createdAt = clock.now();
        const root = await tx.installation.addLocalRoot({ rootId, path: real, createdBy: actor.userId, createdAt });
        // This is the only audit record that contains a path, since the path is what was allowed.
        const act = actOn(root.rootId, "local_root.added", { path: real });
        if (root.rootId === rootId) await audit.record(tx, actor, act);
        return { root: toRoot(root) };
      });
    },

    /** @throws ApiError `not_found` */
    async remove({ actor, c, params: { id: rootId } }) {
      requireOperator(c.req.raw.headers);
      await store.transaction(async (tx) => {
        if (!(await tx.installation.removeLocalRoot(rootId))) {
          throw noSuchThing();
        }
        await audit.record(tx, actor, actOn(rootId, "local_root.removed"));
      });
    },
  };

  return {
    ...handlers,
    /** Returns the real paths that connectors may read now. Paths in the settings that don't exist are omitted. */
    async allowed(): Promise<string[]> {
      const stored = (await store.installation.listLocalRoots()).map((root) => root.path);
      const real = await Promise.all(settingsRoots.map((path) => realpath(path).catch(() => undefined)));
      return [...new Set([...real.filter((path) => path !== undefined), ...stored])];
    },
  };
}

async function resolveFolder(path: string): Promise<string> {
  if (!isAbsolute(path) || path.includes("\0")) throw notAllowed(`"${path}" is not an absolute path.`);
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw notAllowed(`"${path}" can't be read.`, cause);
  }
  throw notAllowed(`"${path}" is not a folder.`);
}

async function refuseClosed(real: string, { dataDir, homeDir }: LocalRootOptions): Promise<void> {
  const data = await realpath(dataDir);
  if (CLOSED_FOLDERS.includes(real) || CLOSED_TREES.some((tree) => isInside(real, tree))) {
    throw notAllowed(`"${real}" is a system folder.`);
  }
  if (isInside(data, real)) throw notAllowed(`"${real}" contains the server's data folder.`);
  if (isInside(real, data)) throw notAllowed(`"${real}" is inside the server's data folder.`);
  if (homeDir !== undefined && isInside(homeDir, real)) {
    throw notAllowed(`"${real}" is a whole home folder. Choose one inside it.`);
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function toRoot(record: { rootId: string; path: string; createdBy: string; createdAt: number }): LocalRoot {
  return wireForm(LocalRoot, record, { id: record.rootId });
}

function notAllowed(message: string, cause?: unknown): ApiError {
  return new ApiError("root_not_allowed", { message, field: "path", ...defined({ cause }) });
}
