import { isNamedIn } from "#sources/in-scope.ts";
import { isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { type Containers, makeContainers } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import { type Failures, failedSkip, makeFailures, leftOut } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { OpenRequest, PageEntry } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { groupPages } from "#sources/group-pages.ts";
import { makeUnread, type Unread } from "#sources/unread.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { type DriveClient, FOLDER_TYPE, fromDirectory } from "./client.ts";
import type { GoogleDriveConfig } from "./config.ts";
import { listDrives } from "./drives.ts";
import type { Begun, Cursor } from "./cursor.ts";
import { type AddressBook, membersOf } from "./directory.ts";
import { digest, SHORTCUT_TYPE, toItem } from "./map.ts";
import { domainOf, googleGroupId, makeReaders, type Readers } from "./readers.ts";
import type { DriveFile, SharedDrive } from "./records.ts";
import { type Folder, folderRef, makeTree, type Tree } from "./tree.ts";

type DriveSyncContext = SyncContext<GoogleDriveConfig>;

/** A set of files that is listed as a whole and has a separate log of changes. */
export interface Corpus {
  /** The id of the corpus's outermost folder. */
  id: string;
  /** The shared drive's id. Empty for the account's own files and those shared with the account. */
  key: string;
  drive?: SharedDrive;
}

export interface Tools extends Pick<OpenRequest<Cursor>, "mode" | "scope" | "readsGroups" | "feed"> {
  ctx: DriveSyncContext;
  client: DriveClient;
  readers: Readers;
  tree: Tree;
  book: AddressBook;
  corpora: readonly Corpus[];
  containers: Containers<Corpus>;
  begun: Begun;
  rootId: string;
  /** Shared drives that the config names and that don't exist. */
  missing: readonly string[];
  domains: readonly string[] | undefined;
  failures: Failures;
  /** Files and folders that could not be read. */
  unread: Unread;
  isMember(driveId: string): boolean;
  /** The shared drives in the config that were listed but could not be parsed. */
  oddDrives: readonly string[];
  /** Whether a drive may be one of the shared drives that could not be parsed. Its contents stay unchanged. */
  isOdd(driveId: string): boolean;
  /** True = every shared drive was parsed, or at least has a readable id. */
  isWhole: boolean;
  /** Why the shared drives could not be listed. In this case, any drive may be one of them. */
  drivesError?: string;
  /** Ids of the groups and people that this attempt has reported. */
  reported: Set<string>;
  /** The items of the files that were named last. */
  atHand: Map<string, SourceItem>;
  /** True = excluded items are reported as deleted. Otherwise the end of a listing removes them. */
  deletes: boolean;
}

export const nameOf = ({ drive }: Corpus): string => (drive ? readableName(drive.name) : "My Drive");

export async function openTools(
  ctx: DriveSyncContext,
  { mode, scope, readsGroups, feed }: OpenRequest<Cursor>,
  client: DriveClient,
  book: AddressBook,
): Promise<Tools> {
  const me = await client.me();
  const readers = makeReaders(ctx, me);
  const failures = makeFailures(() => client.me());
  const { found, ids: odd, nameless, error } = await listDrives(client, failures);
  const drives = new Map(found.map((drive) => [drive.id, drive]));
  const isOdd = (driveId: string) => !drives.has(driveId) && (nameless > 0 || odd.includes(driveId));
  const domains = await fromDirectory(() => client.domains());
  const root = await client.root();
  const { myDrive, drives: named } = ctx.config;
  const wanted = found.filter(({ id }) => named.length === 0 || named.includes(id));
  const tools: Omit<Tools, "containers"> = {
    ctx,
    mode,
    scope,
    ...defined({ readsGroups, feed }),
    client,
    readers,
    tree: makeTree({ client, readers, me, root, drives, domains }),
    book,
    corpora: [
      ...(myDrive ? [{ id: root.id, key: "" }] : []),
      ...wanted.map((drive) => ({ id: drive.id, key: drive.id, drive })),
    ],
    begun: { tokens: {}, isPartial: false },
    rootId: root.id,
    missing: named.filter((id) => !drives.has(id) && !isOdd(id)),
    domains,
    failures,
    unread: makeUnread(ctx.state),
    isMember: (driveId) => drives.has(driveId),
    oddDrives: odd.filter((id) => named.length === 0 || named.includes(id)),
    isOdd,
    isWhole: nameless === 0,
    ...defined({ drivesError: error }),
    reported: new Set(),
    atHand: new Map(),
    deletes: mode === "items",
  };
  const containers = makeContainers<Corpus>(ctx, {
    key: "drive",
    refOf: folderRef,
    nameOf,
    hasFeeds: true,
    // When the corpus is visible again, everything in it is reported.
    forget: (id) => void delete tools.begun.tokens[id === root.id ? "" : id],
    failures,
  });
  return Object.assign(tools, { containers });
}

/** Whether a file belongs to a corpus that is read. */
export function isRead({ corpora, isMember }: Tools, { driveId }: DriveFile): boolean {
  const key = driveId !== undefined && isMember(driveId) ? driveId : "";
  return corpora.some((corpus) => corpus.key === key);
}

/** Whether a file is in a shared drive that could not be parsed. */
export function isUnknown({ isOdd }: Tools, { driveId }: DriveFile): boolean {
  return driveId !== undefined && isOdd(driveId);
}

/** Returns the events for files in their present state. If Google fails for a file, its stored item stays unchanged. */
export async function entriesOf(tools: Tools, files: readonly DriveFile[]): Promise<PageEntry[]> {
  const entries: PageEntry[] = [];
  tools.atHand.clear();
  for (const file of files) {
    tools.ctx.signal.throwIfAborted();
    try {
      const entry = await entryOf(tools, file);
      tools.failures.well();
      if (entry) entries.push(entry);
    } catch (error) {
      entries.push(await unreported(tools, file.id, error));
    }
  }
  return entries;
}

/**
 * Builds the event for one thing that Google fails for. Its stored item stays unchanged.
 * @throws errors that concern more than this thing
 */
export async function unreported({ failures, unread }: Tools, id: string, error: unknown): Promise<Skip> {
  await failures.requireOfOne(error);
  await unread.note(id);
  return failedSkip(id, isApiError(error) ? error.message : NOT_UNDERSTOOD);
}

type Skip = ReturnType<typeof failedSkip>;

async function entryOf(tools: Tools, file: DriveFile): Promise<PageEntry | undefined> {
  const { ctx, mode, deletes, atHand } = tools;
  const { id: externalId } = file;
  if (isUnknown(tools, file)) return undefined;
  const item = await itemOf(tools, file);
  const stored = await ctx.stored.version(externalId);
  if (!item || "t" in item) return deletes && stored !== undefined ? { t: "delete", externalId } : item;
  if (mode === "access" && stored === undefined) return undefined;
  const { version, access } = item;
  // A file that was refused before and appears in the log again is visible again.
  if (deletes && access && stored === version) return { t: "access", externalId, access };
  atHand.set(externalId, item);
  return { externalId, ...defined({ version, access }) };
}

/**
 * Returns the item of a file, or the reason why it is left out; undefined if the file isn't an item, no longer exists,
 * or isn't read.
 */
export async function itemOf(tools: Tools, file: DriveFile): Promise<SourceItem | Outcome | undefined> {
  const { ctx, scope, tree } = tools;
  const { id, mimeType, name } = file;
  // The target of a shortcut is listed at its own location.
  if (mimeType === FOLDER_TYPE || mimeType === SHORTCUT_TYPE) return undefined;
  if (file.trashed === true || !isRead(tools, file)) return undefined;
  if (!ctx.config.secretFiles && isSecretFile(name)) {
    const message = "The name suggests keys or passwords.";
    return leftOut(id, "excluded_by_policy", message);
  }
  const place = await tree.placeOf(file);
  const ids = place.chain.map((folder) => folder.id);
  return isNamedIn(scope, ...ids) ? toItem(ctx, file, place) : undefined;
}

/** Stores the location of a folder after everything in it was reported at that location. */
export function keepPlace({ ctx, mode }: Tools, folder: Folder): void {
  if (mode !== "access") ctx.state.put(folderKey(folder.id), placeKeyOf(folder));
}

export const folderKey = (id: string) => `folder:${id}`;

/**
 * Returns a key that changes when the items in a folder have to be reported again, because the folder moved or was
 * renamed.
 */
export function placeKeyOf({ name, parentId }: Folder): string {
  return digest([name, parentId ?? null]);
}

/** Reports the Google groups and people that were named since the last call. */
export async function reportNamed(tools: Tools): Promise<Outcome[]> {
  const { readers, domains, reported } = tools;
  const events: Outcome[] = [];
  for (const [id, email] of readers.groups) {
    if (reported.has(id)) continue;
    events.push(...(await reportGroup(tools, id, email)));
    // A group that failed isn't counted as reported.
    reported.add(id);
  }
  for (const [id, { name, email }] of readers.people) {
    if (reported.has(id)) continue;
    reported.add(id);
    // The directory reports members of the organization, including whether they are suspended.
    if (domains?.includes(domainOf(email) ?? "") === true) continue;
    const [principal = ""] = readers.user(id);
    events.push({
      t: "identity",
      principal,
      state: "active",
      ...defined({ name }),
      ...(email !== undefined && { login: email, email: { address: email, isVerified: false } }),
    });
  }
  return events;
}

async function reportGroup(tools: Tools, id: string, email: string): Promise<Outcome[]> {
  const { ctx, client, readers, book } = tools;
  const group = readers.group(googleGroupId(id));
  const members = await membersOf({ client, readers, book, now: ctx.now }, id, email);
  await keepGroup(ctx, id, email);
  // A group whose members are unknown is reported without members.
  return members ? [...groupPages(group, members)] : [{ t: "refused", what: { group }, code: "source_forbidden" }];
}

const GROUPS = "groups";
/** The most groups that are stored. Others are read again together with all permissions. */
const MOST_KEPT = 400;
const READ_AGAIN_MS = 5 * 60_000;
const MOST_AGAIN = 25;

/** Returns the permission ids of groups with their addresses and the times when they were read, the oldest first. */
async function keptGroups({ state }: DriveSyncContext): Promise<[string, string, number][]> {
  const kept = await state.get(GROUPS);
  // Only this code writes the value, and an earlier version of the source used the same format.
  return Array.isArray(kept) ? (kept as [string, string, number][]) : [];
}

async function keepGroup(ctx: DriveSyncContext, id: string, email: string): Promise<void> {
  const others = (await keptGroups(ctx)).filter(([known]) => known !== id);
  if (email.length <= 120) ctx.state.put(GROUPS, [...others, [id, email, ctx.now()]].slice(-MOST_KEPT));
}

/**
 * Reports the members of the Google groups that have not been read for the longest time, or of all groups if a person
 * requested the run.
 */
export async function* reportDueGroups(tools: Tools): AsyncGenerator<Outcome, void> {
  const { ctx, readsGroups, reported } = tools;
  const kept = await keptGroups(ctx);
  const due = kept.filter(([, , at]) => ctx.now() - at >= READ_AGAIN_MS).slice(0, MOST_AGAIN);
  for (const [id, email] of readsGroups ? kept : due) {
    if (reported.has(id)) continue;
    reported.add(id);
    yield* await reportGroup(tools, id, email);
  }
}
