/** What the things of a workspace are called now, by their ids. */
export interface NameStore {
  /**
   * Names by id: people who are or were here, groups, connectors, tokens, invitations (their address), OAuth clients
   * and grants (the client's name), the workspace, and sessions (the `User-Agent` that opened them). Whoever shows them
   * answers for who may see them. Items are not among them: their titles are a matter of access.
   *
   * @returns only those that are there
   */
  of(ids: readonly string[]): Promise<Map<string, string>>;
}
