import { accessKeyOf } from "#core/access-key.ts";
import { isApiError } from "#api/errors.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { type Failures, failedSkip, makeFailures } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { SEEN_IDS } from "#sources/seen.ts";
import { makeUnread, type Unread } from "#sources/unread.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { type DriveClient, FOLDER_TYPE, fromDirectory } from "./client.ts";
import type { GoogleDriveConfig } from "./config.ts";
import { type AddressBook, groupPages, membersOf } from "./directory.ts";
import { digest, isInScope, SHORTCUT_TYPE, toItem } from "./map.ts";
import { domainOf, googleGroupId, makeReaders, type Readers } from "./readers.ts";
import type { DriveFile, SharedDrive } from "./records.ts";
import { type Folder, makeTree, SHARED_WITH_ME, type Tree } from "./tree.ts";
import type { GoogleDriveCursor } from "./cursor.ts";

export type DriveSyncContext = SyncContext<GoogleDriveConfig>;
export type Event = SyncEvent<GoogleDriveCursor>;

/** What is listed in one go, and has a log of changes of its own. */
export interface Corpus {
  /** The shared drive's id; empty for what the account has, and is shown by others. */
  key: string;
  drive?: SharedDrive;
}

export interface Tools {
  ctx: DriveSyncContext;
  run: SyncRequest<GoogleDriveCursor>;
  client: DriveClient;
  readers: Readers;
  tree: Tree;
  book: AddressBook;
  corpora: readonly Corpus[];
  /** Ids of the outermost folders of what is in no shared drive. */
  homes: readonly string[];
  /** Shared drives that the config names, and that are not there. */
  missing: readonly string[];
  domains: readonly string[] | undefined;
  failures: Failures;
  /** Files and folders that could not be read. */
  unread: Unread;
  isMember(driveId: string): boolean;
  /** Shared drives that were listed and aren't understood; those that the config asks for. */
  oddDrives: readonly string[];
  /** Whether this may be one of them: what is in it stays as it is. */
  isOdd(driveId: string): boolean;
  /** Every shared drive was understood, or says its id. */
  isWhole: boolean;
  /** What was told in this attempt, by id. */
  told: Set<string>;
  /** What is not wanted is said to be gone; else the end of a listing sees to it. */
  deletes: boolean;
}

export async function openTools(
  ctx: DriveSyncContext,
  run: SyncRequest<GoogleDriveCursor>,
  client: DriveClient,
  book: AddressBook,
): Promise<Tools> {
  const me = await client.me();
  const readers = makeReaders(ctx, me);
  const { found, ids: odd, nameless } = await client.odd.of(() => client.drives());
  const drives = new Map(found.map((drive) => [drive.id, drive]));
  const isOdd = (driveId: string) => !drives.has(driveId) && (nameless > 0 || odd.includes(driveId));
  const domains = await fromDirectory(() => client.domains());
  const root = await client.root();
  const tree = makeTree({ client, readers, me, root, drives, domains });
  const { myDrive, drives: named } = ctx.config;
  const wanted = [...drives.values()].filter(({ id }) => named.length === 0 || named.includes(id));
  return {
    ctx,
    run,
    client,
    readers,
    tree,
    book,
    corpora: [...(myDrive ? [{ key: "" }] : []), ...wanted.map((drive) => ({ key: drive.id, drive }))],
    homes: [root.id, SHARED_WITH_ME],
    missing: named.filter((id) => !drives.has(id) && !isOdd(id)),
    domains,
    failures: makeFailures(() => client.me()),
    unread: makeUnread(ctx.state),
    isMember: (driveId) => drives.has(driveId),
    oddDrives: odd.filter((id) => named.length === 0 || named.includes(id)),
    isOdd,
    isWhole: nameless === 0,
    told: new Set(),
    deletes: false,
  };
}

/** Whether a file is in what is read. */
export function isRead({ corpora, isMember }: Tools, { driveId }: DriveFile): boolean {
  const key = driveId !== undefined && isMember(driveId) ? driveId : "";
  return corpora.some((corpus) => corpus.key === key);
}

/** Whether a file is in a shared drive that isn't understood. */
export function isUnknown({ isOdd }: Tools, { driveId }: DriveFile): boolean {
  return driveId !== undefined && isOdd(driveId);
}

/** Files as they are now. One at which Google fails stays as it is. */
export async function* tellFiles(tools: Tools, files: readonly DriveFile[]): AsyncGenerator<Event, void> {
  let same: string[] = [];
  for (const file of files) {
    tools.ctx.signal.throwIfAborted();
    const event = await tellOne(tools, file);
    if (event === undefined) continue;
    if (event !== "same") yield event;
    else if (same.push(file.id) >= SEEN_IDS) {
      yield { t: "seen", externalIds: same };
      same = [];
    }
  }
  if (same.length > 0) yield { t: "seen", externalIds: same };
}

/** One thing at which Google fails: it stays as it is. @throws what is about more than it */
export async function notTold({ failures, unread }: Tools, id: string, error: unknown): Promise<Skip> {
  await failures.requireOfOne(error);
  await unread.note(id);
  return failedSkip(id, isApiError(error) ? error.message : NOT_UNDERSTOOD);
}

