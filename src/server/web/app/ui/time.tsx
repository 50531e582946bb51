import { useSyncExternalStore } from "react";
import { describeTime } from "./time-words.ts";

/** A time, in words if it is near, else as a date. The exact time is shown on hover. */
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

/** Returns a function that describes near times in words, for sentences. The words are updated as time passes. */
export function useTimeWords(): (at: string) => string {
  const now = useSyncExternalStore(watch, readNow);
  return (at) => describeTime(Date.parse(at), nowFor(Date.parse(at), now));
}

/** The current time, to the half minute. Everything shown uses this one clock. */
let now = 0;
const STEP_MS = 30_000;

function readNow(): number {
  const present = Date.now();
  if (present - now >= STEP_MS) now = present;
  return now;
}

/**
 * Returns the current time for describing `at`. A time that is past, but after the clock's last tick, is described as
 * just now.
 */
function nowFor(at: number, now: number): number {
  return Math.max(now, Math.min(at, Date.now()));
}

function watch(changed: () => void): () => void {
  const timer = window.setInterval(changed, STEP_MS);
  return () => window.clearInterval(timer);
}
