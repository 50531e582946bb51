export interface Scope {
  include: readonly string[];
  exclude: readonly string[];
}
