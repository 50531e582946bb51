/**
 * Whether the database is the one that was here last. A copy that was restored is older than the world: what it takes for
 * read a moment ago may have been read days ago. Nothing inside the database can tell, so the folder holds a small file beside it,
 * whose name counts up, and the database notes which file that is.
 *
 * - The database alone was restored: there is a higher file than it knows of.
 * - The whole folder was copied, or restored: the file that the database noted is another one by its inode and its birth,
 *   which no copy keeps. Files of higher numbers are not overwritten by those of the copy.
 * - A snapshot of the disk holds the same files: the operator removes them (docs/self-hosting.md).
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the database notes of the file beside it. */
export interface FolderMark {
  step: number;
  /** Inode and birth, as one text. */
  file: string;
}

/** What the database keeps of it. */
export interface MarkRecords {
  findMark(): Promise<FolderMark | undefined>;
  noteMark(mark: FolderMark): Promise<void>;
}

/**
 * Whether this database, or all of the folder, is a copy of before.
 *
 * @param noted  as the database has it; undefined = it has none, as new ones and those of former versions
 */
export function isRestored(folder: string, noted: FolderMark | undefined): boolean {
  const highest = Math.max(0, ...stepsIn(folder));
  if (noted === undefined) return highest > 0;
  // The file is made before the database notes it: dead in between, a server leaves one more.
  if (highest > noted.step + 1) return true;
  const file = identityOf(folder, noted.step);
  return file === undefined || !isSameFile(file, noted.file);
}

/** Counts one up. What is restored from now on is known by it. */
export async function stepMark(folder: string, records: MarkRecords): Promise<void> {
  const noted = await records.findMark();
  const step = Math.max(noted?.step ?? 0, ...stepsIn(folder)) + 1;
  closeSync(openSync(pathOf(folder, step), "w", 0o600));
  const file = identityOf(folder, step);
  if (file === undefined) return;
  await records.noteMark({ step, file });
  // The last but one stays: after a power cut the database may not have noted the last.
  for (const old of stepsIn(folder)) if (old < (noted?.step ?? step)) rmSync(pathOf(folder, old), { force: true });
}

const NAME = /^\.mark-(\d{1,15})$/;

const pathOf = (folder: string, step: number) => join(folder, `.mark-${step}`);

function stepsIn(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => {
    const step = NAME.exec(name)?.[1];
    return step === undefined ? [] : [Number(step)];
  });
}

/** Undefined where there is no such file. */
function identityOf(folder: string, step: number): string | undefined {
  const stats = statSync(pathOf(folder, step), { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  // Where births are not noted Node gives the last change instead, which a change of the owner moves: the folder tells.
  const parent = statSync(folder, { bigint: true });
  const isBirthNoted = stats.birthtimeNs > 0n && parent.birthtimeNs !== parent.ctimeNs;
  return `${stats.ino} ${isBirthNoted ? stats.birthtimeNs : ""}`;
}

function isSameFile(one: string, other: string): boolean {
  const [inode, born] = one.split(" ");
  const [otherInode, otherBorn] = other.split(" ");
  return inode === otherInode && (!born || !otherBorn || born === otherBorn);
}
