/** Whether it is the redirect URL that all servers once shared, so that other ones may still have it. Source: S30. */
export function isSharedRedirect({ redirectUrl }: { redirectUrl?: string | undefined }): boolean {
  return redirectUrl?.endsWith("/api/mcp-servers/callback") === true;
}
