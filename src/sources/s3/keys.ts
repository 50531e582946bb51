import type { CompiledScope } from "#sources/file-scope/scope.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";

/** Longest key, in bytes. Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const MAX_KEY_BYTES = 1_024;

/** The most slashes in a key. A key with more isn't a folder path that people made. */
const MAX_FOLDERS_DEEP = 64;

/** Whether a key can be an item. The URL of a key with `.` or `..` between slashes would lead to another object. */
export function isKey(key: string): boolean {
  if (key === "" || Buffer.byteLength(key) > MAX_KEY_BYTES || /[\0\p{Surrogate}]/u.test(key)) return false;
  const names = key.split("/");
  return names.length <= MAX_FOLDERS_DEEP && names.every((name) => name !== "." && name !== "..");
}

/** Compares two keys in the order in which a store lists them: by bytes, which isn't JavaScript's order. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/", key.length - 2) + 1);
}

export interface Choice {
  scope: CompiledScope;
  secretFiles: boolean;
}

export interface LeftOut {
  /** The id of the object, or of the folder that is left out as a whole, with its trailing slash. */
  id: string;
  reason: "excluded_by_scope" | "excluded_by_policy";
  message: string;
}

/** Returns why an object isn't an item; undefined if it is one. */
export function whyLeftOut({ scope, secretFiles }: Choice, key: string): LeftOut | undefined {
  if (!isKey(key)) return noKey(key, "The object's key is too long, too deep, or can't be part of a URL.");
  for (let slash = key.indexOf("/"); slash !== -1; slash = key.indexOf("/", slash + 1)) {
    const folder = key.slice(0, slash);
    if (folder === "") continue;
    if (scope.excludes(folder, true) || !scope.mayContainIncluded(folder)) return outOfScope(`${folder}/`);
  }
  if (scope.excludes(key, false) || !scope.includes(key)) return outOfScope(key);
  if (secretFiles || !isSecretFile(nameOf(key))) return undefined;
  return { id: key, reason: "excluded_by_policy", message: "The name suggests keys or passwords." };
}

/** Builds the entry for an unusable key. Its id isn't a key itself, so no other object is left out with it. */
export function noKey(key: string, message: string): LeftOut {
  return { id: `${key.slice(0, MAX_KEY_BYTES)}/..`, reason: "excluded_by_policy", message };
}

function outOfScope(id: string): LeftOut {
  return { id, reason: "excluded_by_scope", message: "The connector's scope leaves it out." };
}
