import { exchanges } from "./exchange.ts";

const MIN_MS = 250;
const MAX_MS = 60_000;
/** A stream that lasted this long was working, so the next one begins soon. */
const LASTED_MS = 60_000;

/**
 * Schedules the resumption of a stream that broke off, at the time that the server requests, within limits. Each time that a notification stream
 * lasted less than a minute, the next wait is twice as long, up to a minute, because the session has no end.
 */
export function makeResuming(): (resume: () => void, delayMs: number) => () => void {
  let pauseMs = MIN_MS;
  let resumedAt = 0;
  return (resume, delayMs) => {
    // The notification stream is opened with the session, and nothing else in that exchange lasts long.
    const exchange = exchanges.getStore();
    const isListening = exchange?.step === "initialize";
    if (isListening && performance.now() - resumedAt >= LASTED_MS) pauseMs = MIN_MS;
    const least = isListening ? pauseMs : MIN_MS;
    if (isListening) pauseMs = Math.min(pauseMs * 2, MAX_MS);
    const begin = () => {
      resumedAt = performance.now();
      if (exchange) exchanges.run(exchange, resume);
    };
    const timer = setTimeout(begin, clamp(delayMs, least));
    timer.unref();
    return () => clearTimeout(timer);
  };
}

function clamp(delayMs: number, least: number): number {
  return Math.min(Math.max(delayMs, least), MAX_MS);
}
