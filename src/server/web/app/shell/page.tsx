import { Link } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode, type RefObject } from "react";
import { NAV } from "./nav.ts";

/** The pages above a page. */
export function Breadcrumb({ children }: { children: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb" className="text-muted mb-1.5 text-xs">
      {children}
    </nav>
  );
}

/** False after the first page was shown. Only the headings of later pages get the focus. */
let isFirstPage = true;

interface PageFrameProps {
  title: string;
  /** A sentence about the subject of the page, or about its state. */
  lead?: ReactNode;
  action?: ReactNode;
  /** The page in the navigation that this page belongs to. */
  within?: string;
  children?: ReactNode;
}

/** A page with its breadcrumb, its heading and its sections. */
export function PageFrame({ title, lead, action, within, children }: PageFrameProps) {
  const place = NAV.flatMap(({ links }) => links).find(({ to }) => to === within);
  return (
    <>
      {place && (
        <Breadcrumb>
          <Link to={place.to}>{place.label}</Link>
        </Breadcrumb>
      )}
      <PageHeading action={action} title={title}>
        {lead}
      </PageHeading>
      <div className="space-y-5">{children}</div>
    </>
  );
}

/**
 * A page's heading and its window title. After a change of page, the heading gets the focus, so that keyboard users and
 * screen readers start there.
 */
export function PageHeading({
  title,
  children,
  action,
  field,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** The page's main input. It gets the focus instead of the heading, also on the first page. */
  field?: RefObject<HTMLElement | null>;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (field !== undefined) field.current?.focus();
    else if (!isFirstPage) heading.current?.focus();
    isFirstPage = false;
  }, [field]);
  return (
    <div className="mb-5 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
      <title>{`${title} · kb`}</title>
      <div className="min-w-0 flex-1 basis-64">
        <h1 className="text-xl tracking-tight wrap-anywhere" ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children !== undefined && <p className="text-muted mt-1 max-w-prose">{children}</p>}
      </div>
      {action}
    </div>
  );
}
