import type { ReactNode } from "react";

/** How facts are arranged: in two columns if there is room, with long labels, or with values at the opposite end. */
type Look = "columns" | "long" | "ends";

const LOOKS: Readonly<Record<Look, string>> = {
  columns: "grid gap-x-8 gap-y-1.5 lg:grid-cols-2",
  long: "space-y-1.5 [&>div]:flex-wrap [&>div]:gap-x-4 [&>div]:gap-y-0 [&_dt]:w-52",
  ends: "bg-sunken space-y-1.5 rounded-md px-3 py-2.5 [&>div]:flex-wrap [&>div]:justify-between [&>div]:gap-y-0 [&_dd]:font-medium [&_dt]:w-auto",
};

/** Facts about a thing. */
export function Facts({ look = "columns", children }: { look?: Look; children: ReactNode }) {
  return <dl className={LOOKS[look]}>{children}</dl>;
}

/** One of `Facts`, under its label. Shows nothing without a value. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === undefined || children === null || children === false || children === "") return null;
  return (
    <div className="flex gap-3">
      <dt className="text-muted w-24 shrink-0 wrap-anywhere">{label}</dt>
      <dd className="min-w-0 wrap-anywhere">
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}
