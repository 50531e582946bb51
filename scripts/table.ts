/** A table of Markdown, its head first, as the formatter of the guides leaves it. */
export function alignTable(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_cell, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  const [head = [], ...body] = rows;
  return [head, widths.map((width) => "-".repeat(width)), ...body].map(line).join("");
}
