/** Explains to a person why a file that they named can't be read. */
export function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "you have no permission to read it";
    case "EISDIR":
      return "it is a folder";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}
