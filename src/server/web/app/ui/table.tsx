import type { ReactNode } from "react";
import { Time } from "./time.tsx";

export interface Column<Row> {
  title: string;
  cell(row: Row): ReactNode;
  /**
   * The title is shown next to the value in a narrow place, where there is no header; the first column and actions
   * need none there.
   */
  isHeadless?: boolean;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Tells the rows apart: one of their keys, or a text made of several. */
  keyOf: (keyof Row & string) | ((row: Row) => string);
}

/**
 * Rows of the same shape. In a narrow place each row becomes a block, so that nothing scrolls sideways. The container's
 * width decides, not the window's, which a side bar may share.
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

/** The title of a column of buttons: read out, not shown. */
const ACTS = "Actions";

/** The first column: what a row is about. */
export function headColumn<Row>(title: string, cell: Column<Row>["cell"]): Column<Row> {
  return { title, cell, isHeadless: true };
}

/** The last column: what can be done with a row. */
export function actsColumn<Row>(cell: Column<Row>["cell"]): Column<Row> {
  return headColumn(ACTS, cell);
}

/** A moment, by the row's key for it. */
export function timeColumn<Key extends string>(title: string, key: Key): Column<Record<Key, string | null>> {
  return { title, cell: (row) => <Time at={row[key]} /> };
}

/** For a button in a row of a table: it is quiet, and its padding makes the row no taller. */
export const IN_ROW = { kind: "quiet", className: "@2xl:-my-1.5 @2xl:-mr-2" } as const;
