import { Outlet } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { Mark } from "#server/web/app/ui/icon.tsx";

/** The frame of pages for people who aren't signed in: the logo, and room for one card. */
export function EntryLayout() {
  return (
    <div className="flex min-h-dvh flex-col items-center px-4 py-8 sm:py-14">
      <header className="mb-6 flex items-center gap-2 text-lg font-semibold tracking-tight">
        <Mark size={28} />
        kb
      </header>
      <main className="w-full max-w-sm">
        <Outlet />
      </main>
    </div>
  );
}

/** The card: one subject with its heading, and links to other pages below it. */
export function EntryCard({
  title,
  lead,
  children,
  below,
}: {
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
  below?: ReactNode;
}) {
  return (
    <>
      <title>{`${title} · kb`}</title>
      <div className="bg-surface border-line rounded-xl border px-5 py-5 sm:px-6 sm:py-6">
        <Heading key={title} title={title} />
        {lead !== undefined && <div className="text-muted mt-1 wrap-anywhere">{lead}</div>}
        {children !== undefined && <div className="mt-5">{children}</div>}
      </div>
      {below !== undefined && <div className="text-muted mt-4 space-y-1 text-center">{below}</div>}
    </>
  );
}

/**
 * The heading of a card. If the card replaces another, such as "message sent", the heading gets the focus, so that
 * screen readers start there.
 */
function Heading({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <h1 className="text-lg tracking-tight wrap-anywhere" ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
