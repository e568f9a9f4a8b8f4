import type { Container } from "../../../service/blob/records.ts";

/** Tells whether the directories of a file system are its own. */
export function namespaceHeaders({ isHierarchical }: Pick<Container, "isHierarchical">): string[] {
  return ["x-ms-namespace-enabled", String(isHierarchical)];
}
