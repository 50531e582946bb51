import { useEffect, useRef, useState, type RefObject } from "react";
import { TOOL_LIMITS } from "#api/tools.ts";
import { Icon } from "#server/web/app/ui/icon.tsx";

/** Milliseconds from the last key press to the search. */
const PAUSE_MS = 250;

export interface BoxProps {
  /** The query that is in the address. */
  query: string;
  box: RefObject<HTMLInputElement | null>;
  onAsk(query: string): void;
  /** Moves the focus to the results. */
  onDown(): void;
}

/** The search field. It searches after a short pause, or at once with Enter. */
export function Box({ query, box, onAsk, onDown }: BoxProps) {
  const [text, setText] = useState(query);
  const asked = useRef(query);
  const timer = useRef(0);

  // The address was changed in another way, for example with the browser's back button.
  useEffect(() => {
    if (query !== asked.current) setText(query);
    asked.current = query;
  }, [query]);

  function ask(words: string): void {
    window.clearTimeout(timer.current);
    asked.current = words.trim();
    onAsk(asked.current);
  }

  return (
    <form
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        ask(text);
      }}
    >
      <span className="text-muted pointer-events-none absolute inset-y-0 left-3 flex items-center">
        <Icon name="search" />
      </span>
      <input
        aria-label="Search"
        autoComplete="off"
        className="bg-surface border-edge w-full rounded-lg border py-2.5 pr-3 pl-9 text-base"
        enterKeyHint="search"
        maxLength={TOOL_LIMITS.queryChars}
        onChange={(event) => {
          const words = event.currentTarget.value;
          setText(words);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => ask(words), PAUSE_MS);
        }}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          onDown();
        }}
        placeholder="Words, “exact phrases”, -without, prefix*"
        ref={box}
        spellCheck={false}
        type="search"
        value={text}
      />
    </form>
  );
}
