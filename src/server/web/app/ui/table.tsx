import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  /** Beside the value on a narrow screen, where there is no head; the first column and acts need none. */
  isHeadless?: boolean;
  cell(row: Row): ReactNode;
}

/**
 * Rows of the same shape. On a narrow screen each row becomes a block of its own, so that nothing scrolls sideways.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  return (
    <table aria-label={label} className="w-full border-collapse text-left max-md:block">
      <thead className="max-md:sr-only">
        <tr>
          {columns.map(({ title, isHeadless }) => (
            <th
              className="border-line text-muted border-b py-1.5 pr-4 text-xs font-medium last:pr-0 md:first:w-[26%] md:last:text-right"
              key={title}
              scope="col"
            >
              {isHeadless === true && title === ACTS ? <span className="sr-only">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">
        {rows.map((row) => (
          <tr
            className="border-line border-b last:border-b-0 max-md:block max-md:py-3 max-md:first:pt-0 max-md:last:pb-0"
            key={keyOf(row)}
          >
            {columns.map(({ title, isHeadless, cell }) => (
              <td
                className={
                  "py-2 pr-4 align-top last:pr-0 max-md:flex max-md:min-w-0 max-md:justify-between max-md:gap-4 " +
                  "max-md:py-0.5 max-md:pr-0 md:last:text-right"
                }
                key={title}
              >
                {isHeadless !== true && (
                  <span aria-hidden="true" className="text-muted shrink-0 text-xs leading-5 md:hidden">
                    {title}
                  </span>
                )}
                <div className={isHeadless === true ? "min-w-0 flex-1" : "min-w-0 max-md:text-right"}>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The title of a column of buttons: read out, not shown. */
export const ACTS = "Actions";
