/**
 * Detects whether the database is the latest one of this folder. A restored copy is outdated: what it records as just
 * read may have been read days ago. Nothing inside the database can show that. So the folder holds a small file next to
 * the database with a rising number in its name, and the database records which file that is.
 *
 * - If only the database was restored, there is a file with a higher number than the recorded one.
 * - If the whole folder was copied or restored, the recorded file has another inode and birth time, which no copy
 * keeps.
 * Files with higher numbers aren't overwritten by those of the copy.
 * - A disk snapshot contains the same files, so the operator removes them (docs/self-hosting.md).
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** The database's record of the file next to it. */
export interface FolderMark {
  step: number;
  /** Inode and birth time of the file, as one text. */
  file: string;
}

/** Reads and writes the database's record of the mark. */
export interface MarkRecords {
  findMark(): Promise<FolderMark | undefined>;
  noteMark(mark: FolderMark): Promise<unknown>;
}

/**
 * Whether this database, or the whole folder, is an earlier copy.
 *
 * @param noted the database's record; undefined = none, as in new databases and those of earlier versions
 */
export function isRestored(folder: string, noted: FolderMark | undefined): boolean {
  const highest = Math.max(0, ...stepsIn(folder));
  if (noted === undefined) return highest > 0;
  // The file is created before the database records it, so a server that dies in between leaves one extra file.
  if (highest > noted.step + 1) return true;
  const file = identityOf(folder, noted.step);
  return file === undefined || !isSameFile(file, noted.file);
}

/** Increases the number, so that a database or folder that is restored from now on is detected. */
export async function stepMark(folder: string, records: MarkRecords): Promise<void> {
  const noted = await records.findMark();
  const step = Math.max(noted?.step ?? 0, ...stepsIn(folder)) + 1;
  closeSync(openSync(pathOf(folder, step), "w", 0o600));
  const file = identityOf(folder, step);
  if (file === undefined) return;
  await records.noteMark({ step, file });
  // The last but one file is kept, because the database may not have recorded the last one before a power cut.
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

/** Returns the identity of a mark file; undefined when the file doesn't exist. */
function identityOf(folder: string, step: number): string | undefined {
  const stats = statSync(pathOf(folder, step), { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  // On a file system without birth times, Node returns the time of the last change instead, which changes with the
  // owner. The folder's own times reveal such a file system.
  const parent = statSync(folder, { bigint: true });
  const isBirthNoted = stats.birthtimeNs > 0n && parent.birthtimeNs !== parent.ctimeNs;
  return `${stats.ino} ${isBirthNoted ? stats.birthtimeNs : ""}`;
}

function isSameFile(one: string, other: string): boolean {
  const [inode, born] = one.split(" ");
  const [otherInode, otherBorn] = other.split(" ");
  return inode === otherInode && (!born || !otherBorn || born === otherBorn);
}
