import { createContext, use, useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

const CloseContext = createContext<() => void>(() => undefined);

/**
 * A button that opens a list of actions next to it. Arrow keys, Home, End and first letters move through the list.
 * Escape closes it and returns the focus to the button. Tab and a press outside close it too. This is our own component
 * because it stays where it is drawn, so it needs none of the measuring that made a library's menu the largest part of
 * the page (30 kB).
 */
export function Menu({
  button,
  children,
  side = "bottom",
}: {
  /** The content of the button, which is also the button's accessible name. */
  button: ReactNode;
  children: ReactNode;
  side?: "top" | "bottom";
}) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    itemsOf(place.current)[0]?.focus();
    const closeElsewhere = (event: PointerEvent) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", closeElsewhere);
    return () => document.removeEventListener("pointerdown", closeElsewhere);
  }, [isOpen]);

  function close(): void {
    setOpen(false);
    trigger.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape" && isOpen) {
      // Escape closes only the menu, not the dialog around it.
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") setOpen(false);
    else if (!isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setOpen(true);
    } else if (isOpen && walk(itemsOf(place.current), event.key)) event.preventDefault();
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- keys of the button and the list bubble here
    <div className="relative" onKeyDown={onKeyDown} ref={place}>
      <button
        aria-controls={isOpen ? id : undefined}
        aria-expanded={isOpen}
        aria-haspopup="menu"
        className="hover:bg-ink/6 aria-expanded:bg-ink/6 flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-left"
        onClick={() => setOpen(!isOpen)}
        ref={trigger}
        type="button"
      >
        {button}
        <Icon name="chevrons" />
      </button>
      {isOpen && (
        <div
          className={`bg-raised border-line shadow-lift absolute inset-x-0 z-40 min-w-52 rounded-lg border p-1 ${side === "top" ? "bottom-full mb-1" : "top-full mt-1"}`}
          id={id}
          role="menu"
        >
          <CloseContext value={close}>{children}</CloseContext>
        </div>
      )}
    </div>
  );
}

const ITEM =
  "flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left outline-none select-none max-sm:min-h-10 " +
  "hover:bg-accent-soft hover:text-accent-strong focus:bg-accent-soft focus:text-accent-strong";

/** One action in a menu. */
export function MenuItem({ icon, onSelect, children }: { icon?: IconName; onSelect(): void; children: ReactNode }) {
  const close = use(CloseContext);
  return (
    <button
      className={ITEM}
      onClick={() => {
        close();
        onSelect();
      }}
      role="menuitem"
      tabIndex={-1}
      type="button"
    >
      {icon && <Icon name={icon} />}
      <span className="min-w-0 truncate">{children}</span>
    </button>
  );
}

/** Several choices of which exactly one is selected. */
export function MenuChoice<V extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  label: string;
  value: V;
  choices: readonly { value: V; label: string; icon?: IconName }[];
  onChoose(value: V): void;
}) {
  const close = use(CloseContext);
  const id = useId();
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a fieldset is not part of a menu
    <div aria-labelledby={id} role="group">
      <div className="text-muted px-2 pt-1.5 pb-1 text-xs font-medium" id={id} role="presentation">
        {label}
      </div>
      {choices.map((choice) => (
        <button
          aria-checked={choice.value === value}
          className={ITEM}
          key={choice.value}
          onClick={() => {
            close();
            if (choice.value !== value) onChoose(choice.value);
          }}
          role="menuitemradio"
          tabIndex={-1}
          type="button"
        >
          {choice.icon && <Icon name={choice.icon} />}
          <span className="min-w-0 flex-1 truncate">{choice.label}</span>
          {choice.value === value && <Icon name="check" />}
        </button>
      ))}
    </div>
  );
}

/** A separator between sections of a menu. */
export function MenuLine() {
  return <hr className="border-line -mx-1 my-1" />;
}

function itemsOf(place: HTMLElement | null): HTMLElement[] {
  return [...(place?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
}

/** Moves the focus for a key. Returns false for a key that doesn't move it. */
function walk(items: readonly HTMLElement[], key: string): boolean {
  const at = items.findIndex((item) => item === document.activeElement);
  const to = targetOf(items, key, at);
  if (to === undefined) return false;
  to.focus();
  return true;
}

function targetOf(items: readonly HTMLElement[], key: string, at: number): HTMLElement | undefined {
  if (key === "ArrowDown") return items[(at + 1) % items.length];
  if (key === "ArrowUp") return items.at(at <= 0 ? -1 : at - 1);
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (!/^[\p{L}\p{N}]$/u.test(key)) return undefined;
  const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return after.find((item) => item.textContent.trim().toLowerCase().startsWith(key.toLowerCase()));
}
