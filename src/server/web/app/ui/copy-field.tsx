import { useState } from "react";
import { Button } from "./button.tsx";
import { toast } from "./toast.tsx";

/** One line to take along, with a button that copies it. It can be selected by hand where copying is not allowed. */
export function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <div className="flex gap-2 max-sm:flex-col">
      <input
        aria-label={label}
        className="bg-sunken border-line w-full min-w-0 flex-1 rounded-md border px-2.5 py-1.5 font-mono text-[0.8125rem] max-sm:min-h-10"
        onFocus={(event) => event.currentTarget.select()}
        readOnly
        value={value}
      />
      <CopyButton label={label} value={value} />
    </div>
  );
}

/** Lines of a command or a file, with a button that copies them. */
export function CodeBlock({ label, value }: { label: string; value: string }) {
  return (
    <div className="bg-sunken border-line relative rounded-md border">
      <section
        aria-label={label}
        className="overflow-x-auto px-3 py-2.5 pr-20 max-sm:pr-3 max-sm:pb-12"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls sideways must be reached by keyboard
        tabIndex={0}
      >
        <pre className="font-mono text-[0.8125rem] leading-relaxed">
          <code>{value}</code>
        </pre>
      </section>
      <div className="absolute top-1.5 right-1.5 max-sm:top-auto max-sm:bottom-1.5">
        <CopyButton label={label} value={value} />
      </div>
    </div>
  );
}

function CopyButton({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
      window.setTimeout(() => setCopied(false), 2_000);
      toast("Copied");
    } catch {
      // On plain http away from this machine a browser gives no clipboard.
      toast("The browser does not allow copying here. Select the text and copy it by hand.");
    }
  }

  return (
    <Button aria-label={`Copy ${label}`} icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
