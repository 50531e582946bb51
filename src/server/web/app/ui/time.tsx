import { useSyncExternalStore } from "react";
import { describeTime } from "./time-words.ts";

/** A moment, in words if it is near and as a date further away; exact on hover. */
export function Time({ at, never = "never" }: { at: string | null; never?: string }) {
  const now = useSyncExternalStore(watch, readNow);
  if (at === null) return <span className="text-muted">{never}</span>;
  const date = new Date(at);
  return (
    <time className="whitespace-nowrap" dateTime={at} title={date.toLocaleString()}>
      {describeTime(date.getTime(), nowFor(date.getTime(), now))}
    </time>
  );
}

/** Describes near moments in words, updated as time passes, for sentences that name them. */
export function useTimeWords(): (at: string) => string {
  const now = useSyncExternalStore(watch, readNow);
  return (at) => describeTime(Date.parse(at), nowFor(Date.parse(at), now));
}

/** The current time, to the half minute: one clock for everything shown. */
let now = 0;
const STEP_MS = 30_000;

function readNow(): number {
  const present = Date.now();
  if (present - now >= STEP_MS) now = present;
  return now;
}

/** A moment after the clock's last tick that is already over was just now. */
function nowFor(at: number, now: number): number {
  return Math.max(now, Math.min(at, Date.now()));
}

function watch(changed: () => void): () => void {
  const timer = window.setInterval(changed, STEP_MS);
  return () => window.clearInterval(timer);
}
