/**
 * Leaves the page for another address. Never resolves, so that the button that was pressed stays busy until the page is
 * gone.
 */
export function leaveFor(address: string, how: "assign" | "replace" = "assign"): Promise<never> {
  window.location[how](address);
  return new Promise(() => undefined);
}
