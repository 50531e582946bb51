/** Checks which folders quickstart can index without harm. Source: S34. */
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { holdsGeneratedMarker, isGeneratedFolder } from "#api/generated-folders.ts";
import { count } from "#api/plural.ts";
import type { Deps } from "#cli/host/deps.ts";
import { usageFailure } from "#cli/host/failure.ts";

/** If a folder has more files than this, the person is asked first. */
export const MANY_FILES = 50_000;

/** The result of counting a folder's files; counting stops above `MANY_FILES`. */
export interface FolderSurvey {
  files: number;
  /** The path of a file that belongs to another user, as an example. */
  foreign: string | undefined;
}

/** System folders that are refused, including everything below them. */
const SYSTEM_TREES = ["/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/System", "/private/etc", "C:\\Windows"];
/** Folders that contain the system or all home folders. They are refused themselves, but a folder inside them is allowed. */
const SYSTEM_FOLDERS = [
  ..."/ /bin /sbin /lib /lib64 /usr /usr/bin /usr/lib /usr/sbin /usr/local /var /var/lib /opt /home /root /srv /mnt".split(
    " ",
  ),
  ..."/media /tmp /Users /Library /Applications /Volumes /private C:\\ C:\\Users".split(" "),
];

/**
 * Returns the real path of a folder that may be indexed.
 *
 * @param secretDirs folders with kb's keys, databases or logins: neither these folders nor their parents are indexed
 * @throws CliFailure (usage) with the reason when it is refused
 */
export async function checkFolder(
  path: string,
  deps: Pick<Deps, "cwd" | "home">,
  secretDirs: readonly string[],
): Promise<string> {
  const absolute = resolve(deps.cwd, path);
  const real = await realpath(absolute).catch(() => {
    throw usageFailure(`${absolute} does not exist or cannot be read.`);
  });
  if (!(await stat(real)).isDirectory())
    throw usageFailure(`${absolute} is not a folder.`, `Name its folder: ${dirname(absolute)}`);
  const home = await realOrSelf(deps.home);
  if (real === home) throw refused(real, "it is your whole home folder");
  if (isInside(home, real)) throw refused(real, "your home folder is inside it");
  if (SYSTEM_FOLDERS.includes(real) || dirname(real) === real) throw refused(real, "it is a system folder");
  if (SYSTEM_TREES.some((tree) => isInside(real, tree))) throw refused(real, "it is a system folder");
  for (const dir of secretDirs) {
    const secret = await realOrSelf(dir);
    if (isInside(secret, real)) throw refused(real, `kb keeps its own data in ${secret}`);
    if (isInside(real, secret)) throw refused(real, `it belongs to kb's own data in ${secret}`);
  }
  return real;
}

/**
 * Counts the files that a sync would index. Hidden files and files in generated folders aren't counted, and links aren't followed.
 *
 * @param tick called now and then with the number so far
 */
export async function surveyFolder(
  root: string,
  userId: number | undefined,
  tick: (files: number) => void,
  options: { generated: boolean } = { generated: false },
): Promise<FolderSurvey> {
  const survey: FolderSurvey = { files: 0, foreign: undefined };
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    // An unreadable folder doesn't stop the count; the sync reports the folder.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const names = new Set(entries.map(({ name }) => name));
    if (!options.generated && folder !== root && holdsGeneratedMarker([...names])) continue;
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (options.generated || !isGeneratedFolder(entry.name, names)) waiting.push(path);
      } else if (entry.isFile()) {
        survey.files += 1;
        if (survey.foreign === undefined && userId !== undefined) survey.foreign = await foreignFile(path, userId);
        if (survey.files % 1000 === 0) tick(survey.files);
        if (survey.files > MANY_FILES) return survey;
      }
    }
  }
  return survey;
}

/** Returns the question that the survey of a folder raises; undefined when there is none. */
export function questionAbout(root: string, survey: FolderSurvey): string | undefined {
  const reasons = [
    ...(survey.files > MANY_FILES ? [`more than ${count(MANY_FILES)} files`] : []),
    ...(survey.foreign === undefined ? [] : [`files of other users (${survey.foreign})`]),
  ];
  return reasons.length === 0 ? undefined : `${root} contains ${reasons.join(" and ")}. Index it anyway?`;
}

/** True when `path` is `folder` or inside it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return (
    way === "" ||
    (way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path && !/^[A-Za-z]:/.test(way))
  );
}

async function foreignFile(path: string, userId: number): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  // Files of the system's administrator were installed (packages, shared documents) and don't belong to another person.
  return info === undefined || info.uid === userId || info.uid === 0 ? undefined : path;
}

/** Returns the real path. For a folder that doesn't exist yet, it uses the real path of the nearest existing parent. */
async function realOrSelf(path: string): Promise<string> {
  const whole = resolve(path);
  const real = await realpath(whole).catch(() => undefined);
  if (real !== undefined) return real;
  const parent = dirname(whole);
  return parent === whole ? whole : join(await realOrSelf(parent), relative(parent, whole));
}

function refused(path: string, why: string): Error {
  return usageFailure(`quickstart can't index ${path}: ${why}.`, "Name a folder with documents: kb quickstart ~/notes");
}
