/** Whether it is the redirect URL that all servers once shared. Other servers may still use it. Source: S30. */
export function isSharedRedirect({ redirectUrl }: { redirectUrl?: string | undefined }): boolean {
  return redirectUrl?.endsWith("/api/mcp-servers/callback") === true;
}
