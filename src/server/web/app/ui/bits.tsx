/** Small components without behaviour. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

const TONES = {
  plain: "bg-ink/7 text-ink",
  accent: "bg-accent-soft text-accent-strong",
  warn: "bg-warn-soft text-warn",
  ok: "bg-ok-soft text-ok",
} as const;

type Tone = keyof typeof TONES;

/** A short fact about a thing. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center rounded px-1.5 py-0.5 text-xs font-medium ${TONES[tone]}`}>
      {children}
    </span>
  );
}

/** A state in words, and how urgently it needs attention. */
export interface StateWords {
  title: string;
  tone: Tone;
}

export function StateBadge({ title, tone }: StateWords) {
  return <Badge tone={tone}>{title}</Badge>;
}

/** Placeholder lines for text. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div aria-busy="true" className="space-y-3 py-2">
      <span className="sr-only">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <div aria-hidden="true" className={`bg-ink/8 h-3.5 animate-pulse rounded ${WIDTHS[line % 3]}`} key={line} />
      ))}
    </div>
  );
}

const WIDTHS = ["w-3/4", "w-full", "w-1/2"];

/** Shown for an empty list, with how to fill it. */
export function EmptyState({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center px-4 py-8 text-center">
      <span className="bg-accent-soft text-accent-strong mb-3 rounded-full p-2.5">
        <Icon name={icon} size={18} />
      </span>
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="text-muted mt-1 max-w-sm">{children}</div>}
    </div>
  );
}

/** A section of a page with its heading. */
export function Section({
  title,
  description,
  action,
  children,
}: {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="bg-surface border-line rounded-lg border">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3.5 sm:px-5">
        <div className="min-w-0 flex-1 basis-56">
          <h2 className="text-[0.9375rem]">{title}</h2>
          {description && <p className="text-muted mt-0.5 max-w-prose">{description}</p>}
        </div>
        {action}
      </div>
      <div className="px-4 pt-3 pb-4 sm:px-5">{children}</div>
    </section>
  );
}
