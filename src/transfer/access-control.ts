import type { AccessControl } from "./item.ts";
import type { Headers, RestClient } from "./rest-client.ts";

/** Owners and ACLs, through the operations of Data Lake. `path` begins with the container. */

export async function readControl(
  client: RestClient,
  path: string,
  of: Headers,
): Promise<AccessControl> {
  const query = { action: "getAccessControl", ...of };
  const answer = await client.request({ service: "blob", method: "HEAD", path, query });
  return {
    owner: answer.header("x-ms-owner") ?? "",
    group: answer.header("x-ms-group") ?? "",
    permissions: answer.header("x-ms-permissions") ?? "",
    acl: answer.header("x-ms-acl") ?? "",
  };
}

export async function writeControl(
  client: RestClient,
  path: string,
  { owner, group, permissions, acl }: AccessControl,
): Promise<void> {
  const set = (headers: Record<string, string>) =>
    client.request({
      service: "blob",
      method: "PATCH",
      path,
      query: { action: "setAccessControl" },
      headers,
    });
  // Only these have the sticky bit; the ACL says more about everything else.
  if (STICKY.test(permissions)) await set({ "x-ms-permissions": permissions.replace(/\+$/, "") });
  await set({ "x-ms-owner": owner, "x-ms-group": group, "x-ms-acl": acl });
}

const STICKY = /^.{8}t/i;
