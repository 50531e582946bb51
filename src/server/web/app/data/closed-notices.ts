const KEY = "kb-closed-notices";

/** Returns the keys of the notices closed in this browser since the last sign-in. */
export function closedNotices(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.map(String) : [];
  } catch {
    return [];
  }
}

/** @returns the keys of all notices that are now closed */
export function closeNotice(key: string): readonly string[] {
  const closed = [...closedNotices(), key];
  window.localStorage.setItem(KEY, JSON.stringify(closed));
  return closed;
}

/** Shows notices about a password or a link once more after each sign-in. */
export function reopenNotices(): void {
  window.localStorage.removeItem(KEY);
}
