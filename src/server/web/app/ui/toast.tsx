import { useSyncExternalStore } from "react";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Icon } from "./icon.tsx";

interface Toast {
  id: number;
  text: string;
}

const SHOWN_MS = 5_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const watchers = new Set<() => void>();

/** Shows for a few seconds that something was done. Failures are shown next to their cause, not here. */
export function toast(text: string): void {
  const id = ++lastId;
  set([...toasts, { id, text }]);
  window.setTimeout(() => set(toasts.filter((one) => one.id !== id)), SHOWN_MS);
}

/** Runs the work and shows a failure in a toast. Use it if there is no place for a notice. */
export async function tryOrToast(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    toast(toProblem(error).message);
  }
}

/** The container of the messages. It is always present, so that screen readers announce new messages. */
export function Toasts() {
  const shown = useSyncExternalStore(watch, () => toasts);
  return (
    <output
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2 px-4"
    >
      {shown.map(({ id, text }) => (
        <span
          className="bg-ink text-bg shadow-lift flex max-w-md items-center gap-2 rounded-md px-3 py-2 wrap-anywhere"
          key={id}
        >
          <Icon name="check" />
          {text}
        </span>
      ))}
    </output>
  );
}

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const changed of watchers) changed();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
