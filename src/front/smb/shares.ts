/** The shares of accounts, as trees are connected to them. */
export interface Shares {
  /** In the order of their names. */
  list(account: string): Promise<readonly string[]>;
  /** Whether there is a share of this name, in lower case. */
  has(account: string, share: string): Promise<boolean>;
}
