import type { ReactNode } from "react";

/**
 * Words that appear below a control on hover and focus. They repeat the control's name, so they are hidden from screen
 * readers. They are pure CSS, because a library for tooltips is larger than all of our own components together.
 */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <span className="group/tip relative inline-flex">
      {children}
      <span
        aria-hidden="true"
        className="bg-ink text-bg pointer-events-none absolute top-full right-0 z-50 mt-1 hidden rounded px-2 py-1 text-xs whitespace-nowrap group-hover/tip:block group-has-focus-visible/tip:block"
      >
        {text}
      </span>
    </span>
  );
}
