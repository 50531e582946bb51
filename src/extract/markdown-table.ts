/** Formats a row of a Markdown table. */
export function rowLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Makes the line below the first row, which makes that row the header. */
export function headerLine(columns: number): string {
  return `|${" --- |".repeat(columns)}`;
}
