import { z } from "zod";
import { inChunks } from "#core/in-chunks.ts";
import { type ContainerEvent, makeContainers, placeSchema } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, failedStatus, makeFailures } from "#sources/failures.ts";
import type { Entry, Session, SessionSpec } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { ImapConfig } from "./config.ts";
import { chooseFolders, folderRef, idOf, type MailFolder, parseId, toFolders } from "./folders.ts";
import { factsOf, LISTED, toItem } from "./map.ts";
import { type ImapSession, ofFolder, openSession } from "./session.ts";

/** The last message that was named in the open folder, and the folder's UIDVALIDITY at that time. */
const Place = z.object({ uidValidity: z.number(), uid: z.number() });
type Place = z.infer<typeof Place>;

/** The checkpoint of a walk. Servers have no common change feed, so every run names all messages, by their numbers. */
const Checkpoint = placeSchema(Place, z.null());
type Checkpoint = z.infer<typeof Checkpoint>;

/** The number of messages that are requested at once. */
export interface Batching {
  messages: number;
}

export const DEFAULT_BATCHING: Batching = { messages: 200 };

export function imapSessions({ messages }: Batching): SessionSpec<ImapConfig, null, Checkpoint> {
  return {
    cursor: z.null(),
    checkpoint: Checkpoint,
    async open(ctx, { scope }) {
      const session = await openSession(ctx, ctx.signal);
      try {
        const folders = chooseFolders(toFolders(await session.list()), scope, ctx.config);
        return openMailbox({ ctx, session, folders, messages });
      } catch (error) {
        session.close();
        throw error;
      }
    },
  };
}

interface Mailbox {
  ctx: SyncContext<ImapConfig>;
  session: ImapSession;
  folders: readonly MailFolder[];
  messages: number;
}

/** The selected folder, and which of the requested messages it contains now. */
interface Opened {
  folder: MailFolder;
  uidValidity: number;
  found: ReadonlySet<number>;
}

function openMailbox({ ctx, session, folders, messages }: Mailbox): Session<null, Checkpoint> {
  const facts = factsOf(ctx);
  const containers = makeContainers<MailFolder & { id: string }>(ctx, {
    key: "folder",
    refOf: folderRef,
    nameOf: ({ name }) => name,
    failures: makeFailures(() => session.list()),
  });
  let opened: Opened | undefined;

  /** Opens a folder. @throws ApiError that concerns this folder alone */
  async function open(folder: MailFolder, which = ""): Promise<Opened & { uids: readonly number[] }> {
    opened = undefined;
    const answer = await session.examine(folder.name);
    if (answer === undefined) throw ofFolder("The server lists this folder but doesn't open it.");
    const uids = await session.search(`${which}${criteriaOf(ctx.config)}`);
    return { folder, uidValidity: answer.uidValidity, uids, found: new Set() };
  }

  /** Walks the messages of a folder in the order of their numbers. */
  async function* walkFolder(folder: MailFolder, after?: Place): AsyncGenerator<ContainerEvent<Place>, void> {
    const { uids, ...now } = await open(folder);
    const { uidValidity } = now;
    const rest = after?.uidValidity === uidValidity ? uids.filter((uid) => uid > after.uid) : uids;
    for (const some of inChunks(rest, messages)) {
      opened = { ...now, found: new Set(some) };
      const entries = some.map((uid): Entry => {
        return { externalId: idOf(folder.name, uidValidity, uid), version: facts.version };
      });
      yield { t: "page", entries, at: { uidValidity, uid: some.at(-1) ?? 0 } };
    }
  }

  /**
   * Reads the headers of existing messages, and ignores everything else that the server sends. If the server omits a
   * message that still exists, its item stays unchanged.
   */
  async function* readHeads({ folder, uidValidity }: Opened, uids: readonly number[]): AsyncGenerator<Outcome, void> {
    if (uids.length === 0) return;
    const asked = new Set(uids);
    for (const fetched of await session.fetch(uids.join(","), LISTED)) {
      if (!fetched.values.has("ENVELOPE") || !asked.delete(fetched.uid)) continue;
      yield { t: "upsert", item: toItem(fetched, folder, uidValidity, facts) };
    }
    if (asked.size === 0) return;
    const there = await session.search(`UID ${[...asked].join(",")} ${criteriaOf(ctx.config)}`);
    for (const uid of asked) {
      const externalId = idOf(folder.name, uidValidity, uid);
      if (!there.includes(uid)) yield { t: "delete", externalId };
      else yield failedSkip(externalId, "The server doesn't describe this message.");
    }
  }

  async function* readFolder(folder: MailFolder, ids: ReadonlyMap<string, Place>): AsyncGenerator<Outcome, void> {
    const now = await find(
      folder,
      [...ids.values()].map(({ uid }) => uid),
    );
    const there: number[] = [];
    for (const [externalId, { uidValidity, uid }] of ids) {
      if (uidValidity === now.uidValidity && now.found.has(uid)) there.push(uid);
      else yield { t: "delete", externalId };
    }
    yield* readHeads(now, there);
  }

  /**
   * Returns which of these messages exist: those that the walk has just named, or those that the server reports now.
   */
  async function find(folder: MailFolder, wanted: readonly number[]): Promise<Opened> {
    if (opened?.folder.name === folder.name && wanted.every((uid) => opened?.found.has(uid))) return opened;
    const { uids, ...now } = await open(folder, `UID ${wanted.join(",")} `);
    return { ...now, found: new Set(uids) };
  }

  return {
    async *walk({ resume }) {
      const place = resume ?? { feed: null, after: "" };
      const named = folders.map((folder) => ({ ...folder, id: folder.name }));
      yield* containers.walk(named, place, walkFolder);
      return { complete: true, cursor: null, permissions: "current" };
    },
    async *read(externalIds) {
      const wanted = new Map<MailFolder, Map<string, Place>>();
      for (const externalId of externalIds) {
        const place = parseId(externalId);
        const folder = folders.find(({ name }) => name === place?.folder);
        if (!place || !folder) yield { t: "delete", externalId };
        else wanted.set(folder, (wanted.get(folder) ?? new Map<string, Place>()).set(externalId, place));
      }
      for (const [folder, ids] of wanted) {
        try {
          for (const some of inChunks([...ids], messages)) yield* readFolder(folder, new Map(some));
        } catch (error) {
          // In a walk, the folder is reported as failed.
          if (opened || failedStatus(error) === undefined) throw error;
          for (const id of ids.keys()) yield failedSkip(id, "The server can't open or read its folder now.");
        }
      }
    },
    close: () => session.close(),
  };
}

/** Returns the search criteria. Messages marked as deleted are left out, because mail programs hide them too. */
function criteriaOf({ since }: ImapConfig): string {
  if (since === undefined) return "UNDELETED";
  const [year, month, day] = since.split("-").map(Number);
  return `UNDELETED SINCE ${day}-${MONTHS[(month ?? 1) - 1]}-${year}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
