import { notFound } from "#sources/errors.ts";
import type { BigIntStats } from "node:fs";
import { ApiError, isApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";
import { chainBelow, readIgnoreFiles } from "./ignore-files.ts";
import {
  DENIED,
  TOO_DEEP,
  isRestricted,
  judgeFolder,
  judgeName,
  judgeStats,
  type IgnoreChain,
  type JudgeOptions,
  type Refusal,
  type Verdict,
} from "./judge.ts";
import { gather } from "#sources/gather.ts";
import { byCodeUnits, openFolderInside, openInside, type OpenFolder } from "./open-inside.ts";
import { idIn, segmentsOf } from "#sources/file-scope/paths.ts";
import { errorCode } from "./root.ts";

/** The results of a walk, in the order of the ids' segments. */
export type WalkEntry =
  | { type: "file"; rel: string; stats: BigIntStats; isRestricted: boolean }
  | { type: "refused"; rel: string; refusal: Refusal }
  /** A path that could not be accessed now. Stored items at or below it must stay. */
  | { type: "failed"; rel: string; message: string };

/** The walk's internal results, which include each folder that it enters, before the folder's contents. */
export type WalkStep = WalkEntry | { type: "folder"; rel: string };

/**
 * Folders below this depth are left out. No real document library is deeper, and the cost of patterns grows with the
 * depth.
 */
export const MAX_DEPTH = 64;

/**
 * Walks the root. Yields every file that becomes an item, and one entry for each file or folder that is left out.
 * Several files are processed at a time, the root folder first. Memory holds only the names in the folders on the
 * current path, never the whole tree. Stops when aborted.
 *
 * @param after  an id: everything that precedes it in the walk's order is skipped, and so are the folders that contain
 * it, but not the id itself
 * @throws ApiError `source_unavailable` if the root itself can't be read, `resources_exhausted`
 */
export async function* walk(
  options: JudgeOptions,
  { after, signal, now }: { after: string | null; signal: AbortSignal; now: () => number },
): AsyncGenerator<WalkStep[], void> {
  const stack: Frame[] = [];
  const page = gather<WalkStep>(now);
  try {
    const { frame, entries } = await enterRoot(options, after === null ? [] : segmentsOf(after));
    stack.push(frame);
    if (after === null) entries.forEach(page.add);
    for (let top = stack.at(-1); top !== undefined && !signal.aborted; top = stack.at(-1)) {
      const step = await nextStep(options, top);
      if (step === undefined) {
        await top.folder.close();
        stack.pop();
      } else if (step.type === "enter") {
        const entered = await enter(options, top, step, stack.length);
        if (entered.frame !== undefined) stack.push(entered.frame);
        // The folder was reported before the walk was interrupted.
        if (entered.frame !== undefined && entered.frame.resume.length > 0) continue;
        if (entered.frame !== undefined) {
          if (!page.isEmpty()) yield page.take();
          page.add({ type: "folder", rel: step.rel });
        }
        entered.entries.forEach(page.add);
      } else if (step.type !== "nothing") {
        page.add(step);
      }
      if (page.isDue()) yield page.take();
    }
    if (!page.isEmpty()) yield page.take();
  } finally {
    for (const frame of stack) await frame.folder.close();
  }
}

/**
 * Returns the walk's result for one id: the file, the reason why it is excluded, or `undefined` if it doesn't exist.
 *
 * @throws ApiError `source_unavailable` if the root itself can't be read
 */
export async function findEntry(options: JudgeOptions, rel: string): Promise<WalkEntry | undefined> {
  const segments = segmentsOf(rel);
  const name = segments.pop() ?? "";
  return inFolder(options, segments, async (frame, refusal) => {
    if (frame === undefined) return refusal;
    const step = await nextStep(options, { ...frame, names: [name], next: 0, ahead: [] });
    return step === undefined || step.type === "nothing" || step.type === "enter" ? undefined : step;
  });
}

/** A place directly below a folder. */
export interface Place {
  rel: string;
  kind: "folder" | "file";
}

/**
 * Lists the folders and files directly below a folder that the walk would enter or include, in the walk's order.
 *
 * @throws ApiError `source_not_found` if the walk would not enter `rel` itself
 */
export async function listPlaces(options: JudgeOptions, rel: string): Promise<Place[]> {
  return inFolder(options, rel === "" ? [] : segmentsOf(rel), async (frame) => {
    if (frame === undefined) throw noFolder(rel);
    const found: Place[] = [];
    for (let step = await nextStep(options, frame); step !== undefined; step = await nextStep(options, frame)) {
      if (step.type === "enter") found.push({ rel: step.rel, kind: "folder" });
      if (step.type === "file") found.push({ rel: step.rel, kind: "file" });
    }
    return found;
  });
}

/** A folder that the walk has opened. */
interface Frame {
  folder: OpenFolder;
  rel: string;
  names: string[];
  /** All names in the folder, even if only one of them is requested. */
  siblings: ReadonlySet<string>;
  next: number;
  /** Entries that were already accessed, in order. */
  ahead: Looked[];
  chain: IgnoreChain | undefined;
  /**
   * True = other users of the machine may not enter the folder or a folder above it. The root's own permissions don't
   * count.
   */
  isRestricted: boolean;
  /** The remaining segments of the id at which the walk resumes, if the id is in this folder. */
  resume: readonly string[];
}

type Looked = { name: string; stats: BigIntStats } | { name: string; error: unknown };
type Enter = { type: "enter"; rel: string; name: string; isRestricted: boolean };
type Step = WalkEntry | Enter | { type: "nothing" };

/** The number of concurrent `lstat` calls: enough to keep the four threads of the pool busy. */
const LOOK_AHEAD = 32;

function enterRoot(options: JudgeOptions, resume: readonly string[]) {
  return openFrame(options, { rel: "", isRestricted: false }, undefined, resume).catch((cause: unknown) => {
    throw new ApiError("source_unavailable", { message: "The root folder can't be read now.", field: "root", cause });
  });
}

/**
 * Opens a folder in the same way as the walk, and passes it to `use`. The frame is missing if the walk would not enter
 * the folder.
 */
async function inFolder<Result>(
  options: JudgeOptions,
  segments: readonly string[],
  use: (frame: Frame | undefined, refusal?: WalkEntry) => Promise<Result>,
): Promise<Result> {
  const opened: Frame[] = [];
  try {
    let { frame } = await enterRoot(options, []);
    opened.push(frame);
    for (const segment of segments) {
      const step = await nextStep(options, { ...frame, names: [segment], next: 0, ahead: [] });
      if (step === undefined || step.type === "nothing" || step.type === "file") return await use(undefined);
      if (step.type !== "enter") return await use(undefined, step);
      const entered = await enter(options, frame, step, opened.length);
      if (entered.frame === undefined) return await use(undefined, entered.entries[0]);
      frame = entered.frame;
      opened.push(frame);
    }
    return await use(frame);
  } finally {
    for (const frame of opened) await frame.folder.close();
  }
}

async function enter(
  options: JudgeOptions,
  parent: Frame,
  step: Enter,
  depth: number,
): Promise<{ frame?: Frame; entries: WalkEntry[] }> {
  if (depth > MAX_DEPTH) return { entries: [{ type: "refused", rel: step.rel, refusal: TOO_DEEP }] };
  const resume = parent.resume[0] === step.name ? parent.resume.slice(1) : [];
  try {
    const { rel, isRestricted } = step;
    const opened = await openFrame(options, { rel, isRestricted }, chainBelow(parent.chain, rel), resume);
    const verdict = judgeFolder(options, parent.chain, rel, opened.frame.names);
    if (verdict === "take") return opened;
    await opened.frame.folder.close();
    return { entries: [refused(rel, verdict)] };
  } catch (error) {
    return { entries: folderFailure(step.rel, error) };
  }
}

async function openFrame(
  options: JudgeOptions,
  { rel, isRestricted }: Pick<Frame, "rel" | "isRestricted">,
  outer: IgnoreChain | undefined,
  resume: readonly string[],
): Promise<{ frame: Frame; entries: WalkEntry[] }> {
  const folder = await openFolderInside(options.root, rel);
  try {
    const names = await folder.names();
    const { chain, faults } = await readIgnoreFiles(options.root, { rel, names }, outer, options.config.gitignore);
    const start = resume[0];
    const next = start === undefined ? 0 : names.findIndex((name) => byCodeUnits(name, start) >= 0);
    const place = { next: next === -1 ? names.length : next, ahead: [], resume };
    const frame: Frame = { folder, rel, names, siblings: new Set(names), chain, isRestricted, ...place };
    return { frame, entries: faults.map(({ rel, message }) => refused(rel, { reason: "failed", message })) };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function nextStep(options: JudgeOptions, frame: Frame): Promise<Step | undefined> {
  if (frame.ahead.length === 0) {
    const names = frame.names.slice(frame.next, frame.next + LOOK_AHEAD);
    frame.next += names.length;
    frame.ahead = await Promise.all(names.map((name) => inspect(frame.folder, name)));
  }
  const inspected = frame.ahead.shift();
  if (inspected === undefined) return undefined;
  const rel = idIn(frame.rel, inspected.name);
  if ("error" in inspected) return inspectFailure(rel, inspected.error);

  const { stats, name } = inspected;
  const verdict = judge(options, frame, name, rel, stats);
  if (verdict === "silent") return { type: "nothing" };
  if (verdict !== "take") return { type: "refused", rel, refusal: verdict };
  const isClosed = frame.isRestricted || isRestricted(stats);
  if (stats.isDirectory()) return { type: "enter", rel, name, isRestricted: isClosed };
  if (await isDenied(options, rel, stats)) return { type: "refused", rel, refusal: DENIED };
  return { type: "file", rel, stats, isRestricted: isClosed };
}

function judge(options: JudgeOptions, frame: Frame, name: string, rel: string, stats: BigIntStats): Verdict {
  const { chain, siblings } = frame;
  const byName = judgeName(options, { name, rel, isFolder: stats.isDirectory(), chain, siblings });
  return byName === "take" ? judgeStats(options, stats) : byName;
}

async function inspect(folder: OpenFolder, name: string): Promise<Looked> {
  try {
    return { name, stats: await folder.lstat(name) };
  } catch (error) {
    return { name, error };
  }
}

function inspectFailure(rel: string, error: unknown): Step {
  const code = errorCode(error);
  // The path was removed after its folder was listed.
  if (code === "ENOENT" || code === "ENOTDIR") return { type: "nothing" };
  if (code === "EACCES" || code === "EPERM") return { type: "refused", rel, refusal: DENIED };
  return { type: "failed", rel, message: `It can't be accessed (${code ?? "unknown error"}).` };
}

/**
 * Decides what a folder that can't be read means: a missing folder isn't a failure, a folder that kb may not read is
 * left out by policy, and any other error may be temporary.
 */
function folderFailure(rel: string, error: unknown): WalkEntry[] {
  const shortage = findShortage(error);
  if (shortage) throw shortage;
  if (isApiError(error, "source_not_found")) {
    return error.details?.["denied"] === true ? [{ type: "refused", rel, refusal: DENIED }] : [];
  }
  const code = errorCode(error);
  if (code === "EACCES" || code === "EPERM") return [{ type: "refused", rel, refusal: DENIED }];
  const message = isApiError(error) ? error.message : `The folder can't be read (${code ?? "unknown error"}).`;
  return [{ type: "failed", rel, message }];
}

/**
 * Whether kb may not read the file. Checked only if the file mode doesn't decide: a file that everyone may read needs
 * no further call.
 */
async function isDenied(options: JudgeOptions, rel: string, stats: BigIntStats): Promise<boolean> {
  if ((stats.mode & 0o444n) === 0o444n) return false;
  try {
    await (await openInside(options.root, rel)).close();
    return false;
  } catch (error) {
    // The file is missing, or unreadable for another reason. Reading its content will report that.
    return isApiError(error) && error.details?.["denied"] === true;
  }
}

function refused(rel: string, refusal: Refusal): WalkEntry {
  return { type: "refused", rel, refusal };
}

function noFolder(rel: string): ApiError {
  return notFound(`There is no folder ${JSON.stringify(rel)} here.`);
}
