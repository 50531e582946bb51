/**
 * Detects whether the database is the latest one of this folder. A restored copy is outdated: what it records as just
 * read may have been read days ago. Nothing inside the database can show that, so the folder holds a small file next to
 * it with a rising number in its name, and the database records which file that is.
 *
 * - Only the database was restored: there is a file with a higher number than it recorded.
 * - The whole folder was copied, or restored: the recorded file has another inode and birth time, which no copy keeps.
 *   Files with higher numbers aren't overwritten by those of the copy.
 * - A disk snapshot holds the same files: the operator removes them (docs/self-hosting.md).
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** The database's record of the file next to it. */
export interface FolderMark {
  step: number;
  /** Inode and birth time, as one text. */
  file: string;
}

/** The database's access to the record. */
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
  // The file is created before the database records it: if a server dies in between, there is one extra.
  if (highest > noted.step + 1) return true;
  const file = identityOf(folder, noted.step);
  return file === undefined || !isSameFile(file, noted.file);
}

/** Increases the number, which makes anything restored from now on detectable. */
export async function stepMark(folder: string, records: MarkRecords): Promise<void> {
  const noted = await records.findMark();
  const step = Math.max(noted?.step ?? 0, ...stepsIn(folder)) + 1;
  closeSync(openSync(pathOf(folder, step), "w", 0o600));
  const file = identityOf(folder, step);
  if (file === undefined) return;
  await records.noteMark({ step, file });
  // The last but one stays: after a power cut the database may not have recorded the last.
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

/** Undefined when the file doesn't exist. */
function identityOf(folder: string, step: number): string | undefined {
  const stats = statSync(pathOf(folder, step), { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  // Without birth times Node returns the last change instead, which a change of owner alters. The folder's own times show this.
  const parent = statSync(folder, { bigint: true });
  const isBirthNoted = stats.birthtimeNs > 0n && parent.birthtimeNs !== parent.ctimeNs;
  return `${stats.ino} ${isBirthNoted ? stats.birthtimeNs : ""}`;
}

function isSameFile(one: string, other: string): boolean {
  const [inode, born] = one.split(" ");
  const [otherInode, otherBorn] = other.split(" ");
  return inode === otherInode && (!born || !otherBorn || born === otherBorn);
}
