import type { ReactNode } from "react";
import { Time } from "./time.tsx";

export interface Column<Row> {
  title: string;
  cell(row: Row): ReactNode;
  /**
   * In a narrow container, which has no table header, the title is shown next to the value. The first column and
   * actions don't need a title there.
   */
  isHeadless?: boolean;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Identifies each row: one of its keys, or a text composed of several. */
  keyOf: (keyof Row & string) | ((row: Row) => string);
}

/**
 * Rows of the same shape. In a narrow container each row becomes a block, so that nothing scrolls sideways. The width
 * of the container decides, not that of the window, because a side bar may take part of the window.
 */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <div className="@container">
      <table aria-label={label} className="w-full border-collapse text-left @max-2xl:block">
        <thead className="@max-2xl:sr-only">
          <tr>
            {columns.map(({ title, isHeadless }) => (
              <th
                className="border-line text-muted border-b py-1.5 pr-4 text-xs font-medium last:pr-0 @2xl:first:w-[30%] @2xl:last:text-right"
                key={title}
                scope="col"
              >
                {isHeadless && title === ACTS ? <span className="sr-only">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="@max-2xl:block">
          {rows.map((row) => (
            <tr
              className="border-line border-b last:border-b-0 @max-2xl:block @max-2xl:py-3 @max-2xl:first:pt-0 @max-2xl:last:pb-0"
              key={typeof keyOf === "function" ? keyOf(row) : String(row[keyOf])}
            >
              {columns.map(({ title, isHeadless, cell }) => (
                <td
                  className={
                    "py-2 pr-4 align-top last:pr-0 @max-2xl:flex @max-2xl:min-w-0 @max-2xl:justify-between @max-2xl:gap-4 " +
                    "@max-2xl:py-0.5 @max-2xl:pr-0 @2xl:last:text-right"
                  }
                  key={title}
                >
                  {!isHeadless && (
                    <span aria-hidden="true" className="text-muted shrink-0 text-xs leading-5 @2xl:hidden">
                      {title}
                    </span>
                  )}
                  <div className={isHeadless ? "min-w-0 flex-1" : "min-w-0 @max-2xl:text-right"}>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The title of a column of buttons. It is read out, not shown. */
const ACTS = "Actions";

/** Makes the first column, which shows what a row is about. */
export function headColumn<Row>(title: string, cell: Column<Row>["cell"]): Column<Row> {
  return { title, cell, isHeadless: true };
}

/** Makes the last column, which has the actions for a row. */
export function actsColumn<Row>(cell: Column<Row>["cell"]): Column<Row> {
  return headColumn(ACTS, cell);
}

/** Makes a column that shows a time, from the row's key for it. */
export function timeColumn<Key extends string>(title: string, key: Key): Column<Record<Key, string | null>> {
  return { title, cell: (row) => <Time at={row[key]} /> };
}

/** For a button in a table row. It is quiet, and its padding doesn't make the row taller. */
export const IN_ROW = { kind: "quiet", className: "@2xl:-my-1.5 @2xl:-mr-2" } as const;
