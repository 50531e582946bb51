/** A row of a table in Markdown. */
export function rowLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The line below the first row, which makes that the header. */
export function headerLine(columns: number): string {
  return `|${" --- |".repeat(columns)}`;
}
