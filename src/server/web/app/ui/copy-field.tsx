import { use, useId, useState, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { TakenContext } from "./dialog.tsx";
import { toast } from "./toast.tsx";

interface CopyFieldProps {
  label: string;
  value: string;
  showsLabel?: boolean;
  /** The value is shown only once. Copying it allows the surrounding dialog to close. */
  isOnce?: boolean;
  /** The field gets the focus, with its text selected, when it replaces the element that had the focus. */
  hasFocus?: boolean;
}

/** One line of text with a button that copies it. If copying isn't allowed, the text can be selected by hand. */
export function CopyField({ label, value, showsLabel, isOnce, hasFocus }: CopyFieldProps) {
  const id = useId();
  const take = use(TakenContext);
  const onCopy = isOnce ? take : undefined;
  return (
    <div>
      <label className={showsLabel ? "mb-1 block font-medium" : "sr-only"} htmlFor={id}>
        {label}
      </label>
      <div className="flex gap-2 max-sm:flex-col">
        <input
          autoFocus={hasFocus}
          className="bg-sunken border-line w-full min-w-0 flex-1 rounded-md border px-2.5 py-1.5 font-mono text-[0.8125rem] max-sm:min-h-10"
          id={id}
          onCopy={onCopy}
          onFocus={(event) => event.currentTarget.select()}
          readOnly
          value={value}
        />
        <CopyButton label={label} onCopy={onCopy} value={value} />
      </div>
    </div>
  );
}

/** A command to run in a terminal. */
export function TerminalCommand({ command }: { command: string }) {
  return <CopyField label="Run in a terminal" showsLabel value={command} />;
}

/**
 * Lines of a command or a file below their label, with a button that copies them. Long lines wrap, so that everything
 * is visible.
 */
export function CodeBlock({ label, value, children }: { label: string; value: string; children: ReactNode }) {
  return (
    <div>
      <div className="mb-1.5 flex items-end justify-between gap-3">
        <p className="text-muted min-w-0">{children}</p>
        <CopyButton label={label} value={value} />
      </div>
      <pre className="bg-sunken border-line rounded-md border px-3 py-2.5 font-mono text-[0.8125rem] leading-relaxed whitespace-pre-wrap wrap-anywhere">
        <code>{value}</code>
      </pre>
    </div>
  );
}

interface CopyButtonProps {
  label: string;
  value: string;
  onCopy?: (() => void) | undefined;
  /** The label of the button; default "Copy". */
  children?: string;
}

/** A button that copies a text, and confirms that it was copied. */
export function CopyButton({ label, value, onCopy, children = "Copy" }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
      onCopy?.();
      window.setTimeout(() => setCopied(false), 2_000);
      toast("Copied");
    } catch {
      // On plain http, except on localhost, browsers provide no clipboard.
      toast("Your browser blocked copying. Select the text and copy it.");
    }
  }

  return (
    <Button
      aria-label={children === "Copy" ? `Copy ${label}` : undefined}
      icon={isCopied ? "check" : "copy"}
      onClick={() => void copy()}
    >
      {isCopied ? "Copied" : children}
    </Button>
  );
}
