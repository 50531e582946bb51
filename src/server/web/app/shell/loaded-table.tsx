import type { ReactNode } from "react";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Table, type TableProps } from "#server/web/app/ui/table.tsx";
import { LoadedPages, type PagedQuery } from "./loaded.tsx";

interface LoadedTableProps<Row> extends Omit<TableProps<Row>, "rows"> {
  query: PagedQuery<readonly Row[]>;
  /** Shown in place of a table without rows. */
  empty?: ReactNode;
}

/** A table with the rows of a query. */
export function LoadedTable<Row>({ query, empty, ...table }: LoadedTableProps<Row>) {
  return (
    <LoadedPages query={query}>
      {(rows) => (rows.length === 0 && empty !== undefined ? empty : <Table {...table} rows={rows} />)}
    </LoadedPages>
  );
}

interface TableSectionProps<Row> extends LoadedTableProps<Row> {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
}

/** A section of a page that consists of one table. */
export function TableSection<Row>({ title, description, action, ...table }: TableSectionProps<Row>) {
  return (
    <Section action={action} description={description} title={title}>
      <LoadedTable {...table} />
    </Section>
  );
}