type Skip = ReturnType<typeof failedSkip>;

async function tellOne(tools: Tools, file: DriveFile): Promise<Event | "same" | undefined> {
  try {
    const event = await tellFile(tools, file);
    tools.failures.well();
    return event;
  } catch (error) {
    return notTold(tools, file.id, error);
  }
}

async function tellFile(tools: Tools, file: DriveFile): Promise<Event | "same" | undefined> {
  const { ctx, run, tree } = tools;
  const { id, mimeType, name } = file;
  // The target of a shortcut is listed where it is.
  if (mimeType === FOLDER_TYPE || mimeType === SHORTCUT_TYPE || isUnknown(tools, file)) return undefined;
  const stored = await ctx.stored.version(id);
  const gone: Event | undefined = stored === undefined || !tools.deletes ? undefined : { t: "delete", externalId: id };
  if (file.trashed === true || !isRead(tools, file)) return gone;
  if (!ctx.config.secretFiles && isSecretFile(name)) {
    const message = "The name suggests keys or passwords.";
    return gone ?? { t: "skip", externalId: id, reason: "excluded_by_policy", message, retryable: false };
  }
  const place = await tree.placeOf(file);
  const ids = place.chain.map((folder) => folder.id);
  if (!isInScope(run.scope, ids)) return gone;
  const item = toItem(ctx, file, place);
  const isSameAccess = (await ctx.stored.accessKey(id)) === accessKeyOf(place.access);
  if (run.mode === "access") {
    if (stored === undefined) return undefined;
    return isSameAccess ? "same" : { t: "access", externalId: id, access: place.access };
  }
  if (run.mode === "items" || stored !== item.version) return { t: "upsert", item };
  // What was refused before and is in the log again is open again.
  return isSameAccess && !tools.deletes ? "same" : { t: "access", externalId: id, access: place.access };
}

/** A folder as a group: who reads it reads what is in it. */
export function* tellFolder({ ctx, run, tree }: Tools, folder: Folder): Generator<Event> {
  if (run.mode !== "access") ctx.state.put(folderKey(folder.id), placeKeyOf(folder));
  yield tree.groupOf(folder);
}

export const folderKey = (id: string) => `folder:${id}`;

/** Moves when the items in a folder are to be told again: they are elsewhere, or their folder is called otherwise. */
export function placeKeyOf({ name, parentId }: Folder): string {
  return digest([name, parentId ?? null]);
}

/** Groups of Google and people that were named since the last time. */
export async function* tellNamed(tools: Tools): AsyncGenerator<Event, void> {
  const { readers, domains, told } = tools;
  for (const [id, email] of readers.groups) {
    if (told.has(id)) continue;
    yield* tellGroup(tools, id, email);
    // One that failed is not told.
    told.add(id);
  }
  for (const [id, { name, email }] of readers.people) {
    if (told.has(id)) continue;
    told.add(id);
    // Who is of the organization is told by its directory, with whether they are suspended.
    if (domains?.includes(domainOf(email) ?? "") === true) continue;
    const [principal = ""] = readers.user(id);
    yield {
      t: "identity",
      principal,
      state: "active",
      ...(name !== undefined && { name }),
      ...(email !== undefined && { login: email, email: { address: email, isVerified: false } }),
    };
  }
}

async function* tellGroup(tools: Tools, id: string, email: string): AsyncGenerator<Event, void> {
  const { ctx, client, readers, book } = tools;
  const group = readers.group(googleGroupId(id));
  const members = await membersOf({ client, readers, book, now: ctx.now }, id, email);
  if (members) yield* groupPages(group, members);
  // Nobody stands for a group whose members are not known.
  else yield { t: "refused", what: { group }, code: "source_forbidden" };
  await keepGroup(ctx, id, email);
}

const GROUPS = "groups";
/** Of more, the others are read again with all permissions. */
const MOST_KEPT = 400;
const READ_AGAIN_MS = 5 * 60_000;
const MOST_AGAIN = 25;

/** Permission ids of groups with their addresses, and when they were read; the oldest first. */
async function keptGroups({ state }: DriveSyncContext): Promise<[string, string, number][]> {
  const kept = await state.get(GROUPS);
  // Nobody else writes it, and a former version of the source wrote the same.
  return Array.isArray(kept) ? (kept as [string, string, number][]) : [];
}

async function keepGroup(ctx: DriveSyncContext, id: string, email: string): Promise<void> {
  const others = (await keptGroups(ctx)).filter(([known]) => known !== id);
  if (email.length <= 120) ctx.state.put(GROUPS, [...others, [id, email, ctx.now()]].slice(-MOST_KEPT));
}

/** Who is in the groups of Google that were not looked at for longest; in all of them where a person asks for it. */
export async function* tellDueGroups(tools: Tools): AsyncGenerator<Event, void> {
  const { ctx, run, told } = tools;
  const kept = await keptGroups(ctx);
  const due = kept.filter(([, , at]) => ctx.now() - at >= READ_AGAIN_MS).slice(0, MOST_AGAIN);
  for (const [id, email] of run.readsGroups ? kept : due) {
    if (told.has(id)) continue;
    told.add(id);
    yield* tellGroup(tools, id, email);
  }
}
