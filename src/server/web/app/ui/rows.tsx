import type { ReactNode } from "react";

/** A list of things that need more room than a row of a table. */
export function Rows({ children }: { children: ReactNode }) {
  return <ul className="divide-line -my-3 divide-y">{children}</ul>;
}

interface RowProps {
  title: string;
  badges?: ReactNode;
  actions: ReactNode;
  /** Facts, shown below the row's title. */
  children: ReactNode;
  className?: string;
  /** Shown over the whole width, below everything else. */
  below?: ReactNode;
}

/** One thing, and the actions for it. */
export function Row({ title, badges, actions, children, className = "", below }: RowProps) {
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className={`min-w-0 flex-1 basis-56 ${className}`}>
          <p className="flex flex-wrap items-center gap-2">
            <span className="font-medium wrap-anywhere">{title}</span>
            {badges}
          </p>
          {children}
        </div>
        <div className="flex flex-wrap gap-1">{actions}</div>
      </div>
      {below}
    </li>
  );
}
