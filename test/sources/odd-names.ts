/** Names that a file may have and that programs stumble over; the first has this many characters before its extension. */
export function oddNames(longest: number): string[] {
  return [`${"x".repeat(longest)}.md`, "日本語 🗂️ עברית.md", "  ", "%2e%2e%2fx.md", "new\nline.md", "-rf", "__proto__"];
}
