import type { ReactNode } from "react";

/** Things below each other, which say too much for a table. */
export function Rows({ children }: { children: ReactNode }) {
  return <ul className="divide-line -my-3 divide-y">{children}</ul>;
}

interface RowProps {
  title: string;
  badges?: ReactNode;
  actions: ReactNode;
  /** Facts below its title. */
  children: ReactNode;
  className?: string;
  /** Over the whole width, below the rest. */
  below?: ReactNode;
}

/** One thing, and what can be done with it. */
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
