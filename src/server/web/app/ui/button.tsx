import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { Tooltip } from "./tooltip.tsx";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger";

const BASE =
  "inline-flex items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors " +
  "disabled:opacity-55 min-h-8 max-sm:min-h-10";

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: "bg-accent-fill text-on-fill hover:bg-accent-fill-strong px-3",
  plain: "bg-surface text-ink border border-edge/60 hover:border-edge hover:bg-sunken px-3",
  quiet: "text-accent hover:text-accent-strong hover:bg-accent-soft px-2",
  danger: "bg-danger-fill text-on-fill hover:bg-danger-fill-strong px-3",
};

/** Returns the classes of a button, for links that look like one. */
export function buttonClass(kind: ButtonKind = "plain", more = ""): string {
  return `${BASE} ${KINDS[kind]} ${more}`;
}

export interface ButtonProps extends ComponentProps<"button"> {
  kind?: ButtonKind;
  icon?: IconName;
  /** The action is running, and the button is disabled until it ends. */
  isBusy?: boolean;
}

/** A button. It doesn't submit a form unless it has `type="submit"`. */
export function Button({ kind, icon, isBusy, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy || undefined}
      className={buttonClass(kind, className)}
      disabled={disabled || isBusy}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with only an icon. Its name is read out, and shown next to it on hover and focus. */
export function IconButton({ label, icon, ...rest }: { label: string; icon: IconName } & ComponentProps<"button">) {
  return (
    <Tooltip text={label}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className="text-muted hover:text-ink hover:bg-ink/6 inline-flex size-8 shrink-0 items-center justify-center rounded-md transition-colors max-sm:size-10"
      >
        <Icon name={icon} />
      </button>
    </Tooltip>
  );
}
