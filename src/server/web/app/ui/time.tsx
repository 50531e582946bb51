import { useSyncExternalStore } from "react";
import { describeTime } from "./time-words.ts";

/** A moment, in words near now and as a date further away; exact on hover. */
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

/** Says moments near now in words, as they change, for sentences that name them. */
export function useTimeWords(): (at: string) => string {
  const now = useSyncExternalStore(watch, readNow);
  return (at) => describeTime(Date.parse(at), nowFor(Date.parse(at), now));
}

/** The present, to the half minute: one clock for all that is shown. */
let now = 0;
const STEP_MS = 30_000;

function readNow(): number {
  const present = Date.now();
  if (present - now >= STEP_MS) now = present;
  return now;
}

/** What came after the clock's last step, and is over, was just now. */
function nowFor(at: number, now: number): number {
  return Math.max(now, Math.min(at, Date.now()));
}

function watch(changed: () => void): () => void {
  const timer = window.setInterval(changed, STEP_MS);
  return () => window.clearInterval(timer);
}
