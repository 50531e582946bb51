/** Returns the name of an XML element without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
