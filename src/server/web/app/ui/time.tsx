import { describeTime } from "./time-words.ts";

/** A moment, in words near now and as a date further away; exact on hover. */
export function Time({ at, never = "never" }: { at: string | null; never?: string }) {
  if (at === null) return <span className="text-muted">{never}</span>;
  const date = new Date(at);
  return (
    <time className="whitespace-nowrap" dateTime={at} title={date.toLocaleString()}>
      {describeTime(date.getTime(), Date.now())}
    </time>
  );
}
